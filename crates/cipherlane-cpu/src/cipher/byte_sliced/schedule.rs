//! What the one key of a byte-sliced cipher is expanded to, and when.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use cipherlane_core::BLOCK;
use zeroize::Zeroize;

use super::permutation::SlicedCipher;
use crate::cipher::few::Few;
use crate::lanes::bytes::IsaOf;
use crate::lanes::{Isa, Work};

/// A key, big-endian. Wiped when dropped.
pub(crate) struct Key {
    /// Its bytes, at most 32.
    pub(crate) bytes: usize,
    /// The first 16.
    pub(crate) first: u128,
    /// What follows them, then zeros.
    pub(crate) rest: u128,
}

impl Key {
    fn new(key: &[u8]) -> Self {
        let mut keys = Self { bytes: 0, first: 0, rest: 0 };
        keys.set(key);
        keys
    }

    /// Takes another key in the place of its own.
    fn set(&mut self, key: &[u8]) {
        self.bytes = key.len();
        let (first, rest) = key.split_at(BLOCK);
        for (word, bytes) in [(&mut self.first, first), (&mut self.rest, rest)] {
            let mut block = [0; BLOCK];
            block[..bytes.len()].copy_from_slice(bytes);
            *word = u128::from_be_bytes(block);
        }
    }
}

impl Drop for Key {
    #[inline(always)]
    fn drop(&mut self) {
        self.first.zeroize();
        self.rest.zeroize();
    }
}

/// One key, expanded for few blocks when there are few, and for groups when there is one: with a key for each message,
/// whether short or long, one of both is all that is needed.
pub(super) struct OneKey<C: SlicedCipher> {
    key: Key,
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
    pub(super) fn new(key: &[u8]) -> Self {
        let (few, groups, patience) = Default::default();
        Self { key: Key::new(key), few, groups, patience }
    }

    /// Takes another key in the place of its own.
    pub(super) fn rekey(&mut self, key: &[u8]) {
        self.key.set(key);
        self.few = OnceLock::new();
        self.groups = OnceLock::new();
        self.patience = AtomicUsize::new(0);
    }

    /// What runs few blocks, if there is something.
    pub(super) fn few<const INVERSE: bool>(&self, isa: IsaOf<C::Bytes>) -> Option<&C::Few> {
        let expand = || isa.vectorize(ForFew::<C, INVERSE> { isa, key: &self.key });
        if C::Few::REGISTERS > 0 { self.few.get_or_init(expand).as_ref() } else { None }
    }

    /// The round keys of groups.
    pub(super) fn groups<const INVERSE: bool>(&self, isa: IsaOf<C::Bytes>) -> &C::Shared {
        self.groups.get_or_init(|| {
            let mut shared = Box::new(C::none_shared(isa));
            isa.vectorize(Share::<C, INVERSE> { isa, key: &self.key, to: &mut shared });
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

/// [`SlicedCipher::share`] as work of its own, so that it is compiled once and not into every mode.
struct Share<'a, C: SlicedCipher, const INVERSE: bool> {
    isa: IsaOf<C::Bytes>,
    key: &'a Key,
    to: &'a mut C::Shared,
}

impl<C: SlicedCipher, const INVERSE: bool> Work for Share<'_, C, INVERSE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        C::share::<INVERSE>(self.isa, self.key, self.to);
    }
}

/// [`Few::new`] as work.
struct ForFew<'a, C: SlicedCipher, const INVERSE: bool> {
    isa: IsaOf<C::Bytes>,
    key: &'a Key,
}

impl<C: SlicedCipher, const INVERSE: bool> Work for ForFew<'_, C, INVERSE> {
    type Output = Option<C::Few>;

    #[inline(always)]
    fn run(self) -> Option<C::Few> {
        C::Few::new::<INVERSE>(self.isa, self.key)
    }
}
