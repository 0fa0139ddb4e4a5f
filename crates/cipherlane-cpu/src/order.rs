//! The order in which messages enter lanes.

use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use crate::job::Job;

/// Messages that are sorted at a time: enough to fill all lanes with messages of nearly one length, and small enough for
/// the stack.
const WINDOW: usize = 512;

/// Bits of a message's number within its window. The length has the others; no buffer is as long as they allow.
const NUMBER_BITS: u32 = WINDOW.ilog2();
const LONGEST: u64 = u64::MAX >> NUMBER_BITS;

/// Lengths from the shortest message of a window to its longest that are counted, each by itself, to sort it, which is sooner
/// done than comparing. Few messages are sooner compared.
const COUNTED: usize = 512;
const FEW: usize = 64;

/// The messages of a range, longest first within each window: messages that run side by side then end together, and
/// the last to run are short. Or as they lie, where all are so short that this does not matter.
pub(crate) struct Order<'a> {
    job: &'a Job<'a>,
    rest: Range<usize>,
    /// Lengths are counted by 2 to this power bytes: messages of a batch are too many for a division each.
    unit_bits: u32,
    /// Where no message is longer they come as they lie.
    enough: u64,
    /// Whether empty messages are among them.
    with_empty: bool,
    /// First message of the window.
    base: usize,
    /// Whether all messages of the window are of one length.
    are_alike: bool,
    /// Whether they come as they lie, as those of one length do.
    as_they_lie: bool,
    /// What sorts by falling length, above the message's number within the window. Written up to `end`, unless they come as
    /// they lie.
    window: [MaybeUninit<u64>; WINDOW],
    next: usize,
    end: usize,
}

impl<'a> Order<'a> {
    /// By blocks, those begun with the others, and without the messages that are empty.
    pub(crate) fn by_blocks(job: &'a Job<'a>, range: Range<usize>) -> Self {
        Self::new(job, range, BLOCK.ilog2(), false)
    }

    /// The same with the messages that are empty.
    pub(crate) fn by_blocks_with_empty(job: &'a Job<'a>, range: Range<usize>) -> Self {
        Self::new(job, range, BLOCK.ilog2(), true)
    }

    /// By bytes, with the messages that are empty. Where none has more than `enough` bytes they come as they lie: less than a
    /// block, so that they differ in their last blocks alone.
    pub(crate) fn by_bytes(job: &'a Job<'a>, range: Range<usize>, enough: usize) -> Self {
        Self { enough: enough as u64, ..Self::new(job, range, 0, true) }
    }

    fn new(job: &'a Job<'a>, range: Range<usize>, unit_bits: u32, with_empty: bool) -> Self {
        let (window, base) = ([const { MaybeUninit::uninit() }; WINDOW], range.start);
        Self {
            job,
            rest: range,
            unit_bits,
            enough: 0,
            with_empty,
            base,
            are_alike: true,
            as_they_lie: true,
            window,
            next: 0,
            end: 0,
        }
    }

    /// Whether all messages have been given out.
    pub(crate) fn is_empty(&self) -> bool {
        debug_assert!(
            self.with_empty,
            "messages that are left out are not told from others before they are looked at"
        );
        self.next == self.end && self.rest.is_empty()
    }

    /// The messages among which those are that [have been sorted](Order::outlook).
    pub(crate) fn looked_at(&self) -> Range<usize> {
        self.base..self.rest.start
    }

    /// How many messages have been sorted and come next, and how long the longest and the shortest of them are, unless none is
    /// left.
    pub(crate) fn outlook(&mut self) -> Option<(usize, usize, usize)> {
        while self.next == self.end {
            if self.rest.is_empty() {
                return None;
            }
            self.refill();
        }
        debug_assert!(self.enough == 0, "the first is the longest where they are sorted");
        let count = self.end - self.next;
        let length = |place| self.job.bytes(self.message(place)).div_ceil(1 << self.unit_bits);
        Some((count, length(self.next), length(self.end - 1)))
    }

    /// The next messages, `most` at most, if they are of one length and lie one behind the other.
    #[inline]
    pub(crate) fn next_alike(&mut self, most: usize) -> Option<Range<usize>> {
        let messages = self.look(most);
        self.next += messages.len();
        (!messages.is_empty()).then_some(messages)
    }

    /// What [`Order::next_alike`] gives next.
    #[inline]
    pub(crate) fn look(&mut self, most: usize) -> Range<usize> {
        if self.next == self.end && !self.rest.is_empty() {
            self.refill();
        }
        self.alike(most)
    }

    /// What [`Order::next_alike`] gives next, as far as that has been looked at.
    #[inline]
    pub(crate) fn alike(&self, most: usize) -> Range<usize> {
        let end = if self.are_alike { self.end.min(self.next + most) } else { self.next };
        self.base + self.next..self.base + end
    }

    /// How many messages come next, `most` at most, and the first and the last of them. They come by falling length, or, where
    /// none has more bytes than are `enough`, as they lie.
    #[inline]
    pub(crate) fn falling(&mut self, most: usize) -> Option<(usize, [usize; 2])> {
        if self.next == self.end && !self.rest.is_empty() {
            self.refill();
        }
        let count = most.min(self.end - self.next);
        (count > 0).then(|| (count, [self.message(self.next), self.message(self.next + count - 1)]))
    }

    /// The message at `place` of the window.
    #[inline]
    fn message(&self, place: usize) -> usize {
        debug_assert!(place < self.end);
        if self.as_they_lie {
            return self.base + place;
        }
        // SAFETY: `sort` has written everything before `end`.
        let number = unsafe { self.window[place].assume_init() } % WINDOW as u64;
        #[allow(clippy::cast_possible_truncation)] // below WINDOW
        let number = number as usize;
        self.base + number
    }

    /// Writes the next messages to `messages`, as many as there are and it has room for. Returns how many.
    #[inline(always)]
    pub(crate) fn next_few(&mut self, messages: &mut [usize]) -> usize {
        let mut count = 0;
        while count < messages.len() {
            if self.next == self.end {
                if self.rest.is_empty() {
                    break;
                }
                self.refill();
            }
            let few = &mut messages[count..];
            let next = self.next..self.end.min(self.next + few.len());
            (count, self.next) = (count + next.len(), next.end);
            for (message, place) in few.iter_mut().zip(next) {
                *message = self.message(place);
            }
        }
        count
    }

    /// Fills the window with the next messages.
    fn refill(&mut self) {
        self.base = self.rest.start;
        (self.next, self.end) = (0, 0);
        let numbers = self.rest.len().min(WINDOW);
        self.rest.start += numbers;
        let offsets = &self.job.batch().messages.offsets[self.base..=self.base + numbers];
        let length = offsets[1] - offsets[0];
        // Without an end before the last one it is a few registers of them at a time. The highest bit tells what is longer.
        let survey = || {
            let (mut others, mut longer) = (0, 0);
            for other in lengths(offsets) {
                (others, longer) = (others | (other ^ length), longer | self.enough.wrapping_sub(other));
            }
            (others == 0, longer >> 63 == 0)
        };
        let (are_alike, are_short) = if self.job.is_uniform() { (true, true) } else { survey() };
        (self.are_alike, self.as_they_lie) = (are_alike, are_alike || are_short);
        if self.as_they_lie {
            self.end = if length > 0 || self.with_empty { numbers } else { 0 };
        } else {
            self.sort(offsets);
        }
    }

    /// Fills the window with messages between `offsets`, the longest first.
    fn sort(&mut self, offsets: &[u64]) {
        let (mut is_sorted, mut before) = (true, 0);
        let (mut least, mut most) = (u64::MAX, 0);
        for (number, length) in lengths(offsets).enumerate() {
            let length = length.div_ceil(1 << self.unit_bits);
            if length > 0 || self.with_empty {
                let entry = (LONGEST - length.min(LONGEST)) << NUMBER_BITS | number as u64;
                is_sorted &= before <= entry;
                (before, least, most) = (entry, least.min(entry), most.max(entry));
                self.window[self.end].write(entry);
                self.end += 1;
            }
        }
        // As messages of nearly one length are.
        if is_sorted {
            return;
        }
        // SAFETY: the loop has written everything before `end`.
        let entries = unsafe { self.window[..self.end].assume_init_mut() };
        let (first, last) = (least >> NUMBER_BITS, most >> NUMBER_BITS);
        if entries.len() >= FEW && last - first < COUNTED as u64 {
            sort_by_counting(entries, first, last);
        } else {
            entries.sort_unstable();
        }
    }
}

/// The lengths between offsets.
fn lengths(offsets: &[u64]) -> impl Iterator<Item = u64> {
    offsets.windows(2).map(|pair| pair[1] - pair[0])
}

/// Sorts entries, a window of them at most, which lie in the order of their numbers. Above these is something from `first` to
/// `last`, which comes less than COUNTED behind it.
fn sort_by_counting(entries: &mut [u64], first: u64, last: u64) {
    #[allow(clippy::cast_possible_truncation)] // below COUNTED
    let above = |entry: u64| ((entry >> NUMBER_BITS) - first) as usize % COUNTED;
    let mut places = [0_u16; COUNTED];
    for &entry in &*entries {
        places[above(entry)] += 1;
    }
    let mut before = 0;
    #[allow(clippy::cast_possible_truncation)] // below COUNTED
    for place in places.iter_mut().take((last - first) as usize + 1) {
        (*place, before) = (before, before + *place);
    }
    let mut sorted = [0; WINDOW];
    for &entry in &*entries {
        let place = &mut places[above(entry)];
        sorted[usize::from(*place) % WINDOW] = entry;
        *place += 1;
    }
    entries.copy_from_slice(&sorted[..entries.len()]);
}

impl Iterator for Order<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.next == self.end {
            if self.rest.is_empty() {
                return None;
            }
            self.refill();
        }
        self.next += 1;
        Some(self.message(self.next - 1))
    }
}

#[cfg(test)]
mod tests {
    use cipherlane_core::{Batch, Checked, Hash, Messages, Output, Source};

    use super::*;

    /// The messages of a batch of these lengths in the order of `order`.
    fn ordered(lengths: &[usize], order: fn(&Job<'_>) -> Vec<usize>) -> Vec<usize> {
        let offsets: Vec<u64> = std::iter::once(0)
            .chain(lengths.iter().scan(0, |end, &length| {
                *end += length as u64;
                Some(*end)
            }))
            .collect();
        let text = vec![0; lengths.iter().sum()];
        let messages = Messages { source: Source::Apart(&text), offsets: &offsets };
        let batch = Batch::hash(Hash::Sha256, messages, 32);
        let mut digests = vec![0; 32 * lengths.len()];
        let mut output = Output::digests(&mut digests);
        order(&Job::new(Checked::new(&batch, &mut output).unwrap()))
    }

    fn by_bytes(job: &Job<'_>) -> Vec<usize> {
        Order::by_bytes(job, 0..job.batch().len(), 0).collect()
    }

    /// As [`by_bytes`], where 100 bytes are enough.
    fn by_bytes_from_100(job: &Job<'_>) -> Vec<usize> {
        Order::by_bytes(job, 0..job.batch().len(), 100).collect()
    }

    fn by_blocks(job: &Job<'_>) -> Vec<usize> {
        Order::by_blocks(job, 0..job.batch().len()).collect()
    }

    /// What a window after the other gives, sorted by what any library sorts by.
    fn expected(lengths: &[usize], unit: usize, with_empty: bool) -> Vec<usize> {
        let numbers: Vec<usize> = (0..lengths.len()).collect();
        let sorted = numbers.chunks(WINDOW).flat_map(|window| {
            let mut window = window.to_vec();
            window.retain(|&number| with_empty || lengths[number] > 0);
            window.sort_by_key(|&number| std::cmp::Reverse(lengths[number].div_ceil(unit)));
            window
        });
        sorted.collect()
    }

    #[test]
    fn longest_first_and_each_once() {
        let few = FEW - 1;
        // Counted, compared because few, compared because far apart, alike, alike in the first window alone, rising within
        // a block, empty ones among others, empty ones alone.
        let batches: [Vec<usize>; 9] = [
            (0..2 * WINDOW + 7).map(|i| i * 37 % 400).collect(),
            (0..few).map(|i| i * 37 % 400).collect(),
            (0..WINDOW).map(|i| i * 37 % 400 * 50).collect(),
            (0..WINDOW).map(|i| i * 511 % WINDOW).collect(),
            vec![48; WINDOW + 3],
            (0..2 * WINDOW).map(|i| if i < WINDOW { 48 } else { 16 * (i % 3) }).collect(),
            (0..100).map(|i| 17 + i % 16).collect(),
            (0..100).map(|i| i % 2 * 5).collect(),
            vec![0; WINDOW + 1],
        ];
        for lengths in &batches {
            assert_eq!(ordered(lengths, by_bytes), expected(lengths, 1, true), "{lengths:?}");
            assert_eq!(ordered(lengths, by_blocks), expected(lengths, BLOCK, false), "{lengths:?}");
        }
    }

    /// Where all messages of a window are short they come as they lie, and else by length as ever.
    #[test]
    fn short_messages_come_as_they_lie() {
        let short: Vec<usize> = (0..2 * WINDOW + 7).map(|i| i * 37 % 101).collect();
        let in_place: Vec<usize> = (0..short.len()).collect();
        assert_eq!(ordered(&short, by_bytes_from_100), in_place);
        assert_ne!(ordered(&short, by_bytes), in_place);
        let mut longer = short;
        longer[3] = 101;
        let mut some = expected(&longer, 1, true);
        some[WINDOW..].copy_from_slice(&in_place[WINDOW..]);
        assert_eq!(ordered(&longer, by_bytes_from_100), some);
    }

    /// Messages of one length that are taken together come in the order in which they come one by one.
    #[test]
    fn messages_alike_are_taken_together() {
        fn taken(job: &Job<'_>) -> Vec<usize> {
            let mut order = Order::by_bytes(job, 0..job.batch().len(), 0);
            let mut messages = Vec::new();
            while !order.is_empty() {
                let seen = order.look(32);
                if let Some(alike) = order.next_alike(32) {
                    assert_eq!(seen, alike);
                    assert!((1..=32).contains(&alike.len()));
                    assert!(alike.clone().all(|message| job.bytes(message) == job.bytes(alike.start)));
                    assert_eq!(order.alike(0).len(), 0);
                    messages.extend(alike);
                } else {
                    assert!(seen.is_empty());
                    messages.extend(order.next());
                }
            }
            messages
        }
        let batches: [Vec<usize>; 4] = [
            vec![48; WINDOW + 70],
            (0..3 * WINDOW).map(|i| if i / WINDOW == 1 { i * 37 % 400 } else { 7 }).collect(),
            (0..2 * WINDOW + 5).map(|i| if i < WINDOW { i % 2 } else { 64 }).collect(),
            vec![0; 5],
        ];
        for lengths in &batches {
            assert_eq!(ordered(lengths, taken), expected(lengths, 1, true), "{lengths:?}");
        }
    }

    /// Messages that are taken a few at a time come in the same order, and what is said of those of a window holds for these.
    #[test]
    fn messages_are_taken_a_few_at_a_time() {
        fn taken(job: &Job<'_>) -> Vec<usize> {
            let mut order = Order::by_blocks(job, 0..job.batch().len());
            let (mut messages, mut few) = (Vec::new(), [0; 32]);
            while let Some((count, longest, shortest)) = order.outlook() {
                let room = 1 + messages.len() % few.len();
                let taken = order.next_few(&mut few[..room]);
                assert!(taken == room || order.outlook().is_none());
                for message in &few[..taken.min(count)] {
                    assert!((shortest..=longest).contains(&job.bytes(*message).div_ceil(BLOCK)));
                }
                assert_eq!(job.bytes(few[0]).div_ceil(BLOCK), longest);
                messages.extend_from_slice(&few[..taken]);
            }
            assert_eq!(order.next_few(&mut few), 0);
            messages
        }
        let batches: [Vec<usize>; 5] = [
            vec![48; WINDOW + 70],
            (0..3 * WINDOW).map(|i| if i / WINDOW == 1 { i * 37 % 400 } else { 7 }).collect(),
            (0..2 * WINDOW + 5).map(|i| if i < WINDOW { 0 } else { i % 2 * 64 }).collect(),
            (0..20).map(|i| i * i * 16).collect(),
            vec![0; 5],
        ];
        for lengths in &batches {
            assert_eq!(ordered(lengths, taken), expected(lengths, BLOCK, false), "{lengths:?}");
        }
    }
}
