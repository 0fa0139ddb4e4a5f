//! Eight 32-bit or four 64-bit words: AVX2.

use std::arch::x86_64::*;

use super::super::avx2::Avx2;
use super::super::part;
use super::{MAX_WORDS_32, MAX_WORDS_64, WordLanes, byte_rotation};

/// A register of 256 bits. Exists only where [`Avx2`] does.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Ymm(__m256i);

/// A shift count. Compilers turn shifts by a constant one into those with an immediate operand, which cannot be
/// `32 - R` here.
#[inline(always)]
fn count(bits: i32) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_cvtsi32_si128(bits) }
}

// SAFETY of every block below: `Avx2` and `Ymm` values exist only after detection; pointers are the caller's duty.
impl WordLanes for Ymm {
    type Isa = Avx2;
    const BYTES: usize = 32;

    #[inline(always)]
    fn isa(self) -> Avx2 {
        Avx2(())
    }

    #[inline(always)]
    unsafe fn load(_: Avx2, from: *const u8) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn gather_64(_: Avx2, from: &[*const u8; MAX_WORDS_64]) -> [Self; 2] {
        let [a, b, c, d, ..] = *from;
        // SAFETY: as above.
        unsafe {
            let even = _mm256_loadu2_m128i(c.cast(), a.cast());
            let odd = _mm256_loadu2_m128i(d.cast(), b.cast());
            [Self(_mm256_unpacklo_epi64(even, odd)), Self(_mm256_unpackhi_epi64(even, odd))]
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut u8, bytes: usize) {
        // SAFETY: as above.
        unsafe {
            let halves = [_mm256_castsi256_si128(self.0), _mm256_extracti128_si256::<1>(self.0)];
            part::store_two(halves, to, bytes);
        }
    }

    #[inline(always)]
    fn splat_32(_: Avx2, word: u32) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_set1_epi32(word.cast_signed()) })
    }

    #[inline(always)]
    fn splat_64(_: Avx2, word: u64) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_set1_epi64x(word.cast_signed()) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn add_32(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn add_64(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn rotate_right_32<const R: i32>(self) -> Self {
        let x = self.0;
        // SAFETY: as above.
        let rotated =
            unsafe { _mm256_xor_si256(_mm256_srli_epi32::<R>(x), _mm256_sll_epi32(x, count(32 - R))) };
        Self(rotated)
    }

    #[inline(always)]
    fn shift_right_32<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_srli_epi32::<R>(self.0) })
    }

    #[inline(always)]
    fn rotate_right_64<const R: i32>(self) -> Self {
        let x = self.0;
        // SAFETY: as above.
        let rotated =
            unsafe { _mm256_xor_si256(_mm256_srli_epi64::<R>(x), _mm256_sll_epi64(x, count(64 - R))) };
        Self(rotated)
    }

    #[inline(always)]
    fn rotate_left_64<const R: i32>(self) -> Self {
        let x = self.0;
        if R % 8 == 0 {
            let pattern = const { byte_rotation::<R>() };
            // SAFETY: as above; the pattern is 16 bytes.
            return Self(unsafe {
                let pattern = _mm_loadu_si128(pattern.as_ptr().cast());
                _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(pattern))
            });
        }
        // SAFETY: as above.
        let rotated =
            unsafe { _mm256_xor_si256(_mm256_slli_epi64::<R>(x), _mm256_srl_epi64(x, count(64 - R))) };
        Self(rotated)
    }

    #[inline(always)]
    fn shift_right_64<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_srli_epi64::<R>(self.0) })
    }

    #[inline(always)]
    fn chi(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        let chi = unsafe { _mm256_xor_si256(self.0, _mm256_andnot_si256(a.0, b.0)) };
        Self(chi)
    }

    #[inline(always)]
    fn swap_bytes_32(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let pattern = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
            _mm256_shuffle_epi8(self.0, _mm256_broadcastsi128_si256(pattern))
        })
    }

    #[inline(always)]
    fn swap_bytes_64(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let pattern = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
            _mm256_shuffle_epi8(self.0, _mm256_broadcastsi128_si256(pattern))
        })
    }

    #[inline(always)]
    fn transpose_32(registers: &mut [Self; MAX_WORDS_32]) {
        for i in 0..4 {
            exchange_halves(registers, i, i + 4);
        }
        for i in [0, 4] {
            // SAFETY: as above.
            unsafe {
                let (a, b) = (registers[i].0, registers[i + 1].0);
                let (c, d) = (registers[i + 2].0, registers[i + 3].0);
                let (ab, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
                let (cd, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
                registers[i] = Self(_mm256_unpacklo_epi64(ab, cd));
                registers[i + 1] = Self(_mm256_unpackhi_epi64(ab, cd));
                registers[i + 2] = Self(_mm256_unpacklo_epi64(ab_high, cd_high));
                registers[i + 3] = Self(_mm256_unpackhi_epi64(ab_high, cd_high));
            }
        }
    }

    #[inline(always)]
    fn transpose_64(registers: &mut [Self; MAX_WORDS_64]) {
        for i in 0..2 {
            exchange_halves(registers, i, i + 2);
        }
        for i in [0, 2] {
            let (a, b) = (registers[i].0, registers[i + 1].0);
            // SAFETY: as above.
            unsafe {
                registers[i] = Self(_mm256_unpacklo_epi64(a, b));
                registers[i + 1] = Self(_mm256_unpackhi_epi64(a, b));
            }
        }
    }
}

/// Exchanges the high half of register `i` with the low half of register `j`.
#[inline(always)]
fn exchange_halves(registers: &mut [Ymm], i: usize, j: usize) {
    let (a, b) = (registers[i].0, registers[j].0);
    // SAFETY: as above.
    unsafe {
        registers[i] = Ymm(_mm256_permute2x128_si256::<0x20>(a, b));
        registers[j] = Ymm(_mm256_permute2x128_si256::<0x31>(a, b));
    }
}
