//! Messages with a key each, one by one: for block ciphers whose keys do not expand lane by lane.

use std::marker::PhantomData;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::one_key::OneKey;
use super::Direction;
use crate::mode::keys::Keyless;
use crate::cipher::{Permutation, Source, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, Work};
use crate::worker::{Segments, Worker};

/// A worker without a key.
pub(crate) struct KeyEach<P: Permutation, D, const N: usize, const POWERS: usize, const KARATSUBA: bool> {
    source: P::Source,
    direction: PhantomData<(fn() -> P, D)>,
}

impl<P: Permutation, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool> Keyless<P>
    for KeyEach<P, D, N, POWERS, KARATSUBA>
{
    fn new(source: P::Source) -> Self {
        Self { source, direction: PhantomData }
    }
}

/// Powers of H that pay for message `index`: all that a short message multiplies by, and no more.
#[inline(always)]
pub(super) fn powers<P: Permutation, const POWERS: usize>(job: &Job<'_>, index: usize) -> usize {
    let text = job.message(index).bytes.div_ceil(BLOCK);
    let aad = job.aad(index).len().div_ceil(BLOCK);
    if text + aad < POWERS { (text + aad).max(V::<P>::LANES) + 1 } else { POWERS }
}

/// Whole messages, as work.
struct Messages<'a, T> {
    worker: &'a T,
    job: &'a Job<'a>,
    range: Range<usize>,
}

impl<P: Permutation, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool> Work
    for Messages<'_, KeyEach<P, D, N, POWERS, KARATSUBA>>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { worker: &KeyEach { source, .. }, job, range } = self;
        // A key is expanded over that of the message before, and the last one is wiped.
        let mut own: Option<OneKey<P, D, N, KARATSUBA>> = None;
        let mut bunch = OneKey::<P, D, N, KARATSUBA>::no_bunch(source.isa());
        for index in range {
            let (key, highest) = (job.key(index), powers::<P, POWERS>(job, index));
            match &mut own {
                Some(own) => own.rekey(key, highest),
                None => own = Some(OneKey::new(source, key, highest)),
            }
            if let Some(own) = &own {
                own.run(job, index..index + 1, &mut bunch);
            }
        }
    }
}

impl<P, D, const N: usize, const POWERS: usize, const KARATSUBA: bool> Worker
    for KeyEach<P, D, N, POWERS, KARATSUBA>
where
    P: Permutation,
    D: Direction,
{
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        self.source.isa().vectorize(Messages { worker: self, job, range });
    }

    fn segments(&self) -> Option<&dyn Segments> {
        None
    }
}
