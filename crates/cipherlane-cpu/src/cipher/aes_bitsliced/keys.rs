//! Round keys as slices, made in constant time.

use cipherlane_core::BLOCK;
use zeroize::Zeroize;

use super::sbox::{AFFINE, sub_bytes};
use super::{GROUP, State};
use crate::cipher::slices::{Slice, Wire};
use crate::lanes::portable::X1;
use crate::lanes::wipe;

/// Most round keys: AES-256 has 15.
pub(in crate::cipher) const MAX_KEYS: usize = 15;

/// The round keys of 10, 12 or 14 rounds, both for encryption and for decryption. Wiped when dropped.
///
/// Each is eight slices in which all blocks have the same bits. Key n is for a state that lacks its first n
/// ShiftRows, and carries the constant of the S-box: see [`RoundKeys::new`].
pub(super) struct RoundKeys {
    keys: [[X1; GROUP]; MAX_KEYS],
    rounds: usize,
}

impl RoundKeys {
    /// Expands `key` of 16, 24 or 32 bytes.
    ///
    /// All but the first round key are XORed with 0x63 in every byte. In encryption each follows SubBytes, directly
    /// or with ShiftRows and MixColumns between, which leave a state of equal bytes as it is. In decryption each
    /// precedes InvSubBytes likewise. So the key supplies the constant that the circuits omit.
    pub(super) fn new(key: &[u8]) -> Self {
        // FIPS 197 section 5, table 3.
        let rounds = key.len() / 4 + 6;
        let mut words = expand(key, rounds, sub_word);
        let mut keys = Self { keys: [[X1([0; 2]); GROUP]; MAX_KEYS], rounds };
        for (n, round) in keys.keys.iter_mut().enumerate().take(rounds + 1) {
            let mut block = unshifted(&words[4 * n..4 * n + 4], n);
            if n > 0 {
                block.iter_mut().for_each(|byte| *byte ^= AFFINE);
            }
            *round = slice(&block);
            block.zeroize();
        }
        words.zeroize();
        keys
    }
}

impl Drop for RoundKeys {
    fn drop(&mut self) {
        wipe(self.keys[..=self.rounds].as_flattened_mut());
    }
}

/// Where the rounds take their keys from.
pub(super) trait Schedule {
    /// How many rounds there are.
    fn rounds(&self) -> usize;

    /// Round key `n`, from 0 for the first AddRoundKey of encryption.
    fn round<S: Slice>(&self, n: usize) -> State<S>;
}

/// One key for all blocks.
impl Schedule for RoundKeys {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    fn round<S: Slice>(&self, n: usize) -> State<S> {
        let mut state = [Wire(S::load(X1([0; 2]))); GROUP];
        for (bits, key) in state.iter_mut().zip(&self.keys[n]) {
            *bits = Wire(S::load(*key));
        }
        state
    }
}

/// A key for each block. Block b is bit b of each byte, and takes that bit from its own key.
impl Schedule for [&RoundKeys; GROUP] {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self[0].rounds
    }

    #[inline(always)]
    fn round<S: Slice>(&self, n: usize) -> State<S> {
        let mut state = [Wire(S::load(X1([0; 2]))); GROUP];
        for (block, keys) in self.iter().enumerate() {
            let own = Wire(S::load(X1([LOW_BITS << block; 2])));
            for (bits, key) in state.iter_mut().zip(&keys.keys[n]) {
                *bits = *bits ^ (Wire(S::load(*key)) & own);
            }
        }
        state
    }
}

/// The lowest bit of each byte.
const LOW_BITS: u64 = 0x0101_0101_0101_0101;

/// The key schedule w of FIPS 197 section 5.2, algorithm 2, in little-endian words.
pub(in crate::cipher) fn expand(
    key: &[u8],
    rounds: usize,
    sub_word: impl Fn(u32) -> u32,
) -> [u32; 4 * MAX_KEYS] {
    let mut words = [0; 4 * MAX_KEYS];
    let length = key.len() / 4;
    for (word, bytes) in words.iter_mut().zip(key.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut constant = 1;
    for i in length..4 * (rounds + 1) {
        let before = words[i - 1];
        let added = if i % length == 0 {
            // RotWord moves byte 1 to the front; constants are powers of x in GF(2^8).
            let word = sub_word(before.rotate_right(8)) ^ constant;
            constant = (constant << 1) ^ ((constant >> 7) * 0x11b);
            word
        } else if length > 6 && i % length == 4 {
            sub_word(before)
        } else {
            before
        };
        words[i] = words[i - length] ^ added;
    }
    words
}

/// The S-box on each byte: bit i of all four at once.
fn sub_word(word: u32) -> u32 {
    let bits = sub_bytes(std::array::from_fn(|i| word >> i & 0x0101_0101));
    let word = bits.iter().enumerate().fold(0, |word, (i, bits)| word | bits << i);
    word ^ u32::from_ne_bytes([AFFINE; 4])
}

/// A round key with ShiftRows undone `times` times: its byte (r, c) is where a state that was never shifted has
/// the byte that belongs there after as many ShiftRows.
fn unshifted(words: &[u32], times: usize) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    for (column, word) in words.iter().enumerate() {
        for (row, byte) in word.to_le_bytes().into_iter().enumerate() {
            block[4 * ((column + times * row) % 4) + row] = byte;
        }
    }
    block
}

/// Slice i has 0xff where `block` has bit i set: the bit in all of [`GROUP`] blocks.
fn slice(block: &[u8; BLOCK]) -> [X1; GROUP] {
    let integer = u128::from_le_bytes(*block);
    #[allow(clippy::cast_possible_truncation)] // takes the halves apart
    let halves = [integer as u64, (integer >> 64) as u64];
    // Times 255 within each byte.
    std::array::from_fn(|i| X1(halves.map(|half| (half >> i & LOW_BITS) * 0xff)))
}
