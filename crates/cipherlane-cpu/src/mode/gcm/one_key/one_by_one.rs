//! Long messages, one by one: the end of each while the next is under way.

use super::super::Direction;
use super::super::ending::LongEnds;
use super::super::ghash::Products;
use super::super::lacking::Lacking;
use super::super::long;
use super::OneKey;
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::Isa;
use crate::mode::counters::advanced;

/// Long messages under way.
pub(super) struct Long<'p, I: Isa, const KARATSUBA: bool> {
    ends: LongEnds<I::V>,
    /// The last one, its pre-counter block and its hash, which may be completed while the next is encrypted.
    last: Option<(usize, u128, Lacking<'p, I, KARATSUBA>)>,
}

impl<I: Isa, const KARATSUBA: bool> Long<'_, I, KARATSUBA> {
    /// No messages.
    #[inline(always)]
    pub(super) fn none() -> Self {
        Self { ends: LongEnds::none(), last: None }
    }
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// All of a message but its end; the end of the one before.
    #[inline(always)]
    pub(super) fn run_long<'s>(
        &'s self,
        job: &Job<'_>,
        long: &mut Long<'s, P::Isa, KARATSUBA>,
        index: usize,
        pre_counter: u128,
    ) {
        let (hash, message) = (self.hash_aad(job, index), job.message(index));
        let first = advanced(pre_counter, 1);
        if Self::is_past_caches(job, message) {
            self.end_last(job, long);
            let hash = self.run_past_caches(job, index, hash, message, first);
            long.last = Some((index, pre_counter, Lacking::nothing(hash)));
            return;
        }
        let mut counters = self.counters(job, index, first);
        let before = long.last.as_mut().map(|(_, _, lacking)| lacking);
        // SAFETY: the job's pointers are good.
        unsafe {
            let (lacking, rest) =
                long::run::<P, N, KARATSUBA, D>(&self.cipher, hash, message, &mut counters, before);
            self.end_last(job, long);
            if rest.bytes == 0 {
                long.last = Some((index, pre_counter, lacking));
            } else {
                let sum = lacking.end::<P, N, D>(&self.cipher, rest, &mut counters);
                self.end_one(job, long, index, pre_counter, sum);
            }
        }
    }

    /// The ends of all that are under way.
    #[inline(always)]
    pub(super) fn end_long(&self, job: &Job<'_>, long: &mut Long<'_, P::Isa, KARATSUBA>) {
        self.end_last(job, long);
        long.ends.conclude::<P, D, KARATSUBA>(job, &self.cipher, &self.powers);
    }

    #[inline(always)]
    fn end_last(&self, job: &Job<'_>, long: &mut Long<'_, P::Isa, KARATSUBA>) {
        if let Some((index, pre_counter, lacking)) = long.last.take() {
            self.end_one(job, long, index, pre_counter, lacking.sum::<N>());
        }
    }

    /// The end of a message, with that of others.
    #[inline(always)]
    fn end_one(
        &self,
        job: &Job<'_>,
        long: &mut Long<'_, P::Isa, KARATSUBA>,
        index: usize,
        pre_counter: u128,
        sum: Products<V<P>>,
    ) {
        if long.ends.are_enough() {
            long.ends.conclude::<P, D, KARATSUBA>(job, &self.cipher, &self.powers);
        }
        long.ends.push(job, index, pre_counter, sum);
    }
}
