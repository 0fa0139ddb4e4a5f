//! What a mode of operation needs of a block cipher.

use cipherlane_core::{BLOCK, Cipher};

use crate::aes::Aes;
use crate::camellia::Camellia;
use crate::sc2000::Sc2000;
use crate::sm4::Sm4;

/// One block.
pub type Block = [u8; BLOCK];

/// A block cipher under one key: a permutation of the blocks, and its inverse (SP 800-38A section 5.1).
pub trait BlockCipher {
    /// The forward cipher function, CIPH_K.
    fn encrypt(&self, block: Block) -> Block;

    /// The inverse cipher function.
    fn decrypt(&self, block: Block) -> Block;
}

/// `cipher` under `key`.
///
/// # Panics
/// If `key` has not [`Cipher::key_bytes`] bytes.
#[must_use]
pub fn keyed(cipher: Cipher, key: &[u8]) -> Box<dyn BlockCipher> {
    assert_eq!(key.len(), cipher.key_bytes(), "{} takes keys of that many bytes", cipher.name());
    match cipher {
        Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => Box::new(Aes::new(key)),
        Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => Box::new(Camellia::new(key)),
        Cipher::Sc2000_128 | Cipher::Sc2000_192 | Cipher::Sc2000_256 => Box::new(Sc2000::new(key)),
        Cipher::Sm4 => Box::new(Sm4::new(key)),
    }
}

/// `a` xor `b`.
pub(crate) fn xor(a: Block, b: Block) -> Block {
    std::array::from_fn(|i| a[i] ^ b[i])
}
