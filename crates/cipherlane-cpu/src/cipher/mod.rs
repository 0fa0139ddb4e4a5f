//! Block ciphers over the vector vocabulary: a file or a folder each.

pub(crate) mod aes_bitsliced;
#[cfg(target_arch = "x86_64")]
pub(crate) mod aes_rounds;
pub(crate) mod aes_table_vartime;
#[macro_use]
pub(crate) mod byte_sliced;
pub(crate) mod camellia;
pub(crate) mod camellia_table_vartime;
pub(crate) mod few;
pub(crate) mod grouped;
#[cfg(target_arch = "x86_64")]
pub(crate) mod packed;
pub(crate) mod sc2000;
pub(crate) mod sc2000_table_vartime;
pub(crate) mod slices;
pub(crate) mod sm4;
pub(crate) mod sm4_table_vartime;
mod table_vartime;
#[cfg(test)]
mod tests;

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use self::few::Chain;
use crate::lanes::{ABREAST, Abreast, Isa, Lanes, Woven};

/// The register that cipher `P` runs in.
pub(crate) type V<P> = <<P as Permutation>::Isa as Isa>::V;

/// Registers of the smallest group of a cipher that runs in groups.
pub(crate) const SMALL: usize = 16;
/// Registers of two of these, which may run side by side.
pub(crate) const MIDDLE: usize = 2 * SMALL;

/// Whole groups in memory: where they lie, where their output is to go, how many, and how many bytes ahead lines are asked
/// for, 0 if that brings nothing.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // what has a use for all of it is assembly
pub(crate) struct Groups {
    pub(crate) from: *const u8,
    pub(crate) to: *mut u8,
    pub(crate) count: usize,
    pub(crate) ahead: usize,
}

/// A block cipher in one direction under one expanded key: a permutation of blocks.
///
/// A mode is written once over it. Values wipe their key when dropped.
pub(crate) trait Permutation: Send + Sync + Sized + 'static {
    /// Where it runs.
    type Isa: Isa;

    /// What one is made of, beside a key.
    type Source: Source<Isa = Self::Isa>;

    /// Whether few registers cost as much as a whole group, as they do for a bitsliced cipher: the rest of a
    /// message is then better padded to a group than run in smaller ones.
    const WHOLE_GROUPS: bool = false;

    /// Up to how many registers are better run as such than padded to a whole group, where that is what becomes of the
    /// rest. It may fall while keys are expanded: a hint, not a promise.
    #[inline(always)]
    fn few(&self) -> usize {
        0
    }

    /// Whether two groups side by side take less time than one after the other.
    #[inline(always)]
    fn runs_pairs(&self) -> bool {
        false
    }

    /// How many of the first of so many whole groups take less time by [`Permutation::run_in_memory`].
    #[inline(always)]
    fn runs_in_memory(&self, _groups: usize) -> usize {
        0
    }

    /// Runs whole groups of [`SMALL`] registers from where they lie to where they are to go, which are the same place or apart. What
    /// lies from `added` on, if it is given, is added to their output.
    ///
    /// # Safety
    /// They are as many as this [runs](Permutation::runs_in_memory), not none, and readable and writable; as much is readable from
    /// `added` on, and what is added to a group there is not written before that.
    #[inline(always)]
    unsafe fn run_in_memory(&self, _groups: Groups, _added: Option<*const u8>) {
        unreachable!("of ciphers that run in memory alone")
    }

    /// How many of the first of so many whole groups take less time by [`Permutation::count`].
    #[inline(always)]
    fn counts(&self, _groups: usize) -> usize {
        0
    }

    /// Adds what becomes of `counter`, a number of 128 bits, and of those behind it to the blocks of whole groups, which are in
    /// their place then, or apart.
    ///
    /// # Safety
    /// They are as many as this [counts](Permutation::counts), not none, and readable and writable. The last 16 bits wrap behind
    /// them at the earliest.
    #[inline(always)]
    unsafe fn count(&self, _counter: [u8; BLOCK], _text: Groups) {
        unreachable!("of ciphers that count alone")
    }

    /// What runs blocks that wait for one another, where that is a way of its own.
    #[inline(always)]
    fn chain(&self) -> Option<&dyn Chain> {
        None
    }

    /// Expands `key`, whose length is that of the cipher.
    fn new(source: Self::Source, key: &[u8]) -> Self;

    /// Takes another key in the place of its own.
    fn rekey(&mut self, key: &[u8]);

    /// The instruction set.
    fn isa(&self) -> Self::Isa;

    /// Applies the permutation to every lane of N registers, with other work between its steps.
    fn apply_while<const N: usize>(
        &self,
        blocks: [V<Self>; N],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N];

    /// Whether [`Permutation::begin`] is a round, and not nothing.
    const BEGINS: bool = false;

    /// The first round, where it can be had ahead of the others: one in which what a byte does to a block depends on
    /// no other byte, and is XORed to the rest.
    #[inline(always)]
    fn begin<const N: usize>(&self, blocks: [V<Self>; N]) -> [V<Self>; N] {
        blocks
    }

    /// [`Permutation::apply_while`], of blocks that have begun.
    #[inline(always)]
    fn finish_while<const N: usize>(
        &self,
        begun: [V<Self>; N],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        self.apply_while(begun, meanwhile)
    }

    /// [`Permutation::finish_while`] of `begun` and of the registers `beside`, which have begun as well, round by round: one
    /// fills the latency of another whatever the compiler thinks of it.
    #[inline(always)]
    fn finish_in_step<const N: usize>(
        &self,
        begun: [V<Self>; N],
        beside: &mut [V<Self>],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        for register in beside {
            [*register] = self.finish_while([*register], &mut Nothing);
        }
        self.finish_while(begun, meanwhile)
    }

    /// Whether there is [`Permutation::weave`].
    const WEAVES: bool = false;

    /// Runs `groups` of GCM in instructions of our own order, and returns the state of their hash.
    ///
    /// # Safety
    /// This WEAVES, and the caller keeps what [`Woven`] asks for.
    #[inline(always)]
    unsafe fn weave(&self, _groups: Woven<V<Self>>) -> V<Self> {
        unreachable!("of ciphers that weave alone")
    }

    /// Whether there is [`Permutation::run_abreast`].
    const RUNS_ABREAST: bool = false;

    /// Encrypts `streams` in CBC mode, in instructions of our own order, and returns the last block of each of the last set.
    ///
    /// # Safety
    /// This RUNS_ABREAST, and the caller keeps what [`Abreast`] asks for.
    #[inline(always)]
    unsafe fn run_abreast(&self, _streams: Abreast<'_, V<Self>>) -> [V<Self>; ABREAST] {
        unreachable!("of ciphers that run streams abreast alone")
    }

    /// `block`, with what the first round adds to it before it does anything else.
    #[inline(always)]
    fn whitened(&self, block: V<Self>) -> V<Self> {
        block
    }

    /// [`Permutation::apply_while`] of blocks that are [`Permutation::whitened`], round by round.
    #[inline(always)]
    fn apply_whitened<const N: usize>(
        &self,
        whitened: [V<Self>; N],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        self.apply_while(whitened, meanwhile)
    }

    /// The permutation of a block that is [`Permutation::whitened`], XOR `other`.
    #[inline(always)]
    fn link(&self, whitened: V<Self>, other: V<Self>) -> V<Self> {
        self.apply([whitened])[0].xor(other)
    }

    /// Applies the permutation to every lane of N registers.
    #[inline(always)]
    fn apply<const N: usize>(&self, blocks: [V<Self>; N]) -> [V<Self>; N] {
        self.apply_while(blocks, &mut Nothing)
    }

    /// How many registers are run in the place of `used`, which are N or fewer: 1, 2, 4, [`SMALL`], [`MIDDLE`] or N.
    #[inline(always)]
    fn run_for<const N: usize>(&self, used: usize) -> usize {
        let few = self.few();
        match used {
            0..=1 if few >= 1 => 1,
            2 if few >= 2 => 2,
            3..=4 if few >= 4 => 4,
            0..=SMALL if N > SMALL => SMALL,
            0..=MIDDLE if N > MIDDLE => MIDDLE,
            _ => N,
        }
    }

    /// Applies the permutation to the first `used` registers, and to those behind them that are run with them.
    #[inline(always)]
    fn apply_used<const N: usize>(&self, registers: &mut [V<Self>; N], used: usize) {
        match self.run_for::<N>(used) {
            1 => self.apply_first::<1>(registers),
            2 => self.apply_first::<2>(registers),
            4 => self.apply_first::<4>(registers),
            SMALL => self.apply_first::<SMALL>(registers),
            MIDDLE => self.apply_first::<MIDDLE>(registers),
            _ => self.apply_first::<N>(registers),
        }
    }

    /// Applies the permutation to the first M registers, if there are so many.
    #[inline(always)]
    fn apply_first<const M: usize>(&self, registers: &mut [V<Self>]) {
        if let Some(registers) = registers.first_chunk_mut::<M>() {
            *registers = self.apply(*registers);
        }
    }
}

/// A block cipher whose lanes can have a key each: what messages with keys of their own need to run side by side.
pub(crate) trait KeyPerLane: Permutation {
    /// Expands `key(i)` for lane `i`, all lanes at once.
    fn per_lane<'k>(source: Self::Source, key: impl Fn(usize) -> &'k [u8]) -> Self;

    /// [`KeyPerLane::per_lane`] of G sets of lanes, `key(set, lane)` for each, written to where they are to stay: with
    /// keys for a few blocks each, copies of round keys cost as much as their use.
    fn sets_per_lane<'k, const G: usize>(
        places: &mut [MaybeUninit<Self>; G],
        source: Self::Source,
        key: impl Fn(usize, usize) -> &'k [u8],
    );

    /// Takes other keys in the place of its own.
    fn rekey_lanes<'k>(&mut self, key: impl Fn(usize) -> &'k [u8]);

    /// Takes the key that `lanes` has in lane `lane` in the place of its own, for all lanes.
    fn rekey_from(&mut self, lanes: &Self, lane: usize);

    /// Applies `each[i]` to R registers, all round by round, with other work between the rounds: one fills the latency
    /// of another.
    fn apply_sets<const G: usize, const R: usize>(
        each: &[Self; G],
        blocks: [[V<Self>; R]; G],
        meanwhile: &mut impl Meanwhile,
    ) -> [[V<Self>; R]; G];

    /// Whether [`KeyPerLane::apply_while_expanding`] does more than one thing at a time.
    const EXPANDS_MEANWHILE: bool;

    /// [`Permutation::apply_whitened`], while `key(i)` is expanded for lane `i`, to where it is to stay.
    fn apply_while_expanding<'k, const N: usize>(
        &self,
        whitened: [V<Self>; N],
        next: (&mut MaybeUninit<Self>, Self::Source),
        key: impl Fn(usize) -> &'k [u8],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N];

    /// Applies `each[i]` to register `i`. All of them are keyed lane by lane.
    fn apply_each<const N: usize>(each: [&Self; N], blocks: [V<Self>; N]) -> [V<Self>; N];
}

/// A block cipher that runs a group of [`SMALL`] registers under a key for each of their blocks.
pub(crate) trait KeyEach: Permutation {
    /// The keys of a group. Wiped when dropped.
    type Keys;

    /// Up to how many blocks of a message go sooner through the cipher beside those of others than one beside the other.
    #[inline(always)]
    fn most_blocks(_source: Self::Source) -> usize {
        usize::MAX
    }

    /// None yet.
    fn no_keys(source: Self::Source) -> Self::Keys;

    /// Expands `each` in the place of what is there: a key for each lane of the first register, then of the next one, and
    /// so on, all of one length.
    fn expand_keys(keys: &mut Self::Keys, each: &[&[u8]]);

    /// Applies the permutation to each lane under its key.
    fn apply_keys(keys: &Self::Keys, blocks: &mut [V<Self>; SMALL]);
}

/// What a block cipher is made of, beside a key: the instruction set, and which cipher it is where one type serves
/// several.
pub(crate) trait Source: Copy + Send + Sync + 'static {
    /// Where it runs.
    type Isa: Isa;

    /// The instruction set.
    fn isa(self) -> Self::Isa;
}

impl<I: Isa> Source for I {
    type Isa = I;

    #[inline(always)]
    fn isa(self) -> I {
        self
    }
}

/// Work between the steps of a cipher: it shares the execution ports that the cipher leaves idle. A trait and not
/// a closure, so that its code can be `#[inline(always)]`.
pub(crate) trait Meanwhile {
    /// Called at least [`CALLS`] times, with `call` rising from 0.
    fn step(&mut self, call: usize);
}

/// How often [`Meanwhile::step`] is called at least: the inner rounds of AES-128.
pub(crate) const CALLS: usize = 9;

/// No work.
pub(crate) struct Nothing;

impl Meanwhile for Nothing {
    #[inline(always)]
    fn step(&mut self, _call: usize) {}
}
