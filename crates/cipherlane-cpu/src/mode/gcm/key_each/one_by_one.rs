//! Messages with a key each, one by one.

use cipherlane_core::BLOCK;

use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::Lanes;
use crate::mode::gcm::Direction;
use crate::mode::gcm::one_key::Bunch;
use crate::mode::gcm::one_key::OneKey;

/// Powers of H that pay for message `index`: all that a short message multiplies by, and no more. A long one, of groups of N
/// registers, multiplies by those of a group, and by those of what it leaves with its ends.
#[inline(always)]
fn powers<P: Permutation, const N: usize, const POWERS: usize>(job: &Job<'_>, index: usize) -> usize {
    let (lanes, text) = (V::<P>::LANES, job.message(index).bytes.div_ceil(BLOCK));
    let aad = job.aad(index).len().div_ceil(BLOCK);
    let of_groups = ((N + 2) * lanes).min(POWERS);
    if text + aad < of_groups { (text + aad).max(lanes) + 1 } else { of_groups }
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
    let (key, highest) = (job.key(index), powers::<P, N, POWERS>(job, index));
    OneKey::put(own, source, key, highest).run_in(job, index..index + 1, bunch);
}
