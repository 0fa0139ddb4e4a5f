//! How long the keys, nonces and tags of an algorithm are.

use cipherlane::{Algorithm, BLOCK};

/// Lengths in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The key of a message; 0 of a hash function. XTS has two cipher keys in one.
    pub key: usize,
    /// The nonce, IV, initial counter block or tweak of a message; 12 of GCM, which takes any from 1 byte.
    pub nonce: usize,
    /// The whole tag of GCM, the usual digest of a hash function; 0 of others.
    pub tag: usize,
}

impl Sizes {
    /// Those of `algorithm`.
    #[must_use]
    pub fn of(algorithm: Algorithm) -> Self {
        /// SP 800-38D section 5.2.1.1 recommends it: any other is hashed first.
        const GCM_NONCE: usize = 12;
        Self {
            key: algorithm.key_bytes(),
            nonce: algorithm.nonce_bytes().unwrap_or(GCM_NONCE),
            tag: match algorithm.hash() {
                Some(hash) => hash.usual_digest_bytes(),
                None if algorithm.is_aead() => BLOCK,
                None => 0,
            },
        }
    }
}
