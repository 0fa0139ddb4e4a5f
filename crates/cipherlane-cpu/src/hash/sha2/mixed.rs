//! One message of 64-bit words, its schedule in vector registers of 128 bits and its rounds in integers: the two have
//! execution ports of their own. With AVX2 and BMI2, [`super::assembly`] does the same for two blocks together.

use std::arch::x86_64::*;
use std::hint::black_box;

use super::constants::K_64;
use super::rounds::round;
use super::scalar::Single;
use crate::lanes::sse::Sse;
use crate::lanes::{Isa, Work};

impl Single<u64> for Sse {
    #[inline(always)]
    unsafe fn absorb(self, state: &mut [u64; 8], from: *const u8, blocks: usize) {
        self.vectorize(Blocks { state, from, blocks });
    }
}

/// Blocks of one message, as work. The pointer is good, and whoever made this has proof of SSSE3.
struct Blocks<'a> {
    state: &'a mut [u64; 8],
    from: *const u8,
    blocks: usize,
}

impl Work for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for block in 0..self.blocks {
            // Apart from the words, which stay in registers as long as nothing of theirs is asked for in memory.
            let mut sums = Sums([0; 16]);
            // SAFETY: as `Blocks` says.
            let mut schedule = unsafe { Schedule::new(self.from.add(block * 128), &mut sums) };
            let mut variables = *self.state;
            let mut first = 16;
            while first < K_64.len() {
                sixteen::<true>(&mut variables, &mut schedule, &mut sums, first);
                first += 16;
            }
            sixteen::<false>(&mut variables, &mut schedule, &mut sums, 0);
            for (word, variable) in self.state.iter_mut().zip(variables) {
                *word = word.wrapping_add(variable);
            }
        }
    }
}

/// The last sixteen words of the message schedule, two a register.
struct Schedule([__m128i; 8]);

/// The same words plus the constants of their rounds, in memory: there they change from vectors into integers. Within one
/// cache line or two.
#[repr(align(64))]
struct Sums([u64; 16]);

impl Schedule {
    /// The words of a block.
    ///
    /// # Safety
    /// 128 bytes are readable, and this CPU has SSSE3.
    #[inline(always)]
    unsafe fn new(from: *const u8, sums: &mut Sums) -> Self {
        // SAFETY: the caller's.
        unsafe {
            let mut schedule = Self([_mm_setzero_si128(); 8]);
            let swap = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
            for i in 0..8 {
                let words = _mm_shuffle_epi8(_mm_loadu_si128(from.add(16 * i).cast()), swap);
                schedule.put(i, words, 0, sums);
            }
            schedule
        }
    }

    /// Takes in two words of the sixteen from word `first` on.
    ///
    /// # Safety
    /// This CPU has SSE2, there is a round `first + 2 * i + 1`, and `i < 8`.
    #[inline(always)]
    unsafe fn put(&mut self, i: usize, words: __m128i, first: usize, sums: &mut Sums) {
        self.0[i] = words;
        // SAFETY: the caller's.
        unsafe {
            let constants = _mm_loadu_si128(K_64.as_ptr().add(first + 2 * i).cast());
            let to = sums.0.as_mut_ptr().add(2 * i);
            _mm_store_si128(to.cast(), _mm_add_epi64(words, constants));
        }
    }

    /// The two words that follow sixteen after those of register `i` (FIPS 180-4 section 6.4.2 step 1).
    ///
    /// # Safety
    /// This CPU has SSSE3, and `i < 8`.
    #[inline(always)]
    unsafe fn next(&self, i: usize) -> __m128i {
        let w = &self.0;
        // SAFETY: the caller's.
        unsafe {
            let before_15 = _mm_alignr_epi8::<8>(w[(i + 1) % 8], w[i]);
            let before_7 = _mm_alignr_epi8::<8>(w[(i + 5) % 8], w[(i + 4) % 8]);
            let before_2 = w[(i + 7) % 8];
            let sigma_0 =
                xor3(rotate::<1>(before_15), rotate::<8>(before_15), _mm_srli_epi64::<7>(before_15));
            let sigma_1 = xor3(rotate::<19>(before_2), rotate::<61>(before_2), _mm_srli_epi64::<6>(before_2));
            _mm_add_epi64(_mm_add_epi64(w[i], before_7), _mm_add_epi64(sigma_0, sigma_1))
        }
    }
}

/// # Safety
/// This CPU has SSE2.
#[inline(always)]
unsafe fn xor3(a: __m128i, b: __m128i, c: __m128i) -> __m128i {
    // SAFETY: the caller's.
    unsafe { _mm_xor_si128(_mm_xor_si128(a, b), c) }
}

/// Both words, rotated by R bits to the right.
///
/// # Safety
/// This CPU has SSE2.
#[inline(always)]
unsafe fn rotate<const R: i32>(x: __m128i) -> __m128i {
    // SAFETY: the caller's.
    unsafe { _mm_or_si128(_mm_srli_epi64::<R>(x), _mm_sll_epi64(x, _mm_cvtsi32_si128(64 - R))) }
}

/// Sixteen rounds, and if MORE the words for the next sixteen, from word `first` on.
#[inline(always)]
fn sixteen<const MORE: bool>(
    variables: &mut [u64; 8],
    schedule: &mut Schedule,
    sums: &mut Sums,
    first: usize,
) {
    // Or the compiler keeps the sums in vector registers and takes them out one by one.
    black_box(&mut *sums);
    two::<MORE, 0>(variables, schedule, sums, first);
    two::<MORE, 1>(variables, schedule, sums, first);
    two::<MORE, 2>(variables, schedule, sums, first);
    two::<MORE, 3>(variables, schedule, sums, first);
    two::<MORE, 4>(variables, schedule, sums, first);
    two::<MORE, 5>(variables, schedule, sums, first);
    two::<MORE, 6>(variables, schedule, sums, first);
    two::<MORE, 7>(variables, schedule, sums, first);
}

/// Rounds 2 I and 2 I + 1 of sixteen.
#[inline(always)]
fn two<const MORE: bool, const I: usize>(
    variables: &mut [u64; 8],
    schedule: &mut Schedule,
    sums: &mut Sums,
    first: usize,
) {
    let [even, odd] = [sums.0[2 * I], sums.0[2 * I + 1]];
    round(variables, 2 * I, even);
    round(variables, 2 * I + 1, odd);
    if MORE {
        // SAFETY: a `Schedule` is made where there is SSSE3 only; `first` is at most the last 16 rounds.
        unsafe {
            let words = schedule.next(I);
            schedule.put(I, words, first, sums);
        }
    }
}
