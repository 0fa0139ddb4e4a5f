//! 32 bytes: AVX2, in one register or in a pair of halves, and GFNI.

use std::arch::x86_64::*;

use super::super::{avx2, vaes256};
use super::{ByteLanes, GaloisLanes, repeated};
use crate::lanes::Lanes;

// SAFETY of every block below: `Avx2`, `Vaes256` and their registers exist only after detection.
impl<const GFNI: bool> ByteLanes for vaes256::X2<GFNI> {
    #[inline(always)]
    fn splat_half(_: Self::Isa, half: u64) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_set1_epi64x(half.cast_signed()) })
    }

    #[inline(always)]
    fn interleave_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_unpacklo_epi8(self.0, other.0) })
    }

    #[inline(always)]
    fn interleave_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_unpackhi_epi8(self.0, other.0) })
    }

    #[inline(always)]
    fn shift_bits_left<const BITS: u32>(self) -> Self {
        // SAFETY: as above.
        let shifted = Self(unsafe { _mm256_sll_epi16(self.0, count(BITS)) });
        shifted.and(Self::splat_half(self.isa(), repeated(0xff << BITS)))
    }

    #[inline(always)]
    fn shift_bits_right<const BITS: u32>(self) -> Self {
        // SAFETY: as above.
        let shifted = Self(unsafe { _mm256_srl_epi16(self.0, count(BITS)) });
        shifted.and(Self::splat_half(self.isa(), repeated(0xff >> BITS)))
    }
}

impl GaloisLanes for vaes256::X2<true> {
    #[inline(always)]
    fn affine<const C: i32>(self, matrix: Self) -> Self {
        // SAFETY: as above; this instance proves GFNI.
        Self(unsafe { _mm256_gf2p8affine_epi64_epi8::<C>(self.0, matrix.0) })
    }

    #[inline(always)]
    fn affine_of_inverse<const C: i32>(self, matrix: Self) -> Self {
        // SAFETY: as above; this instance proves GFNI.
        Self(unsafe { _mm256_gf2p8affineinv_epi64_epi8::<C>(self.0, matrix.0) })
    }
}

impl ByteLanes for avx2::X2 {
    #[inline(always)]
    fn splat_half(_: Self::Isa, half: u64) -> Self {
        // SAFETY: as above.
        Self([unsafe { _mm_set1_epi64x(half.cast_signed()) }; 2])
    }

    #[inline(always)]
    fn interleave_low(self, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        // SAFETY: as above.
        Self(unsafe { [_mm_unpacklo_epi8(a, c), _mm_unpacklo_epi8(b, d)] })
    }

    #[inline(always)]
    fn interleave_high(self, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        // SAFETY: as above.
        Self(unsafe { [_mm_unpackhi_epi8(a, c), _mm_unpackhi_epi8(b, d)] })
    }

    #[inline(always)]
    fn shift_bits_left<const BITS: u32>(self) -> Self {
        let [a, b] = self.0;
        // SAFETY: as above.
        let shifted = Self(unsafe { [_mm_sll_epi16(a, count(BITS)), _mm_sll_epi16(b, count(BITS))] });
        shifted.and(Self::splat_half(self.isa(), repeated(0xff << BITS)))
    }

    #[inline(always)]
    fn shift_bits_right<const BITS: u32>(self) -> Self {
        let [a, b] = self.0;
        // SAFETY: as above.
        let shifted = Self(unsafe { [_mm_srl_epi16(a, count(BITS)), _mm_srl_epi16(b, count(BITS))] });
        shifted.and(Self::splat_half(self.isa(), repeated(0xff >> BITS)))
    }
}

/// A shift count. Compilers turn shifts by a constant one into those with an immediate operand, whose type differs
/// between the widths.
#[inline(always)]
fn count(bits: u32) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_cvtsi32_si128(bits.cast_signed()) }
}
