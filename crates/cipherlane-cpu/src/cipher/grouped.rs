//! Ciphers that run a group of registers at a time, called through a table.
//!
//! A group takes hundreds of cycles, so that an indirect call of one is free; and the modes are compiled once for all
//! of these ciphers and not for each.

use std::any::Any;

use super::byte_sliced::GROUP;
use super::{CALLS, KeyPerLane, Meanwhile, Permutation, Source, V};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};

/// A block cipher in one direction on instruction set I, whichever it is.
trait GroupCipher<I: Isa>: Send + Sync {
    /// Takes another key in the place of its own.
    fn rekey(&mut self, key: &[u8]);

    /// Takes a key for each lane.
    fn rekey_lanes(&mut self, keys: &[&[u8]]);

    /// Runs up to [`GROUP`] registers.
    fn apply(&self, blocks: &mut [I::V]);

    /// Runs up to [`GROUP`] registers, register i under the keys of `each[i]`; all are of the type of `self`.
    fn apply_each(&self, each: &[&dyn GroupCipher<I>], blocks: &mut [I::V]);

    /// The cipher, for who knows its type.
    fn as_any(&self) -> &dyn Any;
}

/// A cipher that encrypts. It may run a key a lane.
struct Forward<P>(P);

/// A cipher that decrypts.
struct Backward<P>(P);

/// Some registers, as work.
struct Apply<'a, P: Permutation> {
    cipher: &'a P,
    blocks: &'a mut [V<P>],
}

impl<P: Permutation> Work for Apply<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        if let Ok(group) = <&mut [V<P>; GROUP]>::try_from(&mut *self.blocks) {
            *group = self.cipher.apply(*group);
            return;
        }
        if let [block] = self.blocks {
            [*block] = self.cipher.apply([*block]);
            return;
        }
        let mut group = [self.cipher.isa().zero(); GROUP];
        let used = self.blocks.len();
        group[..used].copy_from_slice(self.blocks);
        self.blocks.copy_from_slice(&self.cipher.apply(group)[..used]);
    }
}

/// Some registers with keys of their own, as work.
struct ApplyEach<'a, P: Permutation> {
    each: [&'a P; GROUP],
    blocks: &'a mut [V<P>],
}

impl<P: KeyPerLane> Work for ApplyEach<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut group = [self.each[0].isa().zero(); GROUP];
        let used = self.blocks.len();
        group[..used].copy_from_slice(self.blocks);
        self.blocks.copy_from_slice(&P::apply_each(self.each, group)[..used]);
    }
}

impl<I: Isa, P: KeyPerLane<Isa = I>> GroupCipher<I> for Forward<P> {
    fn rekey(&mut self, key: &[u8]) {
        self.0.rekey(key);
    }

    fn rekey_lanes(&mut self, keys: &[&[u8]]) {
        self.0.rekey_lanes(|lane| keys[lane]);
    }

    fn apply(&self, blocks: &mut [I::V]) {
        self.0.isa().vectorize(Apply { cipher: &self.0, blocks });
    }

    fn apply_each(&self, each: &[&dyn GroupCipher<I>], blocks: &mut [I::V]) {
        // Registers that fill up the group are encrypted under the keys of the first, and dropped.
        let mut ciphers = [&self.0; GROUP];
        for (cipher, other) in ciphers.iter_mut().zip(each) {
            match other.as_any().downcast_ref::<Self>() {
                Some(other) => *cipher = &other.0,
                None => unreachable!("the ciphers of a batch are of one type"),
            }
        }
        self.0.isa().vectorize(ApplyEach { each: ciphers, blocks });
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<I: Isa, P: Permutation<Isa = I>> GroupCipher<I> for Backward<P> {
    fn rekey(&mut self, key: &[u8]) {
        self.0.rekey(key);
    }

    fn rekey_lanes(&mut self, _keys: &[&[u8]]) {
        unreachable!("no mode decrypts lanes under keys of their own");
    }

    fn apply(&self, blocks: &mut [I::V]) {
        self.0.isa().vectorize(Apply { cipher: &self.0, blocks });
    }

    fn apply_each(&self, _each: &[&dyn GroupCipher<I>], _blocks: &mut [I::V]) {
        unreachable!("no mode decrypts lanes under keys of their own");
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Makes a cipher of a key, or of a key for each lane.
type Make<I> = fn(I, &[&[u8]], Lanewise) -> Box<dyn GroupCipher<I>>;

/// Which cipher it is, and where it runs.
#[derive(Clone, Copy)]
pub(crate) struct Which<I: Isa> {
    isa: I,
    make: Make<I>,
}

/// Whether each lane has a key of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lanewise {
    No,
    Yes,
}

impl<I: Isa> Which<I> {
    /// Encryption by P.
    pub(crate) fn encrypts<P: KeyPerLane<Isa = I, Source = I>>(isa: I) -> Self {
        Self {
            isa,
            make: |isa, keys, lanewise| match lanewise {
                Lanewise::No => Box::new(Forward(P::new(isa, keys[0]))),
                Lanewise::Yes => Box::new(Forward(P::per_lane(isa, |lane| keys[lane]))),
            },
        }
    }

    /// Decryption by P.
    pub(crate) fn decrypts<P: Permutation<Isa = I, Source = I>>(isa: I) -> Self {
        Self { isa, make: |isa, keys, _| Box::new(Backward(P::new(isa, keys[0]))) }
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

    fn new(which: Which<I>, key: &[u8]) -> Self {
        Self { isa: which.isa, cipher: (which.make)(which.isa, &[key], Lanewise::No) }
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
        for group in blocks.chunks_mut(GROUP) {
            self.cipher.apply(group);
        }
        blocks
    }
}

impl<I: Isa> KeyPerLane for Grouped<I> {
    fn per_lane<'k>(which: Which<I>, key: impl Fn(usize) -> &'k [u8]) -> Self {
        let keys = of_lanes(key, <I::V as Lanes>::LANES);
        Self { isa: which.isa, cipher: (which.make)(which.isa, &keys, Lanewise::Yes) }
    }

    fn rekey_lanes<'k>(&mut self, key: impl Fn(usize) -> &'k [u8]) {
        self.cipher.rekey_lanes(&of_lanes(key, <I::V as Lanes>::LANES));
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
