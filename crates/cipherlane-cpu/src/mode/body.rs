//! From the body of a mode to the worker that threads run.

use std::ops::Range;

use cipherlane_core::BLOCK;

use crate::job::{Job, Message};
use crate::lanes::{Isa, Work};
use crate::worker::{Partial, Segment, Segments, Worker};

/// What a mode does with messages that may be cut into segments. Every function is `#[inline(always)]`: it is
/// compiled for the instruction set by [`Vectorized`].
pub(crate) trait Body: Send + Sync + 'static {
    /// Where it runs.
    type Isa: Isa;

    /// The instruction set.
    fn isa(&self) -> Self::Isa;

    /// Runs the messages of `range`.
    fn messages(&self, job: &Job<'_>, range: Range<usize>);

    /// Runs a segment of a message.
    fn segment(&self, job: &Job<'_>, segment: &Segment);
}

/// Where a segment lies.
///
/// # Safety
/// The segment lies within its message.
#[inline(always)]
pub(crate) unsafe fn part(job: &Job<'_>, segment: &Segment) -> Message {
    // SAFETY: the caller's promise.
    unsafe { job.message(segment.message).skip(segment.bytes.start).take(segment.bytes.len()) }
}

/// A body as a worker. These modes leave nothing to do once all bytes have been run.
pub(crate) struct Vectorized<T>(pub(crate) T);

struct Messages<'a, T> {
    body: &'a T,
    job: &'a Job<'a>,
    range: Range<usize>,
}

impl<T: Body> Work for Messages<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.body.messages(self.job, self.range);
    }
}

struct OneSegment<'a, T> {
    body: &'a T,
    job: &'a Job<'a>,
    segment: &'a Segment,
}

impl<T: Body> Work for OneSegment<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.body.segment(self.job, self.segment);
    }
}

impl<T: Body> Worker for Vectorized<T> {
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        self.0.isa().vectorize(Messages { body: &self.0, job, range });
    }

    fn segments(&self) -> Option<&dyn Segments> {
        Some(self)
    }
}

impl<T: Body> Segments for Vectorized<T> {
    fn segment(&self, job: &Job<'_>, segment: &Segment) -> Partial {
        self.0.isa().vectorize(OneSegment { body: &self.0, job, segment });
        [0; BLOCK]
    }

    fn finish(&self, _job: &Job<'_>, _message: usize, _segments: &[(Segment, Partial)]) {}
}
