//! A message in each word of a register.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::rounds::{Schedule, Variables, rounds};
use super::word::{Word, Words32, Words64};
use super::{Integer, Sha2};
use crate::hash::{Absorb, MAX_END, MAX_STREAMS, PaddedEnd, Shared, ends};
use crate::lanes::words::{MAX_WORDS_32, MAX_WORDS_64, WordLanes};
use crate::lanes::{Isa, Work};

/// Most words of a register.
const MAX_COUNT: usize = MAX_WORDS_32;

/// A word in each lane of a register.
pub(crate) trait InRegister: Word<Integer: Integer> + Send + Sync + 'static {
    /// The instruction set.
    type Isa: Isa;
    /// Words of a register.
    const COUNT: usize;

    /// Zero in each lane.
    fn zero(isa: Self::Isa) -> Self;

    /// `word` in each lane.
    fn splat(isa: Self::Isa, word: Self::Integer) -> Self;

    /// COUNT big-endian words.
    ///
    /// # Safety
    /// Their bytes are readable.
    unsafe fn load(isa: Self::Isa, from: *const u8) -> Self;

    /// Word `j` of register `i` becomes word `i` of register `j`, for the first COUNT of both.
    fn transpose(registers: &mut [Self; MAX_COUNT]);
}

impl<V: WordLanes> InRegister for Words32<V> {
    type Isa = V::Isa;
    const COUNT: usize = V::WORDS_32;

    #[inline(always)]
    fn zero(isa: V::Isa) -> Self {
        Self(V::zero(isa))
    }

    #[inline(always)]
    fn splat(isa: V::Isa, word: u32) -> Self {
        Self(V::splat_32(isa, word))
    }

    #[inline(always)]
    unsafe fn load(isa: V::Isa, from: *const u8) -> Self {
        // SAFETY: the caller's.
        Self(unsafe { V::load(isa, from) }.swap_bytes_32())
    }

    #[inline(always)]
    fn transpose(registers: &mut [Self; MAX_COUNT]) {
        // SAFETY: `Self` is a V and nothing else.
        V::transpose_32(unsafe { &mut *(&raw mut *registers).cast() });
    }
}

impl<V: WordLanes> InRegister for Words64<V> {
    type Isa = V::Isa;
    const COUNT: usize = V::WORDS_64;

    #[inline(always)]
    fn zero(isa: V::Isa) -> Self {
        Self(V::zero(isa))
    }

    #[inline(always)]
    fn splat(isa: V::Isa, word: u64) -> Self {
        Self(V::splat_64(isa, word))
    }

    #[inline(always)]
    unsafe fn load(isa: V::Isa, from: *const u8) -> Self {
        // SAFETY: the caller's.
        Self(unsafe { V::load(isa, from) }.swap_bytes_64())
    }

    #[inline(always)]
    fn transpose(registers: &mut [Self; MAX_COUNT]) {
        const { assert!(MAX_WORDS_64 <= MAX_COUNT) };
        // SAFETY: `Self` is a V and nothing else, and the first ones of more are meant.
        V::transpose_64(unsafe { &mut *(&raw mut *registers).cast() });
    }
}

/// How blocks of SETS registers of messages are absorbed.
pub(crate) trait Compress<T: InRegister>: Copy + Send + Sync + 'static {
    /// The chaining values become those after `blocks` blocks of each message.
    ///
    /// # Safety
    /// For SETS * COUNT messages, `from` has a pointer each to that many readable blocks, and these are 1 at least.
    unsafe fn absorb<const SETS: usize>(
        isa: T::Isa,
        states: &mut Variables<T, SETS>,
        from: &[*const u8; MAX_STREAMS],
        blocks: usize,
    );

    /// Makes `shared` ready to be absorbed.
    #[inline(always)]
    fn prepare(_shared: &mut Shared) {}

    /// The chaining values become those after one block that is the same for all messages.
    #[inline(always)]
    fn absorb_alike<const SETS: usize>(isa: T::Isa, states: &mut Variables<T, SETS>, shared: &Shared) {
        // SAFETY: every message has this block.
        unsafe { Self::absorb(isa, states, &shared.everywhere(), 1) }
    }
}

/// In the compiler's order.
#[derive(Clone, Copy)]
pub(crate) struct Compiled;

impl<T: InRegister> Compress<T> for Compiled {
    #[inline(always)]
    unsafe fn absorb<const SETS: usize>(
        isa: T::Isa,
        states: &mut Variables<T, SETS>,
        from: &[*const u8; MAX_STREAMS],
        blocks: usize,
    ) {
        let block_bytes = 16 * size_of::<T::Integer>();
        for block in 0..blocks {
            // SAFETY: the caller's.
            let mut words = unsafe { load(isa, from, block * block_bytes) };
            let mut variables = *states;
            rounds(&mut variables, &mut words);
            for (state, variables) in states.iter_mut().zip(&variables) {
                for (word, variable) in state.iter_mut().zip(variables) {
                    *word = word.plus(*variable);
                }
            }
        }
    }
}

/// SETS registers of messages at once.
pub(crate) struct InLanes<T: InRegister, const SETS: usize, C = Compiled> {
    isa: T::Isa,
    compress: PhantomData<C>,
}

impl<T: InRegister, const SETS: usize, C> Clone for InLanes<T, SETS, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: InRegister, const SETS: usize, C> Copy for InLanes<T, SETS, C> {}

impl<T: InRegister, const SETS: usize, C: Compress<T>> InLanes<T, SETS, C> {
    /// The engine on an instruction set.
    pub(crate) fn new(isa: T::Isa) -> Self {
        Self { isa, compress: PhantomData }
    }
}

impl<T: InRegister, const SETS: usize, C: Compress<T>> Absorb<Sha2<T::Integer>> for InLanes<T, SETS, C> {
    const LANES: usize = SETS * T::COUNT;
    type States = Variables<T, SETS>;

    fn compiled<W: Work>(self, work: W) -> W::Output {
        self.isa.vectorize(work)
    }

    #[inline(always)]
    fn fresh(self, hash: Sha2<T::Integer>) -> Self::States {
        let mut states = [[T::zero(self.isa); 8]; SETS];
        for set in &mut states {
            for (variable, word) in set.iter_mut().zip(hash.initial) {
                *variable = T::splat(self.isa, word);
            }
        }
        states
    }

    #[inline(always)]
    fn put(states: &mut Self::States, lane: usize, chain: &[T::Integer; 8]) {
        let (set, lane) = (&mut states[lane / T::COUNT], lane % T::COUNT);
        for (variable, word) in set.iter_mut().zip(chain) {
            // SAFETY: a register is COUNT integers.
            unsafe { (&raw mut *variable).cast::<T::Integer>().add(lane).write(*word) }
        }
    }

    #[inline(always)]
    fn get(states: &Self::States, lane: usize) -> [T::Integer; 8] {
        let (set, lane) = (&states[lane / T::COUNT], lane % T::COUNT);
        // SAFETY: a register is COUNT integers.
        let word = |i: usize| unsafe { (&raw const set[i]).cast::<T::Integer>().add(lane).read() };
        std::array::from_fn(word)
    }

    fn get_all(self, states: &Self::States, chains: &mut [MaybeUninit<[T::Integer; 8]>; MAX_STREAMS]) {
        self.isa.vectorize(Chains { isa: self.isa, states, chains });
    }

    unsafe fn absorb(
        self,
        _: Sha2<T::Integer>,
        states: &mut Self::States,
        from: &[*const u8; MAX_STREAMS],
        active: usize,
        blocks: usize,
    ) {
        let Self { isa, compress } = self;
        if active > T::COUNT || SETS == 1 {
            isa.vectorize(Blocks { isa, compress, states, from, blocks });
        } else {
            isa.vectorize(Blocks { isa, compress, states: first(states), from, blocks });
        }
    }

    #[inline(always)]
    unsafe fn lay_end(
        self,
        to: &mut MaybeUninit<PaddedEnd>,
        (text, rest): (*const u8, usize),
        padding: &PaddedEnd,
        bytes: usize,
    ) {
        debug_assert!(rest <= bytes && bytes <= MAX_END);
        let (to, padding) = (to.as_mut_ptr().cast(), (&raw const *padding).cast());
        // SAFETY: the caller's; an end is whole registers.
        unsafe { ends::lay(self.isa, to, (text, rest), padding, bytes) }
    }

    #[inline(always)]
    fn prepare(self, shared: &mut Shared) {
        C::prepare(shared);
    }

    fn absorb_alike(self, _: Sha2<T::Integer>, states: &mut Self::States, shared: &Shared, active: usize) {
        let Self { isa, compress } = self;
        if active > T::COUNT || SETS == 1 {
            isa.vectorize(Alike { isa, compress, states, shared });
        } else {
            isa.vectorize(Alike { isa, compress, states: first(states), shared });
        }
    }
}

/// The first set.
#[inline(always)]
fn first<T: InRegister, const SETS: usize>(states: &mut Variables<T, SETS>) -> &mut Variables<T, 1> {
    (&mut states[..1]).try_into().expect("SETS is not 0")
}

/// Blocks of SETS registers of messages, as work. The pointers are good, and there is a block.
struct Blocks<'a, T: InRegister, const SETS: usize, C> {
    isa: T::Isa,
    compress: PhantomData<C>,
    states: &'a mut Variables<T, SETS>,
    from: &'a [*const u8; MAX_STREAMS],
    blocks: usize,
}

impl<T: InRegister, const SETS: usize, C: Compress<T>> Work for Blocks<'_, T, SETS, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: whoever made this vouches for the pointers.
        unsafe { C::absorb(self.isa, self.states, self.from, self.blocks) }
    }
}

/// One block for all messages of SETS registers, as work.
struct Alike<'a, T: InRegister, const SETS: usize, C> {
    isa: T::Isa,
    compress: PhantomData<C>,
    states: &'a mut Variables<T, SETS>,
    shared: &'a Shared,
}

impl<T: InRegister, const SETS: usize, C: Compress<T>> Work for Alike<'_, T, SETS, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        C::absorb_alike(self.isa, self.states, self.shared);
    }
}

/// The words of a block of each message.
///
/// # Safety
/// There are SETS * COUNT pointers, to a block each from `at` on.
#[inline(always)]
pub(super) unsafe fn load<T: InRegister, const SETS: usize>(
    isa: T::Isa,
    from: &[*const u8; MAX_STREAMS],
    at: usize,
) -> Schedule<T, SETS> {
    let zero = T::zero(isa);
    let mut schedule = [[zero; 16]; SETS];
    for (set, words) in schedule.iter_mut().enumerate() {
        for group in 0..16 / T::COUNT {
            let mut texts = [zero; MAX_COUNT];
            for (lane, text) in texts.iter_mut().enumerate().take(T::COUNT) {
                let at = at + group * size_of::<T>();
                // SAFETY: the caller's.
                *text = unsafe { T::load(isa, from[set * T::COUNT + lane].add(at)) };
            }
            T::transpose(&mut texts);
            for i in 0..T::COUNT {
                words[group * T::COUNT + i] = texts[i];
            }
        }
    }
    schedule
}

/// Taking out all chaining values, as work.
struct Chains<'a, T: InRegister, const SETS: usize> {
    isa: T::Isa,
    states: &'a Variables<T, SETS>,
    chains: &'a mut [MaybeUninit<[T::Integer; 8]>; MAX_STREAMS],
}

impl<T: InRegister, const SETS: usize> Work for Chains<'_, T, SETS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (set, chains) in self.states.iter().zip(self.chains.chunks_exact_mut(T::COUNT)) {
            // Registers of sixteen words are filled up.
            let mut start = 0;
            while start < 8 {
                let mut rows = [T::zero(self.isa); MAX_COUNT];
                let words = if T::COUNT < 8 { T::COUNT } else { 8 };
                rows[..words].copy_from_slice(&set[start..start + words]);
                T::transpose(&mut rows);
                for (row, chain) in rows.iter().zip(&mut *chains) {
                    let to = chain.as_mut_ptr().cast::<T::Integer>();
                    // SAFETY: a register has `words` words at least, and a chaining value has them from `start` on.
                    unsafe {
                        (&raw const *row).cast::<T::Integer>().copy_to_nonoverlapping(to.add(start), words);
                    }
                }
                start += words;
            }
        }
    }
}
