//! The EVP interface that OpenSSL, LibreSSL, BoringSSL and AWS-LC share, over a table of function pointers.
//!
//! One context serves all messages of a worker: the cipher is chosen once, then each message costs one
//! `EVP_CipherInit_ex` with a null cipher, which is the cheapest that each of these libraries offers.
#![allow(unsafe_code)] // the libraries are C

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::{NonNull, null, null_mut};

use cipherlane_core::{Algorithm, Cipher, Mode, Operation};

use crate::message::{Fault, Message, PerMessage, Tag};

/// `EVP_CTRL_AEAD_SET_IVLEN`, the same number in every one of the libraries.
const SET_NONCE_LENGTH: c_int = 0x9;
/// `EVP_CTRL_AEAD_GET_TAG`.
const GET_TAG: c_int = 0x10;
/// `EVP_CTRL_AEAD_SET_TAG`.
const SET_TAG: c_int = 0x11;
/// `EVP_CipherInit_ex` leaves the direction as it is.
const SAME_DIRECTION: c_int = -1;
/// Lengths are C ints: longer texts are handed over in pieces, whole blocks each.
const PIECE: usize = 1 << 30;
/// GCM's usual nonce, which every context starts with (SP 800-38D section 5.2.1.1).
const NONCE: usize = 12;

/// `EVP_CIPHER_CTX`, opaque.
pub(crate) type Ctx = *mut c_void;
/// `const EVP_CIPHER *`.
pub(crate) type CipherPointer = *const c_void;

/// The functions of one library, with the prototypes of OpenSSL's `evp.h`.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    pub(crate) version: unsafe extern "C" fn(c_int) -> *const c_char,
    pub(crate) ctx_new: unsafe extern "C" fn() -> Ctx,
    pub(crate) ctx_free: unsafe extern "C" fn(Ctx),
    pub(crate) init:
        unsafe extern "C" fn(Ctx, CipherPointer, *mut c_void, *const u8, *const u8, c_int) -> c_int,
    pub(crate) update: unsafe extern "C" fn(Ctx, *mut u8, *mut c_int, *const u8, c_int) -> c_int,
    pub(crate) finish: unsafe extern "C" fn(Ctx, *mut u8, *mut c_int) -> c_int,
    pub(crate) ctrl: unsafe extern "C" fn(Ctx, c_int, c_int, *mut c_void) -> c_int,
    pub(crate) set_padding: unsafe extern "C" fn(Ctx, c_int) -> c_int,
    /// `EVP_CIPHER_CTX_get_params` and `EVP_CIPHER_CTX_set_params` of OpenSSL 3 and later. There they spare the tag
    /// of a short message a tenth of its time: `EVP_CIPHER_CTX_ctrl` only translates into them.
    pub(crate) params: Option<(GetParams, SetParams)>,
}

/// `EVP_CIPHER_CTX_get_params`.
pub(crate) type GetParams = unsafe extern "C" fn(Ctx, *mut Param) -> c_int;
/// `EVP_CIPHER_CTX_set_params`.
pub(crate) type SetParams = unsafe extern "C" fn(Ctx, *const Param) -> c_int;

/// `OSSL_PARAM` of OpenSSL's `core.h`.
#[repr(C)]
pub(crate) struct Param {
    key: *const c_char,
    data_type: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

impl Param {
    /// A list with the AEAD tag (`OSSL_CIPHER_PARAM_AEAD_TAG`), up to its end.
    fn tag(bytes: *mut u8, length: usize) -> [Self; 2] {
        /// `OSSL_PARAM_OCTET_STRING`.
        const OCTETS: c_uint = 5;
        /// `OSSL_PARAM_UNMODIFIED`.
        const UNMODIFIED: usize = usize::MAX;
        let tag = Self {
            key: c"tag".as_ptr(),
            data_type: OCTETS,
            data: bytes.cast(),
            data_size: length,
            return_size: UNMODIFIED,
        };
        [tag, Self { key: null(), data_type: 0, data: null_mut(), data_size: 0, return_size: 0 }]
    }
}

/// One library: its functions, and the ciphers that it has.
pub(crate) struct Api {
    functions: Functions,
    ciphers: Vec<(Algorithm, CipherPointer)>,
}

// SAFETY: the cipher pointers are to immutable objects that live as long as the library, which is never unloaded;
// OpenSSL, LibreSSL and AWS-LC all allow their use by any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Api {
    /// The library with `functions`, and whatever ciphers `find` finds.
    ///
    /// # Safety
    /// The functions are those of one library that stays loaded, and `find` returns its `EVP_CIPHER` of that very
    /// algorithm, or null.
    pub(crate) unsafe fn new(functions: Functions, find: impl Fn(Algorithm) -> CipherPointer) -> Self {
        let found = Algorithm::ciphers().map(|algorithm| (algorithm, find(algorithm)));
        Self { functions, ciphers: found.filter(|(_, cipher)| !cipher.is_null()).collect() }
    }

    /// What the library calls itself: `OpenSSL 3.0.19 27 Jan 2026`.
    pub(crate) fn version(&self) -> String {
        // SAFETY: 0 is `OPENSSL_VERSION`, for which every version returns a static C string.
        let text = unsafe { std::ffi::CStr::from_ptr((self.functions.version)(0)) };
        text.to_string_lossy().into_owned()
    }

    /// The algorithms that the library has.
    pub(crate) fn has(&self, algorithm: Algorithm) -> bool {
        self.cipher(algorithm).is_some()
    }

    fn cipher(&self, algorithm: Algorithm) -> Option<CipherPointer> {
        self.ciphers.iter().find(|(known, _)| *known == algorithm).map(|&(_, cipher)| cipher)
    }

    /// Whether `AES-256-XTS` encrypts under a key whose halves are equal: some versions refuse (FIPS 140-2
    /// implementation guidance A.9), some do not.
    pub(crate) fn takes_equal_xts_halves(&'static self) -> bool {
        let xts = Algorithm::new(Cipher::Aes256, Mode::Xts);
        let Ok(mut context) = Evp::new(self, xts, Operation::Encrypt) else { return false };
        let (source, mut out) = ([0; 16], [0; 16]);
        let mut message =
            Message { nonce: &[0; 16], aad: &[], source: Some(&source), out: &mut out, tag: Tag::Absent };
        context.message(Some(&[0; 64]), &mut message).is_ok()
    }
}

/// A cipher's name as `EVP_CIPHER_fetch` takes it: `AES-128-GCM`.
///
/// None for SM4-XTS: what OpenSSL gives that name multiplies its tweaks in the bit order of GB/T 17964, not in the
/// one of IEEE 1619.
pub(crate) fn fetch_name(algorithm: Algorithm) -> Option<String> {
    let gb = algorithm == Algorithm::new(Cipher::Sm4, Mode::Xts);
    (!gb).then(|| algorithm.to_string().to_ascii_uppercase())
}

/// A cipher's function as `evp.h` declares it: `EVP_aes_128_gcm`.
pub(crate) fn function_name(algorithm: Algorithm) -> String {
    format!("EVP_{}", algorithm.to_string().replace('-', "_"))
}

/// An `EVP_CIPHER_CTX` in use.
pub(crate) struct Evp {
    functions: &'static Functions,
    ctx: NonNull<c_void>,
    mode: Mode,
    nonce_bytes: usize,
}

// SAFETY: a context belongs to one thread at a time, which `&mut self` ensures; the libraries keep no
// thread-local state for it.
unsafe impl Send for Evp {}

impl Drop for Evp {
    fn drop(&mut self) {
        // SAFETY: `ctx` came from `ctx_new` and is freed once. The free function wipes the key.
        unsafe { (self.functions.ctx_free)(self.ctx.as_ptr()) }
    }
}

/// The library's verdict as a result: 1 is success in every EVP function.
fn succeed(code: c_int, function: Fault) -> Result<(), Fault> {
    if code == 1 { Ok(()) } else { Err(function) }
}

impl Evp {
    /// A context for `algorithm`, without a key yet.
    pub(crate) fn new(api: &'static Api, algorithm: Algorithm, operation: Operation) -> Result<Self, Fault> {
        let functions = &api.functions;
        let cipher = api.cipher(algorithm).ok_or("the search for the cipher")?;
        let mode = algorithm.mode().ok_or("the search for the mode")?;
        // SAFETY: takes nothing; null means that there is no memory.
        let ctx = unsafe { (functions.ctx_new)() };
        let ctx = NonNull::new(ctx).ok_or("EVP_CIPHER_CTX_new")?;
        let evp = Self { functions, ctx, mode, nonce_bytes: NONCE };
        let direction = c_int::from(operation.is_forward());
        // SAFETY: `ctx` is live, `cipher` is the library's, and null keys and IVs mean "later".
        let code =
            unsafe { (functions.init)(evp.ctx.as_ptr(), cipher, null_mut(), null(), null(), direction) };
        succeed(code, "EVP_CipherInit_ex")?;
        // SAFETY: `ctx` has a cipher.
        succeed(unsafe { (functions.set_padding)(evp.ctx.as_ptr(), 0) }, "EVP_CIPHER_CTX_set_padding")?;
        Ok(evp)
    }

    /// Sets key, nonce or both; what is absent stays as it is.
    fn init(&mut self, key: Option<&[u8]>, nonce: Option<&[u8]>) -> Result<(), Fault> {
        let pointer = |bytes: Option<&[u8]>| bytes.map_or(null(), <[u8]>::as_ptr);
        // SAFETY: the batch was checked, so the key has the cipher's length and the nonce the one of the context.
        let code = unsafe {
            let ctx = self.ctx.as_ptr();
            (self.functions.init)(ctx, null(), null_mut(), pointer(key), pointer(nonce), SAME_DIRECTION)
        };
        succeed(code, "EVP_CipherInit_ex")
    }

    fn ctrl(&mut self, command: c_int, length: usize, pointer: *mut u8, name: Fault) -> Result<(), Fault> {
        let length = c_int::try_from(length).map_err(|_| name)?;
        // SAFETY: `pointer` is null or has `length` bytes to read or write, as `command` demands.
        let code = unsafe { (self.functions.ctrl)(self.ctx.as_ptr(), command, length, pointer.cast()) };
        succeed(code, name)
    }

    /// Hands over `length` bytes. `out` is null for additional data.
    ///
    /// # Safety
    /// `input` can be read and `out`, unless null, written for `length` bytes; they are equal or apart.
    unsafe fn update(&mut self, out: *mut u8, input: *const u8, length: usize) -> Result<(), Fault> {
        let mut done = 0;
        while done < length {
            let piece = (length - done).min(PIECE);
            let mut written = 0;
            // SAFETY: `done + piece <= length`, and a piece fits a C int. Whole blocks or stream modes: the library
            // writes what it reads, and nothing where `out` is null.
            let code = unsafe {
                let out = if out.is_null() { out } else { out.add(done) };
                #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // at most 2^30
                (self.functions.update)(
                    self.ctx.as_ptr(),
                    out,
                    &raw mut written,
                    input.add(done),
                    piece as c_int,
                )
            };
            succeed(code, "EVP_CipherUpdate")?;
            if usize::try_from(written) != Ok(piece) {
                return Err("EVP_CipherUpdate (which held text back)");
            }
            done += piece;
        }
        Ok(())
    }

    fn text(&mut self, message: &mut Message<'_>) -> Result<(), Fault> {
        let out = message.out.as_mut_ptr();
        let input = message.source.map_or(out.cast_const(), <[u8]>::as_ptr);
        // SAFETY: the source is as long as the output, and apart from it where it is not the same.
        unsafe { self.update(out, input, message.out.len()) }
    }

    /// Ends an AEAD message; returns whether the library took the tag.
    fn finish(&mut self) -> bool {
        let (mut nothing, mut written) = ([0; 32], 0);
        // SAFETY: GCM writes nothing here; the buffer has room for two blocks.
        unsafe { (self.functions.finish)(self.ctx.as_ptr(), nothing.as_mut_ptr(), &raw mut written) == 1 }
    }

    fn get_tag(&mut self, tag: &mut [u8]) -> Result<(), Fault> {
        let Some((get, _)) = self.functions.params else {
            return self.ctrl(GET_TAG, tag.len(), tag.as_mut_ptr(), "EVP_CTRL_AEAD_GET_TAG");
        };
        let mut params = Param::tag(tag.as_mut_ptr(), tag.len());
        // SAFETY: the list is ended, and the library writes the tag's bytes and the list's sizes.
        succeed(unsafe { get(self.ctx.as_ptr(), params.as_mut_ptr()) }, "EVP_CIPHER_CTX_get_params")
    }

    fn set_tag(&mut self, tag: &[u8]) -> Result<(), Fault> {
        // The library only reads through this pointer.
        let bytes = tag.as_ptr().cast_mut();
        let Some((_, set)) = self.functions.params else {
            return self.ctrl(SET_TAG, tag.len(), bytes, "EVP_CTRL_AEAD_SET_TAG");
        };
        let params = Param::tag(bytes, tag.len());
        // SAFETY: the list is ended and only read.
        succeed(unsafe { set(self.ctx.as_ptr(), params.as_ptr()) }, "EVP_CIPHER_CTX_set_params")
    }

    fn aead(&mut self, message: &mut Message<'_>) -> Result<bool, Fault> {
        // SAFETY: reads the additional data; a null output says that it is such.
        unsafe { self.update(null_mut(), message.aad.as_ptr(), message.aad.len()) }?;
        self.text(message)?;
        match &mut message.tag {
            Tag::Check(tag) => {
                self.set_tag(tag)?;
                Ok(self.finish())
            }
            Tag::Make(tag) => {
                succeed(c_int::from(self.finish()), "EVP_CipherFinal_ex")?;
                self.get_tag(tag).map(|()| true)
            }
            Tag::Absent => Err("the search for a tag"),
        }
    }
}

impl PerMessage for Evp {
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        match self.mode {
            Mode::Ecb => {
                if key.is_some() {
                    self.init(key, None)?;
                }
                self.text(message).map(|()| true)
            }
            Mode::Cbc | Mode::Ctr | Mode::Xts => {
                self.init(key, Some(message.nonce))?;
                self.text(message).map(|()| true)
            }
            Mode::Gcm => {
                let length = message.nonce.len();
                if length != self.nonce_bytes {
                    self.ctrl(SET_NONCE_LENGTH, length, null_mut(), "EVP_CTRL_AEAD_SET_IVLEN")?;
                    self.nonce_bytes = length;
                }
                self.init(key, Some(message.nonce))?;
                self.aead(message)
            }
        }
    }
}
