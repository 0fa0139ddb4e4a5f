//! The rounds, in turn by either instruction.

use super::assembly;
use super::boxes::sboxes;
use super::subkeys::SegmentKeys;
use crate::cipher::byte_sliced::tables::{shifted, unshifted};
use crate::cipher::byte_sliced::{GROUP, load};
use crate::cipher::camellia::boxes::Half;
use crate::cipher::camellia::rounds::{add, halves, join, p, plain_layer};
use crate::cipher::camellia::schedule::ROUNDS_OF_SEGMENT;
use crate::cipher::camellia::subkeys::EachKey;
use crate::lanes::bytes::AesBytes;
use crate::lanes::bytes::x86::{Xmm, Ymm};
use crate::lanes::{avx2, vaes256};

/// All rounds.
#[inline(always)]
pub(super) fn crypt<B: Segments>(subkeys: &EachKey<B::Lanes>, block: [B; GROUP]) -> [B; GROUP] {
    let [left, right] = halves(add(block, load(&subkeys.sums[0])));
    // From here on blocks lie elsewhere in the slices of the right half.
    let mut block = [left, shifted(right)];
    let segments = subkeys.sums[1..].as_chunks::<{ ROUNDS_OF_SEGMENT / 2 }>().0;
    for (index, keys) in segments[..subkeys.rounds / ROUNDS_OF_SEGMENT].iter().enumerate() {
        if index > 0 {
            block = plain_layer(load(&subkeys.masks[index - 1]), block);
        }
        B::segment(&mut block, keys);
    }
    let [last, _] = halves(load(&subkeys.sums[1 + subkeys.rounds / 2]));
    let [left, right] = block;
    join([add(unshifted(right), last), left])
}

/// Registers that have the rounds of a segment.
pub(crate) trait Segments: AesBytes {
    /// Six rounds of both halves of a block.
    #[inline(always)]
    fn segment([left, right]: &mut [Half<Self>; 2], keys: &SegmentKeys<Self>) {
        for keys in keys {
            let [first, second] = halves(load(keys));
            *right = round::<Self, false>(*left, *right, first);
            *left = round::<Self, true>(*right, *left, second);
        }
    }
}

impl Segments for Xmm {}
impl Segments for Ymm<avx2::X2> {}
impl Segments for Ymm<vaes256::X2> {
    #[inline(always)]
    fn segment(halves: &mut [Half<Self>; 2], keys: &SegmentKeys<Self>) {
        // SAFETY: such registers exist only where AVX2 and VAES do.
        unsafe { assembly::segment(halves, keys) }
    }
}

/// `to ^ F(from)` and what `keys` stand for.
#[inline(always)]
fn round<B: AesBytes, const INVERSE: bool>(from: Half<B>, to: Half<B>, keys: Half<B>) -> Half<B> {
    add(to, p(sboxes::<B, INVERSE>(from, keys)))
}
