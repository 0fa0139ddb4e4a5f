//! The S-box by instructions that invert in GF(2^8) between affine maps (GFNI).
//!
//! Slices are kept as INPUT times a byte, in which the inversion takes them. The shifts of L are linear, so the map
//! behind the inversion takes them in.

mod assembly;

use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use super::boxes::{Boxes, INPUT, LEFT, OFFSET, OUTPUT, OUTPUT_CONSTANT, RIGHT, Word};
use super::keys::Shared;
use crate::cipher::Groups;
use crate::cipher::byte_sliced::GROUP;
use crate::cipher::byte_sliced::matrix::Matrix;
use crate::cipher::packed::InLanes;
use crate::lanes::Lanes;
use crate::lanes::bytes::{GaloisBytes, IsaOf, repeated};
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

/// The matrices behind the inversion, of what enters and of what leaves.
const MATRICES: [u64; 8] = [output(LEFT), output(RIGHT), INPUT.word(), INPUT.inverse().word(), 0, 0, 0, 0];

impl<B: GaloisBytes<Lanes: Lanes<Isa: PackedIsa>>> Boxes for Galois<B> {
    type Few = InLanes<IsaOf<B>, super::packed::Sm4>;
    type Bytes = B;
    const OFFSET: u8 = OFFSET;
    const TOGETHER: bool = false;
    const IN_MEMORY: bool = B::Lanes::BYTES == 64;

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

    #[inline(always)]
    unsafe fn run_pairs(keys: &Shared, groups: Groups, added: Option<*const u8>) {
        assert!(Self::IN_MEMORY);
        // SAFETY: registers of 512 bits with GFNI prove the instructions, and the caller vouches for the groups.
        unsafe { assembly::crypt(keys, groups, added) }
    }

    #[inline(always)]
    unsafe fn count_pairs(isa: IsaOf<B>, keys: &Shared, counter: [u8; BLOCK], text: Groups) {
        assert!(Self::IN_MEMORY);
        let mut slices = [[0; 64]; GROUP];
        for (slice, byte) in slices.iter_mut().zip(counter) {
            let entered = Self::enter(B::splat_half(isa, repeated(byte)));
            // SAFETY: registers are of 512 bits here.
            unsafe { entered.to_lanes().store(slice.as_mut_ptr()) };
        }
        let [.., high, low] = counter;
        // SAFETY: as above.
        unsafe { assembly::count(keys, slices, u16::from_be_bytes([high, low]), text) }
    }
}
