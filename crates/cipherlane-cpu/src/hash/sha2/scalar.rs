//! One message: the engine of it, and its blocks in integers, which is constant time on every CPU, as all of SHA-2 is
//! additions, shifts and bits.

use super::rounds::rounds;
use super::word::Word;
use super::{Integer, Sha2};
use crate::hash::integers::Integers;
use crate::hash::{Absorb, MAX_STREAMS};
use crate::lanes::Work;

/// What absorbs blocks of a single message of such words.
pub(super) trait Single<W>: Copy + Send + Sync + 'static {
    /// Absorbs blocks.
    ///
    /// # Safety
    /// That many blocks are readable from `from` on.
    unsafe fn absorb(self, state: &mut [W; 8], from: *const u8, blocks: usize);
}

impl<W: Integer + Word<Integer = W>, I: Integers> Single<W> for I {
    #[inline(always)]
    unsafe fn absorb(self, state: &mut [W; 8], from: *const u8, blocks: usize) {
        self.compiled(Blocks { state, from, blocks });
    }
}

/// The engine of a single message.
#[derive(Clone, Copy)]
pub(crate) struct Scalar<S>(S);

impl<S> Scalar<S> {
    /// The engine on these instructions.
    pub(crate) fn new(single: S) -> Self {
        Self(single)
    }
}

impl<W: Integer, S: Single<W>> Absorb<Sha2<W>> for Scalar<S> {
    const LANES: usize = 1;
    type States = [W; 8];

    #[inline(always)]
    fn fresh(self, hash: Sha2<W>) -> [W; 8] {
        hash.initial
    }

    #[inline(always)]
    fn put(states: &mut [W; 8], _: usize, chain: &[W; 8]) {
        *states = *chain;
    }

    #[inline(always)]
    fn get(states: &[W; 8], _: usize) -> [W; 8] {
        *states
    }

    unsafe fn absorb(
        self,
        _: Sha2<W>,
        state: &mut [W; 8],
        from: &[*const u8; MAX_STREAMS],
        _: usize,
        blocks: usize,
    ) {
        // SAFETY: the caller's.
        unsafe { self.0.absorb(state, from[0], blocks) }
    }
}

/// Blocks of one message, as work. The pointer is good.
struct Blocks<'a, W> {
    state: &'a mut [W; 8],
    from: *const u8,
    blocks: usize,
}

impl<W: Integer + Word<Integer = W>> Work for Blocks<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for block in 0..self.blocks {
            let mut variables = [*self.state];
            let mut schedule = [[self.state[0]; 16]];
            for (i, word) in schedule[0].iter_mut().enumerate() {
                // SAFETY: whoever made this vouches for the pointer.
                *word = unsafe { W::load(self.from.add((block * 16 + i) * size_of::<W>())) };
            }
            rounds(&mut variables, &mut schedule);
            for (word, variable) in self.state.iter_mut().zip(variables[0]) {
                *word = word.plus(variable);
            }
        }
    }
}
