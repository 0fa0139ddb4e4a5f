//! Electronic codebook, SP 800-38A section 6.1.

use super::whole_blocks;
use crate::cipher::BlockCipher;

/// C_j = CIPH_K(P_j).
///
/// # Panics
/// If `text` is not whole blocks.
pub fn encrypt(cipher: &dyn BlockCipher, text: &mut [u8]) {
    for block in whole_blocks(text) {
        *block = cipher.encrypt(*block);
    }
}

/// P_j = CIPH^-1_K(C_j).
///
/// # Panics
/// If `text` is not whole blocks.
pub fn decrypt(cipher: &dyn BlockCipher, text: &mut [u8]) {
    for block in whole_blocks(text) {
        *block = cipher.decrypt(*block);
    }
}
