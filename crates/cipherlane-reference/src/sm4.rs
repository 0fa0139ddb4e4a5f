//! SM4 as GB/T 32907-2016 writes it down. Section numbers are that standard's; draft-ribose-cfrg-sm4 has it in
//! English.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::cipher::{Block, BlockCipher};

/// SM4 under one key of 16 bytes.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Sm4 {
    /// rk_0 to rk_31 (section 7.3).
    round_keys: [u32; 32],
}

// The round keys reveal the key.
impl std::fmt::Debug for Sm4 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sm4({} rounds)", self.round_keys.len())
    }
}

impl Sm4 {
    /// The key expansion (section 7.3).
    ///
    /// # Panics
    /// If `key` has not 16 bytes.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        assert_eq!(key.len(), 16, "SM4 keys have 16 bytes");
        let mut k = words(std::array::from_fn(|i| key[i]));
        for (word, parameter) in k.iter_mut().zip(FK) {
            *word ^= parameter;
        }
        let mut round_keys = [0; 32];
        for (i, round_key) in round_keys.iter_mut().enumerate() {
            // T' is T with L' instead of L.
            *round_key = k[0] ^ l_of_keys(tau(k[1] ^ k[2] ^ k[3] ^ ck(i)));
            k = [k[1], k[2], k[3], *round_key];
        }
        Self { round_keys }
    }
}

impl BlockCipher for Sm4 {
    /// Section 7.1.
    fn encrypt(&self, block: Block) -> Block {
        rounds(self.round_keys.into_iter(), block)
    }

    /// Section 7.2: the round keys in reverse order.
    fn decrypt(&self, block: Block) -> Block {
        rounds(self.round_keys.into_iter().rev(), block)
    }
}

/// 32 times the round function F (section 6.1), then the reverse transformation R (section 7.1).
fn rounds(round_keys: impl Iterator<Item = u32>, block: Block) -> Block {
    let mut x = words(block);
    for round_key in round_keys {
        let next = x[0] ^ l(tau(x[1] ^ x[2] ^ x[3] ^ round_key));
        x = [x[1], x[2], x[3], next];
    }
    x.reverse();
    let mut block = Block::default();
    for (bytes, word) in block.chunks_exact_mut(4).zip(x) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    block
}

/// The big-endian words of a block.
fn words(block: Block) -> [u32; 4] {
    std::array::from_fn(|i| {
        let [a, b, c, d] = std::array::from_fn(|byte| block[4 * i + byte]);
        u32::from_be_bytes([a, b, c, d])
    })
}

/// The nonlinear transformation tau (section 6.2).
fn tau(a: u32) -> u32 {
    u32::from_be_bytes(a.to_be_bytes().map(|byte| SBOX[usize::from(byte)]))
}

/// The linear transformation L (section 6.2).
fn l(b: u32) -> u32 {
    b ^ b.rotate_left(2) ^ b.rotate_left(10) ^ b.rotate_left(18) ^ b.rotate_left(24)
}

/// The linear transformation L' of the key expansion (section 7.3).
fn l_of_keys(b: u32) -> u32 {
    b ^ b.rotate_left(13) ^ b.rotate_left(23)
}

/// The system parameters FK (section 7.3).
const FK: [u32; 4] = [0xa3b1_bac6, 0x56aa_3350, 0x677d_9197, 0xb270_22dc];

/// The fixed parameter CK_i: byte j is (4i + j) * 7 mod 256 (section 7.3).
#[allow(clippy::cast_possible_truncation)] // modulo 256
fn ck(i: usize) -> u32 {
    u32::from_be_bytes(std::array::from_fn(|j| ((4 * i + j) * 7) as u8))
}

/// The S-box (section 6.2).
#[rustfmt::skip]
const SBOX: [u8; 256] = [
    0xd6, 0x90, 0xe9, 0xfe, 0xcc, 0xe1, 0x3d, 0xb7, 0x16, 0xb6, 0x14, 0xc2, 0x28, 0xfb, 0x2c, 0x05,
    0x2b, 0x67, 0x9a, 0x76, 0x2a, 0xbe, 0x04, 0xc3, 0xaa, 0x44, 0x13, 0x26, 0x49, 0x86, 0x06, 0x99,
    0x9c, 0x42, 0x50, 0xf4, 0x91, 0xef, 0x98, 0x7a, 0x33, 0x54, 0x0b, 0x43, 0xed, 0xcf, 0xac, 0x62,
    0xe4, 0xb3, 0x1c, 0xa9, 0xc9, 0x08, 0xe8, 0x95, 0x80, 0xdf, 0x94, 0xfa, 0x75, 0x8f, 0x3f, 0xa6,
    0x47, 0x07, 0xa7, 0xfc, 0xf3, 0x73, 0x17, 0xba, 0x83, 0x59, 0x3c, 0x19, 0xe6, 0x85, 0x4f, 0xa8,
    0x68, 0x6b, 0x81, 0xb2, 0x71, 0x64, 0xda, 0x8b, 0xf8, 0xeb, 0x0f, 0x4b, 0x70, 0x56, 0x9d, 0x35,
    0x1e, 0x24, 0x0e, 0x5e, 0x63, 0x58, 0xd1, 0xa2, 0x25, 0x22, 0x7c, 0x3b, 0x01, 0x21, 0x78, 0x87,
    0xd4, 0x00, 0x46, 0x57, 0x9f, 0xd3, 0x27, 0x52, 0x4c, 0x36, 0x02, 0xe7, 0xa0, 0xc4, 0xc8, 0x9e,
    0xea, 0xbf, 0x8a, 0xd2, 0x40, 0xc7, 0x38, 0xb5, 0xa3, 0xf7, 0xf2, 0xce, 0xf9, 0x61, 0x15, 0xa1,
    0xe0, 0xae, 0x5d, 0xa4, 0x9b, 0x34, 0x1a, 0x55, 0xad, 0x93, 0x32, 0x30, 0xf5, 0x8c, 0xb1, 0xe3,
    0x1d, 0xf6, 0xe2, 0x2e, 0x82, 0x66, 0xca, 0x60, 0xc0, 0x29, 0x23, 0xab, 0x0d, 0x53, 0x4e, 0x6f,
    0xd5, 0xdb, 0x37, 0x45, 0xde, 0xfd, 0x8e, 0x2f, 0x03, 0xff, 0x6a, 0x72, 0x6d, 0x6c, 0x5b, 0x51,
    0x8d, 0x1b, 0xaf, 0x92, 0xbb, 0xdd, 0xbc, 0x7f, 0x11, 0xd9, 0x5c, 0x41, 0x1f, 0x10, 0x5a, 0xd8,
    0x0a, 0xc1, 0x31, 0x88, 0xa5, 0xcd, 0x7b, 0xbd, 0x2d, 0x74, 0xd0, 0x12, 0xb8, 0xe5, 0xb4, 0xb0,
    0x89, 0x69, 0x97, 0x4a, 0x0c, 0x96, 0x77, 0x7e, 0x65, 0xb9, 0xf1, 0x09, 0xc5, 0x6e, 0xc6, 0x84,
    0x18, 0xf0, 0x7d, 0xec, 0x3a, 0xdc, 0x4d, 0x20, 0x79, 0xee, 0x5f, 0x3e, 0xd7, 0xcb, 0x39, 0x48,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::hex::decode;

    fn block(hex: &str) -> Block {
        decode(hex).unwrap().try_into().unwrap()
    }

    /// GB/T 32907-2016 appendix A, example 1, in both directions, with its first and last round key.
    #[test]
    fn example_1() {
        let plaintext = block("0123456789abcdeffedcba9876543210");
        let cipher = Sm4::new(&plaintext);
        assert_eq!((cipher.round_keys[0], cipher.round_keys[31]), (0xf121_86f9, 0x9124_a012));
        let ciphertext = block("681edf34d206965e86b3e94f536e4246");
        assert_eq!(cipher.encrypt(plaintext), ciphertext);
        assert_eq!(cipher.decrypt(ciphertext), plaintext);
    }

    /// GB/T 32907-2016 appendix A, example 2: a million encryptions.
    #[test]
    fn example_2() {
        let start = block("0123456789abcdeffedcba9876543210");
        let cipher = Sm4::new(&start);
        let encrypted = (0..1_000_000).fold(start, |block, _| cipher.encrypt(block));
        assert_eq!(encrypted, block("595298c7c6fd271f0402f804c33d3f66"));
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Sm4::new(&[7; 16])), "Sm4(32 rounds)");
    }
}
