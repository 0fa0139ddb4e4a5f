//! Bit slices in 128 bits, for circuits without instructions beyond the target's baseline.
//!
//! On x86-64 they lie in registers of SSE2, which is part of the architecture, elsewhere in pairs of integers.

#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
pub(super) mod plain;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse2;

use std::ops::{BitAnd, BitOr, BitXor, Not};

use crate::lanes::portable::X1;

/// The slices that this target computes in.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(crate) type Native = plain::Plain;
/// The slices that this target computes in.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) type Native = sse2::Vector;

/// 128 bits, each of another place.
pub(crate) trait Slice: Copy + Send + Sync + 'static {
    /// The register as a slice.
    fn load(from: X1) -> Self;

    /// The slice as a register.
    fn store(self) -> X1;

    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// `self & other`.
    fn and(self, other: Self) -> Self;

    /// `self | other`.
    fn or(self, other: Self) -> Self;

    /// Shifts both halves towards their low bits.
    fn shift_right<const BITS: i32>(self) -> Self;

    /// Shifts both halves towards their high bits.
    fn shift_left<const BITS: i32>(self) -> Self;

    /// Byte `i` of the low half of `self`, then that of `other`, for each `i`.
    fn interleave_low(self, other: Self) -> Self;

    /// Byte `i` of the high half of `self`, then that of `other`, for each `i`.
    fn interleave_high(self, other: Self) -> Self;

    /// The low half of `self`, then that of `other`.
    fn low_halves(self, other: Self) -> Self;

    /// The high half of `self`, then that of `other`.
    fn high_halves(self, other: Self) -> Self;

    /// The halves exchanged.
    fn swap_halves(self) -> Self;

    /// A word in each half, for [`Slice::bit`].
    fn spread(words: [u32; 2]) -> Self;

    /// Ones in each half whose word has bit `bit` set.
    fn bit(self, bit: usize) -> Self;

    /// Of a state of FIPS 197 section 3.4, with row r, column c in byte r + 4c: byte (r, c) becomes byte (r + `rows`,
    /// c + `columns`), both modulo 4. Inlined with constants.
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

impl<S: Slice> BitOr for Wire<S> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }
}

/// Compilers make one instruction of it and an AND that follows, where there is one.
impl<S: Slice> Not for Wire<S> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.xor(S::load(X1([u64::MAX; 2]))))
    }
}

/// Turns bytes into slices and, being a transposition, slices into bytes.
///
/// Bit i of byte p of register b and bit b of byte p of register i change places: an 8 x 8 matrix of bits for each
/// p, transposed by exchanging ever larger squares (D. E. Knuth, TAOCP 4A, section 7.1.3).
#[inline(always)]
pub(crate) fn transpose_bytes<S: Slice>(registers: &mut [Wire<S>; 8]) {
    exchange::<S, 1>(registers, 0x5555_5555_5555_5555);
    exchange::<S, 2>(registers, 0x3333_3333_3333_3333);
    exchange::<S, 4>(registers, 0x0f0f_0f0f_0f0f_0f0f);
}

/// The same of halves: bit i of both halves of register j and bit j of those of register i change places, in two
/// 64 x 64 matrices of bits.
#[inline(always)]
pub(crate) fn transpose_halves<S: Slice>(registers: &mut [Wire<S>; 64]) {
    exchange::<S, 1>(registers, 0x5555_5555_5555_5555);
    exchange::<S, 2>(registers, 0x3333_3333_3333_3333);
    exchange::<S, 4>(registers, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<S, 8>(registers, 0x00ff_00ff_00ff_00ff);
    exchange::<S, 16>(registers, 0x0000_ffff_0000_ffff);
    exchange::<S, 32>(registers, 0x0000_0000_ffff_ffff);
}

/// Exchanges the upper DISTANCE bits of each 2 * DISTANCE bits in the lower registers with the lower ones in the
/// registers DISTANCE further on. `mask` has the lower ones set.
#[inline(always)]
fn exchange<S: Slice, const DISTANCE: i32>(registers: &mut [Wire<S>], mask: u64) {
    let mask = Wire(S::load(X1([mask; 2])));
    #[allow(clippy::cast_sign_loss)] // 1 to 32
    let distance = DISTANCE as usize;
    for squares in registers.chunks_exact_mut(2 * distance) {
        let (lower, upper) = squares.split_at_mut(distance);
        for (low, high) in lower.iter_mut().zip(upper) {
            let moved = (Wire(low.0.shift_right::<DISTANCE>()) ^ *high) & mask;
            *high = *high ^ moved;
            *low = *low ^ Wire(moved.0.shift_left::<DISTANCE>());
        }
    }
}
