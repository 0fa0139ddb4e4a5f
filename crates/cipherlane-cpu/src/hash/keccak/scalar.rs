//! One state in 64-bit integers.

use super::complemented::Complemented;
use super::in_lanes::{Blocks, Few, States};
use super::words::Stored;
use super::{Keccak, WORDS};
#[cfg(target_arch = "x86_64")]
use crate::hash::integers::Bmi;
use crate::hash::integers::{Baseline, Integers};
use crate::hash::{Absorb, MAX_STREAMS};

/// Integers, and how words are kept in them.
pub(super) trait Kept: Integers {
    /// A word of a state.
    type Word: Stored<Isa = ()>;
}

impl Kept for Baseline {
    type Word = Complemented;
}

#[cfg(target_arch = "x86_64")]
impl Kept for Bmi {
    type Word = u64;
}

/// What absorbs blocks of a single message.
pub(super) trait Single: Copy + Send + Sync + 'static {
    /// Absorbs `blocks` blocks of the first message into the first state.
    ///
    /// # Safety
    /// `from` has a pointer to that many readable blocks.
    unsafe fn absorb<const ROW: usize>(
        self,
        hash: Keccak,
        states: &mut [[u64; ROW]; WORDS],
        from: &[*const u8; MAX_STREAMS],
        blocks: usize,
    );
}

impl<I: Kept> Single for I {
    #[inline(always)]
    unsafe fn absorb<const ROW: usize>(
        self,
        hash: Keccak,
        states: &mut [[u64; ROW]; WORDS],
        from: &[*const u8; MAX_STREAMS],
        blocks: usize,
    ) {
        // SAFETY: the caller's.
        self.compiled(unsafe { Blocks::<I::Word, ROW>::of_rows((), hash, states, from, blocks) });
    }
}

/// A single state.
#[derive(Clone, Copy)]
pub(crate) struct Scalar<S>(S);

impl<S> Scalar<S> {
    /// The engine on these instructions.
    pub(crate) fn new(single: S) -> Self {
        Self(single)
    }
}

impl<S: Single> Absorb<Keccak> for Scalar<S> {
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
        unsafe { self.0.absorb(hash, states, from, blocks) }
    }
}

/// A last message goes alone: registers of two or four words need longer for a permutation.
impl<S: Single> Few for Scalar<S> {
    const MOST: usize = 1;

    #[inline(always)]
    unsafe fn absorb(
        self,
        hash: Keccak,
        states: &mut States,
        from: &[*const u8; MAX_STREAMS],
        _active: usize,
        blocks: usize,
    ) {
        // SAFETY: the caller's.
        unsafe { self.0.absorb(hash, &mut states.0, from, blocks) }
    }
}
