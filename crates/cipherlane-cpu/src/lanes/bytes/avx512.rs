//! 64 bytes: AVX-512 and GFNI.

use std::arch::x86_64::*;

use super::super::vaes512::{Vaes512, X4};
use super::{ByteLanes, GaloisLanes, repeated};
use crate::lanes::Lanes;

// SAFETY of every block below: `Vaes512` and `X4` values exist only after detection.
impl ByteLanes for X4 {
    #[inline(always)]
    fn splat_half(_: Vaes512, half: u64) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_set1_epi64(half.cast_signed()) })
    }

    #[inline(always)]
    fn interleave_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_unpacklo_epi8(self.0, other.0) })
    }

    #[inline(always)]
    fn interleave_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_unpackhi_epi8(self.0, other.0) })
    }

    #[inline(always)]
    fn shift_bits_left<const BITS: u32>(self) -> Self {
        // SAFETY: as above.
        let shifted = Self(unsafe { _mm512_slli_epi16::<BITS>(self.0) });
        shifted.and(Self::splat_half(self.isa(), repeated(0xff << BITS)))
    }

    #[inline(always)]
    fn shift_bits_right<const BITS: u32>(self) -> Self {
        // SAFETY: as above.
        let shifted = Self(unsafe { _mm512_srli_epi16::<BITS>(self.0) });
        shifted.and(Self::splat_half(self.isa(), repeated(0xff >> BITS)))
    }
}

impl GaloisLanes for X4 {
    #[inline(always)]
    fn affine<const C: i32>(self, matrix: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_gf2p8affine_epi64_epi8::<C>(self.0, matrix.0) })
    }

    #[inline(always)]
    fn affine_of_inverse<const C: i32>(self, matrix: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_gf2p8affineinv_epi64_epi8::<C>(self.0, matrix.0) })
    }
}
