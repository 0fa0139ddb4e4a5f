//! A byte-sliced cipher that runs blocks under one key.

use cipherlane_core::BLOCK;

use super::each::{EachKey, SlicedKeys};
use super::schedule::{Key, OneKey};
use super::{GROUP, load, store, transpose};
use crate::cipher::Groups;
use crate::cipher::few::{Chain, Few};
use crate::cipher::grouped::{InGroups, filled_up};
use crate::lanes::bytes::{Bytes, IsaOf};
use crate::lanes::{Isa, Work};

/// A block cipher over slices.
pub(crate) trait SlicedCipher: Send + Sync + Sized + 'static {
    /// Registers of bytes.
    type Bytes: Bytes;

    /// Round keys of one key, ready for use in all lanes. Wiped when dropped.
    type Shared: Send + Sync;

    /// Round keys of a key for each lane of each register of a group. Wiped when dropped.
    type GroupKeys: Send + Sync;

    /// What runs few blocks under one key. Wiped when dropped.
    type Few: Few<IsaOf<Self::Bytes>>;

    /// Whether [`SlicedCipher::run_groups`] has two groups side by side.
    const PAIRS: bool = false;

    /// No round keys.
    fn none_shared(isa: IsaOf<Self::Bytes>) -> Self::Shared;

    /// Expands `key` for all lanes. INVERSE decrypts.
    fn share<const INVERSE: bool>(isa: IsaOf<Self::Bytes>, key: &Key, to: &mut Self::Shared);

    /// No round keys.
    fn none_each(isa: IsaOf<Self::Bytes>) -> Self::GroupKeys;

    /// Expands `keys`. INVERSE decrypts.
    fn expand_each<const INVERSE: bool>(
        isa: IsaOf<Self::Bytes>,
        keys: &SlicedKeys<Self::Bytes>,
        to: &mut Self::GroupKeys,
    );

    /// Runs sliced blocks, all under the same key.
    fn run_shared(
        isa: IsaOf<Self::Bytes>,
        keys: &Self::Shared,
        block: [Self::Bytes; GROUP],
    ) -> [Self::Bytes; GROUP];

    /// Runs groups, all under the same key: one after the other, which a cipher does otherwise that is faster with several
    /// side by side.
    #[inline(always)]
    fn run_groups(isa: IsaOf<Self::Bytes>, keys: &Self::Shared, groups: &mut [Group<Self>]) {
        for group in groups {
            blocks_of::<Self>(Self::run_shared(isa, keys, slices_of::<Self>(group)), group);
        }
    }

    /// See [`Permutation::runs_in_memory`](crate::cipher::Permutation::runs_in_memory).
    #[inline(always)]
    fn runs_in_memory(_groups: usize) -> usize {
        0
    }

    /// See [`Permutation::run_in_memory`](crate::cipher::Permutation::run_in_memory).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn run_in_memory(_keys: &Self::Shared, _groups: Groups, _added: Option<*const u8>) {
        unreachable!("of ciphers that run in memory alone")
    }

    /// See [`Permutation::counts`](crate::cipher::Permutation::counts).
    #[inline(always)]
    fn counts(_groups: usize) -> usize {
        0
    }

    /// See [`Permutation::count`](crate::cipher::Permutation::count).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn count(_isa: IsaOf<Self::Bytes>, _keys: &Self::Shared, _counter: [u8; BLOCK], _text: Groups) {
        unreachable!("of ciphers that count alone")
    }

    /// Runs sliced blocks, each under its own key.
    fn run_each(keys: &Self::GroupKeys, block: [Self::Bytes; GROUP]) -> [Self::Bytes; GROUP];
}

pub(crate) type LanesOf<C> = <<C as SlicedCipher>::Bytes as Bytes>::Lanes;

/// Sixteen registers of blocks.
pub(crate) type Group<C> = [LanesOf<C>; GROUP];

/// C under a key. INVERSE decrypts.
pub(crate) struct ByteSliced<C: SlicedCipher, const INVERSE: bool> {
    isa: IsaOf<C::Bytes>,
    key: OneKey<C>,
}

/// Blocks as slices.
#[inline(always)]
pub(crate) fn slices_of<C: SlicedCipher>(blocks: &Group<C>) -> [C::Bytes; GROUP] {
    transpose(load::<C::Bytes>(blocks))
}

/// Slices as blocks.
#[inline(always)]
pub(crate) fn blocks_of<C: SlicedCipher>(slices: [C::Bytes; GROUP], blocks: &mut Group<C>) {
    store(blocks, transpose(slices));
}

/// Whole groups under one key, as work of its own: compiled once for both directions, and not into every mode.
struct Whole<'a, C: SlicedCipher> {
    isa: IsaOf<C::Bytes>,
    keys: &'a C::Shared,
    groups: &'a mut [Group<C>],
}

impl<C: SlicedCipher> Work for Whole<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        C::run_groups(self.isa, self.keys, self.groups);
    }
}

/// Counters of whole groups, as work of its own. Only where the promise of [`SlicedCipher::count`] is kept is it made.
struct Counted<'a, C: SlicedCipher> {
    isa: IsaOf<C::Bytes>,
    keys: &'a C::Shared,
    counter: [u8; BLOCK],
    text: Groups,
}

impl<C: SlicedCipher> Work for Counted<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: that of who made it.
        unsafe { C::count(self.isa, self.keys, self.counter, self.text) }
    }
}

impl<C: SlicedCipher, const INVERSE: bool> ByteSliced<C, INVERSE> {
    fn run_whole(&self, groups: &mut [Group<C>]) {
        self.isa.vectorize(Whole::<C> { isa: self.isa, keys: self.key.groups::<INVERSE>(self.isa), groups });
    }
}

impl<C: SlicedCipher, const INVERSE: bool> InGroups for ByteSliced<C, INVERSE> {
    type Isa = IsaOf<C::Bytes>;
    type GroupKeys = EachKey<C, INVERSE>;

    fn new(isa: Self::Isa, key: &[u8]) -> Self {
        Self { isa, key: OneKey::new(key) }
    }

    fn rekey(&mut self, key: &[u8]) {
        self.key.rekey(key);
    }

    fn apply(&self, blocks: &mut [LanesOf<C>]) {
        let (groups, rest) = blocks.as_chunks_mut();
        if !groups.is_empty() {
            self.run_whole(groups);
        }
        if rest.is_empty() {
            return;
        }
        match self.key.few_for::<INVERSE>(self.isa, rest.len()) {
            Some(few) => few.apply(rest),
            None => filled_up(rest, |group| self.run_whole(std::slice::from_mut(group))),
        }
    }

    fn few(&self) -> usize {
        self.key.most()
    }

    fn runs_pairs(&self) -> bool {
        C::PAIRS
    }

    fn runs_in_memory(&self, groups: usize) -> usize {
        C::runs_in_memory(groups)
    }

    unsafe fn run_in_memory(&self, groups: Groups, added: Option<*const u8>) {
        // SAFETY: the caller's.
        unsafe { C::run_in_memory(self.key.groups::<INVERSE>(self.isa), groups, added) }
    }

    fn counts(&self, groups: usize) -> usize {
        C::counts(groups)
    }

    unsafe fn count(&self, counter: [u8; BLOCK], text: Groups) {
        let keys = self.key.groups::<INVERSE>(self.isa);
        self.isa.vectorize(Counted::<C> { isa: self.isa, keys, counter, text });
    }

    fn chain(&self) -> Option<&dyn Chain> {
        let few = self.key.few::<INVERSE>(self.isa)?;
        Some(few)
    }
}
