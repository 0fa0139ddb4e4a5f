//! Keys that are expanded before their messages run: as many as a register has lanes, side by side. The steps of an
//! expansion wait for one another, and a message that has groups of its own to run takes few other steps.

use super::{OneKey, Prepared};
use crate::cipher::{KeyPerLane, Permutation, Source, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::gcm::Direction;
use crate::mode::gcm::ghash::LanePowers;

/// The keys of messages that follow one another, a lane each. Wiped when dropped.
pub(in super::super) struct Ahead<P: Permutation> {
    cipher: Option<P>,
    powers: LanePowers<V<P>>,
    /// The message of the first lane.
    first: usize,
}

impl<P: KeyPerLane> Ahead<P> {
    /// No keys.
    #[inline(always)]
    pub(in super::super) const fn none() -> Self {
        Self { cipher: None, powers: LanePowers::none(), first: 0 }
    }

    /// The lane of message `index`, if its key is expanded.
    #[inline(always)]
    pub(in super::super) fn lane(&self, index: usize) -> Option<usize> {
        self.cipher.as_ref()?;
        index.checked_sub(self.first).filter(|&lane| lane < V::<P>::LANES)
    }

    /// Expands the keys of LANES messages from `first` on, with powers of their hash keys up to `highest`.
    #[inline(always)]
    pub(in super::super) fn expand(
        &mut self,
        source: P::Source,
        job: &Job<'_>,
        first: usize,
        highest: usize,
    ) {
        self.first = first;
        source.isa().vectorize(Expand { ahead: self, source, job, highest });
    }
}

/// The expansion, as work.
struct Expand<'a, P: Permutation> {
    ahead: &'a mut Ahead<P>,
    source: P::Source,
    job: &'a Job<'a>,
    highest: usize,
}

impl<P: KeyPerLane> Work for Expand<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { ahead: Ahead { cipher, powers, first }, source, job, highest } = self;
        let key = |lane| job.key(*first + lane);
        let cipher = match cipher {
            Some(cipher) => {
                cipher.rekey_lanes(key);
                cipher
            }
            None => cipher.insert(P::per_lane(source, key)),
        };
        let [h] = cipher.apply([source.isa().zero()]);
        powers.rekey(h, highest);
    }
}

impl<P: KeyPerLane, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// [`OneKey::put`] of `key`, which was expanded `ahead` in lane `lane`. The first key of a place is expanded by itself
    /// all the same: there is nothing yet to take another's parts into.
    #[inline(always)]
    pub(in super::super) fn put_from<'p>(
        place: &'p mut Option<Self>,
        source: P::Source,
        key: &[u8],
        (ahead, lane): (&Ahead<P>, usize),
        prepared: Prepared,
    ) -> &'p Self {
        match (place, &ahead.cipher) {
            (Some(one), Some(cipher)) => {
                let highest = prepared.powers;
                source.isa().vectorize(Take { one, cipher, powers: &ahead.powers, lane, highest });
                one.prepare_first_round(prepared);
                one
            }
            (place, _) => Self::put(place, source, key, prepared),
        }
    }
}

/// The taking of a key from its lane, as work.
struct Take<'a, P: Permutation, D, const N: usize, const KARATSUBA: bool> {
    one: &'a mut OneKey<P, D, N, KARATSUBA>,
    cipher: &'a P,
    powers: &'a LanePowers<V<P>>,
    lane: usize,
    highest: usize,
}

impl<P: KeyPerLane, D, const N: usize, const KARATSUBA: bool> Work for Take<'_, P, D, N, KARATSUBA> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { one, cipher, powers, lane, highest } = self;
        one.cipher.rekey_from(cipher, lane);
        one.powers.rekey_from(powers, lane, highest);
    }
}
