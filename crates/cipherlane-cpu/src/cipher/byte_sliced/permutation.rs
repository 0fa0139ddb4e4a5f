//! A byte-sliced cipher that runs blocks, under one key or a key for each lane.

use super::schedule::{Keys, OneKey, Schedule};
use super::{GROUP, transpose};
use crate::cipher::few::{Chain, Few};
use crate::cipher::grouped::{InGroups, Keyed, filled_up};
use crate::lanes::bytes::{Bytes, IsaOf};
use crate::lanes::{Isa, Work};

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

pub(super) type LanesOf<C> = <<C as SlicedCipher>::Bytes as Bytes>::Lanes;

/// Sixteen registers of blocks.
type Group<C> = [LanesOf<C>; GROUP];

/// C under a key, or under a key a lane. INVERSE decrypts.
pub(crate) struct ByteSliced<C: SlicedCipher, const INVERSE: bool> {
    isa: IsaOf<C::Bytes>,
    schedule: Schedule<C>,
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
                isa.vectorize(Whole::<C> { isa, keys: one.groups::<INVERSE>(isa), groups });
            }
            Schedule::PerLane(keys) => {
                for group in groups {
                    isa.vectorize(Each::<C> { keys: [keys; GROUP], group });
                }
            }
        }
    }

    /// The key of all lanes, if they have the same.
    fn one_key(&self) -> Option<&OneKey<C>> {
        match &self.schedule {
            Schedule::Shared(one) => Some(one),
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
        self.schedule.rekey::<INVERSE>(self.isa, keys);
    }

    fn apply(&self, blocks: &mut [LanesOf<C>]) {
        let (groups, rest) = blocks.as_chunks_mut();
        if !groups.is_empty() {
            self.run_whole(groups);
        }
        if rest.is_empty() {
            return;
        }
        if let Some(one) = self.one_key()
            && let Some(few) = one.few_for::<INVERSE>(self.isa, rest.len())
        {
            return few.apply(rest);
        }
        filled_up(rest, |group| self.run_whole(std::slice::from_mut(group)));
    }

    fn few(&self) -> usize {
        self.one_key().map_or(0, OneKey::most)
    }

    fn chain(&self) -> Option<&dyn Chain> {
        let few = self.one_key()?.few::<INVERSE>(self.isa)?;
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
