//! A slice in integers, for targets without a vector unit that all their CPUs share.

use super::Slice;
use crate::lanes::portable::X1;

/// A slice in two integers.
#[derive(Clone, Copy)]
pub(crate) struct Plain([u64; 2]);

impl Slice for Plain {
    #[inline(always)]
    fn load(from: X1) -> Self {
        Self(from.0)
    }

    #[inline(always)]
    fn store(self) -> X1 {
        X1(self.0)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    #[inline(always)]
    fn shift_right<const BITS: i32>(self) -> Self {
        Self(self.0.map(|half| half >> BITS))
    }

    #[inline(always)]
    fn shift_left<const BITS: i32>(self) -> Self {
        Self(self.0.map(|half| half << BITS))
    }

    #[inline(always)]
    fn interleave_low(self, other: Self) -> Self {
        interleave(self.0[0], other.0[0])
    }

    #[inline(always)]
    fn interleave_high(self, other: Self) -> Self {
        interleave(self.0[1], other.0[1])
    }

    #[inline(always)]
    fn low_halves(self, other: Self) -> Self {
        Self([self.0[0], other.0[0]])
    }

    #[inline(always)]
    fn high_halves(self, other: Self) -> Self {
        Self([self.0[1], other.0[1]])
    }

    #[inline(always)]
    fn swap_halves(self) -> Self {
        Self([self.0[1], self.0[0]])
    }

    #[inline(always)]
    fn spread([low, high]: [u32; 2]) -> Self {
        Self([u64::from(low), u64::from(high)])
    }

    #[inline(always)]
    fn bit(self, bit: usize) -> Self {
        Self([(self.0[0] >> bit & 1).wrapping_neg(), (self.0[1] >> bit & 1).wrapping_neg()])
    }

    /// A column is a 32-bit word, in which a turn of rows is a rotation.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // takes halves apart into words
    fn turn(self, rows: usize, columns: usize) -> Self {
        let word = |c: usize| ((self.0[c / 2 % 2] >> (32 * (c % 2))) as u32).rotate_right(8 * rows as u32);
        let half = |c: usize| u64::from(word(c)) | u64::from(word(c + 1)) << 32;
        Self([half(columns), half(columns + 2)])
    }
}

/// The bytes of `a` in even places and those of `b` in odd ones.
#[inline(always)]
fn interleave(a: u64, b: u64) -> Plain {
    Plain([apart(a) | apart(b) << 8, apart(a >> 32) | apart(b >> 32) << 8])
}

/// The low four bytes in even places, zeros in odd ones.
#[inline(always)]
fn apart(word: u64) -> u64 {
    let word = word & 0xffff_ffff;
    let word = (word | word << 16) & 0x0000_ffff_0000_ffff;
    (word | word << 8) & 0x00ff_00ff_00ff_00ff
}
