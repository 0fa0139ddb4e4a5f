//! One lane a register: SSE4.1 with AES-NI and PCLMULQDQ.

use std::arch::x86_64::*;

use cipherlane_core::BLOCK;

use super::{AesLanes, Isa, Lanes, MAX_LANES, Work, part, pin};

/// Proof of SSE4.1, AES-NI and PCLMULQDQ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sse(());

impl Sse {
    /// The proof, where this CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        let here = is_x86_feature_detected!("sse4.1")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq");
        here.then_some(Self(()))
    }
}

/// A register of 1 lane. Exists only where [`Sse`] does.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct X1(pub(super) __m128i);

#[target_feature(enable = "sse4.1,ssse3,aes,pclmulqdq")]
#[inline(never)] // where work begins is where code ends: it is compiled once, not into all that runs it
fn compiled<W: Work>(work: W) -> W::Output {
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

/// 12 bytes, then zeros.
///
/// # Safety
/// 12 bytes are readable, and this CPU has the instructions.
#[inline(always)]
pub(super) unsafe fn twelve(from: *const u8) -> __m128i {
    // SAFETY: the caller's.
    unsafe {
        let last = from.add(8).cast::<i32>().read_unaligned();
        _mm_insert_epi32::<2>(_mm_loadl_epi64(from.cast()), last)
    }
}

// SAFETY of every block below: `Sse` and `X1` values exist only after detection; pointers are the caller's duty.
impl Isa for Sse {
    type V = X1;

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
    fn zero(self) -> X1 {
        // SAFETY: as above.
        X1(unsafe { _mm_setzero_si128() })
    }

    #[inline(always)]
    fn splat(self, block: &[u8; BLOCK]) -> X1 {
        // SAFETY: as above.
        X1(unsafe { one(block.as_ptr()) })
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> X1 {
        // SAFETY: as above.
        X1(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[inline(always)]
    unsafe fn gather(self, from: &[*const u8]) -> X1 {
        // SAFETY: as above.
        X1(unsafe { one(from[0]) })
    }

    #[inline(always)]
    unsafe fn load_partial(self, from: *const u8, bytes: usize) -> X1 {
        // SAFETY: as above.
        X1(unsafe { part::load(from, bytes) })
    }

    #[inline(always)]
    fn gather_partial(self, blocks: &[&[u8]; MAX_LANES]) -> X1 {
        // SAFETY: as above; slices are readable.
        X1(unsafe { part::load(blocks[0].as_ptr(), blocks[0].len()) })
    }

    #[inline(always)]
    unsafe fn rows_of_12(self, from: *const u8) -> X1 {
        // SAFETY: as above.
        X1(unsafe { twelve(from) })
    }
}

impl Lanes for X1 {
    type Isa = Sse;
    const LANES: usize = 1;

    #[inline(always)]
    fn pin(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { pin::xmm(self.0) })
    }

    #[inline(always)]
    fn isa(self) -> Sse {
        Sse(())
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u8, bytes: usize) {
        // SAFETY: as above.
        unsafe { part::store(self.0, to, bytes) }
    }

    #[inline(always)]
    unsafe fn store_past_caches(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe { _mm_stream_si128(to.cast(), self.0) }
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
    fn reverse_bytes(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            _mm_shuffle_epi8(self.0, _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f))
        })
    }

    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn permute_bytes(self, pattern: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_shuffle_epi8(self.0, pattern.0) })
    }

    #[inline(always)]
    fn shift_bytes<const BYTES: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_slli_si128::<BYTES>(self.0) })
    }

    #[inline(always)]
    fn shift_in(self, before: Self) -> Self {
        before
    }

    #[inline(always)]
    fn swap_halves(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_shuffle_epi32::<0x4e>(self.0) })
    }

    #[inline(always)]
    fn low_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_unpacklo_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn high_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_alignr_epi8::<8>(other.0, self.0) })
    }

    #[inline(always)]
    fn high_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_unpackhi_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn clmul_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_clmulepi64_si128::<0x00>(self.0, other.0) })
    }

    #[inline(always)]
    fn clmul_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_clmulepi64_si128::<0x11>(self.0, other.0) })
    }

    #[inline(always)]
    fn clmul_low_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_clmulepi64_si128::<0x10>(self.0, other.0) })
    }

    #[inline(always)]
    fn fold(self) -> [u8; BLOCK] {
        self.to_blocks()[0]
    }

    #[inline(always)]
    fn fold_each(registers: &[Self; MAX_LANES]) -> Self {
        registers[0]
    }

    #[inline(always)]
    fn transpose(registers: &[Self; MAX_LANES]) -> [Self; MAX_LANES] {
        *registers
    }

    /// What is carried from word 1 goes to word 2, and what is carried from word 3 to word 0.
    #[inline(always)]
    fn carries(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_shuffle_epi32::<0b00_01_00_11>(self.0) })
    }

    #[inline(always)]
    fn times_x(self, carries: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let reduced = _mm_and_si128(_mm_srai_epi32::<31>(carries.0), _mm_set_epi64x(1, 0x87));
            _mm_xor_si128(_mm_add_epi64(self.0, self.0), reduced)
        })
    }

    #[inline(always)]
    fn times_x8<const BYTES: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let carried = match BYTES {
                1 => _mm_srli_si128::<15>(self.0),
                2 => _mm_srli_si128::<14>(self.0),
                3 => _mm_srli_si128::<13>(self.0),
                4 => _mm_srli_si128::<12>(self.0),
                5 => _mm_srli_si128::<11>(self.0),
                6 => _mm_srli_si128::<10>(self.0),
                7 => _mm_srli_si128::<9>(self.0),
                8 => _mm_srli_si128::<8>(self.0),
                _ => unreachable!("tweaks move by 1 to 8 bytes"),
            };
            let reduced = _mm_clmulepi64_si128::<0x00>(carried, _mm_set_epi64x(0, 0x87));
            _mm_xor_si128(_mm_slli_si128::<BYTES>(self.0), reduced)
        })
    }
}

impl AesLanes for X1 {
    #[inline(always)]
    fn aes_encrypt_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_aesenc_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn aes_encrypt_last(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_aesenclast_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn aes_decrypt_round(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_aesdec_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn aes_decrypt_last(self, key: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_aesdeclast_si128(self.0, key.0) })
    }
}
