//! Messages with a key each, one by one.

use cipherlane_core::BLOCK;

use crate::cipher::{KeyPerLane, Permutation, V};
use crate::job::Job;
use crate::lanes::Lanes;
use crate::mode::gcm::Direction;
use crate::mode::gcm::one_key::{Ahead, Bunch, OneKey, Prepared};

/// From how many blocks on a message gains more by knowing first rounds than they take, measured on Emerald Rapids: for the
/// first message they are in no cache, and are wiped.
const KNOWS_FIRST_ROUND: [usize; 2] = [1280, 1024];

/// What pays for message `index`: powers of H for all that a short message multiplies by, and no more. A long one, of groups
/// of N registers, multiplies by those of a group, and by those of what it leaves with its ends.
#[inline(always)]
fn prepared<P: Permutation, const N: usize, const POWERS: usize>(
    job: &Job<'_>,
    index: usize,
    is_first: bool,
) -> Prepared {
    let (lanes, text) = (V::<P>::LANES, job.message(index).bytes.div_ceil(BLOCK));
    let aad = job.aad(index).len().div_ceil(BLOCK);
    let of_groups = ((N + 2) * lanes).min(POWERS);
    let powers = if text + aad < of_groups { (text + aad).max(lanes) + 1 } else { of_groups };
    Prepared { powers, first_round: text >= KNOWS_FIRST_ROUND[usize::from(!is_first)] }
}

/// Runs message `index`, whose key is expanded over that of the message before. The last one is wiped.
#[inline(always)]
pub(super) fn run<
    P: Permutation,
    D: Direction,
    const N: usize,
    const POWERS: usize,
    const KARATSUBA: bool,
>(
    (job, index): (&Job<'_>, usize),
    source: P::Source,
    own: &mut Option<OneKey<P, D, N, KARATSUBA>>,
    bunch: &mut Option<Bunch<V<P>, N>>,
) {
    let prepared = prepared::<P, N, POWERS>(job, index, own.is_none());
    OneKey::put(own, source, job.key(index), prepared).run_in(job, index..index + 1, bunch);
}

/// [`run`] of a message whose key was expanded `ahead`, or is now, where as many as fill the lanes `follow`.
#[inline(always)]
pub(super) fn run_ahead<
    P: KeyPerLane,
    D: Direction,
    const N: usize,
    const POWERS: usize,
    const KARATSUBA: bool,
>(
    (job, index): (&Job<'_>, usize),
    source: P::Source,
    own: &mut Option<OneKey<P, D, N, KARATSUBA>>,
    ahead: &mut Ahead<P>,
    follow: bool,
) {
    let prepared = prepared::<P, N, POWERS>(job, index, own.is_none());
    if follow && ahead.lane(index).is_none() {
        ahead.expand(source, job, index, prepared.powers);
    }
    let Some(lane) = ahead.lane(index) else {
        return run::<P, D, N, POWERS, KARATSUBA>((job, index), source, own, &mut None);
    };
    OneKey::put_from(own, source, job.key(index), (ahead, lane), prepared).run_in(
        job,
        index..index + 1,
        &mut None,
    );
}
