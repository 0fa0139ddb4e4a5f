//! Subkeys in registers: one key for all blocks, or a key for each lane of each register.

use zeroize::Zeroize;

use super::boxes::{Boxes, Half, Maps, Plain, Word};
use super::rounds::{Subkeys, derive, entered, fl, fl_inverse, halves, join, left_again};
use super::schedule::{Blocks, MAX_BLOCKS, MAX_LAYERS, Material, rounds, second_half};
use crate::cipher::byte_sliced::{GROUP, Keys, Spread, sliced, spread, transpose};
use crate::lanes::bytes::{Bytes, IsaOf, repeated};
use crate::lanes::{Isa, Lanes, MAX_LANES, wipe};

/// The subkeys of a key in each lane, in blocks. Wiped when dropped.
pub(crate) struct PerLane<V: Lanes> {
    sums: [V; MAX_BLOCKS],
    masks: [V; MAX_LAYERS],
    rounds: usize,
}

impl<V: Lanes> PerLane<V> {
    /// No subkeys.
    #[inline(always)]
    pub(super) fn none(isa: V::Isa) -> Self {
        Self { sums: [isa.zero(); MAX_BLOCKS], masks: [isa.zero(); MAX_LAYERS], rounds: 0 }
    }

    /// The subkeys of the first `lanes` keys.
    #[inline(always)]
    pub(super) fn set<X, const INVERSE: bool>(&mut self, isa: V::Isa, keys: &Keys, lanes: usize)
    where
        X: Boxes<Bytes: Bytes<Lanes = V>>,
    {
        self.rounds = rounds(keys.bytes);
        let (kl, mut kr) = (keys.first, keys.rest);
        for word in &mut kr {
            *word = second_half(*word, keys.bytes);
        }
        let [kl_register, kr_register] = [isa.words(&kl).reverse_bytes(), isa.words(&kr).reverse_bytes()];
        let [ka, kb] = derive::<X>(isa, kl_register, kr_register, keys.bytes > 16);
        let (ka, kb) = (ka.reverse_bytes().to_words(), kb.reverse_bytes().to_words());
        let (mut sums, mut masks) = ([[0; MAX_LANES]; MAX_BLOCKS], [[0; MAX_LANES]; MAX_LAYERS]);
        for lane in 0..lanes {
            let material = Material { kl: kl[lane], kr: kr[lane], ka: ka[lane], kb: kb[lane] };
            let blocks = Blocks::new::<INVERSE>(&material, self.rounds, repeated(X::OFFSET));
            for (row, sum) in sums.iter_mut().zip(blocks.sums) {
                row[lane] = sum;
            }
            for (row, mask) in masks.iter_mut().zip(blocks.masks) {
                row[lane] = mask;
            }
        }
        for (register, words) in self.sums.iter_mut().zip(&sums) {
            *register = isa.words(words).reverse_bytes();
        }
        for (register, words) in self.masks.iter_mut().zip(&masks) {
            *register = isa.words(words).reverse_bytes();
        }
        sums.zeroize();
        masks.zeroize();
    }
}

impl<V: Lanes> Drop for PerLane<V> {
    fn drop(&mut self) {
        wipe(&mut self.sums);
        wipe(&mut self.masks);
    }
}

/// The subkeys of one key, each byte spread over half a lane: registers of them are loaded by broadcasts.
/// Wiped when dropped.
pub(crate) struct Shared {
    sums: [Spread; MAX_BLOCKS],
    /// The `left`, `right` and `plain` of FL, then of FLINV.
    maps: [[[[u64; 4]; 3]; 2]; MAX_LAYERS],
    rounds: usize,
}

impl Shared {
    /// No subkeys.
    #[inline(always)]
    pub(super) fn none() -> Self {
        Self { sums: [[0; GROUP]; MAX_BLOCKS], maps: [[[[0; 4]; 3]; 2]; MAX_LAYERS], rounds: 0 }
    }

    /// The subkeys of the key in the first lane.
    #[inline(always)]
    pub(super) fn set<X: Boxes>(&mut self, isa: IsaOf<X::Bytes>, keys: &PerLane<<X::Bytes as Bytes>::Lanes>) {
        self.rounds = keys.rounds;
        for (to, sum) in self.sums.iter_mut().zip(&keys.sums) {
            *to = spread(X::enter(X::Bytes::from_lanes(*sum)).to_lanes());
        }
        for (to, masks) in self.maps.iter_mut().zip(&keys.masks) {
            for (i, half) in spread(*masks).into_iter().enumerate() {
                // The words k1 and k2 of FL, then those of FLINV.
                let (of_inverse, word, byte) = (i / 8, i / 4 % 2, i % 4);
                let [left, right, plain] = X::maps(X::Bytes::splat_half(isa, half));
                if word == 0 {
                    to[of_inverse][0][byte] = first_half(left);
                    to[of_inverse][1][byte] = first_half(right);
                } else {
                    to[of_inverse][2][byte] = first_half(plain);
                }
            }
        }
    }
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

/// [`PerLane`] subkeys of a register of blocks each.
pub(super) struct Each<'a, X: Boxes>(pub(super) &'a [&'a PerLane<<X::Bytes as Bytes>::Lanes>; GROUP]);

impl<X: Boxes> Each<'_, X> {
    #[inline(always)]
    fn sums(&self, index: usize) -> [X::Bytes; GROUP] {
        let mut slices = [X::Bytes::from_lanes(self.0[0].sums[index]); GROUP];
        for (slice, keys) in slices.iter_mut().zip(self.0) {
            *slice = X::Bytes::from_lanes(keys.sums[index]);
        }
        transpose(slices)
    }

    #[inline(always)]
    fn masks(&self, index: usize) -> [X::Bytes; GROUP] {
        let mut slices = [X::Bytes::from_lanes(self.0[0].masks[index]); GROUP];
        for (slice, keys) in slices.iter_mut().zip(self.0) {
            *slice = X::Bytes::from_lanes(keys.masks[index]);
        }
        transpose(slices)
    }
}

impl<X: Boxes> Subkeys<X> for Each<'_, X> {
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.0[0].rounds
    }

    #[inline(always)]
    fn sum(&self, index: usize) -> [Half<X::Bytes>; 2] {
        halves(entered::<X>(self.sums(index)))
    }

    /// A matrix of GFNI serves eight bytes, each of which has a key of its own here: so as RFC 3713 has it.
    #[inline(always)]
    fn layer(&self, index: usize, blocks: [Half<X::Bytes>; 2]) -> [Half<X::Bytes>; 2] {
        let [left, right] = halves(left_again::<X>(blocks));
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = self.masks(index);
        let (k1, k2) = ([a, b, c, d], [e, f, g, h]);
        let left = fl::<Plain<_>>(left, &Maps { left: k1, right: k1, plain: k2 });
        let (k1, k2) = ([i, j, k, l], [m, n, o, p]);
        let right = fl_inverse::<Plain<_>>(right, &Maps { left: k1, right: k1, plain: k2 });
        halves(entered::<X>(join([left, right])))
    }
}
