//! Subkeys as the rounds add them: inside of the S-boxes, so taken back through P and what is behind the instruction.

use super::boxes::{AesBox, keys};
use crate::cipher::byte_sliced::tables::shifted;
use crate::cipher::byte_sliced::{GROUP, Key, SlicedKeys, store};
use crate::cipher::camellia::boxes::Half;
use crate::cipher::camellia::rounds::{join, p_inverse};
use crate::cipher::camellia::schedule::{ROUNDS_OF_SEGMENT, Sink, expand, rounds};
use crate::cipher::camellia::subkeys::{EachKey, Sliced, material, material_of_each};
use crate::lanes::bytes::{AesBytes, Bytes, IsaOf, repeated};

/// The keys of a segment: of pairs of rounds, one for each byte of a block.
pub(super) type SegmentKeys<B> = [[<B as Bytes>::Lanes; GROUP]; ROUNDS_OF_SEGMENT / 2];

/// The subkeys of `key`, for every block.
#[inline(always)]
pub(super) fn share<B: AesBytes, const INVERSE: bool>(isa: IsaOf<B>, key: &Key, to: &mut EachKey<B::Lanes>) {
    to.rounds = rounds(key.bytes);
    expand::<_, INVERSE>(&material::<AesBox<B>>(isa, key), to.rounds, 0, &mut Registers::<B> { isa, to });
}

/// The subkeys of `keys`.
#[inline(always)]
pub(super) fn expand_each<B: AesBytes, const INVERSE: bool>(
    isa: IsaOf<B>,
    keys: &SlicedKeys<B>,
    to: &mut EachKey<B::Lanes>,
) {
    to.rounds = rounds(keys.bytes);
    expand::<_, INVERSE>(
        &material_of_each::<AesBox<B>>(isa, keys),
        to.rounds,
        0,
        &mut Registers::<B> { isa, to },
    );
}

/// Subkeys on their way to where instructions add them from.
struct Registers<'a, B: AesBytes> {
    isa: IsaOf<B>,
    to: &'a mut EachKey<B::Lanes>,
}

impl<B: AesBytes> Registers<'_, B> {
    #[inline(always)]
    fn sum(&mut self, index: usize, [first, second]: [Half<B>; 2]) {
        // The whitening in front and the last half are added as they are.
        let within = 1..=self.to.rounds / 2;
        let halves = if within.contains(&index) {
            [shifted(keys::<B, false>(p_inverse(first))), keys::<B, true>(p_inverse(second))]
        } else {
            [first, second]
        };
        store(&mut self.to.sums[index], join(halves));
    }

    #[inline(always)]
    fn mask(&mut self, index: usize, [of_fl, of_inverse]: [Half<B>; 2]) {
        store(&mut self.to.masks[index], join([of_fl, shifted(of_inverse)]));
    }
}

impl<B: AesBytes> Sink<u64> for Registers<'_, B> {
    #[inline(always)]
    fn sum(&mut self, index: usize, [first, second]: [u64; 2]) {
        self.sum(index, [slices(self.isa, first), slices(self.isa, second)]);
    }

    #[inline(always)]
    fn mask(&mut self, index: usize, [of_fl, of_inverse]: [u64; 2]) {
        self.mask(index, [slices(self.isa, of_fl), slices(self.isa, of_inverse)]);
    }
}

impl<B: AesBytes> Sink<Sliced<B>> for Registers<'_, B> {
    #[inline(always)]
    fn sum(&mut self, index: usize, [first, second]: [Sliced<B>; 2]) {
        self.sum(index, [first.0, second.0]);
    }

    #[inline(always)]
    fn mask(&mut self, index: usize, [of_fl, of_inverse]: [Sliced<B>; 2]) {
        self.mask(index, [of_fl.0, of_inverse.0]);
    }
}

/// The bytes of half a block, first byte first, each in a register.
#[inline(always)]
fn slices<B: AesBytes>(isa: IsaOf<B>, half: u64) -> Half<B> {
    let mut slices = [B::splat_half(isa, 0); 8];
    for (slice, byte) in slices.iter_mut().zip(half.to_be_bytes()) {
        *slice = B::splat_half(isa, repeated(byte));
    }
    slices
}
