//! libgcrypt, opened at run time where the system has it.
//!
//! One handle serves all messages of a worker: its key is set where it changes, IV or counter for each message.
#![allow(unsafe_code)] // the library is C

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::OnceLock;

use cipherlane_core::{Algorithm, Cipher, Device, Hash, Mode, Operation, Shape};
use libloading::Library as Shared;

use crate::each::{Each, Library, aes_instructions, aes_or_hash};
use crate::limits::Limits;
use crate::message::{Context, Fault, Message, PerMessage, Tag};
use crate::shared::{self, symbol};

/// The device.
pub(crate) const ID: &str = "rival:libgcrypt";
/// The only way there is to encrypt, and the one to hash.
const CIPHER: &str = "gcry-cipher";
const MD: &str = "gcry-md";
#[cfg(target_os = "macos")]
const NAMES: &[&str] = &["libgcrypt.20.dylib", "/opt/homebrew/lib/libgcrypt.20.dylib"];
#[cfg(windows)]
const NAMES: &[&str] = &["libgcrypt-20.dll"];
#[cfg(not(any(target_os = "macos", windows)))]
const NAMES: &[&str] = &["libgcrypt.so.20"];

/// `gcry_cipher_hd_t` and `gcry_md_hd_t`, opaque.
type Handle = *mut c_void;
/// `gcry_error_t`: 0 is success.
type Code = c_uint;

/// `GCRYCTL_DISABLE_SECMEM` and `GCRYCTL_INITIALIZATION_FINISHED` of `gcry_control`.
const DISABLE_SECMEM: c_int = 37;
const INITIALIZATION_FINISHED: c_int = 38;
/// The argument of both.
const NOTHING: c_int = 0;
/// `GPG_ERR_CHECKSUM`: the tag was wrong. The upper bits of a code say who found it.
const WRONG_TAG: Code = 10;
const CODE_BITS: Code = 0xffff;

/// The prototypes of `gcrypt.h`.
#[derive(Clone, Copy)]
struct Functions {
    open: unsafe extern "C" fn(*mut Handle, c_int, c_int, c_uint) -> Code,
    close: unsafe extern "C" fn(Handle),
    set_key: unsafe extern "C" fn(Handle, *const u8, usize) -> Code,
    set_iv: unsafe extern "C" fn(Handle, *const u8, usize) -> Code,
    set_counter: unsafe extern "C" fn(Handle, *const u8, usize) -> Code,
    authenticate: unsafe extern "C" fn(Handle, *const u8, usize) -> Code,
    encrypt: unsafe extern "C" fn(Handle, *mut u8, usize, *const u8, usize) -> Code,
    decrypt: unsafe extern "C" fn(Handle, *mut u8, usize, *const u8, usize) -> Code,
    get_tag: unsafe extern "C" fn(Handle, *mut u8, usize) -> Code,
    check_tag: unsafe extern "C" fn(Handle, *const u8, usize) -> Code,
    md_open: unsafe extern "C" fn(*mut Handle, c_int, c_uint) -> Code,
    md_close: unsafe extern "C" fn(Handle),
    md_reset: unsafe extern "C" fn(Handle),
    md_write: unsafe extern "C" fn(Handle, *const c_void, usize),
    md_read: unsafe extern "C" fn(Handle, c_int) -> *const u8,
    md_extract: unsafe extern "C" fn(Handle, c_int, *mut c_void, usize) -> Code,
}

struct Gcrypt {
    functions: Functions,
    version: String,
}

fn resolve(library: &'static Shared) -> Result<Gcrypt, &'static str> {
    // SAFETY: each symbol is given the type that it has in gcrypt.h since version 1.6. The first call must be
    // gcry_check_version; secure memory, which would be locked pages, is not needed.
    unsafe {
        let version: unsafe extern "C" fn(*const c_char) -> *const c_char =
            symbol(library, "gcry_check_version")?;
        let control: unsafe extern "C" fn(c_int, ...) -> Code = symbol(library, "gcry_control")?;
        let version = CStr::from_ptr(version(null())).to_string_lossy().into_owned();
        if [DISABLE_SECMEM, INITIALIZATION_FINISHED].into_iter().any(|command| control(command, NOTHING) != 0)
        {
            return Err("state to work in: gcry_control failed");
        }
        let functions = Functions {
            open: symbol(library, "gcry_cipher_open")?,
            close: symbol(library, "gcry_cipher_close")?,
            set_key: symbol(library, "gcry_cipher_setkey")?,
            set_iv: symbol(library, "gcry_cipher_setiv")?,
            set_counter: symbol(library, "gcry_cipher_setctr")?,
            authenticate: symbol(library, "gcry_cipher_authenticate")?,
            encrypt: symbol(library, "gcry_cipher_encrypt")?,
            decrypt: symbol(library, "gcry_cipher_decrypt")?,
            get_tag: symbol(library, "gcry_cipher_gettag")?,
            check_tag: symbol(library, "gcry_cipher_checktag")?,
            md_open: symbol(library, "gcry_md_open")?,
            md_close: symbol(library, "gcry_md_close")?,
            md_reset: symbol(library, "gcry_md_reset")?,
            md_write: symbol(library, "gcry_md_write")?,
            md_read: symbol(library, "gcry_md_read")?,
            md_extract: symbol(library, "gcry_md_extract")?,
        };
        Ok(Gcrypt { functions, version })
    }
}

/// `GCRY_CIPHER_*`, as the enumeration in gcrypt.h numbers them.
const fn cipher_number(cipher: Cipher) -> Option<c_int> {
    match cipher {
        Cipher::Aes128 => Some(7),
        Cipher::Aes192 => Some(8),
        Cipher::Aes256 => Some(9),
        Cipher::Camellia128 => Some(310),
        Cipher::Camellia192 => Some(311),
        Cipher::Camellia256 => Some(312),
        Cipher::Sm4 => Some(318),
        Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => None,
    }
}

/// `GCRY_CIPHER_MODE_*`.
const fn mode_number(mode: Mode) -> c_int {
    match mode {
        Mode::Ecb => 1,
        Mode::Cbc => 3,
        Mode::Ctr => 6,
        Mode::Gcm => 9,
        Mode::Xts => 13,
    }
}

/// `GCRY_MD_*`.
const fn hash_number(hash: Hash) -> Option<c_int> {
    match hash {
        Hash::Sha224 => Some(11),
        Hash::Sha256 => Some(8),
        Hash::Sha384 => Some(9),
        Hash::Sha512 => Some(10),
        Hash::Sha512_256 => Some(327),
        Hash::Sha3_224 => Some(312),
        Hash::Sha3_256 => Some(313),
        Hash::Sha3_384 => Some(314),
        Hash::Sha3_512 => Some(315),
        Hash::Shake128 => Some(316),
        Hash::Shake256 => Some(317),
        Hash::Keccak224 | Hash::Keccak256 | Hash::Keccak384 | Hash::Keccak512 => None,
    }
}

/// The library as a device, or why there is none.
pub(crate) fn open() -> Result<Box<dyn Device>, String> {
    static OPENED: OnceLock<Result<(Gcrypt, &'static str), String>> = OnceLock::new();
    let (library, file) =
        OPENED.get_or_init(|| shared::open(NAMES, resolve)).as_ref().map_err(Clone::clone)?;
    let details = vec![
        ("version".to_owned(), library.version.clone()),
        ("file".to_owned(), (*file).to_owned()),
        ("way".to_owned(), "gcry_cipher_encrypt, gcry_cipher_decrypt; gcry_md_write".to_owned()),
    ];
    Ok(Box::new(Each::new(ID, format!("libgcrypt {}", library.version), details, Opened(library))))
}

struct Opened(&'static Gcrypt);

impl Library for Opened {
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)> {
        // It refuses XTS keys with equal halves.
        let limits = Limits { equal_xts_halves: false, ..Limits::NONE };
        match shape.algorithm {
            // XTS is for AES keys of two lengths (SP 800-38E), and for any other cipher of 128-bit blocks.
            Algorithm::Cipher(Cipher::Aes192, Mode::Xts) => Vec::new(),
            Algorithm::Cipher(cipher, _) => self
                .handle(shape.algorithm)
                .and(cipher_number(cipher))
                .map(|_| (CIPHER, limits))
                .into_iter()
                .collect(),
            Algorithm::Hash(_) => self.handle(shape.algorithm).map(|_| (MD, limits)).into_iter().collect(),
        }
    }

    fn context(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        _: &str,
    ) -> Result<Box<dyn Context>, Fault> {
        let handle = self.handle(algorithm).ok_or("gcry_cipher_open or gcry_md_open")?;
        Ok(match algorithm {
            Algorithm::Cipher(_, mode) => Box::new(Keyed { handle, mode, forward: operation.is_forward() }),
            Algorithm::Hash(hash) => Box::new(Digest { handle, xof: hash.digest_bytes().is_none() }),
        })
    }

    fn constant_time(&self, algorithm: Algorithm) -> bool {
        aes_or_hash(algorithm) && aes_instructions()
    }
}

impl Opened {
    /// A handle for `algorithm`, or `None` where this version has it not.
    fn handle(&self, algorithm: Algorithm) -> Option<OwnedHandle> {
        let functions = &self.0.functions;
        let mut handle = null_mut();
        // SAFETY: writes a handle where it returns 0; an unknown number is an error.
        let (code, close) = unsafe {
            match algorithm {
                Algorithm::Cipher(cipher, mode) => {
                    let open = functions.open;
                    (open(&raw mut handle, cipher_number(cipher)?, mode_number(mode), 0), functions.close)
                }
                Algorithm::Hash(hash) => {
                    ((functions.md_open)(&raw mut handle, hash_number(hash)?, 0), functions.md_close)
                }
            }
        };
        let pointer = NonNull::new(handle).filter(|_| code == 0)?;
        Some(OwnedHandle { functions, pointer, close })
    }
}

/// A handle that is closed, and with it wiped, when it is dropped.
struct OwnedHandle {
    functions: &'static Functions,
    pointer: NonNull<c_void>,
    close: unsafe extern "C" fn(Handle),
}

// SAFETY: a handle is used by one thread at a time, through `&mut self`.
unsafe impl Send for OwnedHandle {}

impl Drop for OwnedHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used afterwards.
        unsafe { (self.close)(self.pointer.as_ptr()) }
    }
}

fn succeed(code: Code, function: Fault) -> Result<(), Fault> {
    if code == 0 { Ok(()) } else { Err(function) }
}

struct Keyed {
    handle: OwnedHandle,
    mode: Mode,
    forward: bool,
}

impl Keyed {
    /// Readies the handle for a message: key, and IV or counter.
    fn start(&mut self, key: Option<&[u8]>, nonce: &[u8]) -> Result<(), Fault> {
        let (functions, handle) = (self.handle.functions, self.handle.pointer.as_ptr());
        // SAFETY: the handle is live; key and nonce have the lengths that the batch was checked for.
        unsafe {
            if let Some(key) = key {
                succeed((functions.set_key)(handle, key.as_ptr(), key.len()), "gcry_cipher_setkey")?;
            }
            // An IV begins the next message, in GCM too.
            match self.mode {
                Mode::Ecb => Ok(()),
                Mode::Ctr => succeed(
                    (functions.set_counter)(handle, nonce.as_ptr(), nonce.len()),
                    "gcry_cipher_setctr",
                ),
                Mode::Cbc | Mode::Gcm | Mode::Xts => {
                    succeed((functions.set_iv)(handle, nonce.as_ptr(), nonce.len()), "gcry_cipher_setiv")
                }
            }
        }
    }

    fn text(&mut self, message: &mut Message<'_>) -> Result<(), Fault> {
        let functions = self.handle.functions;
        let run = if self.forward { functions.encrypt } else { functions.decrypt };
        let (out, bytes) = (message.out.as_mut_ptr(), message.out.len());
        // No input means in place.
        let (input, input_bytes) =
            message.source.map_or((null(), 0), |source| (source.as_ptr(), source.len()));
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: input and output are of one length, the same or apart.
        succeed(
            unsafe { run(self.handle.pointer.as_ptr(), out, bytes, input, input_bytes) },
            "gcry_cipher_encrypt or gcry_cipher_decrypt",
        )
    }
}

impl PerMessage for Keyed {
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        self.start(key, message.nonce)?;
        let (functions, handle) = (self.handle.functions, self.handle.pointer.as_ptr());
        if self.mode != Mode::Gcm {
            return self.text(message).map(|()| true);
        }
        // SAFETY: the handle is live; AAD and tag can be read or written for their lengths.
        unsafe {
            let aad = message.aad;
            if !aad.is_empty() {
                let code = (functions.authenticate)(handle, aad.as_ptr(), aad.len());
                succeed(code, "gcry_cipher_authenticate")?;
            }
            self.text(message)?;
            match &mut message.tag {
                Tag::Make(tag) => {
                    succeed((functions.get_tag)(handle, tag.as_mut_ptr(), tag.len()), "gcry_cipher_gettag")?;
                    Ok(true)
                }
                Tag::Check(tag) => match (functions.check_tag)(handle, tag.as_ptr(), tag.len()) & CODE_BITS {
                    0 => Ok(true),
                    WRONG_TAG => Ok(false),
                    _ => Err("gcry_cipher_checktag"),
                },
                Tag::Absent => Err("the search for a tag"),
            }
        }
    }
}

struct Digest {
    handle: OwnedHandle,
    xof: bool,
}

impl PerMessage for Digest {
    fn message(&mut self, _: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        let Tag::Make(digest) = &mut message.tag else { return Err("the search for a digest") };
        let text = message.source.ok_or("the search for a text")?;
        let (functions, handle) = (self.handle.functions, self.handle.pointer.as_ptr());
        // SAFETY: the handle is live; the text can be read, and the row written; a digest that is read has the
        // length of its function, which is the row's.
        unsafe {
            (functions.md_reset)(handle);
            (functions.md_write)(handle, text.as_ptr().cast(), text.len());
            if self.xof {
                let code = (functions.md_extract)(handle, 0, digest.as_mut_ptr().cast(), digest.len());
                succeed(code, "gcry_md_extract")?;
            } else {
                let made = (functions.md_read)(handle, 0);
                if made.is_null() {
                    return Err("gcry_md_read");
                }
                std::ptr::copy_nonoverlapping(made, digest.as_mut_ptr(), digest.len());
            }
        }
        Ok(true)
    }
}
