//! Galois/counter mode (SP 800-38D), encrypted and hashed in one pass.
//!
//! Messages are run in one of several ways, chosen by their lengths and by what lies beside them: those under [one
//! key](one_key), whose schedule and powers of H all share, and those with a [key each](key_each), which brings its own.

pub(crate) mod counter;
mod ending;
mod equal;
pub(crate) mod ghash;
mod key_each;
mod one_key;
mod text;

use std::marker::PhantomData;

use crate::cipher::Permutation;
use crate::job::Job;
use crate::lanes::Lanes;
use crate::mode::keys::KeyEachWorker;
use crate::worker::{Kernel, Worker};
pub(crate) use key_each::{InLanes, InTeams};
use one_key::OneKey;

/// Sealing or opening.
pub(crate) trait Direction: Send + Sync + 'static {
    /// Whether the input is the ciphertext.
    const OPEN: bool;
    /// Hands out the tag of message `index`: stores it, or compares it and stores the verdict.
    fn conclude(job: &Job<'_>, index: usize, tag: u128);
    /// The same for a message a lane, from message `first` on.
    fn conclude_each<V: Lanes>(job: &Job<'_>, first: usize, tags: V);
    /// The same for those of `indices`, LANES at most.
    fn conclude_some<V: Lanes>(job: &Job<'_>, indices: &[usize], tags: V);
}

/// Makes tags.
pub(crate) struct Seal;

impl Direction for Seal {
    const OPEN: bool = false;

    #[inline(always)]
    fn conclude(job: &Job<'_>, index: usize, tag: u128) {
        job.put_tag(index, tag);
    }

    #[inline(always)]
    fn conclude_each<V: Lanes>(job: &Job<'_>, first: usize, tags: V) {
        job.put_tags(first, tags);
    }

    #[inline(always)]
    fn conclude_some<V: Lanes>(job: &Job<'_>, indices: &[usize], tags: V) {
        job.put_tags_of(indices, tags);
    }
}

/// Checks tags.
pub(crate) struct Open;

impl Direction for Open {
    const OPEN: bool = true;

    #[inline(always)]
    fn conclude(job: &Job<'_>, index: usize, tag: u128) {
        job.check_tag(index, tag);
    }

    #[inline(always)]
    fn conclude_each<V: Lanes>(job: &Job<'_>, first: usize, tags: V) {
        job.check_tags(first, tags);
    }

    #[inline(always)]
    fn conclude_some<V: Lanes>(job: &Job<'_>, indices: &[usize], tags: V) {
        job.check_tags_of(indices, tags);
    }
}

/// Types that a kernel names and has no values of.
type Parts<P, D, K> = fn() -> (P, D, K);

/// GCM over block cipher P, with N registers in flight and powers of H up to POWERS, or more where series run; K runs
/// messages with a key each.
pub(crate) struct Gcm<P: Permutation, D, K, const N: usize, const POWERS: usize, const KARATSUBA: bool> {
    source: P::Source,
    parts: PhantomData<Parts<P, D, K>>,
}

impl<P: Permutation, D, K, const N: usize, const POWERS: usize, const KARATSUBA: bool>
    Gcm<P, D, K, N, POWERS, KARATSUBA>
{
    /// The kernel of `source`.
    pub(crate) fn new(source: P::Source) -> Self {
        Self { source, parts: PhantomData }
    }
}

impl<P, D, K, const N: usize, const POWERS: usize, const KARATSUBA: bool> Kernel
    for Gcm<P, D, K, N, POWERS, KARATSUBA>
where
    P: Permutation + 'static,
    D: Direction,
    K: KeyEachWorker<P>,
{
    fn worker(&self, key: Option<&[u8]>) -> Box<dyn Worker> {
        match key {
            Some(key) => Box::new(OneKey::<P, D, N, KARATSUBA>::shared(self.source, key, POWERS)),
            None => Box::new(K::new(self.source)),
        }
    }
}
