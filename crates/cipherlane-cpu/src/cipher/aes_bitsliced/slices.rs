//! Eight blocks in eight slices: slice i holds bit i of every byte.

use std::ops::{BitAnd, BitXor};

use crate::lanes::portable::X1;

/// Blocks sliced together: as many as a byte has bits.
pub(crate) const GROUP: usize = 8;

/// 128 bits, one of each byte of [`GROUP`] blocks: bit b of byte p belongs to byte p of block b.
///
/// Byte r + 4c is row r, column c of the state of FIPS 197 section 3.4.
pub(crate) trait Slice: Copy + Send + Sync + 'static {
    /// The register as a slice.
    fn load(from: X1) -> Self;

    /// The slice as a register.
    fn store(self) -> X1;

    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// `self & other`.
    fn and(self, other: Self) -> Self;

    /// Shifts both halves towards their low bits.
    fn shift_right<const BITS: i32>(self) -> Self;

    /// Shifts both halves towards their high bits.
    fn shift_left<const BITS: i32>(self) -> Self;

    /// Byte `i` of the low half of `self`, then that of `other`, for each `i`.
    fn interleave_low(self, other: Self) -> Self;

    /// Byte `i` of the high half of `self`, then that of `other`, for each `i`.
    fn interleave_high(self, other: Self) -> Self;

    /// Byte (r, c) becomes byte (r + `rows`, c + `columns`), both modulo 4. Inlined with constants.
    fn turn(self, rows: usize, columns: usize) -> Self;
}

/// A slice as wires of a circuit.
#[derive(Clone, Copy)]
pub(crate) struct Wire<S>(pub(crate) S);

impl<S: Slice> BitXor for Wire<S> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0.xor(other.0))
    }
}

impl<S: Slice> BitAnd for Wire<S> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0.and(other.0))
    }
}

/// Bits 0 to 7 of every byte of eight blocks.
pub(crate) type State<S> = [Wire<S>; GROUP];

/// Turns blocks into slices and, being a transposition, slices into blocks.
///
/// Bit i of byte p of register b and bit b of byte p of register i change places: an 8 x 8 matrix of bits for each
/// p, transposed by exchanging ever larger squares (D. E. Knuth, TAOCP 4A, section 7.1.3).
#[inline(always)]
pub(crate) fn transpose<S: Slice>(registers: &mut State<S>) {
    exchange::<S, 1>(registers, 0x5555_5555_5555_5555);
    exchange::<S, 2>(registers, 0x3333_3333_3333_3333);
    exchange::<S, 4>(registers, 0x0f0f_0f0f_0f0f_0f0f);
}

/// Exchanges the upper DISTANCE bits of each 2 * DISTANCE bits in the lower registers with the lower ones in the
/// registers DISTANCE further on. `mask` has the lower ones set.
#[inline(always)]
fn exchange<S: Slice, const DISTANCE: i32>(registers: &mut State<S>, mask: u64) {
    let mask = Wire(S::load(X1([mask; 2])));
    #[allow(clippy::cast_sign_loss)] // 1, 2 or 4
    let distance = DISTANCE as usize;
    for low in (0..GROUP).filter(|i| i & distance == 0) {
        let high = low | distance;
        let moved = (Wire(registers[low].0.shift_right::<DISTANCE>()) ^ registers[high]) & mask;
        registers[high] = registers[high] ^ moved;
        registers[low] = registers[low] ^ Wire(moved.0.shift_left::<DISTANCE>());
    }
}
