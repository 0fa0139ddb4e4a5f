//! The digests of the EVP interface, over a table of function pointers like the ciphers in [`crate::evp`].
//!
//! One context serves all messages of a worker: `EVP_DigestInit_ex` with the digest that the context has starts the
//! next message in it.
#![allow(unsafe_code)] // the libraries are C

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{NonNull, null_mut};

use cipherlane_core::Hash;

use crate::message::{Fault, Message, PerMessage, Tag};

/// `EVP_MD_CTX`, opaque.
pub(crate) type MdCtx = *mut c_void;
/// `const EVP_MD *`.
pub(crate) type MdPointer = *const c_void;

/// The functions of one library, with the prototypes of OpenSSL's `evp.h`.
#[derive(Clone, Copy)]
pub(crate) struct MdFunctions {
    pub(crate) ctx_new: unsafe extern "C" fn() -> MdCtx,
    pub(crate) ctx_free: unsafe extern "C" fn(MdCtx),
    pub(crate) init: unsafe extern "C" fn(MdCtx, MdPointer, *mut c_void) -> c_int,
    pub(crate) update: unsafe extern "C" fn(MdCtx, *const c_void, usize) -> c_int,
    pub(crate) finish: unsafe extern "C" fn(MdCtx, *mut u8, *mut c_uint) -> c_int,
    /// For SHAKE, whose digests have any length.
    pub(crate) finish_xof: unsafe extern "C" fn(MdCtx, *mut u8, usize) -> c_int,
}

/// One library: its functions, and the digests that it has.
pub(crate) struct Digests {
    functions: MdFunctions,
    found: Vec<(Hash, MdPointer)>,
}

// SAFETY: the digest pointers are to immutable objects that live as long as the library, which is never unloaded;
// OpenSSL, LibreSSL and AWS-LC all allow their use by any thread.
unsafe impl Send for Digests {}
// SAFETY: as above.
unsafe impl Sync for Digests {}

impl Digests {
    /// The library with `functions`, and whatever digests `find` finds.
    ///
    /// # Safety
    /// The functions are those of one library that stays loaded, and `find` returns its `EVP_MD` of that very
    /// function, or null.
    pub(crate) unsafe fn new(functions: MdFunctions, find: impl Fn(Hash) -> MdPointer) -> Self {
        let found = Hash::ALL.into_iter().map(|hash| (hash, find(hash)));
        Self { functions, found: found.filter(|(_, md)| !md.is_null()).collect() }
    }

    /// Whether the library has the function.
    pub(crate) fn has(&self, hash: Hash) -> bool {
        self.md(hash).is_some()
    }

    fn md(&self, hash: Hash) -> Option<MdPointer> {
        self.found.iter().find(|(known, _)| *known == hash).map(|&(_, md)| md)
    }
}

/// A digest's name as `EVP_MD_fetch` takes it: `SHA2-256`.
pub(crate) const fn fetch_name(hash: Hash) -> &'static std::ffi::CStr {
    match hash {
        Hash::Sha224 => c"SHA2-224",
        Hash::Sha256 => c"SHA2-256",
        Hash::Sha384 => c"SHA2-384",
        Hash::Sha512 => c"SHA2-512",
        Hash::Sha512_256 => c"SHA2-512/256",
        Hash::Sha3_224 => c"SHA3-224",
        Hash::Sha3_256 => c"SHA3-256",
        Hash::Sha3_384 => c"SHA3-384",
        Hash::Sha3_512 => c"SHA3-512",
        Hash::Shake128 => c"SHAKE-128",
        Hash::Shake256 => c"SHAKE-256",
        Hash::Keccak224 => c"KECCAK-224",
        Hash::Keccak256 => c"KECCAK-256",
        Hash::Keccak384 => c"KECCAK-384",
        Hash::Keccak512 => c"KECCAK-512",
    }
}

/// A digest's function as `evp.h` declares it: `EVP_sha256`. The original Keccak has none.
pub(crate) fn function_name(hash: Hash) -> String {
    let name = hash.name().replacen("sha-", "sha", 1).replace('-', "_");
    format!("EVP_{name}")
}

/// A context.
pub(crate) struct Digest {
    functions: &'static MdFunctions,
    ctx: NonNull<c_void>,
    md: MdPointer,
    /// SHAKE: the digest's length is the caller's.
    xof: bool,
}

// SAFETY: a context is used by one thread at a time, through `&mut self`; the digest is an immutable object.
unsafe impl Send for Digest {}

impl Drop for Digest {
    fn drop(&mut self) {
        // SAFETY: the context is live and not used afterwards. The library wipes it.
        unsafe { (self.functions.ctx_free)(self.ctx.as_ptr()) }
    }
}

fn succeed(code: c_int, function: Fault) -> Result<(), Fault> {
    if code == 1 { Ok(()) } else { Err(function) }
}

impl Digest {
    /// A context for `hash`.
    pub(crate) fn new(library: &'static Digests, hash: Hash) -> Result<Self, Fault> {
        let functions = &library.functions;
        let md = library.md(hash).ok_or("the search for the digest")?;
        // SAFETY: takes nothing; null means that there is no memory.
        let ctx = NonNull::new(unsafe { (functions.ctx_new)() }).ok_or("EVP_MD_CTX_new")?;
        Ok(Self { functions, ctx, md, xof: hash.digest_bytes().is_none() })
    }
}

impl PerMessage for Digest {
    fn message(&mut self, _: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        let Tag::Make(digest) = &mut message.tag else { return Err("the search for a digest") };
        let text = message.source.ok_or("the search for a text")?;
        let ctx = self.ctx.as_ptr();
        // SAFETY: the context is live and the digest the library's; the text can be read, and the row, which is as long as the digest,
        // written.
        unsafe {
            succeed((self.functions.init)(ctx, self.md, null_mut()), "EVP_DigestInit_ex")?;
            succeed((self.functions.update)(ctx, text.as_ptr().cast(), text.len()), "EVP_DigestUpdate")?;
            if self.xof {
                let made = (self.functions.finish_xof)(ctx, digest.as_mut_ptr(), digest.len());
                succeed(made, "EVP_DigestFinalXOF")?;
            } else {
                let made = (self.functions.finish)(ctx, digest.as_mut_ptr(), null_mut());
                succeed(made, "EVP_DigestFinal_ex")?;
            }
        }
        Ok(true)
    }
}
