//! One message of GCM in segments, which several threads run at once.

use cipherlane_core::BLOCK;

use super::OneKey;
use crate::cipher::Permutation;
use crate::job::Job;
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::body::part;
use crate::mode::counters::advanced;
use crate::mode::gcm::Direction;
use crate::mode::gcm::counter::pre_counter;
use crate::mode::gcm::ghash::{Ghash, Products, power};
use crate::worker::{Partial, Segment, Segments};

/// One segment, as work.
struct Part<'a, T> {
    key: &'a T,
    job: &'a Job<'a>,
    segment: &'a Segment,
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Part<'_, OneKey<P, D, N, KARATSUBA>>
{
    type Output = Partial;

    /// The segment's own hash, in the pending form.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // SP 800-38D: fewer than 2^32 blocks
    fn run(self) -> Partial {
        let (key, segment) = (self.key, self.segment);
        let pre_counter = pre_counter::<P::Isa, KARATSUBA>(key.powers(), self.job.nonce(segment.message));
        let first = advanced(pre_counter, 1 + (segment.bytes.start / BLOCK) as u32);
        // SAFETY: the segment lies within its message.
        let text = unsafe { part(self.job, segment) };
        let hash = Ghash::new(key.powers());
        let hash = if OneKey::<P, D, N, KARATSUBA>::is_past_caches(self.job, text) {
            key.run_past_caches(self.job, segment.message, hash, text, first)
        } else {
            key.run_text(hash, text, key.counters(self.job, segment.message, first))
        };
        hash.fold().to_le_bytes()
    }
}

/// The end of a message whose segments have been run, as work.
struct Finish<'a, T> {
    key: &'a T,
    job: &'a Job<'a>,
    message: usize,
    segments: &'a [(Segment, Partial)],
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Finish<'_, OneKey<P, D, N, KARATSUBA>>
{
    type Output = ();

    /// A state followed by n more blocks is worth H^n of itself.
    #[inline(always)]
    fn run(self) {
        let (key, isa) = (self.key, self.key.cipher().isa());
        let mut state = key.hash_aad(self.job, self.message).fold();
        for (segment, partial) in self.segments {
            let blocks = segment.bytes.len().div_ceil(BLOCK);
            let moved = Products::of(isa.splat_word(state), power(key.powers(), blocks)).reduce(isa);
            state = moved.to_words()[0] ^ u128::from_le_bytes(*partial);
        }
        let pre_counter = pre_counter::<P::Isa, KARATSUBA>(key.powers(), self.job.nonce(self.message));
        key.conclude(self.job, self.message, pre_counter, &Ghash::resume(key.powers(), state));
    }
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Segments
    for OneKey<P, D, N, KARATSUBA>
{
    fn segment(&self, job: &Job<'_>, segment: &Segment) -> Partial {
        self.cipher().isa().vectorize(Part { key: self, job, segment })
    }

    fn finish(&self, job: &Job<'_>, message: usize, segments: &[(Segment, Partial)]) {
        self.cipher().isa().vectorize(Finish { key: self, job, message, segments });
    }
}
