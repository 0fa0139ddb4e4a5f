//! What Camellia needs of an instruction set: its S-boxes, in coordinates of the instruction set's choice.

use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use super::subkeys::Shared;
use crate::cipher::Groups;
use crate::cipher::byte_sliced::matrix::{Matrix, power, sbox, times};
use crate::cipher::few::Few;
use crate::lanes::bytes::{Bytes, IsaOf};

/// Eight slices: half a block, or a subkey of 64 bits, first byte first.
pub(crate) type Half<B> = [B; 8];

/// Four slices: the masks or maps of a word of 32 bits.
pub(crate) type Word<B> = [B; 4];

/// What FL and FLINV do to half a block: maps of its bytes, made of the masks that the subkey has for them.
#[derive(Clone, Copy)]
pub(crate) struct Maps<B> {
    /// Of each byte of the first word: masked by k1 and shifted left by one bit.
    pub(super) left: Word<B>,
    /// Of each byte of the first word: masked by k1 and shifted right by seven bits.
    pub(super) right: Word<B>,
    /// Of each byte of the second word: masked by the complement of k2.
    pub(super) plain: Word<B>,
}

impl<B: Copy> Maps<B> {
    /// Of bytes as RFC 3713 has them: the masks of k1 and of the complement of k2 themselves.
    #[inline(always)]
    pub(super) fn plain([a, b, c, d, e, f, g, h]: Half<B>) -> Self {
        Self { left: [a, b, c, d], right: [a, b, c, d], plain: [e, f, g, h] }
    }
}

/// What slices hold: bytes as RFC 3713 has them, or each of them after a linear map that the S-boxes want it to have
/// gone through. XOR does not notice.
pub(crate) trait Coordinates: Send + Sync + 'static {
    /// Registers of bytes.
    type Bytes: Bytes;

    /// To these coordinates.
    #[inline(always)]
    fn enter(bytes: Self::Bytes) -> Self::Bytes {
        bytes
    }

    /// From these coordinates.
    #[inline(always)]
    fn leave(bytes: Self::Bytes) -> Self::Bytes {
        bytes
    }

    /// The `left`, the `right` and the `plain` map for a mask in all bytes of half a lane: here the mask itself.
    #[inline(always)]
    fn maps(masks: Self::Bytes) -> [Self::Bytes; 3] {
        [masks; 3]
    }

    /// `to ^ ((word & k1) <<< 1)` for words of 32 bits, first byte highest.
    #[inline(always)]
    fn add_rotated(
        mut to: Word<Self::Bytes>,
        mut word: Word<Self::Bytes>,
        maps: &Maps<Self::Bytes>,
    ) -> Word<Self::Bytes> {
        for (byte, mask) in word.iter_mut().zip(maps.left) {
            *byte = byte.and(mask);
        }
        for i in 0..4 {
            let (byte, next) = (word[i], word[(i + 1) % 4]);
            to[i] = to[i].xor3(byte.shift_bits_left::<1>(), next.shift_bits_right::<7>());
        }
        to
    }

    /// `to ^ (word & !k2)`.
    #[inline(always)]
    fn add_masked(
        mut to: Word<Self::Bytes>,
        word: Word<Self::Bytes>,
        maps: &Maps<Self::Bytes>,
    ) -> Word<Self::Bytes> {
        for i in 0..4 {
            to[i] = to[i].xor(word[i].and(maps.plain[i]));
        }
        to
    }
}

/// Bytes as RFC 3713 has them.
pub(super) struct Plain<B>(PhantomData<fn() -> B>);

impl<B: Bytes> Coordinates for Plain<B> {
    type Bytes = B;
}

/// The S-boxes of an instruction set.
pub(crate) trait Boxes: Coordinates {
    /// What runs few blocks.
    type Few: Few<IsaOf<Self::Bytes>>;

    /// XORed to every byte of every subkey of F, before its change of coordinates: the constant of the affine map in
    /// front of the inversion. A linear map of 0 is 0, so it cannot be part of that.
    const OFFSET: u8;

    /// Whether [`Boxes::run_in_memory`] and [`Boxes::count`] are written for these registers.
    const IN_MEMORY: bool = false;

    /// The S-boxes of F (section 2.4.1): SBOX1, 2, 3, 4, 2, 3, 4, 1 of the bytes in this order.
    fn sboxes(bytes: Half<Self::Bytes>) -> Half<Self::Bytes>;

    /// Runs groups, one at least, from where they lie to where they are to go: see
    /// [`Permutation::run_in_memory`](crate::cipher::Permutation::run_in_memory).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn run_in_memory(_keys: &Shared, _groups: Groups, _added: Option<*const u8>) {
        unreachable!("of registers that this is written for alone")
    }

    /// Adds what becomes of counters to groups of text, one at least: see
    /// [`Permutation::count`](crate::cipher::Permutation::count).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn count(_isa: IsaOf<Self::Bytes>, _keys: &Shared, _counter: [u8; BLOCK], _text: Groups) {
        unreachable!("of registers that this is written for alone")
    }
}

/// SBOX1(x) = OUTPUT (inverse of (INPUT x ^ INPUT_CONSTANT)) ^ OUTPUT_CONSTANT, the inverse being that of the AES.
///
/// The authors define it by an inversion in another representation of the field: K. Aoki et al., "Specification of
/// Camellia" (2001), section 4.5.
pub(super) const INPUT: Matrix = TO_AES.after(F);
/// See [`INPUT`].
pub(super) const INPUT_CONSTANT: u8 = INPUT.apply(OFFSET);
/// See [`INPUT`].
pub(super) const OUTPUT: Matrix = H.after(TO_AES.inverse());
/// See [`INPUT`].
pub(super) const OUTPUT_CONSTANT: u8 = 0x6e;

/// SBOX1 as a table.
pub(in crate::cipher) const SBOX1: [u8; 256] = sbox((INPUT, INPUT_CONSTANT), (OUTPUT, OUTPUT_CONSTANT));

/// What the specification adds to the input of f.
pub(super) const OFFSET: u8 = 0xc5;

/// SBOX2(x) = SBOX1(x) <<< 1, SBOX3(x) = SBOX1(x) >>> 1, SBOX4(x) = SBOX1(x <<< 1) (RFC 3713 section 2.4.1).
pub(super) const LEFT: Matrix = Matrix::rotation(1);
/// See [`LEFT`].
pub(super) const RIGHT: Matrix = Matrix::rotation(7);

/// f of the specification, its bit b_1 being the highest: which bits of the input each bit is the sum of.
const F: Matrix = Matrix::from_rows([
    bits([6, 4, 0]),
    bits([8, 1, 0]),
    bits([5, 2, 0]),
    bits([7, 4, 0]),
    bits([8, 3, 0]),
    bits([8, 5, 3]),
    bits([7, 1, 0]),
    bits([6, 2, 0]),
]);

/// h of the specification.
const H: Matrix = Matrix::from_rows([
    bits([6, 3, 0]),
    bits([5, 1, 0]),
    bits([8, 1, 0]),
    bits([7, 3, 0]),
    bits([8, 2, 0]),
    bits([7, 4, 0]),
    bits([6, 2, 0]),
    bits([5, 6, 2]),
]);

/// Bits as the specification numbers them: 1 is the highest of a byte, 8 the lowest. 0 is none.
const fn bits(numbers: [u32; 3]) -> u8 {
    let (mut row, mut i) = (0, 0);
    while i < 3 {
        if numbers[i] > 0 {
            row |= 1 << (8 - numbers[i]);
        }
        i += 1;
    }
    row
}

/// From the field as the specification of g writes it to that of the AES. Its low half is a polynomial in a = b^238,
/// its high half another one, times b, where b is a root of x^8 + x^6 + x^5 + x^3 + 1.
const TO_AES: Matrix = {
    const POLYNOMIAL: u16 = 0x169;
    const B: u8 = 2;
    let a = power(B, 238, POLYNOMIAL);
    let (mut columns, mut i) = ([0; 8], 0);
    while i < 4 {
        columns[i as usize] = power(a, i, POLYNOMIAL);
        columns[i as usize + 4] = times(power(a, i, POLYNOMIAL), B, POLYNOMIAL);
        i += 1;
    }
    Matrix::isomorphism(POLYNOMIAL).after(Matrix::from_columns(columns))
};
