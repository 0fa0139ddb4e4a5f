//! A hash function on an engine, as threads run it.

use std::ops::Range;

use super::streams::Streams;
use super::{Absorb, Iterated};
use crate::job::Job;
use crate::lanes::Work;
use crate::order::Order;
use crate::worker::{Kernel, Segments, Worker};

/// A hash function on an engine: kernel and worker in one, as there is no key.
#[derive(Clone, Copy)]
pub(crate) struct Hashing<H, E> {
    hash: H,
    engine: E,
}

impl<H: Iterated, E: Absorb<H>> Hashing<H, E> {
    pub(crate) fn new(hash: H, engine: E) -> Self {
        Self { hash, engine }
    }
}

impl<H: Iterated, E: Absorb<H>> Kernel for Hashing<H, E> {
    fn worker(&self, _key: Option<&[u8]>) -> Box<dyn Worker> {
        Box::new(*self)
    }
}

impl<H: Iterated, E: Absorb<H>> Worker for Hashing<H, E> {
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        self.engine.compiled(Batch { hashing: *self, job, range });
    }

    fn segments(&self) -> Option<&dyn Segments> {
        None
    }
}

/// The messages of a range, as work.
struct Batch<'a, H, E> {
    hashing: Hashing<H, E>,
    job: &'a Job<'a>,
    range: Range<usize>,
}

impl<H: Iterated, E: Absorb<H>> Work for Batch<'_, H, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Hashing { hash, engine } = self.hashing;
        Streams::new(hash, engine, self.job, Order::by_bytes(self.job, self.range, hash.most_in_a_block()))
            .run();
    }
}
