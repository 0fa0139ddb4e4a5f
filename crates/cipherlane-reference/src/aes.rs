//! AES as FIPS 197 (update 1, 2023) writes it down. Section numbers are that standard's.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::cipher::{Block, BlockCipher, xor};

/// AES under one key of 16, 24 or 32 bytes.
///
/// The state is the block itself: byte `r + 4c` is row `r`, column `c` of the standard's matrix (section 3.4).
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Aes {
    /// The key schedule w, four words to a round, the first used as it is (section 5.2).
    round_keys: Vec<Block>,
}

// The key schedule reveals the key.
impl std::fmt::Debug for Aes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Aes({} rounds)", self.round_keys.len() - 1)
    }
}

impl Aes {
    /// KEYEXPANSION (section 5.2, algorithm 2).
    ///
    /// # Panics
    /// If `key` has not 16, 24 or 32 bytes.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        assert!(matches!(key.len(), 16 | 24 | 32), "AES keys have 16, 24 or 32 bytes, not {}", key.len());
        let nk = key.len() / 4;
        let rounds = nk + 6;
        let mut words: Vec<[u8; 4]> =
            key.chunks_exact(4).map(|word| std::array::from_fn(|i| word[i])).collect();
        let mut round_constant = 1;
        for i in nk..4 * (rounds + 1) {
            let mut word = words[i - 1];
            if i % nk == 0 {
                word.rotate_left(1);
                word = word.map(sub_byte);
                word[0] ^= round_constant;
                round_constant = xtimes(round_constant);
            } else if nk > 6 && i % nk == 4 {
                word = word.map(sub_byte);
            }
            let earlier = words[i - nk];
            words.push(std::array::from_fn(|byte| earlier[byte] ^ word[byte]));
        }
        let round_keys =
            words.chunks_exact(4).map(|round| std::array::from_fn(|i| round[i / 4][i % 4])).collect();
        words.zeroize();
        Self { round_keys }
    }
}

impl BlockCipher for Aes {
    /// CIPHER (section 5.1, algorithm 1).
    fn encrypt(&self, block: Block) -> Block {
        let last = self.round_keys.len() - 1;
        let mut state = xor(block, self.round_keys[0]);
        for round_key in &self.round_keys[1..last] {
            state = xor(mix_columns(shift_rows(state.map(sub_byte))), *round_key);
        }
        xor(shift_rows(state.map(sub_byte)), self.round_keys[last])
    }

    /// INVCIPHER (section 5.3, algorithm 3).
    fn decrypt(&self, block: Block) -> Block {
        let last = self.round_keys.len() - 1;
        let mut state = xor(block, self.round_keys[last]);
        for round_key in self.round_keys[1..last].iter().rev() {
            state = inv_mix_columns(xor(inv_shift_rows(state).map(inv_sub_byte), *round_key));
        }
        xor(inv_shift_rows(state).map(inv_sub_byte), self.round_keys[0])
    }
}

/// SBOX of section 5.1.1, computed from its definition when this is compiled.
const SBOX: [u8; 256] = sbox();
/// INVSBOX of section 5.3.2.
const INV_SBOX: [u8; 256] = inverse(&SBOX);

/// One byte of SUBBYTES (section 5.1.1).
fn sub_byte(byte: u8) -> u8 {
    SBOX[usize::from(byte)]
}

/// One byte of INVSUBBYTES (section 5.3.2).
fn inv_sub_byte(byte: u8) -> u8 {
    INV_SBOX[usize::from(byte)]
}

/// SHIFTROWS (section 5.1.2): row `r` moves `r` columns to the left.
fn shift_rows(state: Block) -> Block {
    std::array::from_fn(|i| state[(i + 4 * (i % 4)) % 16])
}

/// INVSHIFTROWS (section 5.3.1): row `r` moves `r` columns to the right.
fn inv_shift_rows(state: Block) -> Block {
    std::array::from_fn(|i| state[(i + 12 * (i % 4)) % 16])
}

/// MIXCOLUMNS (section 5.1.3): each column times 02 03 01 01, rotated from row to row.
fn mix_columns(state: Block) -> Block {
    let mut mixed = [0; 16];
    for (column, out) in state.chunks_exact(4).zip(mixed.chunks_exact_mut(4)) {
        for (row, byte) in out.iter_mut().enumerate() {
            let [a, b, c, d] = std::array::from_fn(|i| column[(row + i) % 4]);
            *byte = xtimes(a) ^ (xtimes(b) ^ b) ^ c ^ d;
        }
    }
    mixed
}

/// INVMIXCOLUMNS (section 5.3.3): each column times 0e 0b 0d 09, rotated from row to row.
fn inv_mix_columns(state: Block) -> Block {
    let mut mixed = [0; 16];
    for (column, out) in state.chunks_exact(4).zip(mixed.chunks_exact_mut(4)) {
        for (row, byte) in out.iter_mut().enumerate() {
            let [a, b, c, d] = std::array::from_fn(|i| column[(row + i) % 4]);
            // 0e = 8 + 4 + 2, 0b = 8 + 2 + 1, 0d = 8 + 4 + 1, 09 = 8 + 1: collect what is multiplied by each.
            let eight = xtimes(xtimes(xtimes(a ^ b ^ c ^ d)));
            let four = xtimes(xtimes(a ^ c));
            *byte = eight ^ four ^ xtimes(a ^ b) ^ b ^ c ^ d;
        }
    }
    mixed
}

/// XTIMES (section 4.2): times x modulo x^8 + x^4 + x^3 + x + 1.
const fn xtimes(byte: u8) -> u8 {
    (byte << 1) ^ ((byte >> 7) * 0x1b)
}

/// The product in GF(2^8) (section 4.2).
const fn multiply(a: u8, b: u8) -> u8 {
    let (mut product, mut multiple, mut bit) = (0, a, 0);
    while bit < 8 {
        product ^= multiple * (b >> bit & 1);
        multiple = xtimes(multiple);
        bit += 1;
    }
    product
}

/// Equation 5.2 on the multiplicative inverse, equation 5.1, of every byte.
const fn sbox() -> [u8; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        #[allow(clippy::cast_possible_truncation)] // below 256
        let byte = index as u8;
        // b^254 is the inverse of b, and 0 for 0 (section 4.4).
        let (mut inverse, mut factor) = (byte, 1);
        while factor < 254 {
            inverse = multiply(inverse, byte);
            factor += 1;
        }
        table[index] = inverse
            ^ inverse.rotate_left(1)
            ^ inverse.rotate_left(2)
            ^ inverse.rotate_left(3)
            ^ inverse.rotate_left(4)
            ^ 0x63;
        index += 1;
    }
    table
}

const fn inverse(table: &[u8; 256]) -> [u8; 256] {
    let mut inverse = [0; 256];
    let mut index = 0;
    while index < 256 {
        #[allow(clippy::cast_possible_truncation)] // below 256
        let byte = index as u8;
        inverse[table[index] as usize] = byte;
        index += 1;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197 appendix A: the last word of each expanded key.
    #[test]
    fn key_expansion_of_appendix_a() {
        let last_word =
            |key: &[u8]| Aes::new(key).round_keys.last().map(|block| block[12..].to_vec()).unwrap();
        let key = |hex: &str| crate::vectors::hex::decode(hex).unwrap();
        assert_eq!(last_word(&key("2b7e151628aed2a6abf7158809cf4f3c")), key("b6630ca6"));
        assert_eq!(last_word(&key("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b")), key("01002202"));
        assert_eq!(
            last_word(&key("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")),
            key("706c631e")
        );
    }

    /// FIPS 197 table 4 at its corners, and the field examples of section 4.2.
    #[test]
    fn sbox_and_field() {
        assert_eq!((SBOX[0x00], SBOX[0x53], SBOX[0xff]), (0x63, 0xed, 0x16));
        assert!((0..=255).all(|byte| inv_sub_byte(sub_byte(byte)) == byte));
        assert_eq!(multiply(0x57, 0x83), 0xc1);
        assert_eq!(multiply(0x57, 0x13), 0xfe);
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Aes::new(&[7; 24])), "Aes(12 rounds)");
    }
}
