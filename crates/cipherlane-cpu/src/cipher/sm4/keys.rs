//! The key schedule of GB/T 32907 section 7.3, and round keys in registers.

use cipherlane_core::BLOCK;
use zeroize::Zeroize;

use super::boxes::{Boxes, Word};
use super::rounds::{BLOCKS, ROUNDS_OF_BLOCK, RoundKeys, add, offset, sub_word, words};
use crate::cipher::byte_sliced::{GROUP, SlicedKeys, Spread, load, sliced, spread};
use crate::lanes::bytes::{Bytes, IsaOf, repeated};
use crate::lanes::{Isa, Lanes, wipe};

const ROUNDS: usize = BLOCKS * ROUNDS_OF_BLOCK;

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

/// The round keys of a key, in the order of use: in the opposite one if `INVERSE`.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // takes words apart
fn expand<X: Boxes, const INVERSE: bool>(isa: IsaOf<X::Bytes>, key: u128) -> [u32; ROUNDS] {
    let (mut words, mut keys) = ([0; 4], [0; ROUNDS]);
    for (i, word) in words.iter_mut().enumerate() {
        *word = (key >> (96 - 32 * i)) as u32 ^ SYSTEM[i];
    }
    for (round, &fixed) in FIXED.iter().enumerate() {
        let [k0, k1, k2, k3] = words;
        let word = sub_word::<X>(isa, k1 ^ k2 ^ k3 ^ fixed);
        words = [k1, k2, k3, k0 ^ word ^ word.rotate_left(13) ^ word.rotate_left(23)];
        keys[if INVERSE { ROUNDS - 1 - round } else { round }] = words[3];
    }
    words.zeroize();
    keys
}

/// The round keys of one key, entered, each byte spread over half a lane: registers of them are loaded by broadcasts.
/// Wiped when dropped.
pub(crate) struct Shared {
    keys: [Spread; BLOCKS],
    /// The first key, of each other one the sum with the one before it, and nothing.
    pub(super) steps: [[u64; 4]; ROUNDS + 1],
}

impl Shared {
    /// No round keys.
    #[inline(always)]
    pub(super) fn none() -> Self {
        Self { keys: [[0; GROUP]; BLOCKS], steps: [[0; 4]; ROUNDS + 1] }
    }

    /// The round keys of `key`, big-endian.
    #[inline(always)]
    pub(super) fn set<X: Boxes, const INVERSE: bool>(&mut self, isa: IsaOf<X::Bytes>, key: u128) {
        let mut keys = expand::<X, INVERSE>(isa, key);
        for (to, words) in self.keys.iter_mut().zip(keys.as_chunks::<ROUNDS_OF_BLOCK>().0) {
            let mut block = [0; BLOCK];
            for (bytes, word) in block.as_chunks_mut().0.iter_mut().zip(words) {
                *bytes = (word ^ const { offset::<X>() }).to_be_bytes();
            }
            *to = spread(X::enter(X::Bytes::from_lanes(isa.splat(&block))).to_lanes());
        }
        keys.zeroize();
        let mut before = [0; 4];
        for (step, key) in self.steps.iter_mut().zip(self.keys.as_flattened().as_chunks().0) {
            *step = std::array::from_fn(|i| key[i] ^ before[i]);
            before = *key;
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.keys.zeroize();
        self.steps.zeroize();
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
        words(sliced(self.isa, &self.keys.keys[index]))
    }
}

/// The round keys of a key for each lane of each register of a group, entered, in slices. Wiped when dropped.
pub(crate) struct EachKey<V: Lanes>([[V; GROUP]; BLOCKS]);

impl<V: Lanes> EachKey<V> {
    /// No round keys.
    #[inline(always)]
    pub(super) fn none(isa: V::Isa) -> Self {
        Self([[isa.zero(); GROUP]; BLOCKS])
    }

    /// The round keys of `keys`.
    #[inline(always)]
    pub(super) fn set<X, const INVERSE: bool>(&mut self, isa: V::Isa, keys: &SlicedKeys<X::Bytes>)
    where
        X: Boxes<Bytes: Bytes<Lanes = V>>,
    {
        let mut state = words(keys.first);
        for (word, system) in state.iter_mut().zip(SYSTEM) {
            *word = add_constant(isa, *word, system);
        }
        for (round, &fixed) in FIXED.iter().enumerate() {
            let [k0, k1, k2, k3] = state;
            let input = add(add(k1, k2), add_constant(isa, k3, fixed));
            let key = add(k0, l_of_keys(s_boxes::<X>(add_constant(isa, input, const { offset::<X>() }))));
            state = [k1, k2, k3, key];
            let at = if INVERSE { ROUNDS - 1 - round } else { round };
            let slices = &mut self.0[at / ROUNDS_OF_BLOCK][4 * (at % ROUNDS_OF_BLOCK)..];
            for (slice, byte) in slices.iter_mut().zip(add_constant(isa, key, const { offset::<X>() })) {
                *slice = X::enter(byte).to_lanes();
            }
        }
    }
}

/// The S-box of each byte of what carries the offset (section 6.2).
#[inline(always)]
fn s_boxes<X: Boxes>(mut input: Word<X::Bytes>) -> Word<X::Bytes> {
    for byte in &mut input {
        *byte = X::enter(*byte);
    }
    let [p, r] = X::halves_of_l(input);
    for ((byte, p), r) in input.iter_mut().zip(p).zip(r) {
        // Rotated by 2 towards its high bit.
        let rotated = X::leave(p.xor(r));
        *byte = rotated.shift_bits_right::<2>().xor(rotated.shift_bits_left::<6>());
    }
    input
}

/// L' of section 7.3: `b ^ (b <<< 13) ^ (b <<< 23)`.
#[inline(always)]
fn l_of_keys<B: Bytes>(b: Word<B>) -> Word<B> {
    let mut sum = b;
    for i in 0..4 {
        let [one, two, three] = [b[(i + 1) % 4], b[(i + 2) % 4], b[(i + 3) % 4]];
        let by_13 = one.shift_bits_left::<5>().xor(two.shift_bits_right::<3>());
        let by_23 = two.shift_bits_left::<7>().xor(three.shift_bits_right::<1>());
        sum[i] = b[i].xor3(by_13, by_23);
    }
    sum
}

#[inline(always)]
fn add_constant<B: Bytes>(isa: IsaOf<B>, mut word: Word<B>, constant: u32) -> Word<B> {
    for (byte, constant) in word.iter_mut().zip(constant.to_be_bytes()) {
        *byte = byte.xor(B::splat_half(isa, repeated(constant)));
    }
    word
}

impl<V: Lanes> Drop for EachKey<V> {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}

/// [`EachKey`] round keys for the blocks of a group.
pub(super) struct ForEach<'a, X: Boxes>(pub(super) &'a EachKey<<X::Bytes as Bytes>::Lanes>);

impl<X: Boxes> RoundKeys<X> for ForEach<'_, X> {
    #[inline(always)]
    fn block(&self, index: usize) -> [Word<X::Bytes>; ROUNDS_OF_BLOCK] {
        words(load(&self.0.0[index]))
    }
}
