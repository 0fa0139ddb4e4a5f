//! A kernel by itself as a session: one thread, no crew, and messages cut as closely as kernels allow.

use std::ops::Range;
use std::time::{Duration, Instant};

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Checked, Column, DeviceError, Operation, Output, Session, Spans,
};

use crate::job::Job;
use crate::worker::{Kernel, LAST_SEGMENT, Segment, Segments};

/// Runs a kernel on the calling thread, where tests want to see what no crew would ask of it.
pub(crate) struct Bare {
    algorithm: Algorithm,
    operation: Operation,
    kernel: Box<dyn Kernel>,
    /// Bytes of a segment, a multiple of 16; `None` runs whole messages.
    segment: Option<usize>,
}

impl Bare {
    /// A session of `kernel` that cuts messages into segments of `segment` bytes, where the kernel takes segments.
    ///
    /// # Panics
    /// If segments are not whole blocks.
    pub(crate) fn new(
        (algorithm, operation): (Algorithm, Operation),
        kernel: Box<dyn Kernel>,
        segment: Option<usize>,
    ) -> Self {
        let whole_blocks = |bytes: usize| bytes > 0 && bytes.is_multiple_of(BLOCK);
        assert!(segment.is_none_or(whole_blocks), "segments are whole blocks");
        Self { algorithm, operation, kernel, segment }
    }
}

impl Session for Bare {
    fn run(&mut self, batch: &Batch<'_>, output: &mut Output<'_>) -> Result<Spans, DeviceError> {
        let start = Instant::now();
        batch.check_operation(self.algorithm, self.operation)?;
        // Before the key is expanded, which takes its length for granted.
        let checked = Checked::new(batch, output)?;
        if batch.is_empty() {
            return Ok(Spans::default());
        }
        let key = match batch.keys {
            Column::Shared(key) => Some(key),
            Column::Each { .. } | Column::Ragged(_) => None,
        };
        let worker = self.kernel.worker(key);
        let job = Job::new(checked);
        match (self.segment, worker.segments()) {
            (Some(bytes), Some(segments)) => {
                (0..batch.len()).for_each(|message| run_cut(segments, &job, message, bytes));
            }
            // Out of order, as threads take them.
            _ => {
                let middle = batch.len() / 3;
                worker.messages(&job, middle..batch.len());
                worker.messages(&job, 0..middle);
            }
        }
        let wall = start.elapsed();
        Ok(Spans { load: Duration::ZERO, execute: wall, store: Duration::ZERO, wall })
    }
}

/// Runs one message in segments of `bytes` bytes, the last one first.
fn run_cut(segments: &dyn Segments, job: &Job<'_>, message: usize, bytes: usize) {
    let parts = cut(job.message(message).bytes, bytes).map(|bytes| {
        let start = bytes.start;
        let before = if start > 0 { job.block_before(message, start) } else { [0; BLOCK] };
        Segment { message, bytes, before }
    });
    let parts: Vec<_> = parts.collect();
    let run = |part: Segment| (part.clone(), segments.segment(job, &part));
    let mut done: Vec<_> = parts.into_iter().rev().map(run).collect();
    done.reverse();
    segments.finish(job, message, &done);
}

/// Cuts a message of `bytes` bytes as closely as kernels allow: into segments of `chunk` bytes, a multiple of 16. The
/// last one takes the rest, and a rest shorter than [`LAST_SEGMENT`] joins the segment before it.
fn cut(bytes: usize, chunk: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let last = bytes.saturating_sub(LAST_SEGMENT) / chunk;
    (0..last + 1).map(move |i| i * chunk..if i == last { bytes } else { (i + 1) * chunk })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cover_a_message_and_the_last_is_never_short() {
        for bytes in (0..300).chain([4096, 4097]) {
            for chunk in [16, 32, 48, 160] {
                let segments: Vec<_> = cut(bytes, chunk).collect();
                assert_eq!((segments[0].start, segments.last().unwrap().end), (0, bytes));
                assert!(segments.windows(2).all(|pair| pair[0].end == pair[1].start));
                let (last, rest) = segments.split_last().unwrap();
                assert!(rest.iter().all(|segment| segment.len() == chunk));
                assert!(rest.is_empty() || last.len() >= LAST_SEGMENT, "{bytes} {chunk}");
            }
        }
    }
}
