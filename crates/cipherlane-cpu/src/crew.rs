//! How a batch spreads over the threads of a session.

use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use cipherlane_core::{Column, DeviceError};
use cipherlane_threads::{Pool, Threads};
use zeroize::Zeroize;

use crate::describe::ID;
use crate::job::Job;
use crate::split::{self, Split, Task};
use crate::worker::{Partial, Segment, Segments, Worker};

/// Threads, and the lists of their work, which keep their memory from batch to batch.
pub(crate) struct Crew {
    pool: Arc<Pool>,
    chunk: usize,
    lanes: usize,
    tasks: Vec<Task>,
    /// What the segment of the task with the same index leaves.
    partials: Vec<OnceLock<Partial>>,
    /// The segments of the batch, those of one message together and in order.
    segments: Vec<(Segment, Partial)>,
    /// The stretches of `segments` that are one message each.
    messages: Vec<Range<usize>>,
}

impl Crew {
    /// A crew whose threads are those of `pool` and take `chunk` bytes at a time, for kernels with `lanes` blocks in
    /// flight.
    pub(crate) fn new(pool: Arc<Pool>, chunk: usize, lanes: usize) -> Self {
        let (tasks, partials, segments, messages) = Default::default();
        Self { pool, chunk, lanes, tasks, partials, segments, messages }
    }

    /// Bytes that a thread takes at a time.
    pub(crate) const fn chunk(&self) -> usize {
        self.chunk
    }

    /// Calls `work(i)` once for each `i` below `parts`.
    pub(crate) fn on_threads(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        self.pool.lend(|threads| threads.run(parts, work));
    }

    /// Runs the whole batch.
    pub(crate) fn run(&mut self, worker: &dyn Worker, job: &Job<'_>) {
        let batch = job.batch();
        if self.pool.threads() == 1 {
            return worker.messages(job, 0..batch.len());
        }
        let cost = split::message_cost(batch.keys.is_shared()) + average_bytes(&batch.aad, batch.len());
        let segments = worker.segments();
        let split = match segments {
            Some(_) => Split::with_segments(batch.messages.offsets, cost, self.chunk),
            None => {
                let among = (self.lanes, self.pool.threads());
                Split::whole(batch.messages.offsets, cost, self.chunk, among)
            }
        };
        if split.is_one_task() {
            return worker.messages(job, 0..batch.len());
        }
        split.evenly(self.pool.threads()).collect(&mut self.tasks);
        let pool = Arc::clone(&self.pool);
        pool.lend(|threads| match segments {
            Some(segments) if self.tasks.iter().any(Task::is_segment) => {
                self.run_segments(threads, worker, segments, job);
            }
            _ => self.run_messages(threads, worker, job),
        });
    }

    /// Runs tasks of whole messages.
    fn run_messages(&self, threads: &mut Threads, worker: &dyn Worker, job: &Job<'_>) {
        let tasks = &self.tasks;
        threads.run(tasks.len(), |index| {
            if let Task::Messages(range) = &tasks[index] {
                worker.messages(job, range.clone());
            }
        });
    }

    /// Runs tasks of both kinds, then ends the messages that were cut.
    fn run_segments(
        &mut self,
        threads: &mut Threads,
        worker: &dyn Worker,
        segments: &dyn Segments,
        job: &Job<'_>,
    ) {
        // However this ends.
        let crew = Secretive(self);
        let crew = &mut *crew.0;
        crew.save_what_lies_before(job);
        crew.partials.clear();
        crew.partials.resize_with(crew.tasks.len(), OnceLock::new);
        let (tasks, partials) = (&crew.tasks, &crew.partials);
        threads.run(tasks.len(), |index| match &tasks[index] {
            Task::Messages(range) => worker.messages(job, range.clone()),
            Task::Segment(segment) => {
                let partial = segments.segment(job, segment);
                partials[index].get_or_init(|| partial);
            }
        });
        crew.gather();
        let (done, messages) = (&crew.segments, &crew.messages);
        threads.run(messages.len(), |index| {
            let parts = &done[messages[index].clone()];
            segments.finish(job, parts[0].0.message, parts);
        });
    }

    /// Saves the block before each cut while no thread has overwritten it yet.
    fn save_what_lies_before(&mut self, job: &Job<'_>) {
        for task in &mut self.tasks {
            if let Task::Segment(segment) = task
                && segment.bytes.start > 0
            {
                segment.before = job.block_before(segment.message, segment.bytes.start);
            }
        }
    }

    /// Brings each cut message's segments together with what they left.
    fn gather(&mut self) {
        self.segments.clear();
        self.messages.clear();
        // A list that grew while it has entries would leave a copy of them behind, which nobody wipes.
        self.segments.reserve(self.tasks.len());
        for (task, partial) in self.tasks.iter().zip(&self.partials) {
            if let (Task::Segment(segment), Some(partial)) = (task, partial.get()) {
                let index = self.segments.len();
                match self.messages.last_mut() {
                    Some(message) if segment.bytes.start > 0 => message.end = index + 1,
                    _ => self.messages.push(index..index + 1),
                }
                self.segments.push((segment.clone(), *partial));
            }
        }
    }

    /// Overwrites texts and running hashes: an XOR of the latter tells about the hash key.
    fn wipe(&mut self) {
        for (segment, partial) in &mut self.segments {
            segment.before.zeroize();
            partial.zeroize();
        }
        for task in &mut self.tasks {
            if let Task::Segment(segment) = task {
                segment.before.zeroize();
            }
        }
        for partial in self.partials.iter_mut().filter_map(OnceLock::get_mut) {
            partial.zeroize();
        }
    }
}

/// A crew at work on segments, of which nothing is left behind it.
struct Secretive<'a>(&'a mut Crew);

impl Drop for Secretive<'_> {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

/// The system refused threads.
pub(crate) fn not_started(threads: usize, error: &io::Error) -> DeviceError {
    let reason = format!("{threads} threads could not be started: {error}; ask for fewer");
    DeviceError::Failed { device: ID.to_owned(), reason }
}

/// Most bytes of an average row that count. More than any default chunk, so a message is a task of its own before; and
/// so little that the costs of all messages whose offsets fit into memory add up to less than 2^64: a sum that
/// wrapped would cut tasks that overlap.
const MOST_BYTES: u64 = 1 << 20;

/// Bytes of an average row, at most [`MOST_BYTES`].
fn average_bytes(column: &Column<'_>, rows: usize) -> u64 {
    let average = match *column {
        Column::Shared(bytes) => bytes.len() as u64,
        Column::Each { width, .. } => width as u64,
        Column::Ragged(ragged) => (ragged.offsets[rows] - ragged.offsets[0]) / rows.max(1) as u64,
    };
    average.min(MOST_BYTES)
}
