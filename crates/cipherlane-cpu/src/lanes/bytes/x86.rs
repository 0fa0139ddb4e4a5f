//! 16, 32 and 64 bytes: SSE4.1, AVX2 and AVX-512, with AES instructions and GFNI.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use super::{AesBytes, Buffer, Bytes, GaloisBytes, IsaOf, repeated};
use crate::lanes::{Lanes, MAX_LANES, avx2, sse, vaes256, vaes512};

/// 16 bytes. Exists only where [`sse::Sse`] does.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Xmm(__m128i);

/// 32 bytes, of the instruction set of L. Exists only where that does.
#[repr(transparent)]
pub(crate) struct Ymm<L>(__m256i, PhantomData<fn() -> L>);

impl<L> Clone for Ymm<L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Ymm<L> {}

impl<L> Ymm<L> {
    #[inline(always)]
    fn new(register: __m256i) -> Self {
        Self(register, PhantomData)
    }
}

/// Registers of blocks of 256 bits: all their instruction sets have AVX2.
pub(crate) trait Avx2Lanes: Lanes {}
impl Avx2Lanes for avx2::X2 {}
impl<const GFNI: bool> Avx2Lanes for vaes256::X2<GFNI> {}

/// 64 bytes. Exists only where [`vaes512::Vaes512`] does.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Zmm(__m512i);

/// A shift count. Compilers turn shifts by a constant one into those with an immediate operand, whose type is not the
/// same for all widths.
#[inline(always)]
fn count(bits: u32) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_cvtsi32_si128(bits.cast_signed()) }
}

/// [`Bytes`] but for what differs between the widths.
macro_rules! bytes {
    ($lanes:ty, $new:path, $load:ident, $store:ident, $splat:ident, $xor:ident, $and:ident, $low:ident,
     $high:ident, $left:ident, $right:ident, $add:ident) => {
        type Lanes = $lanes;

        #[inline(always)]
        fn isa(self) -> IsaOf<Self> {
            self.to_lanes().isa()
        }

        #[inline(always)]
        fn from_lanes(lanes: Self::Lanes) -> Self {
            let mut buffer = Buffer([0; MAX_LANES * BLOCK]);
            // SAFETY: as above; the buffer holds any register.
            $new(unsafe {
                lanes.store(buffer.0.as_mut_ptr());
                $load(buffer.0.as_ptr().cast())
            })
        }

        #[inline(always)]
        fn to_lanes(self) -> Self::Lanes {
            let mut buffer = Buffer([0; MAX_LANES * BLOCK]);
            // SAFETY: as above; the buffer holds any register.
            unsafe {
                $store(buffer.0.as_mut_ptr().cast(), self.0);
                std::ptr::read_unaligned(buffer.0.as_ptr().cast())
            }
        }

        #[inline(always)]
        fn splat_half(_: IsaOf<Self>, half: u64) -> Self {
            // SAFETY: as above.
            $new(unsafe { $splat(half.cast_signed()) })
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            // SAFETY: as above.
            $new(unsafe { $xor(self.0, other.0) })
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            // SAFETY: as above.
            $new(unsafe { $and(self.0, other.0) })
        }

        #[inline(always)]
        fn interleave_low(self, other: Self) -> Self {
            // SAFETY: as above.
            $new(unsafe { $low(self.0, other.0) })
        }

        #[inline(always)]
        fn interleave_high(self, other: Self) -> Self {
            // SAFETY: as above.
            $new(unsafe { $high(self.0, other.0) })
        }

        #[inline(always)]
        fn shift_bits_left<const BITS: u32>(self) -> Self {
            if BITS == 1 {
                // Bytes have a sum, but no shift.
                // SAFETY: as above.
                return $new(unsafe { $add(self.0, self.0) });
            }
            // SAFETY: as above.
            let shifted = $new(unsafe { $left(self.0, count(BITS)) });
            shifted.and(Self::splat_half(self.isa(), repeated(0xff << BITS)))
        }

        #[inline(always)]
        fn shift_bits_right<const BITS: u32>(self) -> Self {
            // SAFETY: as above.
            let shifted = $new(unsafe { $right(self.0, count(BITS)) });
            shifted.and(Self::splat_half(self.isa(), repeated(0xff >> BITS)))
        }
    };
}

// SAFETY of every block below: registers of blocks and of bytes exist only after detection.
#[rustfmt::skip] // a column of names
impl Bytes for Xmm {
    bytes!(
        sse::X1, Self, _mm_loadu_si128, _mm_storeu_si128, _mm_set1_epi64x, _mm_xor_si128, _mm_and_si128,
        _mm_unpacklo_epi8, _mm_unpackhi_epi8, _mm_sll_epi16, _mm_srl_epi16, _mm_add_epi8
    );
}

#[rustfmt::skip] // a column of names
impl<L: Avx2Lanes> Bytes for Ymm<L> {
    bytes!(
        L, Self::new, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_set1_epi64x, _mm256_xor_si256,
        _mm256_and_si256, _mm256_unpacklo_epi8, _mm256_unpackhi_epi8, _mm256_sll_epi16, _mm256_srl_epi16,
        _mm256_add_epi8
    );
}

#[rustfmt::skip] // a column of names
impl Bytes for Zmm {
    bytes!(
        vaes512::X4, Self, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_set1_epi64, _mm512_xor_si512,
        _mm512_and_si512, _mm512_unpacklo_epi8, _mm512_unpackhi_epi8, _mm512_sll_epi16, _mm512_srl_epi16, _mm512_add_epi8
    );

    const HAS_XOR3: bool = true;

    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        // SAFETY: as above. The table has the bits of numbers with an odd number of ones.
        Self(unsafe { _mm512_ternarylogic_epi64::<0x96>(self.0, a.0, b.0) })
    }
}

impl GaloisBytes for Ymm<vaes256::X2<true>> {
    #[inline(always)]
    fn affine<const C: i32>(self, matrix: Self) -> Self {
        // SAFETY: as above.
        Self::new(unsafe { _mm256_gf2p8affine_epi64_epi8::<C>(self.0, matrix.0) })
    }

    #[inline(always)]
    fn affine_of_inverse<const C: i32>(self, matrix: Self) -> Self {
        // SAFETY: as above.
        Self::new(unsafe { _mm256_gf2p8affineinv_epi64_epi8::<C>(self.0, matrix.0) })
    }
}

impl GaloisBytes for Zmm {
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

impl AesBytes for Xmm {
    #[inline(always)]
    fn splat(_: sse::Sse, lane: &[u8; BLOCK]) -> Self {
        // SAFETY: as above; the array has 16 bytes.
        Self(unsafe { _mm_loadu_si128(lane.as_ptr().cast()) })
    }

    #[inline(always)]
    fn permute_bytes(self, pattern: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_shuffle_epi8(self.0, pattern.0) })
    }

    #[inline(always)]
    fn last_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_aesenclast_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn inverse_last_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_aesdeclast_si128(self.0, key.0) })
    }
}

/// 32 bytes from those of `lane`, twice.
///
/// # Safety
/// This CPU has AVX2.
#[inline(always)]
unsafe fn twice(lane: &[u8; BLOCK]) -> __m256i {
    // SAFETY: the caller's; the array has 16 bytes.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(lane.as_ptr().cast())) }
}

impl AesBytes for Ymm<avx2::X2> {
    #[inline(always)]
    fn splat(_: avx2::Avx2, lane: &[u8; BLOCK]) -> Self {
        // SAFETY: as above.
        Self::new(unsafe { twice(lane) })
    }

    #[inline(always)]
    fn permute_bytes(self, pattern: Self) -> Self {
        // SAFETY: as above.
        Self::new(unsafe { _mm256_shuffle_epi8(self.0, pattern.0) })
    }

    #[inline(always)]
    fn last_round(self, key: Self) -> Self {
        // SAFETY: as above.
        self.by_halves(key, |half, key| unsafe { _mm_aesenclast_si128(half, key) })
    }

    #[inline(always)]
    fn inverse_last_round(self, key: Self) -> Self {
        // SAFETY: as above.
        self.by_halves(key, |half, key| unsafe { _mm_aesdeclast_si128(half, key) })
    }
}

impl Ymm<avx2::X2> {
    /// `round` of each lane: instructions of the AES have 128 bits on these CPUs.
    #[inline(always)]
    fn by_halves(self, key: Self, round: impl Fn(__m128i, __m128i) -> __m128i) -> Self {
        // SAFETY: as above.
        let halves = |of: __m256i| unsafe { (_mm256_castsi256_si128(of), _mm256_extracti128_si256::<1>(of)) };
        let ((low, high), (of_low, of_high)) = (halves(self.0), halves(key.0));
        // SAFETY: as above.
        Self::new(unsafe { _mm256_set_m128i(round(high, of_high), round(low, of_low)) })
    }
}

impl AesBytes for Ymm<vaes256::X2> {
    #[inline(always)]
    fn splat(_: vaes256::Vaes256, lane: &[u8; BLOCK]) -> Self {
        // SAFETY: as above.
        Self::new(unsafe { twice(lane) })
    }

    #[inline(always)]
    fn permute_bytes(self, pattern: Self) -> Self {
        // SAFETY: as above.
        Self::new(unsafe { _mm256_shuffle_epi8(self.0, pattern.0) })
    }

    #[inline(always)]
    fn last_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self::new(unsafe { _mm256_aesenclast_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn inverse_last_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self::new(unsafe { _mm256_aesdeclast_epi128(self.0, key.0) })
    }
}
