//! Ciphers that run registers in groups, called through a table.
//!
//! A group takes hundreds of cycles, so that an indirect call of one is free; and the modes are compiled once for all
//! of these ciphers and not for each.

use std::any::Any;

use super::byte_sliced::GROUP;
use super::few::Chain;
use super::{CALLS, KeyPerLane, Meanwhile, Permutation, Source, V};
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// One key for all lanes, or one for each.
#[derive(Clone, Copy)]
pub(crate) enum Keyed<'k> {
    /// One for all.
    Shared(&'k [u8]),
    /// One for each, all of the same length.
    PerLane(&'k [&'k [u8]]),
}

impl<'k> Keyed<'k> {
    /// The key of lane `lane`.
    #[inline(always)]
    pub(crate) fn of(self, lane: usize) -> &'k [u8] {
        match self {
            Self::Shared(key) => key,
            Self::PerLane(keys) => keys[lane],
        }
    }

    /// How many keys there are.
    #[inline(always)]
    pub(crate) const fn count(self) -> usize {
        match self {
            Self::Shared(_) => 1,
            Self::PerLane(keys) => keys.len(),
        }
    }
}

/// A block cipher in one direction that runs registers in groups. Values wipe their keys when dropped.
pub(crate) trait InGroups: Send + Sync + Sized + 'static {
    /// Where it runs.
    type Isa: Isa;

    /// Expands keys, whose length is one that the cipher has.
    fn new(isa: Self::Isa, keys: Keyed<'_>) -> Self;

    /// The instruction set.
    fn isa(&self) -> Self::Isa;

    /// Takes other keys in the place of its own.
    fn rekey(&mut self, keys: Keyed<'_>) {
        *self = Self::new(self.isa(), keys);
    }

    /// Runs every lane of any number of registers.
    fn apply(&self, blocks: &mut [<Self::Isa as Isa>::V]);

    /// Runs every lane of register i under the keys of `each[i]`, which are keyed lane by lane: [`GROUP`] registers or
    /// fewer.
    fn apply_each(each: &[&Self], blocks: &mut [<Self::Isa as Isa>::V]);

    /// See [`Permutation::few`].
    fn few(&self) -> usize {
        0
    }

    /// See [`Permutation::chain`].
    fn chain(&self) -> Option<&dyn Chain> {
        None
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
trait GroupCipher<I: Isa>: Any + Send + Sync {
    fn rekey(&mut self, keys: Keyed<'_>);

    fn apply(&self, blocks: &mut [I::V]);

    /// All of `each` are of the type of `self`.
    fn apply_each(&self, each: &[&dyn GroupCipher<I>], blocks: &mut [I::V]);

    fn few(&self) -> usize;

    fn chain(&self) -> Option<&dyn Chain>;
}

impl<P: InGroups> GroupCipher<P::Isa> for P {
    fn rekey(&mut self, keys: Keyed<'_>) {
        InGroups::rekey(self, keys);
    }

    fn apply(&self, blocks: &mut [<P::Isa as Isa>::V]) {
        InGroups::apply(self, blocks);
    }

    fn apply_each(&self, each: &[&dyn GroupCipher<P::Isa>], blocks: &mut [<P::Isa as Isa>::V]) {
        let mut ciphers = [self; GROUP];
        for (cipher, &other) in ciphers.iter_mut().zip(each) {
            let other: &dyn Any = other;
            match other.downcast_ref() {
                Some(other) => *cipher = other,
                None => unreachable!("the ciphers of a batch are of one type"),
            }
        }
        P::apply_each(&ciphers[..each.len()], blocks);
    }

    fn few(&self) -> usize {
        InGroups::few(self)
    }

    fn chain(&self) -> Option<&dyn Chain> {
        InGroups::chain(self)
    }
}

/// Which cipher it is, and where it runs.
#[derive(Clone, Copy)]
pub(crate) struct Which<I: Isa> {
    isa: I,
    make: fn(I, Keyed<'_>) -> Box<dyn GroupCipher<I>>,
}

impl<I: Isa> Which<I> {
    /// It is P.
    pub(crate) fn is<P: InGroups<Isa = I>>(isa: I) -> Self {
        Self { isa, make: |isa, keys| Box::new(P::new(isa, keys)) }
    }
}

impl<I: Isa> Source for Which<I> {
    type Isa = I;

    #[inline(always)]
    fn isa(self) -> I {
        self.isa
    }
}

/// One of these ciphers under a key, or under a key a lane.
pub(crate) struct Grouped<I: Isa> {
    isa: I,
    cipher: Box<dyn GroupCipher<I>>,
}

impl<I: Isa> Grouped<I> {
    fn with(which: Which<I>, keys: Keyed<'_>) -> Self {
        Self { isa: which.isa, cipher: (which.make)(which.isa, keys) }
    }
}

/// The keys of all lanes, in a row.
#[inline(always)]
fn of_lanes<'k>(key: impl Fn(usize) -> &'k [u8], lanes: usize) -> [&'k [u8]; MAX_LANES] {
    let mut keys = [key(0); MAX_LANES];
    for (lane, lane_key) in keys.iter_mut().enumerate().take(lanes).skip(1) {
        *lane_key = key(lane);
    }
    keys
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
    fn chain(&self) -> Option<&dyn Chain> {
        self.cipher.chain()
    }

    fn new(which: Which<I>, key: &[u8]) -> Self {
        Self::with(which, Keyed::Shared(key))
    }

    fn rekey(&mut self, key: &[u8]) {
        self.cipher.rekey(Keyed::Shared(key));
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

impl<I: Isa> KeyPerLane for Grouped<I> {
    fn per_lane<'k>(which: Which<I>, key: impl Fn(usize) -> &'k [u8]) -> Self {
        let lanes = <I::V as Lanes>::LANES;
        Self::with(which, Keyed::PerLane(&of_lanes(key, lanes)[..lanes]))
    }

    fn rekey_lanes<'k>(&mut self, key: impl Fn(usize) -> &'k [u8]) {
        let lanes = <I::V as Lanes>::LANES;
        self.cipher.rekey(Keyed::PerLane(&of_lanes(key, lanes)[..lanes]));
    }

    #[inline(always)]
    fn apply_each<const N: usize>(each: [&Self; N], mut blocks: [V<Self>; N]) -> [V<Self>; N] {
        for (ciphers, group) in each.chunks(GROUP).zip(blocks.chunks_mut(GROUP)) {
            let mut others = [&*ciphers[0].cipher; GROUP];
            for (other, cipher) in others.iter_mut().zip(ciphers) {
                *other = &*cipher.cipher;
            }
            ciphers[0].cipher.apply_each(&others[..ciphers.len()], group);
        }
        blocks
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
impl<P: InGroups> KeyPerLane for Only<P> {
    fn per_lane<'k>(isa: P::Isa, key: impl Fn(usize) -> &'k [u8]) -> Self {
        Self(Grouped::per_lane(Which::is::<P>(isa), key), std::marker::PhantomData)
    }

    fn rekey_lanes<'k>(&mut self, key: impl Fn(usize) -> &'k [u8]) {
        self.0.rekey_lanes(key);
    }

    fn apply_each<const N: usize>(each: [&Self; N], blocks: [V<Self>; N]) -> [V<Self>; N] {
        Grouped::apply_each(each.map(|only| &only.0), blocks)
    }
}
