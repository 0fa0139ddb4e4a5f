//! Counter mode, SP 800-38A section 6.5, with the whole block as a big-endian counter (appendix B.1, m = 128).

use cipherlane_core::BLOCK;

use crate::cipher::{Block, BlockCipher};

/// Xors `text` with CIPH_K(T_1), CIPH_K(T_2), ...: encryption and decryption are the same.
pub fn apply(cipher: &dyn BlockCipher, first_counter: Block, text: &mut [u8]) {
    let counter = u128::from_be_bytes(first_counter);
    apply_counters(cipher, (0..).map(|j: u128| counter.wrapping_add(j).to_be_bytes()), text);
}

/// Xors `text` with the encrypted `counters`, whichever the incrementing function that made them.
pub(crate) fn apply_counters(
    cipher: &dyn BlockCipher,
    counters: impl Iterator<Item = Block>,
    text: &mut [u8],
) {
    for (part, counter) in text.chunks_mut(BLOCK).zip(counters) {
        for (byte, key) in part.iter_mut().zip(cipher.encrypt(counter)) {
            *byte ^= key;
        }
    }
}
