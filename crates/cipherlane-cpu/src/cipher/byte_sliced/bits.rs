//! Byte-sliced registers whose S-boxes are circuits of bits, in slices of the target's baseline: what every CPU has.

use crate::cipher::slices::{Slice, Wire};
use crate::lanes::bytes::{Bytes, repeated};
use crate::lanes::portable::{Portable, X1};

impl<S: Slice> Bytes for Wire<S> {
    type Lanes = X1;

    #[inline(always)]
    fn isa(self) -> Portable {
        Portable
    }

    #[inline(always)]
    fn from_lanes(lanes: X1) -> Self {
        Self(S::load(lanes))
    }

    #[inline(always)]
    fn to_lanes(self) -> X1 {
        self.0.store()
    }

    #[inline(always)]
    fn splat_half(_: Portable, half: u64) -> Self {
        Self(S::load(X1([half; 2])))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }

    #[inline(always)]
    fn interleave_low(self, other: Self) -> Self {
        Self(self.0.interleave_low(other.0))
    }

    #[inline(always)]
    fn interleave_high(self, other: Self) -> Self {
        Self(self.0.interleave_high(other.0))
    }

    #[inline(always)]
    fn shift_bits_left<const BITS: u32>(self) -> Self {
        let shifted = match BITS {
            1 => self.0.shift_left::<1>(),
            2 => self.0.shift_left::<2>(),
            4 => self.0.shift_left::<4>(),
            5 => self.0.shift_left::<5>(),
            6 => self.0.shift_left::<6>(),
            7 => self.0.shift_left::<7>(),
            _ => unreachable!("no cipher shifts by as much"),
        };
        Self(shifted) & Self::splat_half(Portable, repeated(0xff << BITS))
    }

    #[inline(always)]
    fn shift_bits_right<const BITS: u32>(self) -> Self {
        let shifted = match BITS {
            1 => self.0.shift_right::<1>(),
            2 => self.0.shift_right::<2>(),
            3 => self.0.shift_right::<3>(),
            4 => self.0.shift_right::<4>(),
            6 => self.0.shift_right::<6>(),
            7 => self.0.shift_right::<7>(),
            _ => unreachable!("no cipher shifts by as much"),
        };
        Self(shifted) & Self::splat_half(Portable, repeated(0xff >> BITS))
    }
}

/// XOR of the bits of `constant` to eight slices of bits, or of as many as a byte has.
#[inline(always)]
pub(crate) fn flip<S: Slice>(mut bits: [Wire<S>; 8], constant: u8) -> [Wire<S>; 8] {
    for (i, bit) in bits.iter_mut().enumerate() {
        if constant >> i & 1 == 1 {
            *bit = *bit ^ Wire::splat_half(Portable, u64::MAX);
        }
    }
    bits
}
