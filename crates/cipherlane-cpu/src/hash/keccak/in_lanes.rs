//! Absorbing: a state in each lane of a register, or in narrower registers where few messages are left.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::ahead::{Ahead, Rows};
use super::permutation::{Compiled, Permute};
use super::texts::{Texts, align_frame};
use super::whole::Whole;
use super::words::Stored;
use super::{Keccak, WORDS};
use crate::hash::{Absorb, MAX_STREAMS, Text, wipe};
use crate::lanes::words::{MAX_WORDS_64, WordLanes};
use crate::lanes::{Isa, Work};

/// Words of the states of up to eight messages, those at the same place together.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct States(pub(super) [[u64; MAX_WORDS_64]; WORDS]);

/// What serves fewer messages than a register has lanes.
pub(crate) trait Few: Copy + Send + Sync + 'static {
    /// Messages up to which it is a help.
    const MOST: usize;

    /// Absorbs `blocks` blocks of the first `active` messages, MOST or fewer.
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
    );
}

/// A register of messages, whose states P permutes, or F where that suffices.
pub(crate) struct InLanes<V: WordLanes, F, P = Compiled> {
    isa: V::Isa,
    few: F,
    permute: PhantomData<P>,
}

impl<V: WordLanes, F: Copy, P> Clone for InLanes<V, F, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: WordLanes, F: Copy, P> Copy for InLanes<V, F, P> {}

impl<V: WordLanes, F, P: Permute<V>> InLanes<V, F, P> {
    /// The engine on an instruction set.
    pub(crate) fn new(isa: V::Isa, few: F) -> Self {
        Self { isa, few, permute: PhantomData }
    }
}

impl<V: WordLanes, F: Few, P: Permute<V>> Absorb<Keccak> for InLanes<V, F, P> {
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
            if active <= F::MOST {
                self.few.absorb(hash, states, from, active, blocks);
            } else {
                self.isa.vectorize(Blocks::<V, MAX_WORDS_64, P>::new(self.isa, hash, states, from, blocks));
            }
        }
    }

    const LEAST: usize = F::MOST + 1;

    #[inline(always)]
    unsafe fn hash_whole(self, hash: Keccak, texts: &[Text], digest_bytes: usize) {
        // SAFETY: the caller's.
        self.isa.vectorize(unsafe { Whole::<V, P>::new(self.isa, hash, texts, digest_bytes) });
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
pub(super) struct Blocks<'a, W: Stored, const ROW: usize, P = Compiled> {
    texts: Texts<'a, W>,
    states: &'a mut [[u64; ROW]; WORDS],
    blocks: usize,
    permute: PhantomData<P>,
}

impl<'a, W: Stored, P: Permute<W>> Blocks<'a, W, MAX_WORDS_64, P> {
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

impl<'a, W: Stored, const ROW: usize, P: Permute<W>> Blocks<'a, W, ROW, P> {
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
        let texts = Texts { isa, words: hash.rate_words(), from };
        Self { texts, states, blocks, permute: PhantomData }
    }
}

impl<W: Stored, const ROW: usize, P: Permute<W>> Work for Blocks<'_, W, ROW, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        align_frame::<W>();
        let Self { texts, states, blocks, .. } = self;
        let block_bytes = texts.words * size_of::<u64>();
        let mut rows = Rows::new();
        // SAFETY: rows have at least COUNT words, and whoever made this vouches for the pointers.
        unsafe {
            let mut state = [W::load(texts.isa, states[0].as_ptr()); WORDS];
            for (word, row) in state.iter_mut().zip(&*states) {
                *word = W::load(texts.isa, row.as_ptr());
            }
            for block in 0..blocks {
                let at = block * block_bytes;
                if P::COPIES && block > 0 {
                    texts.add_copied(&mut state, &rows);
                } else {
                    texts.add(&mut state, at);
                }
                let ahead = if P::COPIES && block + 1 < blocks {
                    rows.ahead(texts.from, at + block_bytes, texts.words)
                } else {
                    Ahead::NOTHING
                };
                state = P::permute(state, &ahead);
            }
            for (word, row) in state.iter().zip(states) {
                word.store(row.as_mut_ptr());
            }
        }
        if P::COPIES && blocks > 1 {
            wipe(&mut rows);
        }
    }
}
