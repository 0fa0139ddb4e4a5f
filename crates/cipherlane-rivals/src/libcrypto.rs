//! The system's libcrypto, opened at run time where there is one.
#![allow(unsafe_code)] // symbols of a C library

use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use cipherlane_core::{Algorithm, Device, Hash, Operation, Shape};
use libloading::Library as Shared;

use crate::digest::{self, Digest, Digests, MdFunctions, MdPointer};
use crate::each::{Each, Library, aes_instructions, aes_or_hash};
use crate::evp::{Api, CipherPointer, Evp, Functions, fetch_name, function_name};
use crate::limits::Limits;
use crate::masking;
use crate::message::{Context, Fault};
use crate::sha2::{self, Bare, Steps};
use crate::shared::{self, symbol};

/// The device.
pub(crate) const ID: &str = "rival:libcrypto";

/// Where it may lie, newest first. On macOS only with a version in the name: opening the bare name there ends the
/// process.
#[cfg(target_os = "macos")]
const NAMES: &[&str] = &[
    "libcrypto.3.dylib",
    "/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib",
    "/usr/local/opt/openssl@3/lib/libcrypto.3.dylib",
    "/opt/local/lib/libcrypto.3.dylib",
];
#[cfg(windows)]
const NAMES: &[&str] = &["libcrypto-4-x64.dll", "libcrypto-3-x64.dll", "libcrypto-1_1-x64.dll"];
#[cfg(not(any(target_os = "macos", windows)))]
const NAMES: &[&str] = &["libcrypto.so.4", "libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"];

/// The library, or why there is none.
pub(crate) fn open() -> Result<Box<dyn Device>, String> {
    static OPENED: OnceLock<Result<(Api, Digests, Found), String>> = OnceLock::new();
    let (api, digests, found) = OPENED.get_or_init(load).as_ref().map_err(Clone::clone)?;
    let version = api.version();
    let mut details = vec![
        ("version".to_owned(), version.clone()),
        ("file".to_owned(), found.file.to_owned()),
        ("way".to_owned(), found.way.to_owned()),
    ];
    details.extend(masking::detail());
    Ok(Box::new(Each::new(ID, version, details, EvpLibrary::new(api, digests, found.sha2.clone()))))
}

struct Found {
    file: &'static str,
    way: &'static str,
    sha2: Vec<(Hash, Steps)>,
}

fn load() -> Result<(Api, Digests, Found), String> {
    let ((api, digests, sha2, way), file) = shared::open(NAMES, resolve)?;
    Ok((api, digests, Found { file, way, sha2 }))
}

type Resolved = (Api, Digests, Vec<(Hash, Steps)>, &'static str);

fn resolve(library: &'static Shared) -> Result<Resolved, &'static str> {
    // SAFETY: each symbol is given the type that it has in OpenSSL's evp.h and crypto.h since version 1.1.0.
    let functions = unsafe {
        Functions {
            version: symbol(library, "OpenSSL_version")?,
            ctx_new: symbol(library, "EVP_CIPHER_CTX_new")?,
            ctx_free: symbol(library, "EVP_CIPHER_CTX_free")?,
            init: symbol(library, "EVP_CipherInit_ex")?,
            update: symbol(library, "EVP_CipherUpdate")?,
            finish: symbol(library, "EVP_CipherFinal_ex")?,
            ctrl: symbol(library, "EVP_CIPHER_CTX_ctrl")?,
            set_padding: symbol(library, "EVP_CIPHER_CTX_set_padding")?,
            params: symbol(library, "EVP_CIPHER_CTX_get_params")
                .and_then(|get| Ok((get, symbol(library, "EVP_CIPHER_CTX_set_params")?)))
                .ok(),
        }
    };
    // SAFETY: the type of EVP_CIPHER_fetch since OpenSSL 3.0.
    let fetch: Result<Fetch, _> = unsafe { symbol(library, "EVP_CIPHER_fetch") };
    // SAFETY: the functions are this library's, which is never unloaded, and so are the ciphers.
    let api = unsafe { Api::new(functions, |algorithm| find(library, fetch.ok(), algorithm)) };
    let way = if fetch.is_ok() && functions.params.is_some() {
        "EVP_CIPHER_fetch once, EVP_CipherUpdate, tags by EVP_CIPHER_CTX_get_params; SHA256_Update"
    } else {
        "EVP_CipherUpdate; SHA256_Update"
    };
    let sha2 = Hash::ALL.into_iter().filter_map(|hash| Some((hash, steps(library, hash)?))).collect();
    Ok((api, resolve_digests(library)?, sha2, way))
}

fn resolve_digests(library: &'static Shared) -> Result<Digests, &'static str> {
    // SAFETY: each symbol is given the type that it has in OpenSSL's evp.h since version 1.1.1.
    let functions = unsafe {
        MdFunctions {
            ctx_new: symbol(library, "EVP_MD_CTX_new")?,
            ctx_free: symbol(library, "EVP_MD_CTX_free")?,
            init: symbol(library, "EVP_DigestInit_ex")?,
            update: symbol(library, "EVP_DigestUpdate")?,
            finish: symbol(library, "EVP_DigestFinal_ex")?,
            finish_xof: symbol(library, "EVP_DigestFinalXOF")?,
        }
    };
    // SAFETY: the type of EVP_MD_fetch since OpenSSL 3.0.
    let fetch: Result<Fetch, _> = unsafe { symbol(library, "EVP_MD_fetch") };
    // SAFETY: the functions are this library's, which is never unloaded, and so are the digests.
    Ok(unsafe { Digests::new(functions, |hash| find_digest(library, fetch.ok(), hash)) })
}

/// The functions on a bare state, where the library has them.
fn steps(library: &'static Shared, hash: Hash) -> Option<Steps> {
    let prefix = sha2::prefix(hash)?;
    // SAFETY: the types of OpenSSL's sha.h; the structures have been the same since version 0.9.8.
    unsafe {
        Some(Steps {
            init: symbol(library, &format!("{prefix}_Init")).ok()?,
            update: symbol(library, &format!("{prefix}_Update")).ok()?,
            finish: symbol(library, &format!("{prefix}_Final")).ok()?,
        })
    }
}

type Fetch = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> CipherPointer;

/// An explicit fetch where there is one: it spares each initialisation the look-up.
fn find(library: &'static Shared, fetch: Option<Fetch>, algorithm: Algorithm) -> CipherPointer {
    let Some(name) = fetch_name(algorithm) else { return null() };
    if let (Some(fetch), Ok(name)) = (fetch, CString::new(name)) {
        // SAFETY: the default library context, a C string, and no properties.
        return unsafe { fetch(null_mut(), name.as_ptr(), null()) };
    }
    // SAFETY: the type of each EVP_aes_*; the function takes nothing and returns a static object.
    unsafe {
        symbol::<unsafe extern "C" fn() -> CipherPointer>(library, &function_name(algorithm))
            .map_or(null(), |cipher| cipher())
    }
}

/// As [`find`], of digests.
fn find_digest(library: &'static Shared, fetch: Option<Fetch>, hash: Hash) -> MdPointer {
    if let Some(fetch) = fetch {
        // SAFETY: the default library context, a C string, and no properties.
        return unsafe { fetch(null_mut(), digest::fetch_name(hash).as_ptr(), null()) };
    }
    // SAFETY: the type of each EVP_sha*; the function takes nothing and returns a static object.
    unsafe {
        symbol::<unsafe extern "C" fn() -> MdPointer>(library, &digest::function_name(hash))
            .map_or(null(), |digest| digest())
    }
}

/// The EVP interface.
const EVP: &str = "evp";
/// SHA-2 on a bare state.
const SHA: &str = "sha";

/// A library of which the EVP interface is used, but for SHA-2.
pub(crate) struct EvpLibrary {
    api: &'static Api,
    digests: &'static Digests,
    sha2: Vec<(Hash, Steps)>,
    limits: Limits,
}

impl EvpLibrary {
    /// `sha2` are functions of the same library.
    pub(crate) fn new(api: &'static Api, digests: &'static Digests, sha2: Vec<(Hash, Steps)>) -> Self {
        // Providers of OpenSSL 3 and later keep the nonce in 1024 bits (GCM_IV_MAX_SIZE).
        let limits =
            Limits { nonce: 1..=128, equal_xts_halves: api.takes_equal_xts_halves(), ..Limits::NONE };
        Self { api, digests, sha2, limits }
    }

    fn steps(&self, algorithm: Algorithm) -> Option<Steps> {
        self.sha2.iter().find(|(hash, _)| Algorithm::Hash(*hash) == algorithm).map(|&(_, steps)| steps)
    }
}

impl Library for EvpLibrary {
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)> {
        let has = match shape.algorithm {
            Algorithm::Cipher(..) => self.api.has(shape.algorithm),
            Algorithm::Hash(hash) => self.digests.has(hash),
        };
        let bare = self.steps(shape.algorithm).map(|_| SHA);
        let ways = bare.into_iter().chain(has.then_some(EVP));
        ways.map(|way| (way, self.limits.clone())).collect()
    }

    fn context(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        way: &str,
    ) -> Result<Box<dyn Context>, Fault> {
        if let Some(steps) = self.steps(algorithm).filter(|_| way == SHA) {
            // SAFETY: they were found by the name of this hash.
            return Ok(Box::new(unsafe { Bare::new(steps) }));
        }
        Ok(match algorithm {
            Algorithm::Cipher(..) => Box::new(Evp::new(self.api, algorithm, operation)?),
            Algorithm::Hash(hash) => Box::new(Digest::new(self.digests, hash)?),
        })
    }

    fn constant_time(&self, algorithm: Algorithm) -> bool {
        aes_or_hash(algorithm) && aes_instructions() && masking::keeps_aes()
    }
}
