//! Sixteen 32-bit or eight 64-bit words: AVX-512, with rotations and any function of three bits as one instruction.

use std::arch::x86_64::*;

use super::super::vaes512::{Vaes512, X4};
use super::super::{Isa, Lanes};
use super::{MAX_WORDS_32, MAX_WORDS_64, WordLanes};

/// Truth tables of `_mm512_ternarylogic_epi64`: bit `4 a + 2 b + c` is the function of bits a, b and c.
mod table {
    pub(super) const CHOOSE: i32 = 0b1100_1010;
    pub(super) const MAJORITY: i32 = 0b1110_1000;
    pub(super) const XOR3: i32 = 0b1001_0110;
    pub(super) const CHI: i32 = 0b1101_0010;
}

// SAFETY of every block below: `Vaes512` and `X4` values exist only after detection; pointers are the caller's duty.
impl WordLanes for X4 {
    type Isa = Vaes512;
    const BYTES: usize = 64;

    #[inline(always)]
    fn isa(self) -> Vaes512 {
        Lanes::isa(self)
    }

    #[inline(always)]
    unsafe fn load(_: Vaes512, from: *const u8) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn gather_64(isa: Vaes512, from: &[*const u8; MAX_WORDS_64]) -> [Self; 2] {
        let [a, b, c, d, e, f, g, h] = *from;
        // SAFETY: as above.
        unsafe {
            let (even, odd) = (isa.gather(&[a, c, e, g]), isa.gather(&[b, d, f, h]));
            [Self(_mm512_unpacklo_epi64(even.0, odd.0)), Self(_mm512_unpackhi_epi64(even.0, odd.0))]
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut u8, bytes: usize) {
        // SAFETY: as above.
        unsafe { self.store_partial(to, bytes) }
    }

    #[inline(always)]
    fn splat_32(_: Vaes512, word: u32) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_set1_epi32(word.cast_signed()) })
    }

    #[inline(always)]
    fn splat_64(_: Vaes512, word: u64) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_set1_epi64(word.cast_signed()) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_ternarylogic_epi64::<{ table::XOR3 }>(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_and_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn add_32(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn add_64(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn rotate_right_32<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_ror_epi32::<R>(self.0) })
    }

    #[inline(always)]
    fn shift_right_32<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_srl_epi32(self.0, _mm_cvtsi32_si128(R)) })
    }

    #[inline(always)]
    fn rotate_right_64<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_ror_epi64::<R>(self.0) })
    }

    #[inline(always)]
    fn rotate_left_64<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_rol_epi64::<R>(self.0) })
    }

    #[inline(always)]
    fn shift_right_64<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_srl_epi64(self.0, _mm_cvtsi32_si128(R)) })
    }

    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_ternarylogic_epi64::<{ table::CHOOSE }>(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn majority(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_ternarylogic_epi64::<{ table::MAJORITY }>(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn chi(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_ternarylogic_epi64::<{ table::CHI }>(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn swap_bytes_32(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let pattern = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
            _mm512_shuffle_epi8(self.0, _mm512_broadcast_i32x4(pattern))
        })
    }

    #[inline(always)]
    fn swap_bytes_64(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let pattern = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
            _mm512_shuffle_epi8(self.0, _mm512_broadcast_i32x4(pattern))
        })
    }

    #[inline(always)]
    fn transpose_32(registers: &mut [Self; MAX_WORDS_32]) {
        // Quarters of 128 bits between registers, then words within quarters.
        for i in 0..4 {
            transpose_quarters(registers, [i, i + 4, i + 8, i + 12]);
        }
        for i in [0, 4, 8, 12] {
            let [a, b, c, d] = [registers[i].0, registers[i + 1].0, registers[i + 2].0, registers[i + 3].0];
            // SAFETY: as above.
            unsafe {
                let (ab, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
                let (cd, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
                registers[i].0 = _mm512_unpacklo_epi64(ab, cd);
                registers[i + 1].0 = _mm512_unpackhi_epi64(ab, cd);
                registers[i + 2].0 = _mm512_unpacklo_epi64(ab_high, cd_high);
                registers[i + 3].0 = _mm512_unpackhi_epi64(ab_high, cd_high);
            }
        }
    }

    #[inline(always)]
    fn transpose_64(registers: &mut [Self; MAX_WORDS_64]) {
        for i in 0..2 {
            transpose_quarters(registers, [i, i + 2, i + 4, i + 6]);
        }
        for i in [0, 2, 4, 6] {
            let (a, b) = (registers[i].0, registers[i + 1].0);
            // SAFETY: as above.
            unsafe {
                registers[i].0 = _mm512_unpacklo_epi64(a, b);
                registers[i + 1].0 = _mm512_unpackhi_epi64(a, b);
            }
        }
    }
}

/// Quarter `j` of register `which[i]` becomes quarter `i` of register `which[j]`.
#[inline(always)]
fn transpose_quarters(registers: &mut [X4], which: [usize; 4]) {
    let [a, b, c, d] = which;
    let quarters = [registers[a], registers[b], registers[c], registers[d]];
    [registers[a], registers[b], registers[c], registers[d]] = Lanes::transpose(&quarters);
}
