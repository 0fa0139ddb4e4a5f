//! A byte-sliced cipher that runs blocks, under one key or a key for each lane.

use std::sync::OnceLock;

use cipherlane_core::BLOCK;
use zeroize::Zeroize;

use super::{GROUP, transpose};
use crate::cipher::few::{Chain, Few};
use crate::cipher::grouped::{InGroups, Keyed, filled_up};
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

    /// What runs few blocks under one key. Wiped when dropped.
    type Few: Few<IsaOf<Self::Bytes>>;

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
    fn new(of: Keyed<'_>) -> Self {
        let mut keys = Self { bytes: of.of(0).len(), first: [0; MAX_LANES], rest: [0; MAX_LANES] };
        for lane in 0..of.count() {
            let (first, rest) = of.of(lane).split_at(BLOCK);
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
    schedule: Schedule<C>,
}

/// What keys are expanded to.
enum Schedule<C: SlicedCipher> {
    /// A key a lane.
    PerLane(C::PerLane),
    Shared(OneKey<C>),
}

/// One key, expanded for few blocks, and for groups once there is one: with a key for each short message there never is.
struct OneKey<C: SlicedCipher> {
    keys: Keys,
    few: Option<C::Few>,
    groups: OnceLock<Box<C::Shared>>,
}

impl<C: SlicedCipher> Schedule<C> {
    fn new<const INVERSE: bool>(isa: IsaOf<C::Bytes>, of: Keyed<'_>) -> Self {
        let keys = Keys::new(of);
        match of {
            Keyed::Shared(_) => {
                let few = isa.vectorize(ForFew::<C, INVERSE> { isa, keys: &keys });
                Self::Shared(OneKey { keys, few, groups: OnceLock::new() })
            }
            Keyed::PerLane(_) => {
                let mut per_lane = C::none_per_lane(isa);
                isa.vectorize(Expand::<C, INVERSE> { isa, keys: &keys, to: &mut per_lane });
                Self::PerLane(per_lane)
            }
        }
    }
}

/// [`SlicedCipher::expand`] as work of its own, so that it is compiled once and not into every mode.
struct Expand<'a, C: SlicedCipher, const INVERSE: bool> {
    isa: IsaOf<C::Bytes>,
    keys: &'a Keys,
    to: &'a mut C::PerLane,
}

impl<C: SlicedCipher, const INVERSE: bool> Work for Expand<'_, C, INVERSE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        C::expand::<INVERSE>(self.isa, self.keys, LanesOf::<C>::LANES, self.to);
    }
}

/// The same of one key for all lanes.
struct Share<'a, C: SlicedCipher, const INVERSE: bool> {
    isa: IsaOf<C::Bytes>,
    keys: &'a Keys,
    to: &'a mut C::Shared,
}

impl<C: SlicedCipher, const INVERSE: bool> Work for Share<'_, C, INVERSE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut first = C::none_per_lane(self.isa);
        C::expand::<INVERSE>(self.isa, self.keys, 1, &mut first);
        C::share(self.isa, &first, self.to);
    }
}

/// [`Few::new`] as work.
struct ForFew<'a, C: SlicedCipher, const INVERSE: bool> {
    isa: IsaOf<C::Bytes>,
    keys: &'a Keys,
}

impl<C: SlicedCipher, const INVERSE: bool> Work for ForFew<'_, C, INVERSE> {
    type Output = Option<C::Few>;

    #[inline(always)]
    fn run(self) -> Option<C::Few> {
        C::Few::new::<INVERSE>(self.isa, self.keys)
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
        let (pairs, last) = self.groups.as_chunks_mut();
        for [first, second] in pairs {
            let slices = [slices_of::<C>(first), slices_of::<C>(second)];
            let slices = C::run_two(self.isa, self.keys, slices);
            blocks_of::<C>(slices[0], first);
            blocks_of::<C>(slices[1], second);
        }
        for group in last {
            let slices = C::run_shared(self.isa, self.keys, slices_of::<C>(group));
            blocks_of::<C>(slices, group);
        }
    }
}

/// A group, each of whose registers has keys of its own, as work of its own.
struct Each<'a, C: SlicedCipher> {
    keys: [&'a C::PerLane; GROUP],
    group: &'a mut Group<C>,
}

impl<C: SlicedCipher> Work for Each<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        blocks_of::<C>(C::run_each(&self.keys, slices_of::<C>(self.group)), self.group);
    }
}

impl<C: SlicedCipher, const INVERSE: bool> ByteSliced<C, INVERSE> {
    fn run_whole(&self, groups: &mut [Group<C>]) {
        let isa = self.isa;
        match &self.schedule {
            Schedule::Shared(one) => {
                let keys = one.groups.get_or_init(|| {
                    let mut shared = Box::new(C::none_shared());
                    isa.vectorize(Share::<C, INVERSE> { isa, keys: &one.keys, to: &mut shared });
                    shared
                });
                isa.vectorize(Whole::<C> { isa, keys, groups });
            }
            Schedule::PerLane(keys) => {
                for group in groups {
                    isa.vectorize(Each::<C> { keys: [keys; GROUP], group });
                }
            }
        }
    }

    /// What runs few blocks, if there is something.
    fn for_few(&self) -> Option<&C::Few> {
        match &self.schedule {
            Schedule::Shared(one) => one.few.as_ref(),
            Schedule::PerLane(_) => None,
        }
    }

    /// The keys of the lanes.
    fn per_lane(&self) -> &C::PerLane {
        match &self.schedule {
            Schedule::PerLane(keys) => keys,
            Schedule::Shared(_) => unreachable!("registers with keys of their own are keyed lane by lane"),
        }
    }
}

impl<C: SlicedCipher, const INVERSE: bool> InGroups for ByteSliced<C, INVERSE> {
    type Isa = IsaOf<C::Bytes>;

    fn new(isa: Self::Isa, keys: Keyed<'_>) -> Self {
        Self { isa, schedule: Schedule::new::<INVERSE>(isa, keys) }
    }

    fn isa(&self) -> Self::Isa {
        self.isa
    }

    fn rekey(&mut self, keys: Keyed<'_>) {
        self.schedule = Schedule::new::<INVERSE>(self.isa, keys);
    }

    fn apply(&self, blocks: &mut [LanesOf<C>]) {
        let (groups, rest) = blocks.as_chunks_mut();
        if !groups.is_empty() {
            self.run_whole(groups);
        }
        match self.for_few() {
            Some(few) if rest.len() <= C::Few::REGISTERS => few.apply(rest),
            _ if rest.is_empty() => {}
            _ => filled_up(rest, |group| self.run_whole(std::slice::from_mut(group))),
        }
    }

    fn few(&self) -> usize {
        if self.for_few().is_some() { C::Few::REGISTERS } else { 0 }
    }

    fn chain(&self) -> Option<&dyn Chain> {
        let few = self.for_few()?;
        Some(few)
    }

    fn apply_each(each: &[&Self], blocks: &mut [LanesOf<C>]) {
        // Registers that fill up the group are run under the first keys, and dropped.
        let (isa, mut keys) = (each[0].isa, [each[0].per_lane(); GROUP]);
        for (keys, cipher) in keys.iter_mut().zip(each) {
            *keys = cipher.per_lane();
        }
        filled_up(blocks, |group| isa.vectorize(Each::<C> { keys, group }));
    }
}
