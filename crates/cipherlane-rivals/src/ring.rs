//! ring: GCM with nonces of 12 and tags of 16 bytes, in place; SHA-2.

use cipherlane_core::{Algorithm, Cipher, Device, Hash, Mode, Operation, Shape};
use ring::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::digest;

use crate::each::{Each, Library};
use crate::limits::Limits;
use crate::message::{Context, Fault, Message, PerMessage, Tag};

/// The only way there is to encrypt: `LessSafeKey`, which takes the caller's nonces.
const WAY: &str = "less-safe-key";
/// The only way there is to hash.
const DIGEST: &str = "digest";

/// The library as a device.
pub(crate) fn open() -> Box<dyn Device> {
    let details = vec![(
        "way".to_owned(),
        "seal_in_place_separate_tag, open_in_place_separate_tag; copies the text where it lies apart"
            .to_owned(),
    )];
    Box::new(Each::new("rival:ring", "ring 0.17".to_owned(), details, Ring))
}

struct Ring;

fn find(algorithm: Algorithm) -> Option<&'static aead::Algorithm> {
    match algorithm {
        Algorithm::Cipher(Cipher::Aes128, Mode::Gcm) => Some(&aead::AES_128_GCM),
        Algorithm::Cipher(Cipher::Aes256, Mode::Gcm) => Some(&aead::AES_256_GCM),
        _ => None,
    }
}

fn find_digest(hash: Hash) -> Option<&'static digest::Algorithm> {
    match hash {
        Hash::Sha256 => Some(&digest::SHA256),
        Hash::Sha384 => Some(&digest::SHA384),
        Hash::Sha512 => Some(&digest::SHA512),
        Hash::Sha512_256 => Some(&digest::SHA512_256),
        _ => None,
    }
}

impl Library for Ring {
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)> {
        if let Algorithm::Hash(hash) = shape.algorithm {
            return find_digest(hash).map(|_| (DIGEST, Limits::NONE)).into_iter().collect();
        }
        find(shape.algorithm).map(|_| (WAY, Limits::USUAL_GCM)).into_iter().collect()
    }

    fn context(&self, algorithm: Algorithm, _: Operation, _: &str) -> Result<Box<dyn Context>, Fault> {
        if let Algorithm::Hash(hash) = algorithm {
            return Ok(Box::new(RingDigest(find_digest(hash).ok_or("the search for the digest")?)));
        }
        let algorithm = find(algorithm).ok_or("the search for the algorithm")?;
        Ok(Box::new(RingContext { algorithm, key: None }))
    }

    // Without AES instructions it has constant-time AES and GHASH of its own.
    fn constant_time(&self, _: Algorithm) -> bool {
        true
    }
}

struct RingDigest(&'static digest::Algorithm);

impl PerMessage for RingDigest {
    fn message(&mut self, _: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        let text = message.source.ok_or("the search for a text")?;
        let Tag::Make(out) = &mut message.tag else { return Err("the search for a digest") };
        out.copy_from_slice(digest::digest(self.0, text).as_ref());
        Ok(true)
    }
}

struct RingContext {
    algorithm: &'static aead::Algorithm,
    key: Option<LessSafeKey>,
}

impl PerMessage for RingContext {
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        if let Some(key) = key {
            let unbound = UnboundKey::new(self.algorithm, key).map_err(|_| "UnboundKey::new")?;
            self.key = Some(LessSafeKey::new(unbound));
        }
        let key = self.key.as_ref().ok_or("the search for a key")?;
        let nonce = Nonce::try_assume_unique_for_key(message.nonce).map_err(|_| "Nonce")?;
        message.bring_in_place();
        let aad = Aad::from(message.aad);
        match &mut message.tag {
            Tag::Make(tag) => {
                let made = key.seal_in_place_separate_tag(nonce, aad, message.out);
                tag.copy_from_slice(made.map_err(|_| "seal_in_place_separate_tag")?.as_ref());
                Ok(true)
            }
            Tag::Check(tag) => {
                let tag = (*tag).try_into().map_err(|_| "Tag")?;
                Ok(key.open_in_place_separate_tag(nonce, aad, tag, message.out, 0..).is_ok())
            }
            Tag::Absent => Err("the search for a tag"),
        }
    }
}
