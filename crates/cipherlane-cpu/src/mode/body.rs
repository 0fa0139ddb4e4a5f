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
    let part = unsafe { job.message(segment.message).skip(segment.bytes.start).take(segment.bytes.len()) };
    Message { past_caches: job.is_past_caches(part), ..part }
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

impl<T: Body> Vectorized<T> {
    /// Runs the messages of `range`, together.
    fn together(&self, job: &Job<'_>, range: Range<usize>) {
        if !range.is_empty() {
            self.0.isa().vectorize(Messages { body: &self.0, job, range });
        }
    }

    /// Runs bytes `bytes` of message `message`, which is not in place.
    fn stretch(&self, job: &Job<'_>, message: usize, bytes: Range<usize>) {
        let before = if bytes.start > 0 { job.block_before(message, bytes.start) } else { [0; BLOCK] };
        let segment = &Segment { message, bytes, before };
        self.0.isa().vectorize(OneSegment { body: &self.0, job, segment });
    }

    /// Runs bytes `bytes` of message `message`, which are stored past the caches: those before the first aligned
    /// output by themselves.
    fn past_caches(&self, job: &Job<'_>, message: usize, bytes: Range<usize>) {
        // SAFETY: the caller's segment lies within its message.
        let start = unsafe { job.message(message).skip(bytes.start) };
        let aligned = bytes.start + start.unaligned();
        if aligned > bytes.start {
            self.stretch(job, message, bytes.start..aligned);
        }
        self.stretch(job, message, aligned..bytes.end);
    }
}

impl<T: Body> Worker for Vectorized<T> {
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        if !job.has_past_caches() {
            return self.together(job, range);
        }
        let mut together = range.clone();
        for index in range {
            let message = job.message(index);
            if job.is_past_caches(message) {
                self.together(job, together.start..index);
                self.past_caches(job, index, 0..message.bytes);
                together.start = index + 1;
            }
        }
        self.together(job, together);
    }

    fn segments(&self) -> Option<&dyn Segments> {
        Some(self)
    }
}

impl<T: Body> Segments for Vectorized<T> {
    fn segment(&self, job: &Job<'_>, segment: &Segment) -> Partial {
        // SAFETY: the segment lies within its message.
        if job.is_past_caches(unsafe { part(job, segment) }) {
            self.past_caches(job, segment.message, segment.bytes.clone());
        } else {
            self.0.isa().vectorize(OneSegment { body: &self.0, job, segment });
        }
        [0; BLOCK]
    }

    fn finish(&self, _job: &Job<'_>, _message: usize, _segments: &[(Segment, Partial)]) {}
}
