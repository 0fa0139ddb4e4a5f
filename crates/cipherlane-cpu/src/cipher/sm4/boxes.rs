//! What SM4 needs of an instruction set: its S-box, in coordinates of the instruction set's choice.

use cipherlane_core::BLOCK;

use super::keys::Shared;
use crate::cipher::Groups;
use crate::cipher::byte_sliced::matrix::{Matrix, sbox};
use crate::cipher::few::Few;
use crate::lanes::bytes::{Bytes, IsaOf};

/// Four slices: a word of 32 bits, highest byte first.
pub(crate) type Word<B> = [B; 4];

/// The S-box of an instruction set.
///
/// Slices may be kept in other coordinates than those of GB/T 32907: every byte goes through a linear map, the same
/// for all, that the inversion in the S-box wants it to have gone through. XOR does not notice.
pub(crate) trait Boxes: Send + Sync + 'static {
    /// Registers of bytes.
    type Bytes: Bytes;

    /// What runs few blocks.
    type Few: Few<IsaOf<Self::Bytes>>;

    /// XORed to every byte of every round key, before its change of coordinates: the constant of the affine map in
    /// front of the inversion. A linear map of 0 is 0, so it cannot be part of that.
    const OFFSET: u8;

    /// Whether [`Boxes::run_pairs`] and [`Boxes::count_pairs`] are written for these registers.
    const IN_MEMORY: bool = false;

    /// To these coordinates.
    fn enter(bytes: Self::Bytes) -> Self::Bytes;

    /// From these coordinates.
    fn leave(bytes: Self::Bytes) -> Self::Bytes;

    /// With S for the S-box: `S(x) ^ (S(x) << 2)` of each byte, then `S(x) ^ (S(x) >> 6)` of each byte.
    ///
    /// The linear map L of section 6.2 is made of these: see [`super::rounds`].
    fn halves_of_l(word: Word<Self::Bytes>) -> [Word<Self::Bytes>; 2];

    /// Runs groups, an even number of them and at least two: see
    /// [`Permutation::run_in_memory`](crate::cipher::Permutation::run_in_memory).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn run_pairs(_keys: &Shared, _groups: Groups, _added: Option<*const u8>) {
        unreachable!("of registers that this is written for alone")
    }

    /// The same of counters, which are added to what lies there: see [`Permutation::count`](crate::cipher::Permutation::count).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn count_pairs(_isa: IsaOf<Self::Bytes>, _keys: &Shared, _counter: [u8; BLOCK], _text: Groups) {
        unreachable!("of registers that this is written for alone")
    }

    /// Whether two words take less time together than one after the other.
    const TOGETHER: bool;

    /// [`Boxes::halves_of_l`] of two words.
    #[inline(always)]
    fn two_halves_of_l([first, second]: [Word<Self::Bytes>; 2]) -> [[Word<Self::Bytes>; 2]; 2] {
        [Self::halves_of_l(first), Self::halves_of_l(second)]
    }
}

/// S(x) = OUTPUT (inverse of (INPUT x ^ INPUT_CONSTANT)) ^ OUTPUT_CONSTANT, the inverse being that of the AES.
///
/// The standard has a table. It is A (inverse of (A x ^ C)) ^ C, with the inverse modulo x^8 + x^7 + x^6 + x^5 + x^4
/// + x^2 + 1: F. Liu et al., "Analysis of the SMS4 Block Cipher" (2007).
pub(super) const INPUT: Matrix = TO_AES.after(A);
/// See [`INPUT`].
pub(super) const INPUT_CONSTANT: u8 = INPUT.apply(OFFSET);
/// See [`INPUT`].
pub(super) const OUTPUT: Matrix = A.after(TO_AES.inverse());
/// See [`INPUT`].
pub(super) const OUTPUT_CONSTANT: u8 = C;

/// The S-box as a table.
pub(in crate::cipher) const SBOX: [u8; 256] = sbox((INPUT, INPUT_CONSTANT), (OUTPUT, OUTPUT_CONSTANT));

const TO_AES: Matrix = Matrix::isomorphism(0x1f5);

/// Bit i of A x is the sum of the bits of x & (a7 <<< i).
const A: Matrix = {
    let (mut rows, mut i) = ([0xa7_u8; 8], 0);
    while i < 8 {
        rows[i as usize] = rows[i as usize].rotate_left(i);
        i += 1;
    }
    Matrix::from_rows(rows)
};

const C: u8 = 0xd3;

/// What gives C when A maps it.
pub(super) const OFFSET: u8 = A.inverse().apply(C);

/// x ^ (x << 2).
pub(super) const LEFT: Matrix = Matrix::IDENTITY.plus(Matrix::shift(2));
/// x ^ (x >> 6).
pub(super) const RIGHT: Matrix = Matrix::IDENTITY.plus(Matrix::shift(-6));
