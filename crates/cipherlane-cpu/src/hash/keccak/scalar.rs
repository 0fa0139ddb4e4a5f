//! One state in 64-bit integers.

use super::in_lanes::{Blocks, Few, States};
use super::{Keccak, WORDS};
use crate::hash::{Absorb, MAX_STREAMS};
use crate::lanes::Work;

/// Integer instructions that code is compiled for.
pub(crate) trait Integers: Copy + Send + Sync + 'static {
    /// Runs `work` compiled for them.
    fn compiled<W: Work>(self, work: W) -> W::Output;
}

/// Those that every CPU of the target has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Baseline;

impl Integers for Baseline {
    #[inline(always)]
    fn compiled<W: Work>(self, work: W) -> W::Output {
        work.run()
    }
}

/// Proof of BMI1, whose `andn` is half of chi, and of BMI2, which rotates into another register.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bmi(());

#[cfg(target_arch = "x86_64")]
impl Bmi {
    /// The proof, where this CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")).then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn with_bmi<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
impl Integers for Bmi {
    #[inline(always)]
    fn compiled<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` proves the features.
        unsafe { with_bmi(work) }
    }
}

/// A single state.
#[derive(Clone, Copy)]
pub(crate) struct Scalar<I>(I);

impl<I: Integers> Scalar<I> {
    /// The engine on these instructions.
    pub(crate) fn new(integers: I) -> Self {
        Self(integers)
    }
}

impl<I: Integers> Absorb<Keccak> for Scalar<I> {
    const LANES: usize = 1;
    type States = [[u64; 1]; WORDS];

    #[inline(always)]
    fn fresh(self, _: Keccak) -> Self::States {
        [[0]; WORDS]
    }

    #[inline(always)]
    fn put(states: &mut Self::States, _lane: usize, state: &[u64; WORDS]) {
        *states = *state.as_chunks().0.first_chunk().expect("25 words are 25 rows of one");
    }

    #[inline(always)]
    fn get(states: &Self::States, _lane: usize) -> [u64; WORDS] {
        *states.as_flattened().first_chunk().expect("25 rows of one are 25 words")
    }

    unsafe fn absorb(
        self,
        hash: Keccak,
        states: &mut Self::States,
        from: &[*const u8; MAX_STREAMS],
        _active: usize,
        blocks: usize,
    ) {
        // SAFETY: the caller's.
        self.0.compiled(unsafe { Blocks::<u64, 1>::of_rows((), hash, states, from, blocks) });
    }
}

/// A last message goes alone: registers of two or four words need longer for a permutation.
impl<I: Integers> Few for Scalar<I> {
    #[inline(always)]
    unsafe fn absorb(
        self,
        hash: Keccak,
        states: &mut States,
        from: &[*const u8; MAX_STREAMS],
        active: usize,
        blocks: usize,
    ) -> bool {
        if active > 1 {
            return false;
        }
        // SAFETY: the caller's.
        self.0.compiled(unsafe { Blocks::<u64, _>::new((), hash, states, from, blocks) });
        true
    }
}
