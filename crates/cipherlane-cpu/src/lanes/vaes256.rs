//! Two lanes a register: AVX2 with VAES and VPCLMULQDQ.

use std::arch::x86_64::*;

use cipherlane_core::BLOCK;

use super::sse::twelve;
use super::{AesLanes, Isa, Lanes, MAX_LANES, Work, part, pin};

/// Proof of AVX2, VAES and VPCLMULQDQ, and with `GFNI` of that, too: there are CPUs with VAES and without it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vaes256<const GFNI: bool = false>(());

impl Vaes256 {
    /// The proof, where this CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        let here = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("vpclmulqdq")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq");
        here.then_some(Self(()))
    }
}

impl Vaes256<true> {
    /// The proof, where this CPU has GFNI besides.
    pub(crate) fn detect_with_gfni() -> Option<Self> {
        Vaes256::detect().filter(|_| is_x86_feature_detected!("gfni")).map(|_| Self(()))
    }
}

/// A register of 2 lanes. Exists only where [`Vaes256`] does.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct X2<const GFNI: bool = false>(pub(super) __m256i);

#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
#[inline(never)] // where work begins is where code ends: it is compiled once, not into all that runs it
fn compiled<W: Work>(work: W) -> W::Output {
    work.run()
}

#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq,gfni")]
#[inline(never)] // where work begins is where code ends: it is compiled once, not into all that runs it
fn compiled_with_gfni<W: Work>(work: W) -> W::Output {
    work.run()
}

/// `block` as a register of one lane.
///
/// # Safety
/// 16 bytes are readable, and this CPU has the instructions.
#[inline(always)]
unsafe fn one(block: *const u8) -> __m128i {
    // SAFETY: the caller's.
    unsafe { _mm_loadu_si128(block.cast()) }
}

/// A register of two lanes.
///
/// # Safety
/// This CPU has the instructions.
#[inline(always)]
unsafe fn joined([low, high]: [__m128i; 2]) -> __m256i {
    // SAFETY: the caller's.
    unsafe { _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high) }
}

/// The lanes of a register.
///
/// # Safety
/// This CPU has the instructions.
#[inline(always)]
unsafe fn parted(two: __m256i) -> [__m128i; 2] {
    // SAFETY: the caller's.
    unsafe { [_mm256_castsi256_si128(two), _mm256_extracti128_si256::<1>(two)] }
}

// SAFETY of every block below: `Vaes256` and `X2` values exist only after detection; pointers are the caller's duty.
impl<const GFNI: bool> Isa for Vaes256<GFNI> {
    type V = X2<GFNI>;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` proves the features.
        unsafe { if GFNI { compiled_with_gfni(work) } else { compiled(work) } }
    }

    #[inline(always)]
    fn fence(self) {
        // SAFETY: every x86-64 has SSE.
        unsafe { _mm_sfence() }
    }

    #[inline(always)]
    fn zero(self) -> X2<GFNI> {
        // SAFETY: as above.
        X2(unsafe { _mm256_setzero_si256() })
    }

    #[inline(always)]
    fn splat(self, block: &[u8; BLOCK]) -> X2<GFNI> {
        // SAFETY: as above.
        X2(unsafe { _mm256_broadcastsi128_si256(one(block.as_ptr())) })
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> X2<GFNI> {
        // SAFETY: as above.
        X2(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn gather(self, from: &[*const u8]) -> X2<GFNI> {
        // SAFETY: as above.
        X2(unsafe { joined([one(from[0]), one(from[1])]) })
    }

    #[inline(always)]
    unsafe fn load_partial(self, from: *const u8, bytes: usize) -> X2<GFNI> {
        // SAFETY: as above.
        X2(unsafe { joined(part::load_two(from, bytes)) })
    }

    #[inline(always)]
    fn gather_partial(self, blocks: &[&[u8]; MAX_LANES]) -> X2<GFNI> {
        let [a, b, ..] = blocks;
        // SAFETY: as above; slices are readable. Not in a closure, which would be compiled for any CPU, and called.
        X2(unsafe { joined([part::load(a.as_ptr(), a.len()), part::load(b.as_ptr(), b.len())]) })
    }

    #[inline(always)]
    unsafe fn rows_of_12(self, from: *const u8) -> X2<GFNI> {
        // SAFETY: as above.
        X2(unsafe { joined([twelve(from), twelve(from.add(12))]) })
    }
}

impl<const GFNI: bool> Lanes for X2<GFNI> {
    type Isa = Vaes256<GFNI>;
    const LANES: usize = 2;

    #[inline(always)]
    fn pin(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { pin::ymm(self.0) })
    }

    #[inline(always)]
    fn isa(self) -> Vaes256<GFNI> {
        Vaes256(())
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u8, bytes: usize) {
        // SAFETY: as above.
        unsafe { part::store_two(parted(self.0), to, bytes) }
    }

    #[inline(always)]
    unsafe fn store_past_caches(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe { _mm256_stream_si256(to.cast(), self.0) }
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
    fn reverse_bytes(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            _mm256_shuffle_epi8(
                self.0,
                _mm256_broadcastsi128_si256(_mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f)),
            )
        })
    }

    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn permute_bytes(self, pattern: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_shuffle_epi8(self.0, pattern.0) })
    }

    #[inline(always)]
    fn shift_bytes<const BYTES: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_slli_si256::<BYTES>(self.0) })
    }

    #[inline(always)]
    fn shift_in(self, before: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_permute2x128_si256::<0x21>(before.0, self.0) })
    }

    #[inline(always)]
    fn swap_halves(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_shuffle_epi32::<0x4e>(self.0) })
    }

    #[inline(always)]
    fn low_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_unpacklo_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn high_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_alignr_epi8::<8>(other.0, self.0) })
    }

    #[inline(always)]
    fn high_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_unpackhi_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn clmul_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_clmulepi64_epi128::<0x00>(self.0, other.0) })
    }

    #[inline(always)]
    fn clmul_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_clmulepi64_epi128::<0x11>(self.0, other.0) })
    }

    #[inline(always)]
    fn clmul_low_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_clmulepi64_epi128::<0x10>(self.0, other.0) })
    }

    #[inline(always)]
    fn fold(self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        // SAFETY: as above.
        unsafe {
            let [low, high] = parted(self.0);
            _mm_storeu_si128(block.as_mut_ptr().cast(), _mm_xor_si128(low, high));
        }
        block
    }

    #[inline(always)]
    fn fold_each(registers: &[Self; MAX_LANES]) -> Self {
        let (a, b) = (registers[0].0, registers[1].0);
        // SAFETY: as above.
        Self(unsafe {
            let first = _mm256_permute2x128_si256::<0x20>(a, b);
            let second = _mm256_permute2x128_si256::<0x31>(a, b);
            _mm256_xor_si256(first, second)
        })
    }

    #[inline(always)]
    fn spread(self) -> [Self; MAX_LANES] {
        let x = self.0;
        // SAFETY: as above.
        unsafe {
            let first = Self(_mm256_permute2x128_si256::<0x00>(x, x));
            [first, Self(_mm256_permute2x128_si256::<0x11>(x, x)), self, self]
        }
    }

    #[inline(always)]
    fn transpose(registers: &[Self; MAX_LANES]) -> [Self; MAX_LANES] {
        let (a, b) = (registers[0].0, registers[1].0);
        let mut result = *registers;
        // SAFETY: as above.
        unsafe {
            result[0] = Self(_mm256_permute2x128_si256::<0x20>(a, b));
            result[1] = Self(_mm256_permute2x128_si256::<0x31>(a, b));
        }
        result
    }

    #[inline(always)]
    fn times_x8<const BYTES: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let carried = match BYTES {
                1 => _mm256_srli_si256::<15>(self.0),
                2 => _mm256_srli_si256::<14>(self.0),
                3 => _mm256_srli_si256::<13>(self.0),
                4 => _mm256_srli_si256::<12>(self.0),
                5 => _mm256_srli_si256::<11>(self.0),
                6 => _mm256_srli_si256::<10>(self.0),
                7 => _mm256_srli_si256::<9>(self.0),
                8 => _mm256_srli_si256::<8>(self.0),
                _ => unreachable!("tweaks move by 1 to 8 bytes"),
            };
            let reduced = _mm256_clmulepi64_epi128::<0x00>(carried, _mm256_set_epi64x(0, 0x87, 0, 0x87));
            _mm256_xor_si256(_mm256_slli_si256::<BYTES>(self.0), reduced)
        })
    }
}

impl<const GFNI: bool> AesLanes for X2<GFNI> {
    #[inline(always)]
    fn aes_encrypt_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_aesenc_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn aes_encrypt_last(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_aesenclast_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn aes_decrypt_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_aesdec_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn aes_decrypt_last(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_aesdeclast_epi128(self.0, key.0) })
    }
}
