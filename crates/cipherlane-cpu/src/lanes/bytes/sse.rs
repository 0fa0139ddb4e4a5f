//! 16 bytes: SSE4.1.

use std::arch::x86_64::*;

use super::super::sse::{Sse, X1};
use super::{ByteLanes, repeated};
use crate::lanes::Lanes;

// SAFETY of every block below: `Sse` and `X1` values exist only after detection.
impl ByteLanes for X1 {
    #[inline(always)]
    fn splat_half(_: Sse, half: u64) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_set1_epi64x(half.cast_signed()) })
    }

    #[inline(always)]
    fn interleave_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_unpacklo_epi8(self.0, other.0) })
    }

    #[inline(always)]
    fn interleave_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_unpackhi_epi8(self.0, other.0) })
    }

    #[inline(always)]
    fn shift_bits_left<const BITS: u32>(self) -> Self {
        // SAFETY: as above. A shift by a constant count is compiled to one with an immediate operand.
        let shifted = Self(unsafe { _mm_sll_epi16(self.0, _mm_cvtsi32_si128(BITS.cast_signed())) });
        shifted.and(Self::splat_half(self.isa(), repeated(0xff << BITS)))
    }

    #[inline(always)]
    fn shift_bits_right<const BITS: u32>(self) -> Self {
        // SAFETY: as above. A shift by a constant count is compiled to one with an immediate operand.
        let shifted = Self(unsafe { _mm_srl_epi16(self.0, _mm_cvtsi32_si128(BITS.cast_signed())) });
        shifted.and(Self::splat_half(self.isa(), repeated(0xff >> BITS)))
    }
}
