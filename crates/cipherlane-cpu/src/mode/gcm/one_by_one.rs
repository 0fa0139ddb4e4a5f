//! Messages with a key each, one by one.

use cipherlane_core::BLOCK;

use super::Direction;
use super::bunch::Bunch;
use super::one_key::OneKey;
use crate::cipher::{Permutation, Source, V};
use crate::job::Job;
use crate::lanes::Lanes;

/// Powers of H that pay for message `index`: all that a short message multiplies by, and no more.
#[inline(always)]
pub(super) fn powers<P: Permutation, const POWERS: usize>(job: &Job<'_>, index: usize) -> usize {
    let text = job.message(index).bytes.div_ceil(BLOCK);
    let aad = job.aad(index).len().div_ceil(BLOCK);
    if text + aad < POWERS { (text + aad).max(V::<P>::LANES) + 1 } else { POWERS }
}

/// What runs one message after the other.
pub(super) struct OneByOne<P: Permutation, D, const N: usize, const POWERS: usize, const KARATSUBA: bool> {
    source: P::Source,
    /// A key is expanded over that of the message before, and the last one is wiped.
    own: Option<OneKey<P, D, N, KARATSUBA>>,
    bunch: Option<Bunch<V<P>, N>>,
}

impl<P: Permutation, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool>
    OneByOne<P, D, N, POWERS, KARATSUBA>
{
    /// None yet.
    #[inline(always)]
    pub(super) fn new(source: P::Source) -> Self {
        Self { source, own: None, bunch: OneKey::<P, D, N, KARATSUBA>::no_bunch(source.isa()) }
    }

    /// Runs message `index`.
    #[inline(always)]
    pub(super) fn run(&mut self, job: &Job<'_>, index: usize) {
        let (key, highest) = (job.key(index), powers::<P, POWERS>(job, index));
        match &mut self.own {
            Some(own) => own.rekey(key, highest),
            None => self.own = Some(OneKey::new(self.source, key, highest)),
        }
        if let Some(own) = &self.own {
            own.run(job, index..index + 1, &mut self.bunch);
        }
    }
}
