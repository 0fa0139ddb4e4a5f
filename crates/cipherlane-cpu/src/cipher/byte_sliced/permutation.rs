//! A byte-sliced cipher as a permutation of blocks, under one key or a key for each lane.

use cipherlane_core::BLOCK;
use zeroize::Zeroize;

use super::{GROUP, transpose};
use crate::cipher::{CALLS, KeyPerLane, Meanwhile, Permutation, V};
use crate::lanes::bytes::{Bytes, IsaOf};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};

/// A block cipher over slices.
pub(crate) trait SlicedCipher: Send + Sync + 'static {
    /// Registers of bytes.
    type Bytes: Bytes;

    /// Round keys of a key in each lane. Wiped when dropped.
    type PerLane: Send + Sync;

    /// Round keys of one key, ready for use in all lanes. Wiped when dropped.
    type Shared: Send + Sync;

    /// No round keys.
    fn none_per_lane(isa: IsaOf<Self::Bytes>) -> Self::PerLane;

    /// No round keys.
    fn none_shared() -> Self::Shared;

    /// Expands the keys of the first `lanes` lanes. INVERSE decrypts.
    fn expand<const INVERSE: bool>(
        isa: IsaOf<Self::Bytes>,
        keys: &Keys,
        lanes: usize,
        to: &mut Self::PerLane,
    );

    /// Makes the round keys of the first lane ready for all.
    fn share(isa: IsaOf<Self::Bytes>, from: &Self::PerLane, to: &mut Self::Shared);

    /// Runs sliced blocks, all under the same key.
    fn run_shared(
        isa: IsaOf<Self::Bytes>,
        keys: &Self::Shared,
        block: [Self::Bytes; GROUP],
    ) -> [Self::Bytes; GROUP];

    /// Runs two groups, all under the same key: side by side, where that is worth more than it costs in registers.
    #[inline(always)]
    fn run_two(
        isa: IsaOf<Self::Bytes>,
        keys: &Self::Shared,
        [first, second]: [[Self::Bytes; GROUP]; 2],
    ) -> [[Self::Bytes; GROUP]; 2] {
        [Self::run_shared(isa, keys, first), Self::run_shared(isa, keys, second)]
    }

    /// Runs sliced blocks, those that come from register i under `keys[i]`.
    fn run_each(keys: &[&Self::PerLane; GROUP], block: [Self::Bytes; GROUP]) -> [Self::Bytes; GROUP];
}

/// A key for each lane, big-endian. Wiped when dropped.
pub(crate) struct Keys {
    /// Bytes of each key, at most 32.
    pub(crate) bytes: usize,
    /// The first 16 bytes.
    pub(crate) first: [u128; MAX_LANES],
    /// What follows them, then zeros.
    pub(crate) rest: [u128; MAX_LANES],
}

impl Keys {
    #[inline(always)]
    fn new<'k>(lanes: usize, key: impl Fn(usize) -> &'k [u8]) -> Self {
        let mut keys = Self { bytes: key(0).len(), first: [0; MAX_LANES], rest: [0; MAX_LANES] };
        for lane in 0..lanes {
            let (first, rest) = key(lane).split_at(BLOCK);
            for (word, bytes) in [(&mut keys.first[lane], first), (&mut keys.rest[lane], rest)] {
                let mut block = [0; BLOCK];
                block[..bytes.len()].copy_from_slice(bytes);
                *word = u128::from_be_bytes(block);
            }
        }
        keys
    }
}

impl Drop for Keys {
    #[inline(always)]
    fn drop(&mut self) {
        self.first.zeroize();
        self.rest.zeroize();
    }
}

type LanesOf<C> = <<C as SlicedCipher>::Bytes as Bytes>::Lanes;

/// Sixteen registers of blocks.
type Group<C> = [LanesOf<C>; GROUP];

/// C under a key, or under a key a lane. INVERSE decrypts.
pub(crate) struct ByteSliced<C: SlicedCipher, const INVERSE: bool> {
    isa: IsaOf<C::Bytes>,
    per_lane: C::PerLane,
    /// The round keys once more, where all lanes have the same.
    shared: Option<C::Shared>,
}

/// The key schedule as work of its own, so that it is compiled once and not into every mode.
struct Expand<'a, C: SlicedCipher, const INVERSE: bool> {
    cipher: &'a mut ByteSliced<C, INVERSE>,
    keys: Keys,
    /// Whether all lanes have the same key.
    shared: bool,
}

impl<C: SlicedCipher, const INVERSE: bool> Work for Expand<'_, C, INVERSE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ByteSliced { isa, per_lane, shared } = self.cipher;
        let lanes = if self.shared { 1 } else { LanesOf::<C>::LANES };
        C::expand::<INVERSE>(*isa, &self.keys, lanes, per_lane);
        if self.shared {
            C::share(*isa, per_lane, shared.get_or_insert_with(C::none_shared));
        }
    }
}

/// Where a group takes its keys from.
trait Source<C: SlicedCipher> {
    fn run(&self, block: [C::Bytes; GROUP]) -> [C::Bytes; GROUP];
}

/// All blocks under the same key.
struct ForAll<'a, C: SlicedCipher> {
    isa: IsaOf<C::Bytes>,
    keys: &'a C::Shared,
}

impl<C: SlicedCipher> Source<C> for ForAll<'_, C> {
    #[inline(always)]
    fn run(&self, block: [C::Bytes; GROUP]) -> [C::Bytes; GROUP] {
        C::run_shared(self.isa, self.keys, block)
    }
}

/// Each register under keys of its own.
struct Each<'a, C: SlicedCipher>([&'a C::PerLane; GROUP]);

impl<C: SlicedCipher> Source<C> for Each<'_, C> {
    #[inline(always)]
    fn run(&self, block: [C::Bytes; GROUP]) -> [C::Bytes; GROUP] {
        C::run_each(&self.0, block)
    }
}

#[inline(always)]
fn slices_of<C: SlicedCipher>(blocks: &Group<C>) -> [C::Bytes; GROUP] {
    let mut slices = [C::Bytes::from_lanes(blocks[0]); GROUP];
    for (slice, block) in slices.iter_mut().zip(blocks) {
        *slice = C::Bytes::from_lanes(*block);
    }
    transpose(slices)
}

#[inline(always)]
fn blocks_of<C: SlicedCipher>(slices: [C::Bytes; GROUP], blocks: &mut Group<C>) {
    for (block, slice) in blocks.iter_mut().zip(transpose(slices)) {
        *block = slice.to_lanes();
    }
}

/// A group as work of its own, where it is too rare to be compiled into every mode.
struct Apart<'a, C: SlicedCipher, S> {
    keys: S,
    blocks: &'a mut Group<C>,
}

impl<C: SlicedCipher, S: Source<C>> Work for Apart<'_, C, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        blocks_of::<C>(self.keys.run(slices_of::<C>(self.blocks)), self.blocks);
    }
}

/// Runs registers, sixteen at most, as a group that is filled up.
#[inline(always)]
fn run_apart<C: SlicedCipher>(isa: IsaOf<C::Bytes>, keys: impl Source<C>, some: &mut [LanesOf<C>]) {
    let mut blocks = [isa.zero(); GROUP];
    blocks[..some.len()].copy_from_slice(some);
    isa.vectorize(Apart { keys, blocks: &mut blocks });
    some.copy_from_slice(&blocks[..some.len()]);
}

impl<C: SlicedCipher, const INVERSE: bool> ByteSliced<C, INVERSE> {
    #[inline(always)]
    fn empty(isa: IsaOf<C::Bytes>) -> Self {
        Self { isa, per_lane: C::none_per_lane(isa), shared: None }
    }

    #[inline(always)]
    fn set<'k>(&mut self, key: impl Fn(usize) -> &'k [u8], shared: bool) {
        let keys = Keys::new(if shared { 1 } else { LanesOf::<C>::LANES }, key);
        self.isa.vectorize(Expand { cipher: self, keys, shared });
    }

    fn apply_apart(&self, some: &mut [LanesOf<C>]) {
        match &self.shared {
            Some(keys) => run_apart(self.isa, ForAll::<C> { isa: self.isa, keys }, some),
            None => run_apart(self.isa, Each::<C>([&self.per_lane; GROUP]), some),
        }
    }
}

impl<C: SlicedCipher, const INVERSE: bool> Permutation for ByteSliced<C, INVERSE> {
    type Isa = IsaOf<C::Bytes>;
    const WHOLE_GROUPS: bool = true;

    #[inline(always)]
    fn new(isa: Self::Isa, key: &[u8]) -> Self {
        let mut cipher = Self::empty(isa);
        cipher.rekey(key);
        cipher
    }

    #[inline(always)]
    fn rekey(&mut self, key: &[u8]) {
        self.set(|_| key, true);
    }

    #[inline(always)]
    fn isa(&self) -> Self::Isa {
        self.isa
    }

    /// Best with N a multiple of 16, or of 32 where two groups run side by side. The rounds leave no port idle, so `meanwhile` does its work before them.
    #[inline(always)]
    fn apply_while<const N: usize>(
        &self,
        mut blocks: [V<Self>; N],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        for call in 0..CALLS {
            meanwhile.step(call);
        }
        let (groups, rest) = blocks.as_chunks_mut::<GROUP>();
        match &self.shared {
            Some(keys) => {
                let (pairs, last) = groups.as_chunks_mut();
                for [first, second] in pairs {
                    let slices = [slices_of::<C>(first), slices_of::<C>(second)];
                    let slices = C::run_two(self.isa, keys, slices);
                    blocks_of::<C>(slices[0], first);
                    blocks_of::<C>(slices[1], second);
                }
                for group in last {
                    let slices = C::run_shared(self.isa, keys, slices_of::<C>(group));
                    blocks_of::<C>(slices, group);
                }
            }
            None => groups.iter_mut().for_each(|group| self.apply_apart(group)),
        }
        if !rest.is_empty() {
            self.apply_apart(rest);
        }
        blocks
    }
}

impl<C: SlicedCipher> KeyPerLane for ByteSliced<C, false> {
    #[inline(always)]
    fn per_lane<'k>(isa: Self::Isa, key: impl Fn(usize) -> &'k [u8]) -> Self {
        let mut cipher = Self::empty(isa);
        cipher.set(key, false);
        cipher
    }

    #[inline(always)]
    fn rekey_lanes<'k>(&mut self, key: impl Fn(usize) -> &'k [u8]) {
        self.shared = None;
        self.set(key, false);
    }

    #[inline(always)]
    fn apply_each<const N: usize>(each: &[Self; N], mut blocks: [V<Self>; N]) -> [V<Self>; N] {
        for (ciphers, some) in each.chunks(GROUP).zip(blocks.chunks_mut(GROUP)) {
            let mut keys = [&ciphers[0].per_lane; GROUP];
            for (keys, cipher) in keys.iter_mut().zip(ciphers) {
                *keys = &cipher.per_lane;
            }
            run_apart(ciphers[0].isa, Each::<C>(keys), some);
        }
        blocks
    }
}
