//! A slice in a register of SSE2, which every x86-64 CPU has: part of the architecture, not an extension to detect.
//!
//! Worth the intrinsics: compilers vectorise the circuits over [`super::plain::Plain`] hardly at all, which leaves
//! them at half this speed.

use std::arch::x86_64::*;

use super::Slice;
use crate::lanes::portable::X1;

/// A slice in one vector register.
#[derive(Clone, Copy)]
pub(crate) struct Vector(__m128i);

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

    /// Columns are 32-bit words: exchanged by one shuffle, and rotated to turn rows.
    #[inline(always)]
    fn turn(self, rows: usize, columns: usize) -> Self {
        // SAFETY: as above.
        unsafe {
            let words = match columns {
                0 => self.0,
                1 => _mm_shuffle_epi32::<0b00_11_10_01>(self.0),
                2 => _mm_shuffle_epi32::<0b01_00_11_10>(self.0),
                3 => _mm_shuffle_epi32::<0b10_01_00_11>(self.0),
                _ => unreachable!("a state has four columns"),
            };
            Self(match rows {
                0 => words,
                1 => _mm_or_si128(_mm_srli_epi32::<8>(words), _mm_slli_epi32::<24>(words)),
                2 => _mm_shufflehi_epi16::<0b10_11_00_01>(_mm_shufflelo_epi16::<0b10_11_00_01>(words)),
                3 => _mm_or_si128(_mm_srli_epi32::<24>(words), _mm_slli_epi32::<8>(words)),
                _ => unreachable!("a state has four rows"),
            })
        }
    }
}
