//! A slice in a register of SSE2, which every x86-64 CPU has: part of the architecture, not an extension to detect.

use std::arch::x86_64::*;

use super::slices::Slice;
use crate::lanes::portable::X1;

/// A slice in one vector register.
#[derive(Clone, Copy)]
pub(super) struct Vector(__m128i);

// SAFETY of the intrinsics below: this module is compiled only where SSE2 is a feature of the whole target.
impl Slice for Vector {
    #[inline(always)]
    fn load(from: X1) -> Self {
        // SAFETY: both are 16 plain bytes.
        Self(unsafe { std::mem::transmute::<X1, __m128i>(from) })
    }

    #[inline(always)]
    fn store(self) -> X1 {
        // SAFETY: both are 16 plain bytes.
        unsafe { std::mem::transmute::<__m128i, X1>(self.0) }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_and_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_or_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn shift_right<const BITS: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_srli_epi64::<BITS>(self.0) })
    }

    #[inline(always)]
    fn shift_left<const BITS: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_slli_epi64::<BITS>(self.0) })
    }

    #[inline(always)]
    fn low_halves(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_unpacklo_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn high_halves(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_unpackhi_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn swap_halves(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_shuffle_epi32::<0x4e>(self.0) })
    }

    #[inline(always)]
    fn spread([low, high]: [u32; 2]) -> Self {
        let (low, high) = (low.cast_signed(), high.cast_signed());
        // SAFETY: as above.
        Self(unsafe { _mm_set_epi32(high, high, low, low) })
    }

    #[inline(always)]
    fn bit(self, bit: usize) -> Self {
        // SAFETY: as above.
        unsafe {
            let bit = _mm_set1_epi32(1 << bit);
            Self(_mm_cmpeq_epi32(_mm_and_si128(self.0, bit), bit))
        }
    }
}
