//! Absorbing: a state in each lane of a register, or in narrower registers where few messages are left.

use std::mem::MaybeUninit;

use super::permutation::permute;
use super::words::Stored;
use super::{Keccak, WORDS};
use crate::hash::{Absorb, MAX_BLOCK, MAX_STREAMS};
use crate::lanes::words::{MAX_WORDS_64, WordLanes};
use crate::lanes::{Isa, Work};

/// Words of the states of up to eight messages, those at the same place together.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct States(pub(super) [[u64; MAX_WORDS_64]; WORDS]);

/// What serves fewer messages than a register has lanes.
pub(crate) trait Few: Copy + Send + Sync + 'static {
    /// Absorbs `blocks` blocks of the first `active` messages, or returns false: for so many it is no help.
    ///
    /// # Safety
    /// That of [`Absorb::absorb`].
    unsafe fn absorb(
        self,
        hash: Keccak,
        states: &mut States,
        from: &[*const u8; MAX_STREAMS],
        active: usize,
        blocks: usize,
    ) -> bool;
}

/// A register of messages, or F where that suffices.
pub(crate) struct InLanes<V: WordLanes, F> {
    isa: V::Isa,
    few: F,
}

impl<V: WordLanes, F: Copy> Clone for InLanes<V, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: WordLanes, F: Copy> Copy for InLanes<V, F> {}

impl<V: WordLanes, F> InLanes<V, F> {
    /// The engine on an instruction set.
    pub(crate) fn new(isa: V::Isa, few: F) -> Self {
        Self { isa, few }
    }
}

impl<V: WordLanes, F: Few> Absorb<Keccak> for InLanes<V, F> {
    const LANES: usize = V::WORDS_64;
    type States = States;

    #[inline(always)]
    fn compiled<W: Work>(self, work: W) -> W::Output {
        self.isa.vectorize(work)
    }

    #[inline(always)]
    fn fresh(self, _: Keccak) -> States {
        States([[0; MAX_WORDS_64]; WORDS])
    }

    #[inline(always)]
    fn put(states: &mut States, lane: usize, state: &[u64; WORDS]) {
        for (words, word) in states.0.iter_mut().zip(state) {
            words[lane] = *word;
        }
    }

    #[inline(always)]
    fn get(states: &States, lane: usize) -> [u64; WORDS] {
        let mut state = [0; WORDS];
        for (word, words) in state.iter_mut().zip(&states.0) {
            *word = words[lane];
        }
        state
    }

    fn get_all(self, states: &States, chains: &mut [MaybeUninit<[u64; WORDS]>; MAX_STREAMS]) {
        self.isa.vectorize(Apart::<V> { isa: self.isa, states, chains });
    }

    unsafe fn absorb(
        self,
        hash: Keccak,
        states: &mut States,
        from: &[*const u8; MAX_STREAMS],
        active: usize,
        blocks: usize,
    ) {
        // SAFETY: the caller's.
        unsafe {
            if !self.few.absorb(hash, states, from, active, blocks) {
                self.isa.vectorize(Blocks::<V, MAX_WORDS_64>::new(self.isa, hash, states, from, blocks));
            }
        }
    }
}

/// Taking states apart into one for each lane, as work.
struct Apart<'a, V: WordLanes> {
    isa: V::Isa,
    states: &'a States,
    chains: &'a mut [MaybeUninit<[u64; WORDS]>; MAX_STREAMS],
}

impl<V: WordLanes> Work for Apart<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let rows = &self.states.0;
        let mut first = 0;
        while first + V::WORDS_64 <= WORDS {
            let mut registers = [V::zero(self.isa); MAX_WORDS_64];
            for i in 0..V::WORDS_64 {
                // SAFETY: a row is a register's words or more.
                registers[i] = unsafe { V::load(self.isa, rows[first + i].as_ptr().cast()) };
            }
            V::transpose_64(&mut registers);
            for (register, chain) in registers.iter().zip(&mut self.chains[..V::WORDS_64]) {
                // SAFETY: the state has as many words from the first on.
                unsafe { register.store(chain.as_mut_ptr().cast::<u64>().add(first).cast()) };
            }
            first += V::WORDS_64;
        }
        for (i, row) in rows.iter().enumerate().skip(first) {
            for (word, chain) in row.iter().zip(&mut self.chains[..V::WORDS_64]) {
                // SAFETY: as above.
                unsafe { chain.as_mut_ptr().cast::<u64>().add(i).write(*word) }
            }
        }
    }
}

/// Blocks of as many messages as W has words, as work. The pointers are good.
pub(super) struct Blocks<'a, W: Stored, const ROW: usize> {
    isa: W::Isa,
    rate_words: usize,
    states: &'a mut [[u64; ROW]; WORDS],
    from: &'a [*const u8; MAX_STREAMS],
    blocks: usize,
}

impl<'a, W: Stored> Blocks<'a, W, MAX_WORDS_64> {
    /// The work of absorbing into the first states of `states`.
    ///
    /// # Safety
    /// `from` has pointers for that many messages, each to `blocks` readable blocks.
    #[inline(always)]
    pub(super) unsafe fn new(
        isa: W::Isa,
        hash: Keccak,
        states: &'a mut States,
        from: &'a [*const u8; MAX_STREAMS],
        blocks: usize,
    ) -> Self {
        // SAFETY: the caller's.
        unsafe { Self::of_rows(isa, hash, &mut states.0, from, blocks) }
    }
}

impl<'a, W: Stored, const ROW: usize> Blocks<'a, W, ROW> {
    /// The same, where rows of words are shorter.
    ///
    /// # Safety
    /// That of `new`.
    #[inline(always)]
    pub(super) unsafe fn of_rows(
        isa: W::Isa,
        hash: Keccak,
        states: &'a mut [[u64; ROW]; WORDS],
        from: &'a [*const u8; MAX_STREAMS],
        blocks: usize,
    ) -> Self {
        const { assert!(W::COUNT <= ROW && W::COUNT <= MAX_STREAMS) };
        Self { isa, rate_words: hash.rate_words(), states, from, blocks }
    }
}

/// A local value of this type makes the compiler align the function's frame. Without one it leaves to chance whether
/// the registers that it spills lie across cache lines: in AVX2, which has too few of them, that is a third of the
/// speed.
#[repr(align(64))]
struct AlignedFrame(#[allow(dead_code)] u8); // for its address alone

impl<W: Stored, const ROW: usize> Work for Blocks<'_, W, ROW> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        if W::COUNT > 1 {
            std::hint::black_box(&mut AlignedFrame(0));
        }
        // SAFETY: rows have at least COUNT words, and whoever made this vouches for the pointers.
        unsafe {
            let mut state = [W::load(self.isa, self.states[0].as_ptr()); WORDS];
            for (word, row) in state.iter_mut().zip(&*self.states) {
                *word = W::load(self.isa, row.as_ptr());
            }
            for block in 0..self.blocks {
                self.add(&mut state, block * self.rate_words * size_of::<u64>());
                state = permute(state);
            }
            for (word, row) in state.iter().zip(self.states) {
                word.store(row.as_mut_ptr());
            }
        }
    }
}

impl<W: Stored, const ROW: usize> Blocks<'_, W, ROW> {
    /// Adds the block of each message at byte `at` to its state. Positions are constants, for a state to be in
    /// registers.
    ///
    /// # Safety
    /// The messages have these blocks.
    #[inline(always)]
    unsafe fn add(&self, state: &mut [W; WORDS], at: usize) {
        const { assert!(MAX_BLOCK / size_of::<u64>() == 21) };
        // SAFETY: the caller's.
        unsafe {
            self.add_two::<0>(state, at);
            self.add_two::<2>(state, at);
            self.add_two::<4>(state, at);
            self.add_two::<6>(state, at);
            self.add_two::<8>(state, at);
            self.add_two::<10>(state, at);
            self.add_two::<12>(state, at);
            self.add_two::<14>(state, at);
            self.add_two::<16>(state, at);
            self.add_two::<18>(state, at);
            self.add_two::<20>(state, at);
        }
    }

    /// Adds words I and I + 1 of the block, as far as it has them.
    ///
    /// # Safety
    /// That of `add`.
    #[inline(always)]
    unsafe fn add_two<const I: usize>(&self, state: &mut [W; WORDS], at: usize) {
        let at = at + I * size_of::<u64>();
        // SAFETY: the caller's; the word before the last one is part of the block, too.
        unsafe {
            if I + 1 < self.rate_words {
                let [first, second] = W::two(self.isa, self.from, at);
                state[I] = state[I].xor(first);
                state[I + 1] = state[I + 1].xor(second);
            } else if I < self.rate_words {
                let [_, last] = W::two(self.isa, self.from, at - size_of::<u64>());
                state[I] = state[I].xor(last);
            }
        }
    }
}
