//! Intel's ISA-L Crypto, opened at run time: AES-GCM, AES-XTS and AES-CBC message by message, SHA-256 and SHA-512 by
//! its managers, which have up to 16 messages under way. Its multi-hashes are no standard, and left out.
//!
//! Functions are called by their older names. Those that begin with `isal_` look at their arguments first, and in FIPS
//! builds for self-tests, before they run the same code: 2 of the 13 ns that a message of 16 bytes takes in GCM.
#![allow(unsafe_code)] // the library is C

mod cbc;
mod gcm;
mod hashes;
mod keys;
mod xts;

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use cipherlane_core::{Algorithm, Cipher, Device, Hash, Mode, Operation, Shape};
use cipherlane_threads::Topology;
use libloading::Library as Shared;

use crate::each::{Each, Library, aes_instructions, topology};
use crate::limits::Limits;
use crate::message::{Context, Fault};
use crate::shared::{self, symbol};

/// The device.
pub(crate) const ID: &str = "rival:isal-crypto";
/// Where it lies.
const NAMES: &[&str] = &["libisal_crypto.so.2"];

/// One call per message.
const DIRECT: &str = "direct";
/// The same for GCM, which loads and stores past the caches.
const PAST_CACHES: &str = "nt";
/// One call per message of XTS, with keys that were expanded before.
const EXPANDED: &str = "expanded-key";
/// A call per message, which returns one that is done.
const MANAGER: &str = "ctx-mgr";

struct IsaL {
    library: &'static Shared,
    version: String,
}

fn resolve(library: &'static Shared) -> Result<IsaL, &'static str> {
    if !aes_instructions() {
        return Err("code for a CPU without instructions for AES");
    }
    let version = version(library)?;
    gcm::Functions::of(library, 128)
        .ok_or("aes_gcm_enc_128 and what goes with it, as 2.25 and 2.26 have it")?;
    Ok(IsaL { library, version })
}

/// The library's version in its own words, which it has since 2.25. Before, it decrypted XTS wrongly in place where a text
/// ended within a block.
fn version(library: &'static Shared) -> Result<String, &'static str> {
    // SAFETY: takes nothing and returns a static C string.
    unsafe {
        let get: unsafe extern "C" fn() -> *const c_char = symbol(library, "isal_crypto_get_version_str")?;
        Ok(CStr::from_ptr(get()).to_string_lossy().into_owned())
    }
}

/// The library as a device, or why there is none.
pub(crate) fn open() -> Result<Box<dyn Device>, String> {
    static OPENED: OnceLock<Result<(IsaL, &'static str), String>> = OnceLock::new();
    let (library, file) =
        OPENED.get_or_init(|| shared::open(NAMES, resolve)).as_ref().map_err(Clone::clone)?;
    let version = &library.version;
    let details = vec![
        ("version".to_owned(), version.clone()),
        ("file".to_owned(), (*file).to_owned()),
        ("way".to_owned(), "aes_gcm_enc_*, XTS_AES_*, aes_cbc_enc_*; sha*_ctx_mgr_submit".to_owned()),
    ];
    Ok(Box::new(Each::new(ID, format!("ISA-L Crypto {version}"), details, Opened(library))))
}

struct Opened(&'static IsaL);

impl Opened {
    fn gcm(&self, cipher: Cipher) -> Option<gcm::Functions> {
        gcm::Functions::of(self.0.library, bits(cipher)?)
    }

    fn xts(&self, cipher: Cipher, forward: bool) -> Option<xts::Functions> {
        xts::Functions::of(self.0.library, bits(cipher)?, forward)
    }

    fn cbc(&self, cipher: Cipher, forward: bool) -> Option<cbc::Functions> {
        cbc::Functions::of(self.0.library, bits(cipher)?, forward)
    }

    fn hash(&self, hash: Hash) -> Option<hashes::Functions> {
        hashes::Functions::of(self.0.library, hash)
    }

    /// A context, where the library has the algorithm.
    fn start(&self, algorithm: Algorithm, operation: Operation, way: &str) -> Option<Box<dyn Context>> {
        let forward = operation.is_forward();
        Some(match algorithm {
            Algorithm::Cipher(cipher, Mode::Gcm) => {
                Box::new(gcm::Gcm::new(self.gcm(cipher)?, way == PAST_CACHES))
            }
            Algorithm::Cipher(cipher, Mode::Xts) if way == EXPANDED => {
                Box::new(xts::Expanded::new(self.xts(cipher, forward)?))
            }
            Algorithm::Cipher(cipher, Mode::Xts) => Box::new(xts::Direct::new(self.xts(cipher, forward)?)),
            Algorithm::Cipher(cipher, Mode::Cbc) => Box::new(cbc::Cbc::new(self.cbc(cipher, forward)?)),
            Algorithm::Cipher(_, Mode::Ecb | Mode::Ctr) => return None,
            Algorithm::Hash(hash) => Box::new(hashes::Hashes::new(self.hash(hash)?)),
        })
    }

    /// The ways for `shape`, best first, where the library has the algorithm.
    fn order(&self, shape: &Shape) -> Option<(Limits, Vec<&'static str>)> {
        let forward = shape.operation.is_forward();
        Some(match shape.algorithm {
            Algorithm::Cipher(cipher, Mode::Gcm) => {
                self.gcm(cipher)?;
                let ways = both(DIRECT, PAST_CACHES, is_too_much_for_caches(shape, topology()));
                (Limits { nonce: 12..=12, ..Limits::NONE }, ways)
            }
            // A key each is expanded faster within the call, which needs but one direction of it.
            Algorithm::Cipher(cipher, Mode::Xts) => {
                self.xts(cipher, forward)?;
                (Limits::NONE, both(EXPANDED, DIRECT, !shape.shared_key))
            }
            Algorithm::Cipher(cipher, Mode::Cbc) => {
                self.cbc(cipher, forward)?;
                (Limits::NONE, vec![DIRECT])
            }
            Algorithm::Cipher(_, Mode::Ecb | Mode::Ctr) => return None,
            Algorithm::Hash(hash) => {
                self.hash(hash)?;
                (Limits { longest: hashes::LONGEST, ..Limits::NONE }, vec![MANAGER])
            }
        })
    }
}

/// Bits of a key of AES.
fn bits(cipher: Cipher) -> Option<usize> {
    Cipher::AES.contains(&cipher).then(|| 8 * cipher.key_bytes())
}

/// Whether texts of `shape` are better loaded and stored past the caches: where what is read and written takes more
/// than a quarter of the last one. Seen on an Emerald Rapids with a last cache of 300 MiB: 64 MiB were 6 to 18 % faster
/// so, 4 to 32 MiB as fast within 6 %, more than 64 MiB within what the machine did meanwhile.
fn is_too_much_for_caches(shape: &Shape, topology: &Topology) -> bool {
    let last = topology.last_cache().map_or(u64::MAX, |bytes| bytes as u64);
    !shape.in_place && shape.bytes.saturating_mul(2) > last / 4
}

/// Both ways in either order.
fn both(first: &'static str, second: &'static str, swapped: bool) -> Vec<&'static str> {
    if swapped { vec![second, first] } else { vec![first, second] }
}

impl Library for Opened {
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)> {
        let (limits, ways) = self.order(shape).unwrap_or((Limits::NONE, Vec::new()));
        ways.into_iter().map(|way| (way, limits.clone())).collect()
    }

    fn context(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        way: &str,
    ) -> Result<Box<dyn Context>, Fault> {
        self.start(algorithm, operation, way).ok_or("the search for the algorithm")
    }

    fn constant_time(&self, _: Algorithm) -> bool {
        true
    }
}
