//! The S-boxes by instructions that invert in GF(2^8) between affine maps (GFNI).
//!
//! Slices are kept as INPUT times a byte, in which the inversion takes them: SBOX1 to SBOX3 are one instruction, and
//! SBOX4, whose input is rotated before, is two. A mask of FL is a linear map, too, and its matrix in these
//! coordinates takes the shift in.

mod assembly;

use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use super::boxes::{
    Boxes, Coordinates, Half, INPUT, INPUT_CONSTANT, LEFT, Maps, OFFSET, OUTPUT, OUTPUT_CONSTANT, RIGHT, Word,
};
use super::subkeys::Shared;
use crate::cipher::Groups;
use crate::cipher::byte_sliced::GROUP;
use crate::cipher::byte_sliced::matrix::Matrix;
use crate::cipher::packed::InLanes;
use crate::lanes::bytes::{GaloisBytes, IsaOf, repeated};
use crate::lanes::packed::PackedIsa;
use crate::lanes::{Isa, Lanes};

/// The S-boxes in registers V.
pub(crate) struct Galois<V>(PhantomData<fn() -> V>);

/// An S-box behind the inversion: `after` its OUTPUT, and back to coordinates.
const fn output(after: Matrix) -> u64 {
    INPUT.after(after).after(OUTPUT).word()
}

/// The constant of [`output`].
const fn output_constant(after: Matrix) -> i32 {
    INPUT.after(after).apply(OUTPUT_CONSTANT) as i32
}

/// What SBOX4 does to its input: a rotation of what it stood for before it was entered and offset.
const ROTATE: Matrix = INPUT.after(LEFT).after(INPUT.inverse());
const ROTATE_CONSTANT: i32 = (ROTATE.apply(INPUT_CONSTANT) ^ INPUT_CONSTANT) as i32;

const OUTPUT_1: i32 = output_constant(Matrix::IDENTITY);
const OUTPUT_2: i32 = output_constant(LEFT);
const OUTPUT_3: i32 = output_constant(RIGHT);

/// The matrices of SBOX1, SBOX2 and SBOX3, of what SBOX4 has ahead of the first, of what enters and of what leaves.
const MATRICES: [u64; 8] = [
    output(Matrix::IDENTITY),
    output(LEFT),
    output(RIGHT),
    ROTATE.word(),
    INPUT.word(),
    INPUT.inverse().word(),
    0,
    0,
];

/// `rows`, masked, between leaving and entering: a matrix for each half. Rows of a matrix are bytes, so a mask on its
/// input is one on each of them, and a product with another matrix maps each of them by that one, transposed.
#[inline(always)]
fn masked<V: GaloisBytes>(rows: u64, masks: V) -> V {
    let before = const { INPUT.inverse().transposed().word() };
    let isa = masks.isa();
    V::splat_half(isa, rows).and(masks).affine::<0>(V::splat_half(isa, before))
}

impl<V: GaloisBytes> Coordinates for Galois<V> {
    type Bytes = V;

    #[inline(always)]
    fn enter(bytes: V) -> V {
        bytes.affine::<0>(V::splat_half(bytes.isa(), const { INPUT.word() }))
    }

    #[inline(always)]
    fn leave(bytes: V) -> V {
        bytes.affine::<0>(V::splat_half(bytes.isa(), const { INPUT.inverse().word() }))
    }

    #[inline(always)]
    fn maps(masks: V) -> [V; 3] {
        [
            masked(const { INPUT.after(Matrix::shift(1)).word() }, masks),
            masked(const { INPUT.after(Matrix::shift(-7)).word() }, masks),
            masked(const { INPUT.word() }, masks),
        ]
    }

    #[inline(always)]
    fn add_rotated(mut to: Word<V>, word: Word<V>, maps: &Maps<V>) -> Word<V> {
        for i in 0..4 {
            let next = (i + 1) % 4;
            to[i] = to[i].xor3(word[i].affine::<0>(maps.left[i]), word[next].affine::<0>(maps.right[next]));
        }
        to
    }

    #[inline(always)]
    fn add_masked(mut to: Word<V>, word: Word<V>, maps: &Maps<V>) -> Word<V> {
        for i in 0..4 {
            to[i] = to[i].xor(word[i].affine::<0>(maps.plain[i]));
        }
        to
    }
}

impl<V: GaloisBytes<Lanes: Lanes<Isa: PackedIsa>>> Boxes for Galois<V> {
    type Few = InLanes<IsaOf<V>, super::packed::Camellia>;
    const OFFSET: u8 = OFFSET;
    const IN_MEMORY: bool = V::Lanes::BYTES == 64;

    #[inline(always)]
    fn sboxes([x1, x2, x3, x4, x5, x6, x7, x8]: Half<V>) -> Half<V> {
        let isa = x1.isa();
        let one = V::splat_half(isa, const { output(Matrix::IDENTITY) });
        let two = V::splat_half(isa, const { output(LEFT) });
        let three = V::splat_half(isa, const { output(RIGHT) });
        let rotate = V::splat_half(isa, const { ROTATE.word() });
        // In the order of need, the longest way first.
        let (x4, x7) = (x4.affine::<ROTATE_CONSTANT>(rotate), x7.affine::<ROTATE_CONSTANT>(rotate));
        let z1 = x1.affine_of_inverse::<OUTPUT_1>(one);
        let z2 = x2.affine_of_inverse::<OUTPUT_2>(two);
        let z8 = x8.affine_of_inverse::<OUTPUT_1>(one);
        let z3 = x3.affine_of_inverse::<OUTPUT_3>(three);
        let z5 = x5.affine_of_inverse::<OUTPUT_2>(two);
        let z6 = x6.affine_of_inverse::<OUTPUT_3>(three);
        let z4 = x4.affine_of_inverse::<OUTPUT_1>(one);
        let z7 = x7.affine_of_inverse::<OUTPUT_1>(one);
        [z1, z2, z3, z4, z5, z6, z7, z8]
    }

    #[inline(always)]
    unsafe fn run_in_memory(keys: &Shared, groups: Groups, added: Option<*const u8>) {
        assert!(Self::IN_MEMORY);
        // SAFETY: registers of 512 bits with GFNI prove the instructions, and the caller vouches for the groups.
        unsafe { assembly::crypt(keys, groups, added) }
    }

    #[inline(always)]
    unsafe fn count(isa: IsaOf<V>, keys: &Shared, counter: [u8; BLOCK], text: Groups) {
        assert!(Self::IN_MEMORY);
        let mut slices = [isa.zero(); GROUP];
        for (slice, byte) in slices.iter_mut().zip(counter) {
            *slice = Self::enter(V::splat_half(isa, repeated(byte))).to_lanes();
        }
        let [.., high, low] = counter;
        // SAFETY: as for groups.
        unsafe { assembly::count(keys, slices.as_ptr().cast(), u16::from_be_bytes([high, low]), text) }
    }
}
