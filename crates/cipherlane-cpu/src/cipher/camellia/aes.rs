//! The S-boxes by the S-box of the AES (AES-NI): both are an inversion in GF(2^8) between affine maps. Slices hold
//! bytes as RFC 3713 has them, because FL masks them, and would have to change coordinates twice.

use std::marker::PhantomData;

use super::boxes::{Boxes, Coordinates, Half, INPUT, INPUT_CONSTANT, LEFT, OUTPUT, OUTPUT_CONSTANT, RIGHT};
use crate::cipher::byte_sliced::matrix::{Matrix, after_aes};
use crate::cipher::byte_sliced::tables::{Halves, Tables, aes_sub_bytes};
use crate::cipher::few::Nothing;
use crate::lanes::bytes::AesBytes;

/// The S-boxes in registers B.
pub(crate) struct AesBox<B>(PhantomData<fn() -> B>);

static INPUT_1: Tables = Tables::new((INPUT, INPUT_CONSTANT));
/// SBOX4 rotates its input.
static INPUT_4: Tables = Tables::new((INPUT.after(LEFT), INPUT_CONSTANT));
static OUTPUT_1: Tables = output(Matrix::IDENTITY);
static OUTPUT_2: Tables = output(LEFT);
static OUTPUT_3: Tables = output(RIGHT);

/// From the S-box of the AES to SBOX1, and `after` it.
const fn output(after: Matrix) -> Tables {
    Tables::new(after_aes(after.after(OUTPUT), after.apply(OUTPUT_CONSTANT)))
}

#[inline(always)]
fn substitute<B: AesBytes>(bytes: B, input: &Tables, output: &Tables) -> B {
    output.map(Halves::of(aes_sub_bytes(input.map(Halves::of(bytes)))))
}

impl<B: AesBytes> Coordinates for AesBox<B> {
    type Bytes = B;
}

impl<B: AesBytes> Boxes for AesBox<B> {
    type Few = Nothing;
    const OFFSET: u8 = 0;

    #[inline(always)]
    fn sboxes([x1, x2, x3, x4, x5, x6, x7, x8]: Half<B>) -> Half<B> {
        [
            substitute(x1, &INPUT_1, &OUTPUT_1),
            substitute(x2, &INPUT_1, &OUTPUT_2),
            substitute(x3, &INPUT_1, &OUTPUT_3),
            substitute(x4, &INPUT_4, &OUTPUT_1),
            substitute(x5, &INPUT_1, &OUTPUT_2),
            substitute(x6, &INPUT_1, &OUTPUT_3),
            substitute(x7, &INPUT_4, &OUTPUT_1),
            substitute(x8, &INPUT_1, &OUTPUT_1),
        ]
    }
}
