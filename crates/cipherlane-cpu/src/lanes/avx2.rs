//! Two lanes a register on CPUs that have AVX2 and AES-NI but not VAES: a pair of 128-bit registers.
//!
//! Against [`super::sse`] this gains the three-operand encoding of AVX and twice the blocks in flight.

use std::arch::x86_64::*;

use cipherlane_core::BLOCK;

use super::sse::twelve;
use super::{AesLanes, Isa, Lanes, MAX_LANES, Work, part, pin};

/// Proof of AVX2, AES-NI and PCLMULQDQ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(pub(super) ());

impl Avx2 {
    /// The proof, where this CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        let here = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq");
        here.then_some(Self(()))
    }
}

/// A register of 2 lanes. Exists only where [`Avx2`] does.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct X2(pub(super) [__m128i; 2]);

#[target_feature(enable = "avx2,aes,pclmulqdq")]
#[inline(never)] // where work begins is where code ends: it is compiled once, not into all that runs it
fn compiled<W: Work>(work: W) -> W::Output {
    work.run()
}

/// 16 bytes from `block`.
///
/// # Safety
/// They are readable.
#[inline(always)]
unsafe fn one(block: *const u8) -> __m128i {
    // SAFETY: as above.
    unsafe { _mm_loadu_si128(block.cast()) }
}

// SAFETY of every block below: `Avx2` and `X2` values exist only after detection; pointers are the caller's duty.
impl Isa for Avx2 {
    type V = X2;

    /// Of two each.
    const REGISTERS: usize = 8;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` proves the features.
        unsafe { compiled(work) }
    }

    #[inline(always)]
    fn fence(self) {
        // SAFETY: every x86-64 has SSE.
        unsafe { _mm_sfence() }
    }

    #[inline(always)]
    fn zero(self) -> X2 {
        // SAFETY: as above.
        X2([unsafe { _mm_setzero_si128() }; 2])
    }

    #[inline(always)]
    fn splat(self, block: &[u8; BLOCK]) -> X2 {
        // SAFETY: as above.
        X2([unsafe { one(block.as_ptr()) }; 2])
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> X2 {
        // SAFETY: as above.
        unsafe { X2([one(from), one(from.add(BLOCK))]) }
    }

    #[inline(always)]
    unsafe fn gather(self, from: &[*const u8]) -> X2 {
        // SAFETY: as above.
        unsafe { X2([one(from[0]), one(from[1])]) }
    }

    #[inline(always)]
    unsafe fn load_partial(self, from: *const u8, bytes: usize) -> X2 {
        // SAFETY: as above.
        X2(unsafe { part::load_two(from, bytes) })
    }

    #[inline(always)]
    fn gather_partial(self, blocks: &[&[u8]; MAX_LANES]) -> X2 {
        let [a, b, ..] = blocks;
        // SAFETY: as above; slices are readable. Not in a closure, which would be compiled for any CPU, and called.
        X2(unsafe { [part::load(a.as_ptr(), a.len()), part::load(b.as_ptr(), b.len())] })
    }

    #[inline(always)]
    unsafe fn rows_of_12(self, from: *const u8) -> X2 {
        // SAFETY: as above.
        unsafe { X2([twelve(from), twelve(from.add(12))]) }
    }
}

impl Lanes for X2 {
    type Isa = Avx2;
    const LANES: usize = 2;

    #[inline(always)]
    fn pin(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { [pin::xmm(self.0[0]), pin::xmm(self.0[1])] })
    }

    #[inline(always)]
    fn isa(self) -> Avx2 {
        Avx2(())
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe {
            _mm_storeu_si128(to.cast(), self.0[0]);
            _mm_storeu_si128(to.add(BLOCK).cast(), self.0[1]);
        }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u8, bytes: usize) {
        // SAFETY: as above.
        unsafe { part::store_two(self.0, to, bytes) }
    }

    #[inline(always)]
    unsafe fn store_past_caches(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe {
            _mm_stream_si128(to.cast(), self.0[0]);
            _mm_stream_si128(to.add(BLOCK).cast(), self.0[1]);
        }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { [_mm_xor_si128(self.0[0], other.0[0]), _mm_xor_si128(self.0[1], other.0[1])] })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { [_mm_and_si128(self.0[0], other.0[0]), _mm_and_si128(self.0[1], other.0[1])] })
    }

    #[inline(always)]
    fn reverse_bytes(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let reversed = _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
            [_mm_shuffle_epi8(self.0[0], reversed), _mm_shuffle_epi8(self.0[1], reversed)]
        })
    }

    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { [_mm_add_epi32(self.0[0], other.0[0]), _mm_add_epi32(self.0[1], other.0[1])] })
    }

    #[inline(always)]
    fn shift_in(self, before: Self) -> Self {
        Self([before.0[1], self.0[0]])
    }

    #[inline(always)]
    fn permute_bytes(self, pattern: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            [_mm_shuffle_epi8(self.0[0], pattern.0[0]), _mm_shuffle_epi8(self.0[1], pattern.0[1])]
        })
    }

    #[inline(always)]
    fn shift_bytes<const BYTES: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { [_mm_slli_si128::<BYTES>(self.0[0]), _mm_slli_si128::<BYTES>(self.0[1])] })
    }

    #[inline(always)]
    fn swap_halves(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { [_mm_shuffle_epi32::<0x4e>(self.0[0]), _mm_shuffle_epi32::<0x4e>(self.0[1])] })
    }

    #[inline(always)]
    fn low_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            [_mm_unpacklo_epi64(self.0[0], other.0[0]), _mm_unpacklo_epi64(self.0[1], other.0[1])]
        })
    }

    #[inline(always)]
    fn high_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            [_mm_alignr_epi8::<8>(other.0[0], self.0[0]), _mm_alignr_epi8::<8>(other.0[1], self.0[1])]
        })
    }

    #[inline(always)]
    fn high_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            [_mm_unpackhi_epi64(self.0[0], other.0[0]), _mm_unpackhi_epi64(self.0[1], other.0[1])]
        })
    }

    #[inline(always)]
    fn clmul_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            [
                _mm_clmulepi64_si128::<0x00>(self.0[0], other.0[0]),
                _mm_clmulepi64_si128::<0x00>(self.0[1], other.0[1]),
            ]
        })
    }

    #[inline(always)]
    fn clmul_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            [
                _mm_clmulepi64_si128::<0x11>(self.0[0], other.0[0]),
                _mm_clmulepi64_si128::<0x11>(self.0[1], other.0[1]),
            ]
        })
    }

    #[inline(always)]
    fn clmul_low_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            [
                _mm_clmulepi64_si128::<0x10>(self.0[0], other.0[0]),
                _mm_clmulepi64_si128::<0x10>(self.0[1], other.0[1]),
            ]
        })
    }

    #[inline(always)]
    fn fold(self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), _mm_xor_si128(self.0[0], self.0[1])) }
        block
    }

    #[inline(always)]
    fn fold_each(registers: &[Self; MAX_LANES]) -> Self {
        let [first, second, ..] = registers;
        // SAFETY: as above.
        Self(unsafe { [_mm_xor_si128(first.0[0], first.0[1]), _mm_xor_si128(second.0[0], second.0[1])] })
    }

    #[inline(always)]
    fn spread(self) -> [Self; MAX_LANES] {
        let [a, b] = self.0;
        [Self([a, a]), Self([b, b]), self, self]
    }

    #[inline(always)]
    fn transpose(registers: &[Self; MAX_LANES]) -> [Self; MAX_LANES] {
        let [Self([a, b]), Self([c, d]), ..] = *registers;
        let mut result = *registers;
        (result[0], result[1]) = (Self([a, c]), Self([b, d]));
        result
    }

    #[inline(always)]
    fn times_x8<const BYTES: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { [times_x8::<BYTES>(self.0[0]), times_x8::<BYTES>(self.0[1])] })
    }
}

/// Multiplies a lane by x^(8 * BYTES): see [`Lanes::times_x8`].
///
/// # Safety
/// There is a proof of PCLMULQDQ.
#[inline(always)]
unsafe fn times_x8<const BYTES: i32>(lane: __m128i) -> __m128i {
    // SAFETY: as above.
    unsafe {
        let carried = match BYTES {
            1 => _mm_srli_si128::<15>(lane),
            2 => _mm_srli_si128::<14>(lane),
            3 => _mm_srli_si128::<13>(lane),
            4 => _mm_srli_si128::<12>(lane),
            5 => _mm_srli_si128::<11>(lane),
            6 => _mm_srli_si128::<10>(lane),
            7 => _mm_srli_si128::<9>(lane),
            8 => _mm_srli_si128::<8>(lane),
            _ => unreachable!("tweaks move by 1 to 8 bytes"),
        };
        let reduced = _mm_clmulepi64_si128::<0x00>(carried, _mm_set_epi64x(0, 0x87));
        _mm_xor_si128(_mm_slli_si128::<BYTES>(lane), reduced)
    }
}

impl AesLanes for X2 {
    #[inline(always)]
    fn aes_encrypt_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { [_mm_aesenc_si128(self.0[0], key.0[0]), _mm_aesenc_si128(self.0[1], key.0[1])] })
    }

    #[inline(always)]
    fn aes_encrypt_last(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            [_mm_aesenclast_si128(self.0[0], key.0[0]), _mm_aesenclast_si128(self.0[1], key.0[1])]
        })
    }

    #[inline(always)]
    fn aes_decrypt_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { [_mm_aesdec_si128(self.0[0], key.0[0]), _mm_aesdec_si128(self.0[1], key.0[1])] })
    }

    #[inline(always)]
    fn aes_decrypt_last(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            [_mm_aesdeclast_si128(self.0[0], key.0[0]), _mm_aesdeclast_si128(self.0[1], key.0[1])]
        })
    }
}
