//! Messages that have waited for others of as many registers and are more than a four takes, or too few for fours.

use std::marker::PhantomData;

use super::OneKey;
use super::series::{CHUNK, Concluded, Ends, Series, Shared};
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::Isa;
use crate::mode::counters::MOST_KNOWN;
use crate::mode::gcm::Direction;
use crate::mode::gcm::ghash::MAX_POWERS;

// Each rest of a chunk has its arm in `run_series`; with powers for a message's hash, the first rounds of its counters are
// known as well.
const _: () = assert!(CHUNK == 4 && MAX_POWERS <= MOST_KNOWN);

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// What series of messages share, where there are any: where first rounds are known ahead.
    #[inline(always)]
    pub(super) fn shared_by_series<'a>(&'a self, job: &'a Job<'a>) -> Option<Shared<'a, P>> {
        // For the compiler, which need not make code that is never called.
        let runs = P::BEGINS && !P::WHOLE_GROUPS;
        let first_round = self.first_round().filter(|_| runs)?;
        Some(Shared { job, cipher: &self.cipher, powers: &self.powers, first_round })
    }

    /// Runs messages of `class` one after the other, however many.
    #[inline(always)]
    pub(super) fn run_series(&self, job: &Job<'_>, class: usize, indices: &[usize], ends: &mut Ends<V<P>>) {
        let Some(shared) = self.shared_by_series(job) else { return };
        match class % CHUNK {
            0 => self.series::<1>(shared, indices, ends),
            1 => self.series::<2>(shared, indices, ends),
            2 => self.series::<3>(shared, indices, ends),
            _ => self.series::<4>(shared, indices, ends),
        }
    }

    #[inline(always)]
    fn series<const R: usize>(&self, shared: Shared<'_, P>, indices: &[usize], ends: &mut Ends<V<P>>) {
        let direction = PhantomData;
        self.cipher.isa().vectorize(Series::<P, D, R, KARATSUBA> { shared, indices, ends, direction });
    }

    /// Ends the messages of series that have not found company.
    #[inline(always)]
    pub(super) fn end_series(&self, job: &Job<'_>, ends: &mut Ends<V<P>>) {
        if let Some(shared) = self.shared_by_series(job)
            && !ends.are_none()
        {
            let direction = PhantomData::<D>;
            self.cipher.isa().vectorize(Concluded::<P, D, KARATSUBA> { shared, ends, direction });
        }
    }
}
