//! Two engines in one: lanes where there are messages enough, and else what is better at few.

use super::{Absorb, Iterated, MAX_STREAMS, PaddedEnd, Shared, wipe};
use crate::lanes::Work;

/// The engine `many` for `least` messages or more, and `few` for fewer.
#[derive(Clone, Copy)]
pub(crate) struct Either<M, F> {
    many: M,
    few: F,
    least: usize,
}

impl<M, F> Either<M, F> {
    pub(crate) fn new(many: M, few: F, least: usize) -> Self {
        Self { many, few, least }
    }
}

impl<H: Iterated, M: Absorb<H>, F: Absorb<H>> Absorb<H> for Either<M, F> {
    const LANES: usize = M::LANES;
    type States = M::States;

    #[inline(always)]
    fn compiled<W: Work>(self, work: W) -> W::Output {
        self.many.compiled(work)
    }

    #[inline(always)]
    fn fresh(self, hash: H) -> M::States {
        self.many.fresh(hash)
    }

    #[inline(always)]
    fn put(states: &mut M::States, lane: usize, chain: &H::Chain) {
        M::put(states, lane, chain);
    }

    #[inline(always)]
    fn get(states: &M::States, lane: usize) -> H::Chain {
        M::get(states, lane)
    }

    #[inline(always)]
    fn get_all(self, states: &M::States, chains: &mut [std::mem::MaybeUninit<H::Chain>; MAX_STREAMS]) {
        self.many.get_all(states, chains);
    }

    #[inline(always)]
    unsafe fn absorb(
        self,
        hash: H,
        states: &mut M::States,
        from: &[*const u8; MAX_STREAMS],
        active: usize,
        blocks: usize,
    ) {
        if active >= self.least {
            // SAFETY: the caller's.
            return unsafe { self.many.absorb(hash, states, from, active, blocks) };
        }
        // Groups of nearly one size: two and two streams fill the latency of each other, three and one do not.
        let groups = active.div_ceil(F::LANES).max(1);
        for group in 0..groups {
            let (start, end) = (active * group / groups, active * (group + 1) / groups);
            // SAFETY: the caller's.
            unsafe { self.absorb_few(hash, states, from, start, end, blocks) }
        }
    }

    #[inline(always)]
    unsafe fn lay_end(
        self,
        to: &mut std::mem::MaybeUninit<PaddedEnd>,
        text: (*const u8, usize),
        padding: &PaddedEnd,
        bytes: usize,
    ) {
        // SAFETY: the caller's.
        unsafe { self.many.lay_end(to, text, padding, bytes) }
    }

    #[inline(always)]
    fn prepare(self, shared: &mut Shared) {
        self.many.prepare(shared);
    }

    #[inline(always)]
    fn absorb_alike(self, hash: H, states: &mut M::States, shared: &Shared, active: usize) {
        if active >= self.least {
            return self.many.absorb_alike(hash, states, shared, active);
        }
        // SAFETY: every lane reads this block.
        unsafe { self.absorb(hash, states, &shared.everywhere(), active, 1) }
    }
}

impl<M, F> Either<M, F> {
    /// Absorbs blocks of the messages in lanes `start` to `end`, which may be as many as the engine for few has.
    ///
    /// # Safety
    /// That of [`Absorb::absorb`].
    #[inline(always)]
    unsafe fn absorb_few<H: Iterated>(
        self,
        hash: H,
        states: &mut M::States,
        from: &[*const u8; MAX_STREAMS],
        start: usize,
        end: usize,
        blocks: usize,
    ) where
        M: Absorb<H>,
        F: Absorb<H>,
    {
        let mut some = self.few.fresh(hash);
        let mut pointers = [from[start]; MAX_STREAMS];
        for lane in start..end {
            pointers[lane - start] = from[lane];
            F::put(&mut some, lane - start, &M::get(states, lane));
        }
        // SAFETY: the caller's; idle lanes read what the first one does.
        unsafe { self.few.absorb(hash, &mut some, &pointers, end - start, blocks) }
        for lane in start..end {
            M::put(states, lane, &F::get(&some, lane - start));
        }
        wipe(&mut some);
    }
}
