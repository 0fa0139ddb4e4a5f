//! SM4 with tables of the S-box and the linear map behind it, as in most software: for the laboratory alone.
//!
//! Not constant-time: see [`super::table_vartime`].

use zeroize::Zeroize;

use super::sm4::boxes::SBOX;
use super::sm4::keys::{FIXED, SYSTEM};
use super::table_vartime::{OneByOne, TableCipher, block_of, words_of};

/// T of GB/T 32907 section 6.2, of each byte of a word at its place, first byte highest. 4 KiB.
static T: [[u32; 256]; 4] = {
    let (mut tables, mut i) = ([[0; 256]; 4], 0);
    while i < 4 * 256 {
        let (byte, value) = (i / 256, i % 256);
        let b = (SBOX[value] as u32) << (24 - 8 * byte);
        tables[byte][value] =
            b ^ b.rotate_left(2) ^ b.rotate_left(10) ^ b.rotate_left(18) ^ b.rotate_left(24);
        i += 1;
    }
    tables
};

#[inline(always)]
fn t_vartime(word: u32) -> u32 {
    T.iter().zip(word.to_be_bytes()).fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
}

/// T' of section 7.3, for the key schedule.
#[inline(always)]
fn t_of_keys_vartime(word: u32) -> u32 {
    static S: [u8; 256] = SBOX;
    let b = u32::from_be_bytes(word.to_be_bytes().map(|byte| S[usize::from(byte)]));
    b ^ b.rotate_left(13) ^ b.rotate_left(23)
}

/// SM4 in one direction, with tables: INVERSE decrypts.
pub(crate) struct Sm4Vartime<const INVERSE: bool> {
    /// In the order of use.
    round_keys: [u32; FIXED.len()],
}

/// SM4 encryption with tables.
pub(crate) type Sm4EncryptVartime = OneByOne<Sm4Vartime<false>>;

/// SM4 decryption with tables.
pub(crate) type Sm4DecryptVartime = OneByOne<Sm4Vartime<true>>;

impl<const INVERSE: bool> TableCipher for Sm4Vartime<INVERSE> {
    fn expand_vartime(key: &[u8]) -> Self {
        let mut state = SYSTEM;
        for (word, bytes) in state.iter_mut().zip(key.as_chunks().0) {
            *word ^= u32::from_be_bytes(*bytes);
        }
        let mut round_keys = FIXED;
        for round_key in &mut round_keys {
            let [a, b, c, d] = state;
            *round_key = a ^ t_of_keys_vartime(b ^ c ^ d ^ *round_key);
            state = [b, c, d, *round_key];
        }
        state.zeroize();
        if INVERSE {
            round_keys.reverse();
        }
        Self { round_keys }
    }

    #[inline(always)]
    fn crypt_vartime(&self, block: [u64; 2]) -> [u64; 2] {
        let [mut a, mut b, mut c, mut d] = words_of(block);
        for [k0, k1, k2, k3] in self.round_keys.as_chunks().0 {
            a ^= t_vartime(b ^ c ^ d ^ k0);
            b ^= t_vartime(c ^ d ^ a ^ k1);
            c ^= t_vartime(d ^ a ^ b ^ k2);
            d ^= t_vartime(a ^ b ^ c ^ k3);
        }
        block_of([d, c, b, a])
    }
}

impl<const INVERSE: bool> Drop for Sm4Vartime<INVERSE> {
    fn drop(&mut self) {
        self.round_keys.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::grouped::Only;
    use crate::cipher::slices::Native;
    use crate::cipher::sm4::{Sm4Encrypt, bits::Bits};
    use crate::cipher::table_vartime::assert_agrees;

    #[test]
    fn tables_agree_with_circuits() {
        assert_agrees::<Sm4EncryptVartime, Sm4DecryptVartime, Only<Sm4Encrypt<Bits<Native>>>>(&[16]);
    }

    /// The S-box of GB/T 32907 section 6.2 at its corners.
    #[test]
    fn the_s_box_is_that_of_the_standard() {
        assert_eq!((SBOX[0x00], SBOX[0xef], SBOX[0xff]), (0xd6, 0x84, 0x48));
    }
}
