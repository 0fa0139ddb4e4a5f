//! Long messages, one by one: the end of each while the next is under way.

use super::lacking::Lacking;
use super::{OneKey, groups};
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::{Isa, Work};
use crate::mode::counters::advanced;
use crate::mode::gcm::Direction;
use crate::mode::gcm::ending::LongEnds;
use crate::mode::gcm::ghash::Products;

/// Long messages under way.
pub(super) struct Long<'e, 'p, I: Isa, const KARATSUBA: bool> {
    /// Borrowed: as a part of this it would be copied, room for sums that are not there yet included.
    ends: &'e mut LongEnds<I::V>,
    /// The last one, its pre-counter block and its hash, which may be completed while the next is encrypted.
    last: Option<(usize, u128, Lacking<'p, I, KARATSUBA>)>,
}

impl<'e, I: Isa, const KARATSUBA: bool> Long<'e, '_, I, KARATSUBA> {
    /// No messages, whose ends these will be.
    #[inline(always)]
    pub(super) fn none(ends: &'e mut LongEnds<I::V>) -> Self {
        Self { ends, last: None }
    }
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// All of a message but its end; the end of the one before.
    #[inline(always)]
    pub(super) fn run_long<'s>(
        &'s self,
        job: &Job<'_>,
        long: &mut Long<'_, 's, P::Isa, KARATSUBA>,
        index: usize,
        pre_counter: u128,
    ) {
        let (hash, message) = (self.hash_aad(job, index), job.message(index));
        let first = advanced(pre_counter, 1);
        if Self::is_past_caches(job, message) {
            self.end_last::<true>(job, long);
            let hash = self.run_past_caches(job, index, hash, message, first);
            long.last = Some((index, pre_counter, Lacking::nothing(hash)));
            return;
        }
        let mut counters = self.counters(job, index, first);
        let before = long.last.as_mut().map(|(_, _, lacking)| lacking);
        // SAFETY: the job's pointers are good.
        unsafe {
            let (lacking, rest) =
                groups::run::<P, N, KARATSUBA, D>(&self.cipher, hash, message, &mut counters, before);
            self.end_last::<false>(job, long);
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
    pub(super) fn end_long(&self, job: &Job<'_>, long: &mut Long<'_, '_, P::Isa, KARATSUBA>) {
        self.end_last::<true>(job, long);
        if !long.ends.are_none() {
            self.conclude_long(job, long);
        }
    }

    /// The end of the last one, whose last group is hashed here, or apart, where that is seldom.
    #[inline(always)]
    fn end_last<const APART: bool>(&self, job: &Job<'_>, long: &mut Long<'_, '_, P::Isa, KARATSUBA>) {
        if let Some((index, pre_counter, lacking)) = long.last.take() {
            let sum = match APART {
                true => self.cipher.isa().vectorize(Sum::<P::Isa, N, KARATSUBA>(lacking)),
                false => lacking.sum::<N>(),
            };
            self.end_one(job, long, index, pre_counter, sum);
        }
    }

    /// The end of a message, with that of others.
    #[inline(always)]
    fn end_one(
        &self,
        job: &Job<'_>,
        long: &mut Long<'_, '_, P::Isa, KARATSUBA>,
        index: usize,
        pre_counter: u128,
        sum: Products<V<P>>,
    ) {
        if long.ends.are_enough() {
            self.conclude_long(job, long);
        }
        long.ends.push(job, index, pre_counter, sum);
    }

    #[inline(always)]
    fn conclude_long(&self, job: &Job<'_>, long: &mut Long<'_, '_, P::Isa, KARATSUBA>) {
        self.cipher.isa().vectorize(Conclusion { key: self, job, ends: &mut *long.ends });
    }
}

/// [`Lacking::sum`] as work of its own, so that it is compiled once more and not wherever it may be wanted.
struct Sum<'p, I: Isa, const N: usize, const KARATSUBA: bool>(Lacking<'p, I, KARATSUBA>);

impl<I: Isa, const N: usize, const KARATSUBA: bool> Work for Sum<'_, I, N, KARATSUBA> {
    type Output = Products<I::V>;

    #[inline(always)]
    fn run(self) -> Products<I::V> {
        self.0.sum::<N>()
    }
}

/// The tags of messages under way, as work of its own for the same reason.
struct Conclusion<'a, P: Permutation, D, const N: usize, const KARATSUBA: bool> {
    key: &'a OneKey<P, D, N, KARATSUBA>,
    job: &'a Job<'a>,
    ends: &'a mut LongEnds<V<P>>,
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Conclusion<'_, P, D, N, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let OneKey { cipher, powers, .. } = self.key;
        self.ends.conclude::<P, D, KARATSUBA>(self.job, cipher, powers);
    }
}
