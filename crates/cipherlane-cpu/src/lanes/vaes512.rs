//! Four lanes a register: AVX-512 with VAES and VPCLMULQDQ.

mod aes;

use std::arch::x86_64::*;

use cipherlane_core::BLOCK;

use super::{Isa, Lanes, MAX_LANES, Stretch, Work, pin};

/// Proof of AVX-512 (F, BW, VL, VBMI), VAES, VPCLMULQDQ, GFNI and BMI2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vaes512(());

impl Vaes512 {
    /// The proof, where this CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        let here = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("vpclmulqdq")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("gfni")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi2");
        here.then_some(Self(()))
    }
}

/// A register of 4 lanes. Exists only where [`Vaes512`] does.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct X4(pub(super) __m512i);

#[target_feature(
    enable = "avx512f,avx512bw,avx512vl,avx512vbmi,vaes,vpclmulqdq,gfni,aes,pclmulqdq,avx2,bmi2"
)]
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

/// The first `bytes` bytes of a block, at most 16, then zeros. Nothing beyond is touched.
///
/// # Safety
/// `bytes` bytes are readable, and this CPU has the instructions.
#[inline(always)]
unsafe fn one_partial(block: *const u8, bytes: usize) -> __m128i {
    debug_assert!(bytes <= BLOCK);
    // SAFETY: the caller's.
    unsafe { _mm_maskz_loadu_epi8((1u32 << bytes).wrapping_sub(1) as u16, block.cast()) }
}

// SAFETY of every block below: `Vaes512` and `X4` values exist only after detection; pointers are the caller's duty.
impl Isa for Vaes512 {
    type V = X4;
    const REGISTERS: usize = 32;

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
    fn zero(self) -> X4 {
        // SAFETY: as above.
        X4(unsafe { _mm512_setzero_si512() })
    }

    #[inline(always)]
    fn splat(self, block: &[u8; BLOCK]) -> X4 {
        // SAFETY: as above.
        X4(unsafe { _mm512_broadcast_i32x4(one(block.as_ptr())) })
    }

    /// A broadcast of 64 bits is a load; one of 128 bits is a shuffle as well (Zen 4).
    #[inline(always)]
    fn splat_halves(self, block: &[u8; BLOCK]) -> [X4; 2] {
        // SAFETY: as above; both halves lie within the block.
        unsafe {
            let half = block.as_ptr().cast::<i64>();
            [
                X4(_mm512_set1_epi64(half.read_unaligned())),
                X4(_mm512_set1_epi64(half.add(1).read_unaligned())),
            ]
        }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> X4 {
        // SAFETY: as above.
        X4(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn load_partial(self, from: *const u8, bytes: usize) -> X4 {
        debug_assert!(bytes <= X4::BYTES);
        // SAFETY: as above; bytes outside the mask are not touched.
        X4(unsafe { _mm512_maskz_loadu_epi8(first_bytes(bytes), from.cast()) })
    }

    #[inline(always)]
    unsafe fn load_stretch(self, from: *const u8, there: Stretch) -> X4 {
        // SAFETY: as above; bytes outside the mask are not touched.
        X4(unsafe { _mm512_maskz_loadu_epi8(there.bits(), from.cast()) })
    }

    #[inline(always)]
    unsafe fn splat_partial(self, from: *const u8, bytes: usize) -> X4 {
        // SAFETY: as above; bytes outside the mask are not touched.
        X4(unsafe { _mm512_broadcast_i32x4(one_partial(from, bytes)) })
    }

    #[inline(always)]
    fn gather_partial(self, blocks: &[&[u8]; MAX_LANES]) -> X4 {
        let [a, b, c, d] = blocks;
        // SAFETY: as above; the slices are readable.
        X4(unsafe {
            let (a, b) = (one_partial(a.as_ptr(), a.len()), one_partial(b.as_ptr(), b.len()));
            let (c, d) = (one_partial(c.as_ptr(), c.len()), one_partial(d.as_ptr(), d.len()));
            let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
            let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        })
    }

    #[inline(always)]
    unsafe fn gather(self, from: &[*const u8]) -> X4 {
        // SAFETY: as above.
        X4(unsafe {
            let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one(from[0])), one(from[1]));
            let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one(from[2])), one(from[3]));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        })
    }

    #[inline(always)]
    unsafe fn rows_of_12(self, from: *const u8) -> X4 {
        // SAFETY: as above; bytes outside the mask are not touched.
        X4(unsafe {
            let rows = _mm512_maskz_loadu_epi32(0x0fff, from.cast());
            _mm512_maskz_expand_epi32(0x7777, rows)
        })
    }
}

/// The mask of the first `bytes` bytes, 0 to 64.
///
/// # Safety
/// This CPU has BMI2.
#[inline(always)]
unsafe fn first_bytes(bytes: usize) -> u64 {
    // SAFETY: the caller's.
    unsafe { _bzhi_u64(u64::MAX, bytes as u32) }
}

impl Lanes for X4 {
    type Isa = Vaes512;
    const LANES: usize = 4;

    #[inline(always)]
    fn pin(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { pin::zmm(self.0) })
    }

    #[inline(always)]
    fn isa(self) -> Vaes512 {
        Vaes512(())
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_past_caches(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe { _mm512_stream_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u8, bytes: usize) {
        debug_assert!(bytes <= Self::BYTES);
        // SAFETY: as above; bytes outside the mask are not touched.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), first_bytes(bytes), self.0) }
    }

    #[inline(always)]
    unsafe fn store_stretch(self, to: *mut u8, there: Stretch) {
        // SAFETY: as above; bytes outside the mask are not touched.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), there.bits(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_rows_of_12(self, to: *mut u8) {
        // SAFETY: as above; bytes outside the mask are not touched.
        unsafe { _mm512_mask_storeu_epi32(to.cast(), 0x0fff, _mm512_maskz_compress_epi32(0x7777, self.0)) }
    }

    /// Lane by lane: words are put together of halves, and a register in memory is waited for.
    #[inline(always)]
    unsafe fn scatter(self, to: &[*mut u8; MAX_LANES]) {
        // SAFETY: as above.
        unsafe {
            _mm_storeu_si128(to[0].cast(), _mm512_castsi512_si128(self.0));
            _mm_storeu_si128(to[1].cast(), _mm512_extracti32x4_epi32::<1>(self.0));
            _mm_storeu_si128(to[2].cast(), _mm512_extracti32x4_epi32::<2>(self.0));
            _mm_storeu_si128(to[3].cast(), _mm512_extracti32x4_epi32::<3>(self.0));
        }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_ternarylogic_epi64::<0x96>(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_and_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn reverse_bytes(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            _mm512_shuffle_epi8(
                self.0,
                _mm512_broadcast_i32x4(_mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f)),
            )
        })
    }

    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn permute_bytes(self, pattern: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_shuffle_epi8(self.0, pattern.0) })
    }

    #[inline(always)]
    fn shift_bytes<const BYTES: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_bslli_epi128::<BYTES>(self.0) })
    }

    #[inline(always)]
    fn shift_in(self, before: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_alignr_epi64::<6>(self.0, before.0) })
    }

    #[inline(always)]
    fn swap_halves(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_shuffle_epi32::<0x4e>(self.0) })
    }

    #[inline(always)]
    fn low_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_unpacklo_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn high_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_alignr_epi8::<8>(other.0, self.0) })
    }

    #[inline(always)]
    fn high_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_unpackhi_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn clmul_low(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_clmulepi64_epi128::<0x00>(self.0, other.0) })
    }

    #[inline(always)]
    fn clmul_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_clmulepi64_epi128::<0x11>(self.0, other.0) })
    }

    #[inline(always)]
    fn clmul_low_high(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_clmulepi64_epi128::<0x10>(self.0, other.0) })
    }

    #[inline(always)]
    fn fold(self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        // SAFETY: as above.
        unsafe {
            let two =
                _mm256_xor_si256(_mm512_castsi512_si256(self.0), _mm512_extracti64x4_epi64::<1>(self.0));
            let one = _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256::<1>(two));
            _mm_storeu_si128(block.as_mut_ptr().cast(), one);
        }
        block
    }

    #[inline(always)]
    fn fold_each(registers: &[Self; MAX_LANES]) -> Self {
        let [X4(a), X4(b), X4(c), X4(d)] = *registers;
        // SAFETY: as above.
        Self(unsafe {
            // Two lanes of each of two registers: (a0^a2, a1^a3, b0^b2, b1^b3), then the same of c and d.
            let ab = _mm512_xor_si512(_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0xee>(a, b));
            let cd = _mm512_xor_si512(_mm512_shuffle_i32x4::<0x44>(c, d), _mm512_shuffle_i32x4::<0xee>(c, d));
            _mm512_xor_si512(_mm512_shuffle_i32x4::<0x88>(ab, cd), _mm512_shuffle_i32x4::<0xdd>(ab, cd))
        })
    }

    #[inline(always)]
    fn transpose(registers: &[Self; MAX_LANES]) -> [Self; MAX_LANES] {
        let [a, b, c, d] = *registers;
        // SAFETY: as above.
        unsafe {
            // Lanes 0 and 1 of two registers, then lanes 2 and 3.
            let ab = _mm512_shuffle_i32x4::<0x44>(a.0, b.0);
            let cd = _mm512_shuffle_i32x4::<0x44>(c.0, d.0);
            let ab_high = _mm512_shuffle_i32x4::<0xee>(a.0, b.0);
            let cd_high = _mm512_shuffle_i32x4::<0xee>(c.0, d.0);
            [
                Self(_mm512_shuffle_i32x4::<0x88>(ab, cd)),
                Self(_mm512_shuffle_i32x4::<0xdd>(ab, cd)),
                Self(_mm512_shuffle_i32x4::<0x88>(ab_high, cd_high)),
                Self(_mm512_shuffle_i32x4::<0xdd>(ab_high, cd_high)),
            ]
        }
    }

    #[inline(always)]
    fn spread(self) -> [Self; MAX_LANES] {
        let x = self.0;
        // SAFETY: as above.
        unsafe {
            [
                Self(_mm512_shuffle_i32x4::<0x00>(x, x)),
                Self(_mm512_shuffle_i32x4::<0x55>(x, x)),
                Self(_mm512_shuffle_i32x4::<0xaa>(x, x)),
                Self(_mm512_shuffle_i32x4::<0xff>(x, x)),
            ]
        }
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: as above.
        unsafe { _mm512_test_epi64_mask(self.0, self.0) == 0 }
    }

    #[inline(always)]
    fn times_x_reflected(self) -> Self {
        // SAFETY: as above. Each half doubles; a mask from the top bit of the lane selects the polynomial, one from
        // the top bit of the low half the bit that it hands to the high half.
        Self(unsafe {
            let tops = _mm512_srai_epi32::<31>(_mm512_shuffle_epi32::<0xd3>(self.0));
            let bits = _mm512_broadcast_i32x4(_mm_set_epi64x(0xc200_0000_0000_0001u64 as i64, 1));
            _mm512_xor_si512(_mm512_add_epi64(self.0, self.0), _mm512_and_si512(tops, bits))
        })
    }

    #[inline(always)]
    fn diagonal(registers: &[Self; MAX_LANES]) -> Self {
        let [a, b, c, d] = *registers;
        // SAFETY: as above. Two words of 64 bits a lane.
        Self(unsafe {
            let (ab, cd) = (_mm512_mask_mov_epi64(a.0, 0x0c, b.0), _mm512_mask_mov_epi64(c.0, 0xc0, d.0));
            _mm512_mask_mov_epi64(ab, 0xf0, cd)
        })
    }

    #[inline(always)]
    fn times_x8<const BYTES: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            // What leaves the high half, at its low end: by a shift of halves, which takes none of the ports of AES.
            let carried = match BYTES {
                1 => _mm512_srli_epi64::<56>(self.0),
                2 => _mm512_srli_epi64::<48>(self.0),
                3 => _mm512_srli_epi64::<40>(self.0),
                4 => _mm512_srli_epi64::<32>(self.0),
                5 => _mm512_srli_epi64::<24>(self.0),
                6 => _mm512_srli_epi64::<16>(self.0),
                7 => _mm512_srli_epi64::<8>(self.0),
                8 => self.0,
                _ => unreachable!("tweaks move by 1 to 8 bytes"),
            };
            let reduced = _mm512_clmulepi64_epi128::<0x01>(
                carried,
                _mm512_set_epi64(0, 0x87, 0, 0x87, 0, 0x87, 0, 0x87),
            );
            _mm512_xor_si512(_mm512_bslli_epi128::<BYTES>(self.0), reduced)
        })
    }
}
