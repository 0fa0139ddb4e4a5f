//! ring: GCM with nonces of 12 and tags of 16 bytes, in place.

use cipherlane_core::{Algorithm, Cipher, Device, Mode, Operation, Shape};
use ring::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::each::{Each, Library, Limits};
use crate::message::{Context, Fault, Message, Tag};

/// The only way there is: `LessSafeKey`, which takes the caller's nonces.
const WAY: &str = "less-safe-key";

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

impl Library for Ring {
    fn ways(&self, shape: &Shape) -> Vec<(&'static str, Limits)> {
        find(shape.algorithm).map(|_| (WAY, Limits::USUAL_GCM)).into_iter().collect()
    }

    fn context(&self, algorithm: Algorithm, _: Operation, _: &str) -> Result<Box<dyn Context>, Fault> {
        let algorithm = find(algorithm).ok_or("the search for the algorithm")?;
        Ok(Box::new(RingContext { algorithm, key: None }))
    }

    // Without AES instructions it has constant-time AES and GHASH of its own.
    fn constant_time(&self) -> bool {
        true
    }
}

struct RingContext {
    algorithm: &'static aead::Algorithm,
    key: Option<LessSafeKey>,
}

impl Context for RingContext {
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
