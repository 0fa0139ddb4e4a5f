//! Where a batch is cut into tasks of about equal cost.

use std::ops::Range;

use cipherlane_core::BLOCK;

use crate::worker::{LAST_SEGMENT, Segment};

/// What a message costs beside its bytes, as so many bytes: nonce, tag, the ends of loops, and for a key of its own
/// the expansion of it. A million empty messages are work, too. Measured for AES-128-GCM on AVX-512: 64 and 128 bytes
/// under one key take the time of 132 and 193 bytes of a message of 16 KiB, 128 bytes with a key each that of 428.
pub(crate) const fn message_cost(shared_key: bool) -> u64 {
    if shared_key { 96 } else { 320 }
}

/// Cuts inside a message are multiples of it, and no segment is shorter: kernels run whole groups of lanes up to
/// the last segment, and a last block with its stolen ciphertext (IEEE 1619 section 5.3.2) stays in one segment.
const SEGMENT_ALIGN: usize = 1024;
const _: () = assert!(SEGMENT_ALIGN >= LAST_SEGMENT);

/// The smallest chunk.
pub(crate) const MIN_CHUNK: usize = 4 * SEGMENT_ALIGN;

/// Short messages with a key each that kernels run side by side: a task of a multiple of them leaves no lane idle.
const COMPANY: usize = 8;

/// Cost of a task that is worth a thread, be it with idle lanes: one that has to be woken makes up for it then (see `Grain`).
pub(crate) const SHARE: u64 = 256 << 10;

/// A part of the batch for one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Whole messages.
    Messages(Range<usize>),
    /// A part of one message. The bytes before it are yet to be saved.
    Segment(Segment),
}

impl Task {
    pub(crate) fn is_segment(&self) -> bool {
        matches!(self, Self::Segment(_))
    }

    fn segment(message: usize, bytes: Range<usize>) -> Self {
        Self::Segment(Segment { message, bytes, before: [0; BLOCK] })
    }
}

/// A batch laid out along an axis of cost: the bytes of a message, then what it costs beside them, then the next
/// message. Tasks are the stretches between the multiples of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split<'a> {
    offsets: &'a [u64],
    message_cost: u64,
    chunk: u64,
    /// What a task costs at least.
    least: u64,
    cuts_messages: bool,
}

/// A place between two tasks: before byte `byte` of message `message`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    message: usize,
    byte: usize,
}

impl<'a> Split<'a> {
    /// Splits a batch into tasks of `chunk` bytes, and messages longer than that into segments. A message costs
    /// `message_cost` beside its bytes.
    pub(crate) fn with_segments(offsets: &'a [u64], message_cost: u64, chunk: usize) -> Self {
        debug_assert!(chunk >= MIN_CHUNK, "segments of {chunk} bytes could become too short");
        let least = MIN_CHUNK as u64;
        Self { offsets, message_cost, chunk: chunk as u64, least, cuts_messages: true }
    }

    /// The same for messages that cannot be cut, and which one thread runs `lanes` at a time: a task of fewer would
    /// leave lanes idle. That is better than to leave one of `threads` threads idle, where messages are long.
    pub(crate) fn whole(
        offsets: &'a [u64],
        message_cost: u64,
        chunk: usize,
        (lanes, threads): (usize, usize),
    ) -> Self {
        let mut split = Self { cuts_messages: false, ..Self::with_segments(offsets, message_cost, chunk) };
        let all_lanes = split.average().saturating_mul(lanes as u64);
        let share = split.cost().div_ceil(threads as u64).max(SHARE);
        split.least = split.least.max(all_lanes.min(share));
        split.chunk = split.chunk.max(split.least);
        split
    }

    /// The same in tasks of equal cost, equally many for each of `threads` threads, where there are enough of them: of
    /// seven tasks and a quarter, one of two threads had four. Threads for which there is no chunk get nothing: with less,
    /// they would not make up for being woken.
    pub(crate) fn evenly(self, threads: usize) -> Self {
        let threads = (threads as u64).min(self.cost().div_ceil(self.chunk)).max(1);
        let tasks = (self.cost() / self.chunk).max(1).next_multiple_of(threads);
        Self { chunk: self.cost().div_ceil(tasks).max(self.least), ..self }
    }

    /// Whether the batch is too small to be split.
    pub(crate) fn is_one_task(&self) -> bool {
        self.cost() <= self.chunk
    }

    /// What a message costs on average.
    fn average(&self) -> u64 {
        self.cost() / self.messages().max(1) as u64
    }

    /// What the batch costs.
    fn cost(&self) -> u64 {
        self.start(self.messages())
    }

    /// Puts the tasks into `tasks`, in order of their bytes. A chunk makes two at most.
    pub(crate) fn collect(&self, tasks: &mut Vec<Task>) {
        tasks.clear();
        let chunks = self.cost().div_ceil(self.chunk);
        let mut start = Cut { message: 0, byte: 0 };
        for chunk in 1..=chunks {
            let end = if chunk == chunks { self.end() } else { self.cut(chunk * self.chunk) };
            self.between(start, end, tasks);
            start = end;
        }
    }

    /// The tasks between two cuts: the rest of a message that was begun before, whole messages, the front of one.
    fn between(&self, start: Cut, end: Cut, tasks: &mut Vec<Task>) {
        let mut whole = start.message..end.message;
        if start.byte > 0 && start != end {
            let stop = if whole.is_empty() { end.byte } else { self.bytes(start.message) };
            tasks.push(Task::segment(start.message, start.byte..stop));
            whole.start += 1;
        }
        if !whole.is_empty() {
            tasks.push(Task::Messages(whole));
        }
        if end.byte > 0 && (end.message > start.message || start.byte == 0) {
            tasks.push(Task::segment(end.message, 0..end.byte));
        }
    }

    /// The cut at or near `position` on the axis of cost.
    #[allow(clippy::cast_possible_truncation)] // bytes within a message, which lies in memory
    fn cut(&self, position: u64) -> Cut {
        let message = self.message_at(position);
        let inside = position - self.start(message);
        let bytes = self.bytes(message);
        let is_long = self.cuts_messages && bytes as u64 > self.chunk;
        if is_long && inside <= (bytes - SEGMENT_ALIGN) as u64 {
            let byte = inside as usize;
            return Cut { message, byte: byte - byte % SEGMENT_ALIGN };
        }
        // A message belongs to the task in which it starts.
        let next = if inside > 0 { message + 1 } else { message };
        Cut { message: self.with_company(next, position), byte: 0 }
    }

    /// Where a cut at `position` that falls on the start of `message` leaves whole groups before it: there, or at that
    /// message if that is far, and possibly beyond the next cut, or if a task has no such group.
    fn with_company(&self, message: usize, position: u64) -> usize {
        let whole = message.next_multiple_of(COMPANY);
        let is_near = whole <= self.messages() && self.start(whole) - position <= self.chunk / 2;
        let has_groups = self.average() * COMPANY as u64 <= self.chunk;
        if is_near && has_groups { whole } else { message }
    }

    fn end(&self) -> Cut {
        Cut { message: self.messages(), byte: 0 }
    }

    fn messages(&self) -> usize {
        self.offsets.len() - 1
    }

    #[allow(clippy::cast_possible_truncation)] // a message lies in memory
    fn bytes(&self, message: usize) -> usize {
        (self.offsets[message + 1] - self.offsets[message]) as usize
    }

    /// Where `message` starts on the axis of cost; the end of the batch for the one after the last.
    fn start(&self, message: usize) -> u64 {
        self.offsets[message] - self.offsets[0] + self.message_cost * message as u64
    }

    /// The message whose stretch contains `position`, which is within the batch.
    fn message_at(&self, position: u64) -> usize {
        let (mut from, mut to) = (0, self.messages());
        // The message is one of from..to.
        while to - from > 1 {
            let middle = usize::midpoint(from, to);
            if self.start(middle) <= position { from = middle } else { to = middle }
        }
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: usize = 4096;

    fn offsets(lengths: &[u64]) -> Vec<u64> {
        // A batch need not start at the front of its buffer.
        let mut offsets = vec![17];
        offsets.extend(lengths.iter().scan(17, |end, length| {
            *end += length;
            Some(*end)
        }));
        offsets
    }

    fn tasks(split: Split<'_>) -> Vec<Task> {
        let mut tasks = vec![Task::Messages(3..9)];
        split.collect(&mut tasks);
        tasks
    }

    /// Every byte of every message is in one task, in order, and every segment is one that kernels take.
    fn assert_complete(tasks: &[Task], lengths: &[u64]) {
        let (mut message, mut byte) = (0, 0);
        for task in tasks {
            match task.clone() {
                Task::Messages(range) => {
                    assert!(!range.is_empty() && byte == 0 && range.start == message, "{task:?}");
                    message = range.end;
                }
                Task::Segment(Segment { message: of, bytes, .. }) => {
                    assert!(of == message && bytes.start == byte && bytes.start % SEGMENT_ALIGN == 0);
                    assert!(bytes.len() >= SEGMENT_ALIGN && bytes.end as u64 <= lengths[of], "{task:?}");
                    let ends = bytes.end as u64 == lengths[of];
                    (message, byte) = if ends { (message + 1, 0) } else { (message, bytes.end) };
                }
            }
        }
        assert_eq!((message, byte), (lengths.len(), 0));
    }

    fn random_lengths(seed: u64) -> Vec<u64> {
        let mut state = seed;
        let mut next = move || {
            // Knuth's linear congruential generator (MMIX).
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        (0..next() % 40).map(|_| if next() % 4 == 0 { next() % 50_000 } else { next() % 5_000 }).collect()
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_done_twice() {
        for seed in 0..500 {
            let lengths = random_lengths(seed);
            let offsets = offsets(&lengths);
            assert_complete(&tasks(Split::with_segments(&offsets, 64, CHUNK)), &lengths);
            assert_complete(&tasks(Split::whole(&offsets, 64, CHUNK, (8, 2))), &lengths);
        }
    }

    #[test]
    fn lengths_near_a_chunk_make_good_segments() {
        for length in (CHUNK as u64 - 70)..(CHUNK as u64 + 1200) {
            for before in [0, 1, CHUNK as u64 - 65, CHUNK as u64 - 1] {
                let lengths = [before, length, 5];
                assert_complete(&tasks(Split::with_segments(&offsets(&lengths), 64, CHUNK)), &lengths);
            }
        }
    }

    #[test]
    fn one_long_message_is_cut_into_even_segments() {
        let tasks = tasks(Split::with_segments(&offsets(&[100 * CHUNK as u64]), 64, CHUNK));
        let segment = |start| Task::segment(0, start * CHUNK..(start + 1) * CHUNK);
        assert_eq!(tasks, (0..100).map(segment).collect::<Vec<_>>());
    }

    #[test]
    fn many_tiny_messages_share_a_task() {
        let lengths = vec![0; 1000];
        let tasks = tasks(Split::with_segments(&offsets(&lengths), 64, CHUNK));
        assert_eq!(tasks.len(), 16, "1000 messages at 64 a piece");
        assert_complete(&tasks, &lengths);
    }

    #[test]
    fn tasks_of_short_messages_have_whole_groups_of_them() {
        let tasks = tasks(Split::with_segments(&offsets(&[128; 1000]), 320, 4 * CHUNK));
        assert!(tasks.len() > 25, "{}", tasks.len());
        for task in &tasks {
            assert!(matches!(task, Task::Messages(range) if range.len() % COMPANY == 0), "{task:?}");
        }
        assert_complete(&tasks, &[128; 1000]);
    }

    #[test]
    fn threads_have_as_much_to_do_as_each_other() {
        for (count, threads) in [(700, 2), (1700, 2), (2500, 3), (9999, 16), (10_000, 5)] {
            let offsets = offsets(&vec![100; count]);
            let tasks = tasks(Split::with_segments(&offsets, 24, 4 * CHUNK).evenly(threads));
            assert_eq!(tasks.len() % threads, 0, "{count} messages for {threads}");
            let messages = tasks.chunks(tasks.len() / threads).map(|share| {
                let count = |task: &Task| if let Task::Messages(range) = task { range.len() } else { 0 };
                share.iter().map(count).sum::<usize>()
            });
            let (least, most) = (messages.clone().min(), messages.max());
            // A cut may be a group late: one thread has those messages, and the next one lacks them.
            assert!(most <= least.map(|least| least + 2 * COMPANY), "{least:?} to {most:?} for {threads}");
        }
    }

    #[test]
    fn no_thread_gets_less_than_a_chunk() {
        let offsets = [0, 300 << 10];
        let split = Split::with_segments(&offsets, 96, 16 << 10);
        let found = [2, 3, 16, 19, 20, 128].map(|threads| tasks(split.evenly(threads)).len());
        // Up to as many threads as there are chunks, each has equally many.
        assert_eq!(found, [18, 18, 32, 19, 19, 19]);
        let empty = Split::with_segments(&[5], 96, CHUNK).evenly(128);
        assert!(tasks(empty).is_empty());
    }

    #[test]
    fn even_tasks_are_complete_and_fill_the_lanes() {
        for seed in 0..500 {
            let lengths = random_lengths(seed);
            let offsets = offsets(&lengths);
            for threads in [2, 3, 16] {
                let cut = Split::with_segments(&offsets, 64, CHUNK);
                let whole = Split::whole(&offsets, 64, CHUNK, (8, threads));
                assert_complete(&tasks(cut.evenly(threads)), &lengths);
                assert_complete(&tasks(whole.evenly(threads)), &lengths);
                assert!(whole.evenly(threads).chunk >= whole.least);
            }
        }
    }

    #[test]
    fn messages_that_cannot_be_cut_fill_the_lanes() {
        let lengths = [10_000; 32];
        let tasks = tasks(Split::whole(&offsets(&lengths), 64, CHUNK, (8, 2)));
        assert_eq!(tasks, [0, 8, 16, 24].map(|start| Task::Messages(start..start + 8)));
    }

    #[test]
    fn long_messages_that_cannot_be_cut_leave_no_thread_idle() {
        for (count, threads, starts) in [
            (2, 2, &[0, 1][..]),
            (3, 2, &[0, 2]),
            (12, 2, &[0, 6]),
            (12, 5, &[0, 3, 5, 8, 10]),
            (2, 16, &[0, 1]),
            // As many as fill the lanes of each.
            (64, 2, &[0, 16, 32, 48]),
        ] {
            let offsets = offsets(&vec![1 << 20; count]);
            let tasks = tasks(Split::whole(&offsets, 64, CHUNK, (16, threads)).evenly(threads));
            let ends = starts[1..].iter().copied().chain([count]);
            let expected: Vec<_> =
                starts.iter().zip(ends).map(|(&start, end)| Task::Messages(start..end)).collect();
            assert_eq!(tasks, expected, "{count} messages for {threads} threads");
        }
        // Short ones wait for company.
        let split = Split::whole(&[0, 64 << 10, 128 << 10], 64, CHUNK, (16, 2));
        assert!(split.evenly(2).is_one_task());
    }
}
