//! AWS-LC, by each of its public interfaces; which of them comes first was measured (`examples/ways.rs`).
#![allow(unsafe_code)] // the library is C

mod aead;
mod direct;
mod functions;
mod sha2;

use std::ptr::null;
use std::sync::OnceLock;

use aws_lc_sys as aws;
use cipherlane_core::{Algorithm, Cipher, Device, Hash, Mode, Operation, Shape};

use crate::digest::{Digest, Digests, MdPointer};
use crate::each::{Each, Library, aes_instructions};
use crate::evp::{Api, CipherPointer, Evp};
use crate::limits::Limits;
use crate::masking;
use crate::message::{Context, Fault};

/// The device.
pub(crate) const ID: &str = "rival:aws-lc";

/// `EVP_AEAD_CTX_seal_scatter` and `EVP_AEAD_CTX_open_gather`: one call per message.
const AEAD: &str = "evp-aead";
/// `EVP_CipherUpdate`.
const EVP: &str = "evp";
/// `AES_ctr128_encrypt` and `AES_cbc_encrypt`: no context at all.
const DIRECT: &str = "aes";
/// `SHA256` and its like: one call per message.
const SHA: &str = "sha";

/// The library as a device.
pub(crate) fn open() -> Box<dyn Device> {
    static API: OnceLock<Api> = OnceLock::new();
    // SAFETY: all functions are AWS-LC's, linked statically, and `find` names each cipher's own function.
    let api = API.get_or_init(|| unsafe { Api::new(functions::FUNCTIONS, find) });
    static DIGESTS: OnceLock<Digests> = OnceLock::new();
    // SAFETY: as above.
    let digests = DIGESTS.get_or_init(|| unsafe { Digests::new(functions::MD_FUNCTIONS, find_digest) });
    let version = api.version();
    let mut details = vec![
        ("version".to_owned(), version.clone()),
        (
            "way".to_owned(),
            "GCM: EVP_AEAD; CTR and CBC: AES_ctr128_encrypt, AES_cbc_encrypt; else EVP_CipherUpdate; SHA-2: \
             SHA256 and its like; other hashes: EVP_DigestUpdate"
                .to_owned(),
        ),
    ];
    details.extend(masking::detail());
    let limits = Limits { equal_xts_halves: api.takes_equal_xts_halves(), ..Limits::NONE };
    Box::new(Each::new(ID, version, details, AwsLc { api, digests, limits }))
}

/// AWS-LC's cipher, or null where it has none.
fn find(algorithm: Algorithm) -> CipherPointer {
    let function: unsafe extern "C" fn() -> *const aws::EVP_CIPHER = match algorithm {
        Algorithm::Cipher(Cipher::Aes128, Mode::Ecb) => aws::EVP_aes_128_ecb,
        Algorithm::Cipher(Cipher::Aes192, Mode::Ecb) => aws::EVP_aes_192_ecb,
        Algorithm::Cipher(Cipher::Aes256, Mode::Ecb) => aws::EVP_aes_256_ecb,
        Algorithm::Cipher(Cipher::Aes128, Mode::Cbc) => aws::EVP_aes_128_cbc,
        Algorithm::Cipher(Cipher::Aes192, Mode::Cbc) => aws::EVP_aes_192_cbc,
        Algorithm::Cipher(Cipher::Aes256, Mode::Cbc) => aws::EVP_aes_256_cbc,
        Algorithm::Cipher(Cipher::Aes128, Mode::Ctr) => aws::EVP_aes_128_ctr,
        Algorithm::Cipher(Cipher::Aes192, Mode::Ctr) => aws::EVP_aes_192_ctr,
        Algorithm::Cipher(Cipher::Aes256, Mode::Ctr) => aws::EVP_aes_256_ctr,
        Algorithm::Cipher(Cipher::Aes128, Mode::Gcm) => aws::EVP_aes_128_gcm,
        Algorithm::Cipher(Cipher::Aes192, Mode::Gcm) => aws::EVP_aes_192_gcm,
        Algorithm::Cipher(Cipher::Aes256, Mode::Gcm) => aws::EVP_aes_256_gcm,
        Algorithm::Cipher(Cipher::Aes256, Mode::Xts) => aws::EVP_aes_256_xts,
        _ => return null(),
    };
    // SAFETY: takes nothing and returns a static object.
    unsafe { function() }.cast()
}

/// AWS-LC's digest, or null where it has none.
fn find_digest(hash: Hash) -> MdPointer {
    let function: unsafe extern "C" fn() -> *const aws::EVP_MD = match hash {
        Hash::Sha224 => aws::EVP_sha224,
        Hash::Sha256 => aws::EVP_sha256,
        Hash::Sha384 => aws::EVP_sha384,
        Hash::Sha512 => aws::EVP_sha512,
        Hash::Sha512_256 => aws::EVP_sha512_256,
        Hash::Sha3_224 => aws::EVP_sha3_224,
        Hash::Sha3_256 => aws::EVP_sha3_256,
        Hash::Sha3_384 => aws::EVP_sha3_384,
        Hash::Sha3_512 => aws::EVP_sha3_512,
        Hash::Shake128 => aws::EVP_shake128,
        Hash::Shake256 => aws::EVP_shake256,
        Hash::Keccak224 | Hash::Keccak256 | Hash::Keccak384 | Hash::Keccak512 => return null(),
    };
    // SAFETY: takes nothing and returns a static object.
    unsafe { function() }.cast()
}

/// Whether GCM's one-call interface is the faster one: its key set-up is cheaper, its messages are not.
fn one_call_wins(shape: &Shape) -> bool {
    !shape.shared_key && shape.bytes < 8192 * shape.messages as u64
}

struct AwsLc {
    api: &'static Api,
    digests: &'static Digests,
    limits: Limits,
}

impl Library for AwsLc {
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)> {
        if let Algorithm::Hash(hash) = shape.algorithm {
            let one_call = sha2::Sha2::of(hash).map(|_| SHA);
            let evp = self.digests.has(hash).then_some(EVP);
            return one_call.into_iter().chain(evp).map(|way| (way, self.limits.clone())).collect();
        }
        if !self.api.has(shape.algorithm) {
            return Vec::new();
        }
        let ways: &[_] = match shape.algorithm.mode() {
            Some(Mode::Gcm) if one_call_wins(shape) => &[AEAD, EVP],
            Some(Mode::Gcm) => &[EVP, AEAD],
            Some(Mode::Ctr | Mode::Cbc) => &[DIRECT, EVP],
            Some(Mode::Ecb | Mode::Xts) => &[EVP],
            None => &[],
        };
        ways.iter().map(|&way| (way, self.limits.clone())).collect()
    }

    fn context(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        way: &str,
    ) -> Result<Box<dyn Context>, Fault> {
        let (cipher, mode) = match algorithm {
            Algorithm::Cipher(cipher, mode) => (cipher, mode),
            Algorithm::Hash(hash) if way == SHA => {
                return Ok(Box::new(sha2::Sha2::of(hash).ok_or("the search for the hash")?));
            }
            Algorithm::Hash(hash) => return Ok(Box::new(Digest::new(self.digests, hash)?)),
        };
        Ok(match way {
            AEAD => Box::new(aead::Aead::new(cipher).ok_or("the search for the AEAD")?),
            DIRECT => Box::new(direct::Direct::new(mode, operation)),
            _ => Box::new(Evp::new(self.api, algorithm, operation)?),
        })
    }

    fn constant_time(&self, _: Algorithm) -> bool {
        aes_instructions() && masking::keeps_aes()
    }
}
