//! Several units under one key, by a cipher that is quick: what is shorter than a group runs with its neighbours.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::tweak::{self, MAX_GROUP};
use super::unit::{run_apart, tweaked};
use super::{Between, Direction, XtsBody};
use crate::cipher::{Nothing, Permutation, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::listed::{Combine, List, Listed};

/// Whether several units are shorter than a group on average. Others are quicker one by one, by code that has no list beside
/// it: a single one of few blocks takes a tenth longer here, units of 512 to 1024 bytes a twentieth.
#[inline(always)]
pub(super) fn pays<P: Permutation, const N: usize>(job: &Job<'_>, units: &Range<usize>) -> bool {
    let bytes = job.consecutive(units.clone()).bytes;
    !P::WHOLE_GROUPS && units.len() > 1 && bytes < units.len() * N * V::<P>::BYTES
}

/// Units that share keys, as work.
pub(super) struct InCompany<'a, P: Permutation, E: Permutation, D, const N: usize> {
    pub(super) body: &'a XtsBody<P, E, D, N>,
    /// That of their data.
    pub(super) cipher: &'a P,
    pub(super) job: &'a Job<'a>,
    pub(super) range: Range<usize>,
}

impl<P: Permutation, E: Permutation<Isa = P::Isa>, D: Direction, const N: usize> Work
    for InCompany<'_, P, E, D, N>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { body, cipher, job, range } = self;
        let isa = cipher.isa();
        let mut list = List::new();
        let mut listed = Listed::<P, Between, N>::new(cipher, job, &mut list);
        let mut next = range.start;
        while next < range.end {
            let units = next..range.end.min(next + N * V::<P>::LANES);
            next = units.end;
            let mut first = [[0; BLOCK]; MAX_GROUP];
            body.first_tweaks(job, units.clone(), &mut None, &mut first);
            for (index, first) in units.zip(&first) {
                let (message, first) = (job.message(index), isa.splat(first));
                // SAFETY: the job's pointers are good, and this thread alone has this message.
                unsafe {
                    if Listed::<P, Between, N>::takes(message) {
                        let blocks = message.bytes / BLOCK;
                        tweak::list(isa, first, blocks, listed.push(index, blocks));
                    } else {
                        listed.run();
                        run_apart::<P, D, N>(cipher, first, message);
                    }
                }
            }
        }
        // SAFETY: as above, and the tweaks of all units that are there have been listed.
        unsafe { listed.run() }
    }
}

impl Combine for Between {
    #[inline(always)]
    fn combine<P: Permutation, const M: usize>(cipher: &P, text: [V<P>; M], tweaks: &[V<P>; M]) -> [V<P>; M] {
        tweaked(cipher, text, tweaks, &mut Nothing)
    }
}
