//! Messages with a key each, one by one.

use cipherlane_core::BLOCK;

use super::company::MAX_TEXT_BLOCKS;
use crate::cipher::{KeyPerLane, Permutation, Source, V};
use crate::job::Job;
use crate::lanes::Lanes;
use crate::mode::gcm::Direction;
use crate::mode::gcm::one_key::{Ahead, Bunch, OneKey, Prepared};

/// From how many blocks on a message gains more by knowing first rounds than they take, measured on Emerald Rapids: for the
/// first message they are in no cache, and are wiped.
const KNOWS_FIRST_ROUND: [usize; 2] = [1280, 1024];

/// Messages that run one by one. A key is expanded over that of the message before, and the last one is wiped.
pub(super) struct OneByOne<'j, P, D, const N: usize, const POWERS: usize, const KARATSUBA: bool>
where
    P: Permutation,
{
    job: &'j Job<'j>,
    source: P::Source,
    key: Option<OneKey<P, D, N, KARATSUBA>>,
    /// Of a cipher that runs whole groups.
    bunch: Option<Bunch<V<P>, N>>,
}

impl<'j, P: Permutation, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool>
    OneByOne<'j, P, D, N, POWERS, KARATSUBA>
{
    /// Those of `job`.
    #[inline(always)]
    pub(super) fn new(job: &'j Job<'j>, source: P::Source) -> Self {
        let bunch = OneKey::<P, D, N, KARATSUBA>::no_bunch(source.isa());
        Self { job, source, key: None, bunch }
    }

    /// Runs message `index`.
    #[inline(always)]
    pub(super) fn run(&mut self, index: usize) {
        let prepared = self.prepared(index);
        let key = OneKey::put(&mut self.key, self.source, self.job.key(index), prepared);
        key.run_in(self.job, index..index + 1, &mut self.bunch);
    }

    /// What pays for message `index`: powers of H for all that a short message multiplies by, and no more. A long one, of
    /// groups of N registers, multiplies by those of a group, and by those of what it leaves with its ends.
    #[inline(always)]
    fn prepared(&self, index: usize) -> Prepared {
        let (lanes, text) = (V::<P>::LANES, self.job.message(index).bytes.div_ceil(BLOCK));
        let aad = self.job.aad(index).len().div_ceil(BLOCK);
        let of_groups = ((N + 2) * lanes).min(POWERS);
        let powers = if text + aad < of_groups { (text + aad).max(lanes) + 1 } else { of_groups };
        Prepared { powers, first_round: text >= KNOWS_FIRST_ROUND[usize::from(self.key.is_some())] }
    }
}

impl<P: KeyPerLane, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool>
    OneByOne<'_, P, D, N, POWERS, KARATSUBA>
{
    /// Expands the keys of as many messages from `first` on as there are lanes, all of them longer than groups.
    #[inline(always)]
    pub(super) fn expand_ahead(&self, first: usize, ahead: &mut Ahead<P>) {
        // Longer than those that share registers, they need as many powers as each other.
        const { assert!((N + 2) * <V<P> as Lanes>::LANES <= MAX_TEXT_BLOCKS + 1) }
        ahead.expand(self.source, self.job, first, self.prepared(first).powers);
    }

    /// Runs message `index`, whose key may have been expanded `ahead`.
    #[inline(always)]
    pub(super) fn run_from(&mut self, index: usize, ahead: &Ahead<P>) {
        let (job, prepared) = (self.job, self.prepared(index));
        let (place, source, key) = (&mut self.key, self.source, job.key(index));
        let key = match ahead.lane(index) {
            Some(lane) => OneKey::put_from(place, source, key, (ahead, lane), prepared),
            None => OneKey::put(place, source, key, prepared),
        };
        key.run_in(job, index..index + 1, &mut self.bunch);
    }
}
