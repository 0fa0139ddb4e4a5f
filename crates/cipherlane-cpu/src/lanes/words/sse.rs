//! Four 32-bit or two 64-bit words: SSSE3.

use std::arch::x86_64::*;

use super::super::Lanes;
use super::super::sse::{Sse, X1};
use super::{MAX_WORDS_32, MAX_WORDS_64, WordLanes, byte_rotation};

/// A shift count. Compilers turn shifts by a constant one into those with an immediate operand, which cannot be
/// `32 - R` here.
#[inline(always)]
fn count(bits: i32) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_cvtsi32_si128(bits) }
}

// SAFETY of every block below: `Sse` and `X1` values exist only after detection; pointers are the caller's duty.
impl WordLanes for X1 {
    type Isa = Sse;
    const BYTES: usize = 16;

    #[inline(always)]
    fn isa(self) -> Sse {
        Lanes::isa(self)
    }

    #[inline(always)]
    unsafe fn load(_: Sse, from: *const u8) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[inline(always)]
    unsafe fn gather_64(_: Sse, from: &[*const u8; MAX_WORDS_64]) -> [Self; 2] {
        // SAFETY: as above.
        unsafe {
            let (a, b) = (_mm_loadu_si128(from[0].cast()), _mm_loadu_si128(from[1].cast()));
            [Self(_mm_unpacklo_epi64(a, b)), Self(_mm_unpackhi_epi64(a, b))]
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut u8, bytes: usize) {
        // SAFETY: as above.
        unsafe { self.store_partial(to, bytes) }
    }

    #[inline(always)]
    fn splat_32(_: Sse, word: u32) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_set1_epi32(word.cast_signed()) })
    }

    #[inline(always)]
    fn splat_64(_: Sse, word: u64) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_set1_epi64x(word.cast_signed()) })
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
    fn add_32(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn add_64(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn rotate_right_32<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_xor_si128(_mm_srli_epi32::<R>(self.0), _mm_sll_epi32(self.0, count(32 - R))) })
    }

    #[inline(always)]
    fn shift_right_32<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_srli_epi32::<R>(self.0) })
    }

    #[inline(always)]
    fn rotate_right_64<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_xor_si128(_mm_srli_epi64::<R>(self.0), _mm_sll_epi64(self.0, count(64 - R))) })
    }

    #[inline(always)]
    fn rotate_left_64<const R: i32>(self) -> Self {
        if R % 8 == 0 {
            let pattern = const { byte_rotation::<R>() };
            // SAFETY: as above; the pattern is 16 bytes.
            return Self(unsafe { _mm_shuffle_epi8(self.0, _mm_loadu_si128(pattern.as_ptr().cast())) });
        }
        // SAFETY: as above.
        Self(unsafe { _mm_xor_si128(_mm_slli_epi64::<R>(self.0), _mm_srl_epi64(self.0, count(64 - R))) })
    }

    #[inline(always)]
    fn shift_right_64<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_srli_epi64::<R>(self.0) })
    }

    #[inline(always)]
    fn chi(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_xor_si128(self.0, _mm_andnot_si128(a.0, b.0)) })
    }

    #[inline(always)]
    fn swap_bytes_32(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let pattern = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
            _mm_shuffle_epi8(self.0, pattern)
        })
    }

    #[inline(always)]
    fn swap_bytes_64(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let pattern = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
            _mm_shuffle_epi8(self.0, pattern)
        })
    }

    #[inline(always)]
    fn transpose_32(registers: &mut [Self; MAX_WORDS_32]) {
        let [a, b, c, d, ..] = registers;
        // SAFETY: as above.
        unsafe {
            let (ab, ab_high) = (_mm_unpacklo_epi32(a.0, b.0), _mm_unpackhi_epi32(a.0, b.0));
            let (cd, cd_high) = (_mm_unpacklo_epi32(c.0, d.0), _mm_unpackhi_epi32(c.0, d.0));
            (a.0, b.0) = (_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd));
            (c.0, d.0) = (_mm_unpacklo_epi64(ab_high, cd_high), _mm_unpackhi_epi64(ab_high, cd_high));
        }
    }

    #[inline(always)]
    fn transpose_64(registers: &mut [Self; MAX_WORDS_64]) {
        let [a, b, ..] = registers;
        // SAFETY: as above.
        unsafe { (a.0, b.0) = (_mm_unpacklo_epi64(a.0, b.0), _mm_unpackhi_epi64(a.0, b.0)) }
    }
}
