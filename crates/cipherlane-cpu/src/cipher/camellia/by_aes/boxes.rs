//! The S-boxes around either instruction. Slices hold bytes as RFC 3713 has them, because FL masks them, and would have to
//! change coordinates twice.

use std::marker::PhantomData;

use crate::cipher::byte_sliced::matrix::{Matrix, after_aes, before_inverse_aes};
use crate::cipher::byte_sliced::tables::{Halves, Tables, unshifted};
use crate::cipher::camellia::boxes::{
    Boxes, Coordinates, Half, INPUT, INPUT_CONSTANT, LEFT, OUTPUT, OUTPUT_CONSTANT, RIGHT,
};
use crate::cipher::few::Nothing;
use crate::lanes::bytes::AesBytes;

/// What SBOX1, SBOX2 and SBOX3 do to what SBOX1 gives.
const AFTER: [Matrix; 3] = [Matrix::IDENTITY, LEFT, RIGHT];

/// The affine maps around an instruction, as assembly expects them.
#[repr(C)]
pub(super) struct Around {
    input: Tables,
    /// SBOX4 rotates its input.
    pub(super) input_4: Tables,
    /// Of SBOX1, SBOX2 and SBOX3.
    pub(super) outputs: [Tables; 3],
    /// From what is added behind an output to what is added before it.
    keys: [Tables; 3],
}

pub(super) static ENCRYPTING: Around = around((INPUT, INPUT_CONSTANT), after_aes(OUTPUT, OUTPUT_CONSTANT));
pub(super) static DECRYPTING: Around =
    around(before_inverse_aes(INPUT, INPUT_CONSTANT), (OUTPUT, OUTPUT_CONSTANT));

const fn around(input: (Matrix, u8), output: (Matrix, u8)) -> Around {
    const NONE: Tables = Tables::new((Matrix::IDENTITY, 0));
    let (mut outputs, mut keys, mut i) = ([NONE; 3], [NONE; 3], 0);
    while i < AFTER.len() {
        let (matrix, constant) = (AFTER[i].after(output.0), AFTER[i].apply(output.1));
        outputs[i] = Tables::new((matrix, constant));
        keys[i] = Tables::new((matrix.inverse(), 0));
        i += 1;
    }
    let input_4 = Tables::new((input.0.after(LEFT), input.1));
    Around { input: Tables::new(input), input_4, outputs, keys }
}

/// The S-boxes of F (RFC 3713 section 2.4.1), each of which adds its part of `keys` on the way, as [`keys`] gives it:
/// by `aesdeclast` if INVERSE, else by `aesenclast`, which leave bytes where InvShiftRows and ShiftRows put them.
#[inline(always)]
pub(super) fn sboxes<B: AesBytes, const INVERSE: bool>(bytes: Half<B>, keys: Half<B>) -> Half<B> {
    let Around { input, input_4, outputs: [output_1, output_2, output_3], .. } = of::<INVERSE>();
    let [x1, x2, x3, x4, x5, x6, x7, x8] = bytes;
    let [k1, k2, k3, k4, k5, k6, k7, k8] = keys;
    [
        substitute::<B, INVERSE>(x1, k1, input, output_1),
        substitute::<B, INVERSE>(x2, k2, input, output_2),
        substitute::<B, INVERSE>(x3, k3, input, output_3),
        substitute::<B, INVERSE>(x4, k4, input_4, output_1),
        substitute::<B, INVERSE>(x5, k5, input, output_2),
        substitute::<B, INVERSE>(x6, k6, input, output_3),
        substitute::<B, INVERSE>(x7, k7, input_4, output_1),
        substitute::<B, INVERSE>(x8, k8, input, output_1),
    ]
}

/// What [`sboxes`] has to add for `sums` to be added to what they give.
#[inline(always)]
pub(super) fn keys<B: AesBytes, const INVERSE: bool>(sums: Half<B>) -> Half<B> {
    let [first, second, third] = &of::<INVERSE>().keys;
    let tables = [first, second, third, first, second, third, first, first];
    let mut keys = sums;
    for (key, tables) in keys.iter_mut().zip(tables) {
        *key = tables.map(Halves::of(*key));
    }
    keys
}

#[inline(always)]
fn of<const INVERSE: bool>() -> &'static Around {
    if INVERSE { &DECRYPTING } else { &ENCRYPTING }
}

#[inline(always)]
fn substitute<B: AesBytes, const INVERSE: bool>(bytes: B, key: B, input: &Tables, output: &Tables) -> B {
    let bytes = input.map(Halves::of(bytes));
    output.map(Halves::of(if INVERSE { bytes.inverse_last_round(key) } else { bytes.last_round(key) }))
}

/// The S-boxes in registers B, without keys and with every byte in its place: the key schedule's.
pub(super) struct AesBox<B>(PhantomData<fn() -> B>);

impl<B: AesBytes> Coordinates for AesBox<B> {
    type Bytes = B;
}

impl<B: AesBytes> Boxes for AesBox<B> {
    type Few = Nothing;
    const OFFSET: u8 = 0;

    #[inline(always)]
    fn sboxes(bytes: Half<B>) -> Half<B> {
        let none = B::splat_half(bytes[0].isa(), 0);
        unshifted(sboxes::<B, false>(bytes, [none; 8]))
    }
}
