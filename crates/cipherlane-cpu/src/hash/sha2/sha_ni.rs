//! SHA-224 and SHA-256 by the SHA extensions: two rounds an instruction.

use std::arch::x86_64::*;

use super::Sha2;
use super::constants::K_32;
use crate::hash::{Absorb, MAX_STREAMS};

/// An engine of N streams. Its existence proves the SHA extensions, SSSE3 and SSE4.1.
///
/// Each instruction waits for the one before it, of the same stream: a second stream is nearly for free.
#[derive(Clone, Copy)]
pub(crate) struct ShaNi(());

impl ShaNi {
    /// The engine, where this CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        let here = is_x86_feature_detected!("sha")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("sse4.1");
        here.then_some(Self(()))
    }
}

/// A chaining value as the instructions take it: the words f, e, b, a, then h, g, d, c.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Chain([[u32; 4]; 2]);

impl Chain {
    #[inline(always)]
    fn new([a, b, c, d, e, f, g, h]: [u32; 8]) -> Self {
        Self([[f, e, b, a], [h, g, d, c]])
    }

    #[inline(always)]
    fn words(self) -> [u32; 8] {
        let [[f, e, b, a], [h, g, d, c]] = self.0;
        [a, b, c, d, e, f, g, h]
    }
}

impl Absorb<Sha2<u32>> for ShaNi {
    const LANES: usize = 4;
    type States = [Chain; 4];

    fn fresh(self, hash: Sha2<u32>) -> [Chain; 4] {
        [Chain::new(hash.initial); 4]
    }

    #[inline(always)]
    fn put(states: &mut [Chain; 4], lane: usize, chain: &[u32; 8]) {
        states[lane] = Chain::new(*chain);
    }

    #[inline(always)]
    fn get(states: &[Chain; 4], lane: usize) -> [u32; 8] {
        states[lane].words()
    }

    unsafe fn absorb(
        self,
        _: Sha2<u32>,
        states: &mut [Chain; 4],
        from: &[*const u8; MAX_STREAMS],
        active: usize,
        blocks: usize,
    ) {
        // SAFETY: this engine exists only where the instructions do; pointers are the caller's duty.
        unsafe {
            match active {
                0 | 1 => compress::<1>(states, from, blocks),
                2 => compress::<2>(states, from, blocks),
                3 => compress::<3>(states, from, blocks),
                _ => compress::<4>(states, from, blocks),
            }
        }
    }
}

/// Absorbs `blocks` blocks of N streams.
///
/// # Safety
/// This CPU has the instructions; there are N chaining values, and N pointers to that many blocks each.
#[target_feature(enable = "sha,ssse3,sse4.1")]
unsafe fn compress<const N: usize>(chains: &mut [Chain], from: &[*const u8], blocks: usize) {
    // SAFETY: the caller's; a `Chain` is two aligned registers.
    unsafe {
        let pattern = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
        let mut states = [[_mm_setzero_si128(); 2]; N];
        for n in 0..N {
            states[n] = (&raw const chains[n]).cast::<[__m128i; 2]>().read();
        }
        for block in 0..blocks {
            let before = states;
            let mut schedule = [[_mm_setzero_si128(); 4]; N];
            for n in 0..N {
                let text = from[n].add(block * 64).cast::<__m128i>();
                for (i, words) in schedule[n].iter_mut().enumerate() {
                    *words = _mm_shuffle_epi8(_mm_loadu_si128(text.add(i)), pattern);
                }
            }
            rounds(&mut states, &mut schedule);
            for n in 0..N {
                for i in 0..2 {
                    states[n][i] = _mm_add_epi32(states[n][i], before[n][i]);
                }
            }
        }
        for n in 0..N {
            (&raw mut chains[n]).cast::<[__m128i; 2]>().write(states[n]);
        }
    }
}

/// The sixteen times four rounds of FIPS 180-4 section 6.2.2, written out: the schedule's positions are constants.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn rounds<const N: usize>(states: &mut [[__m128i; 2]; N], schedule: &mut [[__m128i; 4]; N]) {
    four_rounds::<N, 0>(states, schedule);
    four_rounds::<N, 1>(states, schedule);
    four_rounds::<N, 2>(states, schedule);
    four_rounds::<N, 3>(states, schedule);
    four_rounds::<N, 4>(states, schedule);
    four_rounds::<N, 5>(states, schedule);
    four_rounds::<N, 6>(states, schedule);
    four_rounds::<N, 7>(states, schedule);
    four_rounds::<N, 8>(states, schedule);
    four_rounds::<N, 9>(states, schedule);
    four_rounds::<N, 10>(states, schedule);
    four_rounds::<N, 11>(states, schedule);
    four_rounds::<N, 12>(states, schedule);
    four_rounds::<N, 13>(states, schedule);
    four_rounds::<N, 14>(states, schedule);
    four_rounds::<N, 15>(states, schedule);
}

/// Rounds `4 I` to `4 I + 3` of each stream.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn four_rounds<const N: usize, const I: usize>(
    states: &mut [[__m128i; 2]; N],
    schedule: &mut [[__m128i; 4]; N],
) {
    // SAFETY: the table has 64 words.
    let constants = unsafe { _mm_loadu_si128(K_32.as_ptr().add(4 * I).cast()) };
    for (w, [abef, cdgh]) in schedule.iter_mut().zip(states) {
        if I >= 4 {
            let (before_12, before_8, before_4) = (w[(I + 1) % 4], w[(I + 2) % 4], w[(I + 3) % 4]);
            let before_7 = _mm_alignr_epi8::<4>(before_4, before_8);
            let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[I % 4], before_12), before_7);
            w[I % 4] = _mm_sha256msg2_epu32(sum, before_4);
        }
        let words = _mm_add_epi32(w[I % 4], constants);
        *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, words);
        *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32::<0x0e>(words));
    }
}
