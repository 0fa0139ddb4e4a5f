//! graviola: GCM with nonces of 12 and tags of 16 bytes, in place; SHA-2.

use cipherlane_core::{Algorithm, Cipher, Device, Hash, Mode, Operation, Shape};
use graviola::aead::AesGcm;
use graviola::hashing::{self, Hash as _};

use crate::each::{Each, Library};
use crate::limits::Limits;
use crate::message::{Context, Fault, Message, PerMessage, Tag};

/// The only way there is to encrypt.
const WAY: &str = "aes-gcm";
/// The only way there is to hash.
const HASHING: &str = "hashing";

/// The library as a device, or the instructions that it demands and this CPU lacks: it would panic.
pub(crate) fn open() -> Result<Box<dyn Device>, String> {
    let missing = missing();
    if !missing.is_empty() {
        return Err(format!("graviola needs {}, which this CPU lacks", missing.join(", ")));
    }
    let details = vec![(
        "way".to_owned(),
        "AesGcm::encrypt, AesGcm::decrypt; copies the text where it lies apart".to_owned(),
    )];
    Ok(Box::new(Each::new("rival:graviola", "graviola 0.4".to_owned(), details, Graviola)))
}

#[cfg(target_arch = "x86_64")]
fn missing() -> Vec<&'static str> {
    let wanted = [
        ("aes", std::is_x86_feature_detected!("aes")),
        ("pclmulqdq", std::is_x86_feature_detected!("pclmulqdq")),
        ("bmi1", std::is_x86_feature_detected!("bmi1")),
        ("adx", std::is_x86_feature_detected!("adx")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
    ];
    wanted.into_iter().filter(|(_, found)| !found).map(|(name, _)| name).collect()
}

#[cfg(target_arch = "aarch64")]
fn missing() -> Vec<&'static str> {
    let wanted = [
        ("neon", std::arch::is_aarch64_feature_detected!("neon")),
        ("aes", std::arch::is_aarch64_feature_detected!("aes")),
        ("pmull", std::arch::is_aarch64_feature_detected!("pmull")),
        ("sha2", std::arch::is_aarch64_feature_detected!("sha2")),
    ];
    wanted.into_iter().filter(|(_, found)| !found).map(|(name, _)| name).collect()
}

struct Graviola;

impl Library for Graviola {
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)> {
        match shape.algorithm {
            Algorithm::Cipher(Cipher::Aes128 | Cipher::Aes256, Mode::Gcm) => vec![(WAY, Limits::USUAL_GCM)],
            Algorithm::Hash(Hash::Sha256 | Hash::Sha384 | Hash::Sha512) => vec![(HASHING, Limits::NONE)],
            _ => Vec::new(),
        }
    }

    fn context(&self, algorithm: Algorithm, _: Operation, _: &str) -> Result<Box<dyn Context>, Fault> {
        Ok(match algorithm {
            Algorithm::Hash(hash) => Box::new(GraviolaHash(hash)),
            Algorithm::Cipher(..) => Box::new(GraviolaContext { key: None }),
        })
    }

    fn constant_time(&self, _: Algorithm) -> bool {
        true
    }
}

struct GraviolaHash(Hash);

impl PerMessage for GraviolaHash {
    fn message(&mut self, _: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        let text = message.source.ok_or("the search for a text")?;
        let Tag::Make(out) = &mut message.tag else { return Err("the search for a digest") };
        match self.0 {
            Hash::Sha256 => out.copy_from_slice(hashing::Sha256::hash(text).as_ref()),
            Hash::Sha384 => out.copy_from_slice(hashing::Sha384::hash(text).as_ref()),
            Hash::Sha512 => out.copy_from_slice(hashing::Sha512::hash(text).as_ref()),
            _ => return Err("the search for the hash function"),
        }
        Ok(true)
    }
}

struct GraviolaContext {
    key: Option<AesGcm>,
}

impl PerMessage for GraviolaContext {
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        if let Some(key) = key {
            self.key = Some(AesGcm::new(key));
        }
        let key = self.key.as_ref().ok_or("the search for a key")?;
        let nonce = message.nonce.try_into().map_err(|_| "a nonce of 12 bytes")?;
        message.bring_in_place();
        match &mut message.tag {
            Tag::Make(tag) => {
                let tag: &mut [u8; 16] = (&mut **tag).try_into().map_err(|_| "a tag of 16 bytes")?;
                key.encrypt(nonce, message.aad, message.out, tag);
                Ok(true)
            }
            Tag::Check(tag) => Ok(key.decrypt(nonce, message.aad, message.out, tag).is_ok()),
            Tag::Absent => Err("the search for a tag"),
        }
    }
}
