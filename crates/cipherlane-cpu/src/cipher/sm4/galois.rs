//! The S-box by instructions that invert in GF(2^8) between affine maps (GFNI).
//!
//! Slices are kept as INPUT times a byte, in which the inversion takes them. The shifts of L are linear, so the map
//! behind the inversion takes them in.

use std::marker::PhantomData;

use super::boxes::{Boxes, INPUT, LEFT, OFFSET, OUTPUT, OUTPUT_CONSTANT, RIGHT, Word};
use crate::cipher::byte_sliced::matrix::Matrix;
use crate::cipher::packed::InLanes;
use crate::lanes::Lanes;
use crate::lanes::bytes::{GaloisBytes, IsaOf};
use crate::lanes::packed::PackedIsa;

/// The S-box in registers B.
pub(crate) struct Galois<B>(PhantomData<fn() -> B>);

/// Behind the inversion: the S-box, `after` it, and back to coordinates.
const fn output(after: Matrix) -> u64 {
    INPUT.after(after).after(OUTPUT).word()
}

/// The constant of [`output`].
const fn output_constant(after: Matrix) -> i32 {
    INPUT.after(after).apply(OUTPUT_CONSTANT) as i32
}

const CONSTANT_LEFT: i32 = output_constant(LEFT);
const CONSTANT_RIGHT: i32 = output_constant(RIGHT);

impl<B: GaloisBytes<Lanes: Lanes<Isa: PackedIsa>>> Boxes for Galois<B> {
    type Few = InLanes<IsaOf<B>, super::packed::Sm4>;
    type Bytes = B;
    const OFFSET: u8 = OFFSET;
    const TOGETHER: bool = false;

    #[inline(always)]
    fn enter(bytes: B) -> B {
        bytes.affine::<0>(B::splat_half(bytes.isa(), const { INPUT.word() }))
    }

    #[inline(always)]
    fn leave(bytes: B) -> B {
        bytes.affine::<0>(B::splat_half(bytes.isa(), const { INPUT.inverse().word() }))
    }

    #[inline(always)]
    fn halves_of_l(word: Word<B>) -> [Word<B>; 2] {
        let isa = word[0].isa();
        let left = B::splat_half(isa, const { output(LEFT) });
        let right = B::splat_half(isa, const { output(RIGHT) });
        let [mut lefts, mut rights] = [word; 2];
        for i in 0..4 {
            lefts[i] = word[i].affine_of_inverse::<CONSTANT_LEFT>(left);
            rights[i] = word[i].affine_of_inverse::<CONSTANT_RIGHT>(right);
        }
        [lefts, rights]
    }
}
