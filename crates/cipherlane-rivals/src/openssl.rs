//! The newest OpenSSL, built with this crate.
#![allow(unsafe_code)] // the library is C

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use cipherlane_core::{Algorithm, Device, Hash};

use crate::digest::{self, Digests, MdCtx, MdFunctions, MdPointer};
use crate::each::Each;
use crate::evp::{Api, CipherPointer, Ctx, Functions, Param, fetch_name};
use crate::libcrypto::EvpLibrary;
use crate::masking;
use crate::sha2::{State, Steps};

/// The device.
pub(crate) const ID: &str = "rival:openssl";

// The prototypes of OpenSSL 4's evp.h and crypto.h. Its build is static, so these names are not the ones of a
// libcrypto that is opened at run time, whose symbols stay within it.
unsafe extern "C" {
    fn OpenSSL_version(what: c_int) -> *const c_char;
    fn EVP_CIPHER_CTX_new() -> Ctx;
    fn EVP_CIPHER_CTX_free(ctx: Ctx);
    fn EVP_CIPHER_CTX_ctrl(ctx: Ctx, command: c_int, length: c_int, pointer: *mut c_void) -> c_int;
    fn EVP_CIPHER_CTX_set_padding(ctx: Ctx, padding: c_int) -> c_int;
    fn EVP_CIPHER_CTX_get_params(ctx: Ctx, params: *mut Param) -> c_int;
    fn EVP_CIPHER_CTX_set_params(ctx: Ctx, params: *const Param) -> c_int;
    fn EVP_CIPHER_fetch(
        library: *mut c_void,
        name: *const c_char,
        properties: *const c_char,
    ) -> CipherPointer;
    fn EVP_CipherInit_ex(
        ctx: Ctx,
        cipher: CipherPointer,
        engine: *mut c_void,
        key: *const u8,
        iv: *const u8,
        direction: c_int,
    ) -> c_int;
    fn EVP_CipherUpdate(
        ctx: Ctx,
        out: *mut u8,
        written: *mut c_int,
        input: *const u8,
        length: c_int,
    ) -> c_int;
    fn EVP_CipherFinal_ex(ctx: Ctx, out: *mut u8, written: *mut c_int) -> c_int;
    fn EVP_MD_CTX_new() -> MdCtx;
    fn EVP_MD_CTX_free(ctx: MdCtx);
    fn EVP_MD_fetch(library: *mut c_void, name: *const c_char, properties: *const c_char) -> MdPointer;
    fn EVP_DigestInit_ex(ctx: MdCtx, digest: MdPointer, engine: *mut c_void) -> c_int;
    fn EVP_DigestUpdate(ctx: MdCtx, text: *const c_void, length: usize) -> c_int;
    fn EVP_DigestFinal_ex(ctx: MdCtx, out: *mut u8, written: *mut c_uint) -> c_int;
    fn EVP_DigestFinalXOF(ctx: MdCtx, out: *mut u8, length: usize) -> c_int;
    fn SHA224_Init(state: *mut State) -> c_int;
    fn SHA224_Update(state: *mut State, text: *const c_void, length: usize) -> c_int;
    fn SHA224_Final(out: *mut u8, state: *mut State) -> c_int;
    fn SHA256_Init(state: *mut State) -> c_int;
    fn SHA256_Update(state: *mut State, text: *const c_void, length: usize) -> c_int;
    fn SHA256_Final(out: *mut u8, state: *mut State) -> c_int;
    fn SHA384_Init(state: *mut State) -> c_int;
    fn SHA384_Update(state: *mut State, text: *const c_void, length: usize) -> c_int;
    fn SHA384_Final(out: *mut u8, state: *mut State) -> c_int;
    fn SHA512_Init(state: *mut State) -> c_int;
    fn SHA512_Update(state: *mut State, text: *const c_void, length: usize) -> c_int;
    fn SHA512_Final(out: *mut u8, state: *mut State) -> c_int;
}

const SHA2: [(Hash, Steps); 4] = [
    (Hash::Sha224, Steps { init: SHA224_Init, update: SHA224_Update, finish: SHA224_Final }),
    (Hash::Sha256, Steps { init: SHA256_Init, update: SHA256_Update, finish: SHA256_Final }),
    (Hash::Sha384, Steps { init: SHA384_Init, update: SHA384_Update, finish: SHA384_Final }),
    (Hash::Sha512, Steps { init: SHA512_Init, update: SHA512_Update, finish: SHA512_Final }),
];

const MD_FUNCTIONS: MdFunctions = MdFunctions {
    ctx_new: EVP_MD_CTX_new,
    ctx_free: EVP_MD_CTX_free,
    init: EVP_DigestInit_ex,
    update: EVP_DigestUpdate,
    finish: EVP_DigestFinal_ex,
    finish_xof: EVP_DigestFinalXOF,
};

const FUNCTIONS: Functions = Functions {
    version: OpenSSL_version,
    ctx_new: EVP_CIPHER_CTX_new,
    ctx_free: EVP_CIPHER_CTX_free,
    init: EVP_CipherInit_ex,
    update: EVP_CipherUpdate,
    finish: EVP_CipherFinal_ex,
    ctrl: EVP_CIPHER_CTX_ctrl,
    set_padding: EVP_CIPHER_CTX_set_padding,
    params: Some((EVP_CIPHER_CTX_get_params, EVP_CIPHER_CTX_set_params)),
};

/// The library as a device.
pub(crate) fn open() -> Box<dyn Device> {
    static API: OnceLock<Api> = OnceLock::new();
    // SAFETY: all functions are those of the one OpenSSL that is linked, and `find` asks it for the very algorithm.
    let api = API.get_or_init(|| unsafe { Api::new(FUNCTIONS, find) });
    static DIGESTS: OnceLock<Digests> = OnceLock::new();
    // SAFETY: as above.
    let digests = DIGESTS.get_or_init(|| unsafe { Digests::new(MD_FUNCTIONS, find_digest) });
    let version = api.version();
    let mut details = vec![
        ("version".to_owned(), version.clone()),
        (
            "way".to_owned(),
            "EVP_CIPHER_fetch and EVP_MD_fetch once, EVP_CipherUpdate, tags by EVP_CIPHER_CTX_get_params; \
             SHA-2: SHA256_Update; other hashes: EVP_DigestUpdate"
                .to_owned(),
        ),
    ];
    details.extend(masking::detail());
    Box::new(Each::new(ID, version, details, EvpLibrary::new(api, digests, SHA2.to_vec())))
}

fn find_digest(hash: Hash) -> MdPointer {
    // SAFETY: the default library context, a C string, and no properties.
    unsafe { EVP_MD_fetch(null_mut(), digest::fetch_name(hash).as_ptr(), null()) }
}

fn find(algorithm: Algorithm) -> CipherPointer {
    fetch_name(algorithm)
        .and_then(|name| CString::new(name).ok())
        // SAFETY: the default library context, a C string, and no properties.
        .map_or(null(), |name| unsafe { EVP_CIPHER_fetch(null_mut(), name.as_ptr(), null()) })
}
