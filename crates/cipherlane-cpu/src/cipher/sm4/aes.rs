//! The S-box by that of the AES (AES-NI): both are an inversion in GF(2^8) between affine maps.
//!
//! Slices are kept as INPUT times a byte, in which the S-box of the AES takes them. The shifts of L are linear, so the
//! maps behind it take them in.

use std::marker::PhantomData;

use super::boxes::{Boxes, INPUT, LEFT, OFFSET, OUTPUT, OUTPUT_CONSTANT, RIGHT, Word};
use crate::cipher::byte_sliced::matrix::{Matrix, after_aes};
use crate::cipher::byte_sliced::tables::{Halves, Tables, aes_sub_bytes};
use crate::cipher::few::Nothing;
use crate::lanes::bytes::AesBytes;

/// The S-box in registers B.
pub(crate) struct AesBox<B>(PhantomData<fn() -> B>);

static ENTER: Tables = Tables::new((INPUT, 0));
static LEAVE: Tables = Tables::new((INPUT.inverse(), 0));
static OUTPUT_LEFT: Tables = output(LEFT);
static OUTPUT_RIGHT: Tables = output(RIGHT);

/// From the S-box of the AES to this one, `after` it, and back to coordinates.
const fn output(after: Matrix) -> Tables {
    let after = INPUT.after(after);
    Tables::new(after_aes(after.after(OUTPUT), after.apply(OUTPUT_CONSTANT)))
}

impl<B: AesBytes> Boxes for AesBox<B> {
    type Few = Nothing;
    type Bytes = B;
    const OFFSET: u8 = OFFSET;
    const TOGETHER: bool = true;

    #[inline(always)]
    fn enter(bytes: B) -> B {
        ENTER.map(Halves::of(bytes))
    }

    #[inline(always)]
    fn leave(bytes: B) -> B {
        LEAVE.map(Halves::of(bytes))
    }

    #[inline(always)]
    fn halves_of_l(word: Word<B>) -> [Word<B>; 2] {
        let [mut lefts, mut rights] = [word; 2];
        for i in 0..4 {
            let halves = Halves::of(aes_sub_bytes(word[i]));
            lefts[i] = OUTPUT_LEFT.map(halves);
            rights[i] = OUTPUT_RIGHT.map(halves);
        }
        [lefts, rights]
    }
}
