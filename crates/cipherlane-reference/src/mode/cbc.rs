//! Cipher block chaining, SP 800-38A section 6.2.

use super::whole_blocks;
use crate::cipher::{Block, BlockCipher, xor};

/// C_1 = CIPH_K(P_1 xor IV), C_j = CIPH_K(P_j xor C_(j-1)).
///
/// # Panics
/// If `text` is not whole blocks.
pub fn encrypt(cipher: &dyn BlockCipher, iv: Block, text: &mut [u8]) {
    let mut previous = iv;
    for block in whole_blocks(text) {
        *block = cipher.encrypt(xor(*block, previous));
        previous = *block;
    }
}

/// P_1 = CIPH^-1_K(C_1) xor IV, P_j = CIPH^-1_K(C_j) xor C_(j-1).
///
/// # Panics
/// If `text` is not whole blocks.
pub fn decrypt(cipher: &dyn BlockCipher, iv: Block, text: &mut [u8]) {
    let mut previous = iv;
    for block in whole_blocks(text) {
        let ciphertext = *block;
        *block = xor(cipher.decrypt(ciphertext), previous);
        previous = ciphertext;
    }
}
