//! What keys of byte-sliced ciphers are expanded to, and when.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use cipherlane_core::BLOCK;
use zeroize::Zeroize;

use super::permutation::{LanesOf, SlicedCipher};
use crate::cipher::few::Few;
use crate::cipher::grouped::Keyed;
use crate::lanes::bytes::IsaOf;
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};

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
    pub(super) fn new(of: Keyed<'_>) -> Self {
        let mut keys = Self { bytes: 0, first: [0; MAX_LANES], rest: [0; MAX_LANES] };
        keys.set(of);
        keys
    }

    /// Takes other keys in the place of its own.
    fn set(&mut self, of: Keyed<'_>) {
        self.bytes = of.of(0).len();
        for lane in 0..of.count() {
            let (first, rest) = of.of(lane).split_at(BLOCK);
            for (word, bytes) in [(&mut self.first[lane], first), (&mut self.rest[lane], rest)] {
                let mut block = [0; BLOCK];
                block[..bytes.len()].copy_from_slice(bytes);
                *word = u128::from_be_bytes(block);
            }
        }
    }
}

impl Drop for Keys {
    #[inline(always)]
    fn drop(&mut self) {
        self.first.zeroize();
        self.rest.zeroize();
    }
}

/// What keys are expanded to.
pub(super) enum Schedule<C: SlicedCipher> {
    /// A key a lane.
    PerLane(C::PerLane),
    Shared(OneKey<C>),
}

/// One key, expanded for few blocks when there are few, and for groups when there is one: with a key for each message,
/// whether short or long, one of both is all that is needed.
pub(super) struct OneKey<C: SlicedCipher> {
    keys: Keys,
    few: OnceLock<Option<C::Few>>,
    groups: OnceLock<Box<C::Shared>>,
    /// How often a few blocks were run that a group would have been faster for.
    patience: AtomicUsize,
}

/// How many times as many registers as [`Few::REGISTERS`] are run as few before keys are expanded for groups: that takes as
/// long as two or three groups.
const WITHOUT_GROUPS: usize = 2;
/// How often: then the key is one that is used again and again.
const PATIENCE: usize = 4;

impl<C: SlicedCipher> OneKey<C> {
    fn new(keys: Keys) -> Self {
        let (few, groups, patience) = Default::default();
        Self { keys, few, groups, patience }
    }

    /// Takes another key in the place of its own.
    fn rekey(&mut self, of: Keyed<'_>) {
        self.keys.set(of);
        self.few = OnceLock::new();
        self.groups = OnceLock::new();
        self.patience = AtomicUsize::new(0);
    }

    /// What runs few blocks, if there is something.
    pub(super) fn few<const INVERSE: bool>(&self, isa: IsaOf<C::Bytes>) -> Option<&C::Few> {
        let expand = || isa.vectorize(ForFew::<C, INVERSE> { isa, keys: &self.keys });
        if C::Few::REGISTERS > 0 { self.few.get_or_init(expand).as_ref() } else { None }
    }

    /// The round keys of groups.
    pub(super) fn groups<const INVERSE: bool>(&self, isa: IsaOf<C::Bytes>) -> &C::Shared {
        self.groups.get_or_init(|| {
            let mut shared = Box::new(C::none_shared());
            isa.vectorize(Share::<C, INVERSE> { isa, keys: &self.keys, to: &mut shared });
            shared
        })
    }

    /// What runs `registers` registers, if they are few.
    pub(super) fn few_for<const INVERSE: bool>(
        &self,
        isa: IsaOf<C::Bytes>,
        registers: usize,
    ) -> Option<&C::Few> {
        if registers > self.most() {
            return None;
        }
        if registers > C::Few::REGISTERS {
            self.patience.fetch_add(1, Ordering::Relaxed);
        }
        self.few::<INVERSE>(isa)
    }

    /// Up to how many registers are few.
    pub(super) fn most(&self) -> usize {
        let waits = self.groups.get().is_none() && self.patience.load(Ordering::Relaxed) < PATIENCE;
        if waits { WITHOUT_GROUPS * C::Few::REGISTERS } else { C::Few::REGISTERS }
    }
}

impl<C: SlicedCipher> Schedule<C> {
    pub(super) fn new<const INVERSE: bool>(isa: IsaOf<C::Bytes>, of: Keyed<'_>) -> Self {
        let keys = Keys::new(of);
        match of {
            Keyed::Shared(_) => Self::Shared(OneKey::new(keys)),
            Keyed::PerLane(_) => {
                let mut per_lane = C::none_per_lane(isa);
                isa.vectorize(Expand::<C, INVERSE> { isa, keys: &keys, to: &mut per_lane });
                Self::PerLane(per_lane)
            }
        }
    }

    /// Takes other keys in the place of its own: where these lie, if they are as many.
    pub(super) fn rekey<const INVERSE: bool>(&mut self, isa: IsaOf<C::Bytes>, of: Keyed<'_>) {
        match (&mut *self, of) {
            (Self::PerLane(to), Keyed::PerLane(_)) => {
                isa.vectorize(Expand::<C, INVERSE> { isa, keys: &Keys::new(of), to });
            }
            (Self::Shared(one), Keyed::Shared(_)) => one.rekey(of),
            _ => *self = Self::new::<INVERSE>(isa, of),
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
