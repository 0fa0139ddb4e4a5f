//! Messages with a key each, one by one.

use cipherlane_core::BLOCK;

use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::Lanes;
use crate::mode::gcm::Direction;
use crate::mode::gcm::one_key::Bunch;
use crate::mode::gcm::one_key::OneKey;

/// Powers of H that pay for message `index`: all that a short message multiplies by, and no more.
#[inline(always)]
pub(super) fn powers<P: Permutation, const POWERS: usize>(job: &Job<'_>, index: usize) -> usize {
    let text = job.message(index).bytes.div_ceil(BLOCK);
    let aad = job.aad(index).len().div_ceil(BLOCK);
    if text + aad < POWERS { (text + aad).max(V::<P>::LANES) + 1 } else { POWERS }
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
    let (key, highest) = (job.key(index), powers::<P, POWERS>(job, index));
    match own {
        Some(own) => own.rekey(key, highest),
        None => *own = Some(OneKey::new(source, key, highest)),
    }
    if let Some(own) = own {
        own.run_in(job, index..index + 1, bunch);
    }
}
