//! Key schedules of messages with a key each, in places that those of the next messages take over.

use std::mem::MaybeUninit;

use crate::cipher::KeyPerLane;
use crate::job::Job;
use crate::lanes::MAX_LANES;

/// Most sets of lanes that run together.
pub(super) const MAX_SETS: usize = 2;

/// The key schedules of the sets of lanes that run now. They stay where they are expanded, because copies take long, and
/// are wiped after the last ones alone: those before were written over, and to wipe each took a twentieth of the time.
pub(super) struct Schedules<P> {
    places: [MaybeUninit<P>; MAX_SETS],
    /// Places that were ever written.
    written: usize,
}

impl<P> Schedules<P> {
    /// None yet.
    pub(super) const fn new() -> Self {
        Self { places: [const { MaybeUninit::uninit() }; MAX_SETS], written: 0 }
    }
}

impl<P: KeyPerLane> Schedules<P> {
    /// The ciphers of G sets: lane by lane, under the keys of the messages `lanes`.
    #[inline(always)]
    pub(super) fn expand<const G: usize>(
        &mut self,
        source: P::Source,
        job: &Job<'_>,
        lanes: &[[usize; MAX_LANES]; G],
    ) -> &[P; G] {
        const { assert!(G <= MAX_SETS) };
        let places = self.places.as_mut_ptr().cast::<[MaybeUninit<P>; G]>();
        // SAFETY: there are at least G places, and all G are written before they are read.
        unsafe {
            P::sets_per_lane(&mut *places, source, |set, lane| job.key(lanes[set][lane]));
            self.written = self.written.max(G);
            &*places.cast()
        }
    }
}

impl<P: KeyPerLane> Schedules<P> {
    /// Expands the keys of the first of some sets that take turns.
    #[inline(always)]
    pub(super) fn begin<'k>(&mut self, source: P::Source, key: impl Fn(usize) -> &'k [u8]) {
        let [first, ..] = &mut self.places;
        P::sets_per_lane(std::array::from_mut(first), source, |_, lane| key(lane));
        self.written = self.written.max(1);
    }

    /// The cipher of set `set`, and where that of the next set is to be expanded. There are two turns at least: the second
    /// takes down that the first has written a place, to be wiped.
    ///
    /// # Safety
    /// Set 0 has [begun](Self::begin), each other one was expanded where this said.
    #[inline(always)]
    pub(super) unsafe fn turn(&mut self, set: usize) -> (&P, &mut MaybeUninit<P>) {
        self.written = self.written.max((set + 1).min(MAX_SETS));
        let places = self.places.as_mut_ptr();
        // SAFETY: two places, of which one was written.
        unsafe { (&*places.add(set % MAX_SETS).cast(), &mut *places.add((set + 1) % MAX_SETS)) }
    }
}

impl<P> Drop for Schedules<P> {
    fn drop(&mut self) {
        for place in &mut self.places[..self.written] {
            // SAFETY: it was written. What was there before held nothing but a key, which the last one has replaced.
            unsafe { place.assume_init_drop() }
        }
    }
}
