//! Several units of whole blocks under one key: what is shorter than a group runs with its neighbours.

use std::ops::Range;

use super::tweak;
use super::unit::{run_apart, tweaked};
use super::{Direction, XtsBody};
use crate::cipher::{Nothing, Permutation, V};
use crate::job::Job;
use crate::lanes::Work;
use crate::mode::listed::{self, ByList};

/// Units of whole blocks that share keys, as work.
pub(super) struct Listed<'a, P: Permutation, E: Permutation, D, const N: usize> {
    pub(super) body: &'a XtsBody<P, E, D, N>,
    /// That of their data.
    pub(super) cipher: &'a P,
    pub(super) job: &'a Job<'a>,
    pub(super) range: Range<usize>,
}

impl<P: Permutation, E: Permutation<Isa = P::Isa>, D: Direction, const N: usize> Work
    for Listed<'_, P, E, D, N>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { body, cipher, job, ref range } = self;
        // SAFETY: the job's pointers are good, this thread alone has these units, and all are whole blocks.
        unsafe { listed::run::<P, _, N>(&self, cipher, job, body.firsts(job, range.clone())) }
    }
}

/// A list of tweaks.
impl<P: Permutation, E: Permutation<Isa = P::Isa>, D: Direction, const N: usize> ByList<P>
    for Listed<'_, P, E, D, N>
{
    type First = V<P>;

    #[inline(always)]
    unsafe fn list(&self, first: V<P>, blocks: usize, to: *mut u8) {
        // SAFETY: the caller's promise; those of a group, for which `tweak::start` compiles, are MAX_GROUP or fewer.
        unsafe { tweak::list(self.cipher.isa(), first, blocks, to) }
    }

    #[inline(always)]
    unsafe fn alone(&self, index: usize, first: V<P>) {
        // SAFETY: the caller's promise.
        unsafe { run_apart::<P, D, N>(self.cipher, first, self.job.message(index)) }
    }

    #[inline(always)]
    fn combine<const M: usize>(cipher: &P, text: [V<P>; M], tweaks: [V<P>; M]) -> [V<P>; M] {
        tweaked(cipher, text, &tweaks, &mut Nothing)
    }
}
