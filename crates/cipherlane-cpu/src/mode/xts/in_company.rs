//! Several units of whole blocks under one key: what is shorter than a group runs with its neighbours.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::tweak;
use super::unit::{run_apart, tweaked};
use super::{Between, Direction, XtsBody};
use crate::cipher::{Nothing, Permutation, V};
use crate::job::Job;
use crate::lanes::Work;
use crate::mode::listed::{Combine, List, Listed};

/// Units of whole blocks that share keys, as work.
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
        for (index, first) in body.firsts(job, range) {
            let message = job.message(index);
            // SAFETY: the job's pointers are good, this thread alone has this message, and all are whole blocks; those of a
            // group, for which `tweak::start` compiles, are MAX_GROUP or fewer.
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
        // SAFETY: as above.
        unsafe { listed.run() }
    }
}

impl Combine for Between {
    #[inline(always)]
    fn combine<P: Permutation, const M: usize>(cipher: &P, text: [V<P>; M], tweaks: [V<P>; M]) -> [V<P>; M] {
        tweaked(cipher, text, &tweaks, &mut Nothing)
    }
}
