//! Subkeys in registers: one key for all blocks, or a key for each.

use cipherlane_core::BLOCK;
use zeroize::Zeroize;

use super::boxes::{Boxes, Half, Maps, Plain, Word};
use super::rounds::{Subkeys, derive, entered, fl, fl_inverse, halves, join, left_again, plain_layer};
use super::schedule::{MAX_BLOCKS, MAX_LAYERS, Material, Part, Sink, expand, rounds, second_half};
use crate::cipher::byte_sliced::{
    GROUP, Key, SlicedKeys, Spread, first_register, load, repeated_and_sliced, sliced, spread, store,
};
use crate::lanes::bytes::{Bytes, IsaOf, repeated};
use crate::lanes::{Isa, Lanes, wipe};

/// The subkeys of one key, each byte spread over half a lane: registers of them are loaded by broadcasts.
/// Wiped when dropped.
pub(crate) struct Shared {
    pub(super) sums: [Spread; MAX_BLOCKS],
    /// The `left`, `right` and `plain` of FL, then of FLINV.
    pub(super) maps: [[[[u64; 4]; 3]; 2]; MAX_LAYERS],
    pub(super) rounds: usize,
}

impl Shared {
    /// No subkeys.
    #[inline(always)]
    pub(super) fn none() -> Self {
        Self { sums: [[0; GROUP]; MAX_BLOCKS], maps: [[[[0; 4]; 3]; 2]; MAX_LAYERS], rounds: 0 }
    }

    /// The subkeys of `key`.
    #[inline(always)]
    pub(super) fn set<X: Boxes, const INVERSE: bool>(&mut self, isa: IsaOf<X::Bytes>, key: &Key) {
        self.rounds = rounds(key.bytes);
        let rounds = self.rounds;
        let mut sink = Spreads::<X> { isa, subkeys: self };
        expand::<_, INVERSE>(&material::<X>(isa, key), rounds, repeated(X::OFFSET), &mut sink);
    }
}

/// What the subkeys of `key` are made of.
#[inline(always)]
pub(super) fn material<X: Boxes>(isa: IsaOf<X::Bytes>, key: &Key) -> Material<u64> {
    let (kl, kr) = (words(key.first), second_half(words(key.rest), key.bytes));
    let slices = [repeated_and_sliced(isa.splat(&bytes(kl))), repeated_and_sliced(isa.splat(&bytes(kr)))];
    let [ka, kb] = derive::<X>(isa, slices, key.bytes > 16);
    Material { kl, kr, ka: of_slices(ka), kb: of_slices(kb) }
}

/// Subkeys on their way to be spread.
struct Spreads<'a, X: Boxes> {
    isa: IsaOf<X::Bytes>,
    subkeys: &'a mut Shared,
}

impl<X: Boxes> Sink<u64> for Spreads<'_, X> {
    #[inline(always)]
    fn sum(&mut self, index: usize, halves: [u64; 2]) {
        let sum = X::enter(X::Bytes::from_lanes(self.isa.splat(&bytes(halves))));
        self.subkeys.sums[index] = spread(sum.to_lanes());
    }

    #[inline(always)]
    fn mask(&mut self, index: usize, halves: [u64; 2]) {
        let to = &mut self.subkeys.maps[index];
        for (i, half) in spread(self.isa.splat(&bytes(halves))).into_iter().enumerate() {
            // The words k1 and k2 of FL, then those of FLINV.
            let (of_inverse, word, byte) = (i / 8, i / 4 % 2, i % 4);
            let [left, right, plain] = X::maps(X::Bytes::splat_half(self.isa, half));
            if word == 0 {
                to[of_inverse][0][byte] = first_half(left);
                to[of_inverse][1][byte] = first_half(right);
            } else {
                to[of_inverse][2][byte] = first_half(plain);
            }
        }
    }
}

/// The halves of 128 bits, big-endian.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // takes the halves apart
fn words(word: u128) -> [u64; 2] {
    [(word >> 64) as u64, word as u64]
}

/// The halves of the first block that slices are of.
#[inline(always)]
fn of_slices<B: Bytes>(slices: [B; GROUP]) -> [u64; 2] {
    words(u128::from_be_bytes(first_register(slices).to_blocks()[0]))
}

/// The bytes of two halves.
#[inline(always)]
fn bytes([left, right]: [u64; 2]) -> [u8; BLOCK] {
    (u128::from(left) << 64 | u128::from(right)).to_be_bytes()
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.sums.zeroize();
        self.maps.zeroize();
    }
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // takes the half
fn first_half<B: Bytes>(bytes: B) -> u64 {
    bytes.to_lanes().to_words()[0] as u64
}

/// [`Shared`] subkeys for all blocks.
pub(super) struct ForAll<'a, X: Boxes> {
    pub(super) isa: IsaOf<X::Bytes>,
    pub(super) subkeys: &'a Shared,
}

impl<X: Boxes> Subkeys<X> for ForAll<'_, X> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.subkeys.rounds
    }

    #[inline(always)]
    fn sum(&self, index: usize) -> [Half<X::Bytes>; 2] {
        halves(sliced(self.isa, &self.subkeys.sums[index]))
    }

    #[inline(always)]
    fn layer(&self, index: usize, [left, right]: [Half<X::Bytes>; 2]) -> [Half<X::Bytes>; 2] {
        let [of_fl, of_inverse] = &self.subkeys.maps[index];
        [fl::<X>(left, &self.maps(of_fl)), fl_inverse::<X>(right, &self.maps(of_inverse))]
    }
}

impl<X: Boxes> ForAll<'_, X> {
    #[inline(always)]
    fn maps(&self, [left, right, plain]: &[[u64; 4]; 3]) -> Maps<X::Bytes> {
        Maps { left: self.word(left), right: self.word(right), plain: self.word(plain) }
    }

    #[inline(always)]
    fn word(&self, halves: &[u64; 4]) -> Word<X::Bytes> {
        let mut word = [X::Bytes::splat_half(self.isa, halves[0]); 4];
        for (slice, half) in word.iter_mut().zip(halves) {
            *slice = X::Bytes::splat_half(self.isa, *half);
        }
        word
    }
}

/// The subkeys of a key for each lane of each register of a group, in slices. Wiped when dropped.
pub(crate) struct EachKey<V: Lanes> {
    /// Entered: see [`Sink::sum`]. Where `by_aes` runs the rounds, as its S-boxes add them.
    pub(super) sums: [[V; GROUP]; MAX_BLOCKS],
    /// As RFC 3713 has them.
    pub(super) masks: [[V; GROUP]; MAX_LAYERS],
    pub(super) rounds: usize,
}

impl<V: Lanes> EachKey<V> {
    /// No subkeys.
    #[inline(always)]
    pub(super) fn none(isa: V::Isa) -> Self {
        let none = [isa.zero(); GROUP];
        Self { sums: [none; MAX_BLOCKS], masks: [none; MAX_LAYERS], rounds: 0 }
    }

    /// The subkeys of `keys`.
    #[inline(always)]
    pub(super) fn set<X, const INVERSE: bool>(&mut self, isa: V::Isa, keys: &SlicedKeys<X::Bytes>)
    where
        X: Boxes<Bytes: Bytes<Lanes = V>>,
    {
        self.rounds = rounds(keys.bytes);
        let rounds = self.rounds;
        let mut sink = Slices::<X>(self);
        expand::<_, INVERSE>(&material_of_each::<X>(isa, keys), rounds, repeated(X::OFFSET), &mut sink);
    }
}

/// What the subkeys of `keys` are made of.
#[inline(always)]
pub(super) fn material_of_each<X: Boxes>(
    isa: IsaOf<X::Bytes>,
    keys: &SlicedKeys<X::Bytes>,
) -> Material<Sliced<X::Bytes>> {
    let (kl, kr) = (parts(keys.first), second_half(parts(keys.rest), keys.bytes));
    let slices = [keys.first, join([kr[0].0, kr[1].0])];
    let [ka, kb] = derive::<X>(isa, slices, keys.bytes > 16);
    Material { kl, kr, ka: parts(ka), kb: parts(kb) }
}

/// Subkeys on their way to stay as slices.
struct Slices<'a, X: Boxes>(&'a mut EachKey<<X::Bytes as Bytes>::Lanes>);

impl<X: Boxes> Sink<Sliced<X::Bytes>> for Slices<'_, X> {
    #[inline(always)]
    fn sum(&mut self, index: usize, [left, right]: [Sliced<X::Bytes>; 2]) {
        store(&mut self.0.sums[index], entered::<X>(join([left.0, right.0])));
    }

    #[inline(always)]
    fn mask(&mut self, index: usize, [of_fl, of_inverse]: [Sliced<X::Bytes>; 2]) {
        store(&mut self.0.masks[index], join([of_fl.0, of_inverse.0]));
    }
}

impl<V: Lanes> Drop for EachKey<V> {
    fn drop(&mut self) {
        wipe(self.sums.as_flattened_mut());
        wipe(self.masks.as_flattened_mut());
    }
}

/// Halves of many keys, byte by byte.
#[derive(Clone, Copy)]
pub(super) struct Sliced<B>(pub(super) Half<B>);

#[inline(always)]
fn parts<B: Copy>(slices: [B; GROUP]) -> [Sliced<B>; 2] {
    let [left, right] = halves(slices);
    [Sliced(left), Sliced(right)]
}

impl<B: Bytes> Sliced<B> {
    /// What [`fl_inverse`] is given of a subkey.
    #[inline(always)]
    fn maps(self) -> Maps<B> {
        Maps::plain(self.masks().0)
    }
}

impl<B: Bytes> Part for Sliced<B> {
    #[inline(always)]
    fn rotated([left, right]: [Self; 2], by: u32) -> [Self; 2] {
        let word = join([left.0, right.0]);
        let whole = by as usize / 8;
        let mut result = word;
        for i in 0..GROUP {
            let (byte, next) = (word[(i + whole) % GROUP], word[(i + whole + 1) % GROUP]);
            result[i] = match by % 8 {
                0 => byte,
                4 => byte.shift_bits_left::<4>().xor(next.shift_bits_right::<4>()),
                5 => byte.shift_bits_left::<5>().xor(next.shift_bits_right::<3>()),
                6 => byte.shift_bits_left::<6>().xor(next.shift_bits_right::<2>()),
                7 => byte.shift_bits_left::<7>().xor(next.shift_bits_right::<1>()),
                _ => unreachable!("no subkey is rotated by as much"),
            };
        }
        parts(result)
    }

    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for (byte, other) in self.0.iter_mut().zip(other.0) {
            *byte = byte.xor(other);
        }
        self
    }

    #[inline(always)]
    fn add_constant(mut self, constant: u64) -> Self {
        let isa = self.0[0].isa();
        for (byte, constant) in self.0.iter_mut().zip(constant.to_be_bytes()) {
            if constant != 0 {
                *byte = byte.xor(B::splat_half(isa, repeated(constant)));
            }
        }
        self
    }

    #[inline(always)]
    fn constant_of_layer(self) -> Self {
        let ([.., e, f, g, h], zero) = (self.0, B::splat_half(self.0[0].isa(), 0));
        Self([e, f, g, h, zero, zero, zero, zero])
    }

    #[inline(always)]
    fn inverse_linear(self, y: Self) -> Self {
        Self(fl_inverse::<Plain<B>>(y.0, &self.maps()))
    }
}

/// [`EachKey`] subkeys for the blocks of a group.
pub(super) struct ForEach<'a, X: Boxes>(pub(super) &'a EachKey<<X::Bytes as Bytes>::Lanes>);

impl<X: Boxes> Subkeys<X> for ForEach<'_, X> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.0.rounds
    }

    #[inline(always)]
    fn sum(&self, index: usize) -> [Half<X::Bytes>; 2] {
        halves(load(&self.0.sums[index]))
    }

    /// A matrix of GFNI serves eight bytes, each of which has a key of its own here: so as RFC 3713 has it.
    #[inline(always)]
    fn layer(&self, index: usize, blocks: [Half<X::Bytes>; 2]) -> [Half<X::Bytes>; 2] {
        let blocks = plain_layer(load(&self.0.masks[index]), halves(left_again::<X>(blocks)));
        halves(entered::<X>(join(blocks)))
    }
}
