//! Eight 32-bit or four 64-bit words: AVX2, whether the CPU has VAES or not.

use std::arch::x86_64::*;

use super::super::{avx2, vaes256};
use super::{Lanes, MAX_WORDS_32, MAX_WORDS_64, WordLanes};

/// A register that is 256 bits, in one piece or in two. Its values exist only where AVX2 does.
trait Ymm: Lanes {
    fn whole(self) -> __m256i;
    fn from_whole(whole: __m256i) -> Self;
}

impl Ymm for vaes256::X2 {
    #[inline(always)]
    fn whole(self) -> __m256i {
        self.0
    }

    #[inline(always)]
    fn from_whole(whole: __m256i) -> Self {
        Self(whole)
    }
}

/// Halves that are put together and taken apart again cost nothing: the compiler leaves both out.
impl Ymm for avx2::X2 {
    #[inline(always)]
    fn whole(self) -> __m256i {
        // SAFETY: values exist only after detection.
        unsafe { _mm256_set_m128i(self.0[1], self.0[0]) }
    }

    #[inline(always)]
    fn from_whole(whole: __m256i) -> Self {
        // SAFETY: as above.
        unsafe { Self([_mm256_castsi256_si128(whole), _mm256_extracti128_si256::<1>(whole)]) }
    }
}

/// A shift count. Compilers turn shifts by a constant one into those with an immediate operand, which cannot be
/// `32 - R` here.
#[inline(always)]
fn count(bits: i32) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_cvtsi32_si128(bits) }
}

// SAFETY of every block below: `Isa` tokens and `Ymm` values exist only after detection.
impl<T: Ymm> WordLanes for T {
    #[inline(always)]
    fn splat_32(_: Self::Isa, word: u32) -> Self {
        // SAFETY: as above.
        Self::from_whole(unsafe { _mm256_set1_epi32(word.cast_signed()) })
    }

    #[inline(always)]
    fn splat_64(_: Self::Isa, word: u64) -> Self {
        // SAFETY: as above.
        Self::from_whole(unsafe { _mm256_set1_epi64x(word.cast_signed()) })
    }

    #[inline(always)]
    fn add_64(self, other: Self) -> Self {
        // SAFETY: as above.
        Self::from_whole(unsafe { _mm256_add_epi64(self.whole(), other.whole()) })
    }

    #[inline(always)]
    fn rotate_right_32<const R: i32>(self) -> Self {
        let x = self.whole();
        // SAFETY: as above.
        let rotated =
            unsafe { _mm256_xor_si256(_mm256_srli_epi32::<R>(x), _mm256_sll_epi32(x, count(32 - R))) };
        Self::from_whole(rotated)
    }

    #[inline(always)]
    fn shift_right_32<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self::from_whole(unsafe { _mm256_srli_epi32::<R>(self.whole()) })
    }

    #[inline(always)]
    fn rotate_right_64<const R: i32>(self) -> Self {
        let x = self.whole();
        // SAFETY: as above.
        let rotated =
            unsafe { _mm256_xor_si256(_mm256_srli_epi64::<R>(x), _mm256_sll_epi64(x, count(64 - R))) };
        Self::from_whole(rotated)
    }

    #[inline(always)]
    fn rotate_left_64<const R: i32>(self) -> Self {
        let x = self.whole();
        // SAFETY: as above.
        let rotated =
            unsafe { _mm256_xor_si256(_mm256_slli_epi64::<R>(x), _mm256_srl_epi64(x, count(64 - R))) };
        Self::from_whole(rotated)
    }

    #[inline(always)]
    fn shift_right_64<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self::from_whole(unsafe { _mm256_srli_epi64::<R>(self.whole()) })
    }

    #[inline(always)]
    fn chi(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        let chi = unsafe { _mm256_xor_si256(self.whole(), _mm256_andnot_si256(a.whole(), b.whole())) };
        Self::from_whole(chi)
    }

    #[inline(always)]
    fn swap_bytes_32(self) -> Self {
        // SAFETY: as above.
        Self::from_whole(unsafe {
            let pattern = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
            _mm256_shuffle_epi8(self.whole(), _mm256_broadcastsi128_si256(pattern))
        })
    }

    #[inline(always)]
    fn swap_bytes_64(self) -> Self {
        // SAFETY: as above.
        Self::from_whole(unsafe {
            let pattern = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
            _mm256_shuffle_epi8(self.whole(), _mm256_broadcastsi128_si256(pattern))
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
                let (a, b) = (registers[i].whole(), registers[i + 1].whole());
                let (c, d) = (registers[i + 2].whole(), registers[i + 3].whole());
                let (ab, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
                let (cd, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
                registers[i] = Self::from_whole(_mm256_unpacklo_epi64(ab, cd));
                registers[i + 1] = Self::from_whole(_mm256_unpackhi_epi64(ab, cd));
                registers[i + 2] = Self::from_whole(_mm256_unpacklo_epi64(ab_high, cd_high));
                registers[i + 3] = Self::from_whole(_mm256_unpackhi_epi64(ab_high, cd_high));
            }
        }
    }

    #[inline(always)]
    fn transpose_64(registers: &mut [Self; MAX_WORDS_64]) {
        for i in 0..2 {
            exchange_halves(registers, i, i + 2);
        }
        for i in [0, 2] {
            let (a, b) = (registers[i].whole(), registers[i + 1].whole());
            // SAFETY: as above.
            unsafe {
                registers[i] = Self::from_whole(_mm256_unpacklo_epi64(a, b));
                registers[i + 1] = Self::from_whole(_mm256_unpackhi_epi64(a, b));
            }
        }
    }
}

/// Exchanges the high half of register `i` with the low half of register `j`.
#[inline(always)]
fn exchange_halves<T: Ymm>(registers: &mut [T], i: usize, j: usize) {
    let (a, b) = (registers[i].whole(), registers[j].whole());
    // SAFETY: as above.
    unsafe {
        registers[i] = T::from_whole(_mm256_permute2x128_si256::<0x20>(a, b));
        registers[j] = T::from_whole(_mm256_permute2x128_si256::<0x31>(a, b));
    }
}
