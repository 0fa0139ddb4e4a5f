//! Words of one or two, and of four states: the narrower registers of AVX-512.
//!
//! They have its 32 registers, three-operand logic and rotations. Where registers of 512 bits are two passes, or fewer
//! units have them, these are faster, and a single state is faster in half of one than in the integer unit.

use std::arch::x86_64::*;

use super::Keccak;
use super::in_lanes::{Blocks, Few, States};
use super::permutation::{Word, of_row};
use super::words::Stored;
use crate::hash::MAX_STREAMS;
use crate::lanes::Isa;
use crate::lanes::vaes512::Vaes512;

impl Few for Vaes512 {
    const MOST: usize = 4;

    #[inline(always)]
    unsafe fn absorb(
        self,
        hash: Keccak,
        states: &mut States,
        from: &[*const u8; MAX_STREAMS],
        active: usize,
        blocks: usize,
    ) {
        // SAFETY: the caller's.
        unsafe {
            match active {
                0..=1 => self.vectorize(Blocks::<Narrow<1>, _>::new(self, hash, states, from, blocks)),
                2 => self.vectorize(Blocks::<Narrow<2>, _>::new(self, hash, states, from, blocks)),
                _ => self.vectorize(Blocks::<Four, _>::new(self, hash, states, from, blocks)),
            }
        }
    }
}

/// A word of COUNT states, one or two: of one, what the other lane has does not matter.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Narrow<const COUNT: usize>(__m128i);

/// A word of four states.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Four(__m256i);

/// Truth tables of three bits a, b and c: bit `4 a + 2 b + c`.
const XOR3: i32 = 0b1001_0110;
const CHI: i32 = 0b1101_0010;

// SAFETY of every block below: values are made from a `Vaes512`, which proves AVX-512 with VL.
impl<const COUNT: usize> Word for Narrow<COUNT> {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_ternarylogic_epi64::<XOR3>(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn xor_constant(self, constant: u64) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_xor_si128(self.0, _mm_set1_epi64x(constant.cast_signed())) })
    }

    #[inline(always)]
    fn chi<const Y: usize>(words: [Self; 5], row: [Self; 5]) -> [Self; 5] {
        // SAFETY: as above.
        of_row(words, row, |a, b, c| Self(unsafe { _mm_ternarylogic_epi64::<CHI>(a.0, b.0, c.0) }))
    }

    #[inline(always)]
    fn rotate<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm_rol_epi64::<R>(self.0) })
    }
}

impl Stored for Narrow<1> {
    type Isa = Vaes512;
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn load(_: Vaes512, from: *const u64) -> Self {
        // SAFETY: as above; the pointer is the caller's duty.
        Self(unsafe { _mm_loadl_epi64(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: as above.
        unsafe { _mm_storel_epi64(to.cast(), self.0) }
    }

    /// The first with the second beside it, which spares moving both to a place.
    #[inline(always)]
    unsafe fn two(_: Vaes512, from: &[*const u8; MAX_STREAMS], at: usize) -> [Self; 2] {
        // SAFETY: as above.
        unsafe {
            let from = from[0].add(at);
            [Self(_mm_loadu_si128(from.cast())), Self(_mm_loadl_epi64(from.add(8).cast()))]
        }
    }
}

impl Stored for Narrow<2> {
    type Isa = Vaes512;
    const COUNT: usize = 2;

    #[inline(always)]
    unsafe fn load(_: Vaes512, from: *const u64) -> Self {
        // SAFETY: as above; the pointer is the caller's duty.
        Self(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn two(_: Vaes512, from: &[*const u8; MAX_STREAMS], at: usize) -> [Self; 2] {
        // SAFETY: as above.
        unsafe {
            let (a, b) = (_mm_loadu_si128(from[0].add(at).cast()), _mm_loadu_si128(from[1].add(at).cast()));
            [Self(_mm_unpacklo_epi64(a, b)), Self(_mm_unpackhi_epi64(a, b))]
        }
    }
}

impl Word for Four {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_ternarylogic_epi64::<XOR3>(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn xor_constant(self, constant: u64) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_xor_si256(self.0, _mm256_set1_epi64x(constant.cast_signed())) })
    }

    #[inline(always)]
    fn chi<const Y: usize>(words: [Self; 5], row: [Self; 5]) -> [Self; 5] {
        // SAFETY: as above.
        of_row(words, row, |a, b, c| Self(unsafe { _mm256_ternarylogic_epi64::<CHI>(a.0, b.0, c.0) }))
    }

    #[inline(always)]
    fn rotate<const R: i32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_rol_epi64::<R>(self.0) })
    }
}

impl Stored for Four {
    type Isa = Vaes512;
    const COUNT: usize = 4;

    #[inline(always)]
    unsafe fn load(_: Vaes512, from: *const u64) -> Self {
        // SAFETY: as above; the pointer is the caller's duty.
        Self(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn two(_: Vaes512, from: &[*const u8; MAX_STREAMS], at: usize) -> [Self; 2] {
        // SAFETY: as above.
        unsafe {
            // Two words of messages 0 and 2, and of 1 and 3.
            let even = _mm256_loadu2_m128i(from[2].add(at).cast(), from[0].add(at).cast());
            let odd = _mm256_loadu2_m128i(from[3].add(at).cast(), from[1].add(at).cast());
            [Self(_mm256_unpacklo_epi64(even, odd)), Self(_mm256_unpackhi_epi64(even, odd))]
        }
    }
}
