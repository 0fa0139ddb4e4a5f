//! How a batch spreads over the threads of a session.

use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use cipherlane_core::{DeviceError, Shape};
use cipherlane_threads::{Pool, Threads};
use zeroize::Zeroize;

use crate::describe::ID;
use crate::job::Job;
use crate::lanes::clear_upper_parts;
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

    /// Runs the whole batch, which is of `shape`.
    pub(crate) fn run(&mut self, worker: &dyn Worker, job: &Job<'_>, shape: &Shape) {
        clear_upper_parts();
        let batch = job.batch();
        if self.pool.threads() == 1 {
            return worker.messages(job, 0..batch.len());
        }
        let segments = worker.segments();
        let split = self.split(batch.messages.offsets, shape, segments.is_some());
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

    /// A batch of `shape`, and where its messages may be cut.
    fn split<'a>(&self, offsets: &'a [u64], shape: &Shape, cuts_messages: bool) -> Split<'a> {
        let cost = message_cost(shape);
        if cuts_messages {
            return Split::with_segments(offsets, cost, self.chunk);
        }
        Split::whole(offsets, cost, self.chunk, (self.lanes, self.pool.threads()))
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

/// Most bytes of AAD, or of a digest, that count for a message. More than any default chunk, so a message is a task of its
/// own before; and so little that the costs of all messages whose offsets fit into memory add up to less than 2^64: a sum
/// that wrapped would cut tasks that overlap.
const MOST_BESIDE: u64 = 1 << 20;

/// What a message of a batch of `shape` costs on average beside its text.
fn message_cost(shape: &Shape) -> u64 {
    let beside = shape.beside / shape.messages.max(1) as u64;
    split::message_cost(shape.shared_key) + beside.min(MOST_BESIDE)
}

#[cfg(test)]
mod tests {
    use cipherlane_core::{Batch, Hash, Messages, Operation, Output, Source};
    use cipherlane_threads::Topology;

    use super::*;

    /// The tasks of 8 threads with 8 lanes each for texts of `lengths` bytes, whose digests have `digest` bytes.
    fn tasks(lengths: &[u64], digest: usize) -> Vec<Task> {
        let pool = Arc::new(Pool::start(8, &Topology::detect()).unwrap());
        let mut offsets = vec![0];
        offsets.extend(lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        let (text, mut digests) = (vec![0; offsets[lengths.len()] as usize], vec![0; lengths.len() * digest]);
        let messages = Messages { source: Source::Apart(&text), offsets: &offsets };
        let batch = Batch::hash(Hash::Shake128, messages, digest);
        let shape = batch.check(&Output::digests(&mut digests)).unwrap();
        let split = Crew::new(pool, 256 << 10, 8).split(&offsets, &shape, false);
        let mut tasks = Vec::new();
        if !split.is_one_task() {
            split.evenly(8).collect(&mut tasks);
        }
        tasks
    }

    #[test]
    fn long_digests_are_shared_out() {
        assert!(tasks(&[32; 64], 32).is_empty(), "little work");
        assert!(tasks(&[32; 64], 1 << 20).len() >= 8);
        // Groups that fill the lanes, whatever is in the texts: one, or two where the cut comes late.
        let lengths = [&[10 << 20][..], &[32; 1000]].concat();
        for task in &tasks(&lengths, 64 << 10)[1..] {
            assert!(matches!(task, Task::Messages(range) if range.len() <= 16), "{task:?}");
        }
    }

    #[test]
    fn costs_of_any_batch_have_a_sum() {
        let shape = Shape::uniform("aes-128-gcm".parse().unwrap(), Operation::Seal, 3, 0, true);
        let cost = |beside| message_cost(&Shape { beside, ..shape });
        assert_eq!([0, 300, u64::MAX].map(cost), [96, 196, 96 + MOST_BESIDE]);
    }
}
