//! The order in which messages enter the lanes.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::job::Job;

/// Messages that are sorted at a time: enough to find a full set of lanes of nearly one length, and small enough for
/// the stack.
const WINDOW: usize = 512;

/// The messages of a range, longest first within each window: messages that run side by side then end together, and
/// the last to run are short.
pub(super) struct Order<'a> {
    job: &'a Job<'a>,
    rest: Range<usize>,
    /// First message of the window.
    base: usize,
    /// What sorts by falling length, above the message's number within the window. Written up to `end`.
    window: [MaybeUninit<u64>; WINDOW],
    next: usize,
    end: usize,
}

/// Bits of a message's number within its window. The length has the others; beyond them all are equally long, which
/// costs time, not results.
const NUMBER_BITS: u32 = WINDOW.ilog2();
const MOST_BYTES: u64 = u64::MAX >> NUMBER_BITS;

impl<'a> Order<'a> {
    pub(super) fn new(job: &'a Job<'a>, range: Range<usize>) -> Self {
        Self { job, base: range.start, rest: range, window: [MaybeUninit::uninit(); WINDOW], next: 0, end: 0 }
    }

    /// Whether all messages have been given out.
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.end && self.rest.is_empty()
    }

    fn refill(&mut self) {
        self.base = self.rest.start;
        (self.next, self.end) = (0, self.rest.len().min(WINDOW));
        self.rest.start += self.end;
        let mut is_sorted = true;
        let mut before = 0;
        for (number, place) in self.window[..self.end].iter_mut().enumerate() {
            let bytes = self.job.text(self.base + number).len() as u64;
            let entry = (MOST_BYTES - bytes.min(MOST_BYTES)) << NUMBER_BITS | number as u64;
            is_sorted &= before <= entry;
            before = *place.write(entry);
        }
        // As messages of one length are.
        if !is_sorted {
            // SAFETY: the loop has written all of them.
            unsafe { self.window[..self.end].assume_init_mut() }.sort_unstable();
        }
    }
}

impl Iterator for Order<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.next == self.end {
            if self.rest.is_empty() {
                return None;
            }
            self.refill();
        }
        // SAFETY: `refill` has written everything before `end`.
        let number = unsafe { self.window[self.next].assume_init() } % WINDOW as u64;
        self.next += 1;
        #[allow(clippy::cast_possible_truncation)] // below WINDOW
        Some(self.base + number as usize)
    }
}
