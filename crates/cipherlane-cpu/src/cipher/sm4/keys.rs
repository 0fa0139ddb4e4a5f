//! The key schedule of GB/T 32907 section 7.3, and round keys in registers.

use zeroize::Zeroize;

use super::boxes::{Boxes, Word};
use super::rounds::{BLOCKS, ROUNDS_OF_BLOCK, RoundKeys, offset, sub_words, words};
use crate::cipher::byte_sliced::{GROUP, Spread, sliced, spread, transpose};
use crate::lanes::bytes::{Bytes, IsaOf};
use crate::lanes::{Isa, Lanes, MAX_LANES, wipe};

/// FK.
pub(in crate::cipher) const SYSTEM: [u32; 4] = [0xa3b1_bac6, 0x56aa_3350, 0x677d_9197, 0xb270_22dc];

/// CK: byte j of word i is 7 (4 i + j).
pub(in crate::cipher) const FIXED: [u32; 32] = {
    let (mut words, mut i) = ([0; 32], 0);
    while i < 128 {
        words[i / 4] = (words[i / 4] << 8) | ((7 * i as u32) % 256);
        i += 1;
    }
    words
};

/// The round keys of a key in each lane, four to a block, in the order of use. Wiped when dropped.
pub(crate) struct PerLane<V: Lanes>([V; BLOCKS]);

impl<V: Lanes> PerLane<V> {
    /// No round keys.
    #[inline(always)]
    pub(super) fn none(isa: V::Isa) -> Self {
        Self([isa.zero(); BLOCKS])
    }

    /// The round keys of `keys`, big-endian, in the opposite order if `INVERSE`.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // takes words apart
    pub(super) fn set<X, const INVERSE: bool>(&mut self, isa: V::Isa, keys: &[u128; MAX_LANES])
    where
        X: Boxes<Bytes: Bytes<Lanes = V>>,
    {
        let mut state = [[0; MAX_LANES]; 4];
        for (i, words) in state.iter_mut().enumerate() {
            for (word, key) in words.iter_mut().zip(keys) {
                *word = (key >> (96 - 32 * i)) as u32 ^ SYSTEM[i];
            }
        }
        // A block is big-endian: the word of the first round is at its top.
        let mut blocks = [[0_u128; MAX_LANES]; BLOCKS];
        for (round, &fixed) in FIXED.iter().enumerate() {
            state = next::<X>(isa, state, fixed);
            let at = if INVERSE { FIXED.len() - 1 - round } else { round };
            let shift = 96 - 32 * (at % ROUNDS_OF_BLOCK);
            for (block, word) in blocks[at / ROUNDS_OF_BLOCK].iter_mut().zip(state[3]) {
                *block |= u128::from(word ^ const { offset::<X>() }) << shift;
            }
        }
        for (register, block) in self.0.iter_mut().zip(&blocks) {
            *register = isa.words(block).reverse_bytes();
        }
        state.zeroize();
        blocks.zeroize();
    }
}

/// A step of the schedule in every lane: the last word of the result is a round key.
#[inline(always)]
fn next<X: Boxes>(
    isa: IsaOf<X::Bytes>,
    [k0, k1, k2, k3]: [[u32; MAX_LANES]; 4],
    fixed: u32,
) -> [[u32; MAX_LANES]; 4] {
    let mut input = k1;
    for lane in 0..MAX_LANES {
        input[lane] ^= k2[lane] ^ k3[lane] ^ fixed;
    }
    let substituted = sub_words::<X>(isa, input);
    let mut key = k0;
    for lane in 0..MAX_LANES {
        let word = substituted[lane];
        key[lane] ^= word ^ word.rotate_left(13) ^ word.rotate_left(23);
    }
    [k1, k2, k3, key]
}

impl<V: Lanes> Drop for PerLane<V> {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// The round keys of one key, entered, each byte spread over half a lane: registers of them are loaded by broadcasts.
/// Wiped when dropped.
pub(crate) struct Shared([Spread; BLOCKS]);

impl Shared {
    /// No round keys.
    #[inline(always)]
    pub(super) fn none() -> Self {
        Self([[0; GROUP]; BLOCKS])
    }

    /// The round keys of the first lane.
    #[inline(always)]
    pub(super) fn set<X: Boxes>(&mut self, keys: &PerLane<<X::Bytes as Bytes>::Lanes>) {
        for (to, block) in self.0.iter_mut().zip(&keys.0) {
            *to = spread(X::enter(X::Bytes::from_lanes(*block)).to_lanes());
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// [`Shared`] round keys for all blocks.
pub(super) struct ForAll<'a, X: Boxes> {
    pub(super) isa: IsaOf<X::Bytes>,
    pub(super) keys: &'a Shared,
}

impl<X: Boxes> RoundKeys<X> for ForAll<'_, X> {
    #[inline(always)]
    fn block(&self, index: usize) -> [Word<X::Bytes>; ROUNDS_OF_BLOCK] {
        words(sliced(self.isa, &self.keys.0[index]))
    }
}

/// [`PerLane`] round keys of a register of blocks each.
pub(super) struct Each<'a, X: Boxes>(pub(super) &'a [&'a PerLane<<X::Bytes as Bytes>::Lanes>; GROUP]);

impl<X: Boxes> RoundKeys<X> for Each<'_, X> {
    #[inline(always)]
    fn block(&self, index: usize) -> [Word<X::Bytes>; ROUNDS_OF_BLOCK] {
        let mut slices = [X::Bytes::from_lanes(self.0[0].0[index]); GROUP];
        for (slice, keys) in slices.iter_mut().zip(self.0) {
            *slice = X::Bytes::from_lanes(keys.0[index]);
        }
        slices = transpose(slices);
        for slice in &mut slices {
            *slice = X::enter(*slice);
        }
        words(slices)
    }
}
