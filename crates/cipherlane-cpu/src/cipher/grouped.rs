//! Ciphers that run registers in groups, called through a table.
//!
//! A group takes hundreds of cycles, so that an indirect call of one is free; and the modes are compiled once for all
//! of these ciphers and not for each.

use cipherlane_core::BLOCK;

use super::byte_sliced::GROUP;
use super::few::Chain;
use super::{CALLS, Groups, KeyEach, Meanwhile, Permutation, Source, V};
use crate::lanes::portable::{Portable, X1};
use crate::lanes::{Isa, Lanes};

/// A block cipher in one direction that runs registers in groups. Values wipe their keys when dropped.
pub(crate) trait InGroups: Send + Sync + Sized + 'static {
    /// Where it runs.
    type Isa: Isa;

    /// The same cipher under a key for each block of a group.
    type GroupKeys: GroupKeys<Isa = Self::Isa>;

    /// Expands `key`, whose length is one that the cipher has.
    fn new(isa: Self::Isa, key: &[u8]) -> Self;

    /// Takes another key in the place of its own.
    fn rekey(&mut self, key: &[u8]);

    /// Runs every lane of any number of registers.
    fn apply(&self, blocks: &mut [<Self::Isa as Isa>::V]);

    /// See [`Permutation::few`].
    fn few(&self) -> usize {
        0
    }

    /// See [`Permutation::runs_pairs`].
    fn runs_pairs(&self) -> bool {
        false
    }

    /// See [`Permutation::runs_in_memory`].
    fn runs_in_memory(&self, _groups: usize) -> usize {
        0
    }

    /// See [`Permutation::run_in_memory`].
    ///
    /// # Safety
    /// As there.
    unsafe fn run_in_memory(&self, _groups: Groups, _added: Option<*const u8>) {
        unreachable!("of ciphers that run in memory alone")
    }

    /// See [`Permutation::counts`].
    fn counts(&self, _groups: usize) -> usize {
        0
    }

    /// See [`Permutation::count`].
    ///
    /// # Safety
    /// As there.
    unsafe fn count(&self, _counter: [u8; BLOCK], _text: Groups) {
        unreachable!("of ciphers that count alone")
    }

    /// See [`Permutation::chain`].
    fn chain(&self) -> Option<&dyn Chain> {
        None
    }
}

/// A block cipher in one direction under a key for each block of a group. Values wipe their keys when dropped.
pub(crate) trait GroupKeys: Send + Sync + Sized + 'static {
    /// Where it runs.
    type Isa: Isa;

    /// See [`KeyEach::most_blocks`].
    const MOST_BLOCKS: usize = usize::MAX;

    /// No keys.
    fn new(isa: Self::Isa) -> Self;

    /// Expands `keys`: of the lanes of the first register, then of those of the next one, and so on, all of one length.
    fn rekey(&mut self, keys: &[&[u8]]);

    /// Runs every block under its key.
    fn apply(&self, blocks: &mut [<Self::Isa as Isa>::V; GROUP]);
}

/// Gives `ciphers`, of registers of one lane, `keys`.
pub(crate) fn rekey_one_by_one<P: InGroups<Isa = Portable>>(ciphers: &mut Vec<P>, keys: &[&[u8]]) {
    for (i, key) in keys.iter().enumerate() {
        match ciphers.get_mut(i) {
            Some(cipher) => cipher.rekey(key),
            None => ciphers.push(P::new(Portable, key)),
        }
    }
}

/// A cipher for each block: for those whose registers are single blocks.
pub(crate) struct KeyPerBlock<P>(Vec<P>);

impl<P: InGroups<Isa = Portable>> GroupKeys for KeyPerBlock<P> {
    type Isa = Portable;

    fn new(_: Portable) -> Self {
        Self(Vec::with_capacity(GROUP))
    }

    fn rekey(&mut self, keys: &[&[u8]]) {
        rekey_one_by_one(&mut self.0, keys);
    }

    fn apply(&self, blocks: &mut [X1; GROUP]) {
        for (cipher, block) in self.0.iter().zip(blocks) {
            cipher.apply(std::slice::from_mut(block));
        }
    }
}

/// Runs `run` on registers that are less than a group, filled up with the first of them.
pub(crate) fn filled_up<V: Lanes, const GROUP: usize>(some: &mut [V], run: impl FnOnce(&mut [V; GROUP])) {
    let mut group = [some[0]; GROUP];
    group[..some.len()].copy_from_slice(some);
    run(&mut group);
    some.copy_from_slice(&group[..some.len()]);
}

/// The table: [`InGroups`], whichever cipher it is.
trait DynInGroups<I: Isa>: Send + Sync {
    fn rekey(&mut self, key: &[u8]);

    fn apply(&self, blocks: &mut [I::V]);

    fn few(&self) -> usize;

    fn runs_pairs(&self) -> bool;

    fn runs_in_memory(&self, groups: usize) -> usize;

    unsafe fn run_in_memory(&self, groups: Groups, added: Option<*const u8>);

    fn counts(&self, groups: usize) -> usize;

    unsafe fn count(&self, counter: [u8; BLOCK], text: Groups);

    fn chain(&self) -> Option<&dyn Chain>;
}

impl<P: InGroups> DynInGroups<P::Isa> for P {
    fn rekey(&mut self, key: &[u8]) {
        InGroups::rekey(self, key);
    }

    fn apply(&self, blocks: &mut [<P::Isa as Isa>::V]) {
        InGroups::apply(self, blocks);
    }

    fn few(&self) -> usize {
        InGroups::few(self)
    }

    fn runs_pairs(&self) -> bool {
        InGroups::runs_pairs(self)
    }

    fn runs_in_memory(&self, groups: usize) -> usize {
        InGroups::runs_in_memory(self, groups)
    }

    unsafe fn run_in_memory(&self, groups: Groups, added: Option<*const u8>) {
        // SAFETY: the caller's.
        unsafe { InGroups::run_in_memory(self, groups, added) }
    }

    fn counts(&self, groups: usize) -> usize {
        InGroups::counts(self, groups)
    }

    unsafe fn count(&self, counter: [u8; BLOCK], text: Groups) {
        // SAFETY: the caller's.
        unsafe { InGroups::count(self, counter, text) }
    }

    fn chain(&self) -> Option<&dyn Chain> {
        InGroups::chain(self)
    }
}

/// The table of [`GroupKeys`].
trait DynGroupKeys<I: Isa>: Send + Sync {
    fn rekey(&mut self, keys: &[&[u8]]);

    fn apply(&self, blocks: &mut [I::V; GROUP]);
}

impl<E: GroupKeys> DynGroupKeys<E::Isa> for E {
    fn rekey(&mut self, keys: &[&[u8]]) {
        GroupKeys::rekey(self, keys);
    }

    fn apply(&self, blocks: &mut [<E::Isa as Isa>::V; GROUP]) {
        GroupKeys::apply(self, blocks);
    }
}

/// Which cipher it is, and where it runs.
#[derive(Clone, Copy)]
pub(crate) struct Which<I: Isa> {
    isa: I,
    make: fn(I, &[u8]) -> Box<dyn DynInGroups<I>>,
    make_each: fn(I) -> Box<dyn DynGroupKeys<I>>,
    most_blocks: usize,
}

impl<I: Isa> Which<I> {
    /// It is P.
    pub(crate) fn is<P: InGroups<Isa = I>>(isa: I) -> Self {
        Self {
            isa,
            make: |isa, key| Box::new(P::new(isa, key)),
            make_each: |isa| Box::new(<P::GroupKeys as GroupKeys>::new(isa)),
            most_blocks: P::GroupKeys::MOST_BLOCKS,
        }
    }
}

impl<I: Isa> Source for Which<I> {
    type Isa = I;

    #[inline(always)]
    fn isa(self) -> I {
        self.isa
    }
}

/// One of these ciphers under a key.
pub(crate) struct Grouped<I: Isa> {
    isa: I,
    cipher: Box<dyn DynInGroups<I>>,
}

impl<I: Isa> Permutation for Grouped<I> {
    type Isa = I;
    type Source = Which<I>;
    const WHOLE_GROUPS: bool = true;

    #[inline(always)]
    fn few(&self) -> usize {
        self.cipher.few()
    }

    #[inline(always)]
    fn runs_pairs(&self) -> bool {
        self.cipher.runs_pairs()
    }

    #[inline(always)]
    fn runs_in_memory(&self, groups: usize) -> usize {
        self.cipher.runs_in_memory(groups)
    }

    #[inline(always)]
    unsafe fn run_in_memory(&self, groups: Groups, added: Option<*const u8>) {
        // SAFETY: the caller's.
        unsafe { self.cipher.run_in_memory(groups, added) }
    }

    #[inline(always)]
    fn counts(&self, groups: usize) -> usize {
        self.cipher.counts(groups)
    }

    #[inline(always)]
    unsafe fn count(&self, counter: [u8; BLOCK], text: Groups) {
        // SAFETY: the caller's.
        unsafe { self.cipher.count(counter, text) }
    }

    #[inline(always)]
    fn chain(&self) -> Option<&dyn Chain> {
        self.cipher.chain()
    }

    fn new(which: Which<I>, key: &[u8]) -> Self {
        Self { isa: which.isa, cipher: (which.make)(which.isa, key) }
    }

    fn rekey(&mut self, key: &[u8]) {
        self.cipher.rekey(key);
    }

    #[inline(always)]
    fn isa(&self) -> I {
        self.isa
    }

    /// Best with N a multiple of [`GROUP`]. The rounds leave no port idle, so `meanwhile` does its work before them.
    #[inline(always)]
    fn apply_while<const N: usize>(
        &self,
        mut blocks: [V<Self>; N],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        for call in 0..CALLS {
            meanwhile.step(call);
        }
        self.cipher.apply(&mut blocks);
        blocks
    }

    /// Where they lie.
    #[inline(always)]
    fn apply_first<const M: usize>(&self, registers: &mut [V<Self>]) {
        self.cipher.apply(&mut registers[..M]);
    }
}

/// One of these ciphers under a key for each block of a group.
pub(crate) struct GroupedKeys<I: Isa>(Box<dyn DynGroupKeys<I>>);

impl<I: Isa> KeyEach for Grouped<I> {
    type Keys = GroupedKeys<I>;

    #[inline(always)]
    fn most_blocks(which: Which<I>) -> usize {
        which.most_blocks
    }

    fn no_keys(which: Which<I>) -> GroupedKeys<I> {
        GroupedKeys((which.make_each)(which.isa))
    }

    fn expand_keys(GroupedKeys(keys): &mut GroupedKeys<I>, each: &[&[u8]]) {
        keys.rekey(each);
    }

    #[inline(always)]
    fn apply_keys(GroupedKeys(keys): &GroupedKeys<I>, blocks: &mut [I::V; GROUP]) {
        keys.apply(blocks);
    }
}

/// One cipher that runs in groups, by its type: the tests of permutations are given it.
#[cfg(test)]
pub(crate) struct Only<P: InGroups>(Grouped<P::Isa>, std::marker::PhantomData<fn() -> P>);

#[cfg(test)]
impl<P: InGroups> Permutation for Only<P> {
    type Isa = P::Isa;
    type Source = P::Isa;
    const WHOLE_GROUPS: bool = Grouped::<P::Isa>::WHOLE_GROUPS;

    fn few(&self) -> usize {
        self.0.few()
    }

    fn runs_in_memory(&self, groups: usize) -> usize {
        self.0.runs_in_memory(groups)
    }

    unsafe fn run_in_memory(&self, groups: Groups, added: Option<*const u8>) {
        // SAFETY: the caller's.
        unsafe { self.0.run_in_memory(groups, added) }
    }

    fn counts(&self, groups: usize) -> usize {
        self.0.counts(groups)
    }

    unsafe fn count(&self, counter: [u8; BLOCK], text: Groups) {
        // SAFETY: the caller's.
        unsafe { self.0.count(counter, text) }
    }

    fn chain(&self) -> Option<&dyn Chain> {
        self.0.chain()
    }

    fn new(isa: P::Isa, key: &[u8]) -> Self {
        Self(Grouped::new(Which::is::<P>(isa), key), std::marker::PhantomData)
    }

    fn rekey(&mut self, key: &[u8]) {
        self.0.rekey(key);
    }

    fn isa(&self) -> P::Isa {
        self.0.isa()
    }

    fn apply_while<const N: usize>(
        &self,
        blocks: [V<Self>; N],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        self.0.apply_while(blocks, meanwhile)
    }
}

#[cfg(test)]
impl<P: InGroups> KeyEach for Only<P> {
    type Keys = P::GroupKeys;

    fn no_keys(isa: P::Isa) -> P::GroupKeys {
        GroupKeys::new(isa)
    }

    fn expand_keys(keys: &mut P::GroupKeys, each: &[&[u8]]) {
        GroupKeys::rekey(keys, each);
    }

    fn apply_keys(keys: &P::GroupKeys, blocks: &mut [V<Self>; GROUP]) {
        GroupKeys::apply(keys, blocks);
    }
}
