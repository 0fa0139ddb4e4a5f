//! The order in which messages enter lanes.

use std::ops::Range;

use cipherlane_core::BLOCK;

use crate::job::Job;

/// Messages that are sorted at a time. Enough to find LANES * N of nearly one length, and small enough for the stack.
const WINDOW: usize = 512;

/// The messages of a range, longest first within each window: messages that run side by side
/// then end together, and the last to run are short.
pub(crate) struct Order<'a> {
    job: &'a Job<'a>,
    rest: Range<usize>,
    /// First message of the window.
    base: usize,
    /// What sorts by falling length, above the message's number within the window.
    window: [u64; WINDOW],
    next: usize,
    end: usize,
    /// Whether empty messages are among them.
    with_empty: bool,
}

impl<'a> Order<'a> {
    pub(crate) fn new(job: &'a Job<'a>, range: Range<usize>) -> Self {
        let (window, base) = ([0; WINDOW], range.start);
        Self { job, base, rest: range, window, next: 0, end: 0, with_empty: false }
    }

    /// The same with the messages that are empty.
    pub(crate) fn with_empty(job: &'a Job<'a>, range: Range<usize>) -> Self {
        Self { with_empty: true, ..Self::new(job, range) }
    }

    /// Fills the window with the next messages.
    fn refill(&mut self) {
        let size = self.rest.len().min(WINDOW);
        self.base = self.rest.start;
        (self.next, self.end) = (0, 0);
        for number in 0..size {
            let blocks = self.job.message(self.base + number).bytes.div_ceil(BLOCK);
            // Beyond 2^32 blocks all are equally long: that costs time, not results.
            let shortness = u32::MAX - u32::try_from(blocks).unwrap_or(u32::MAX);
            if blocks > 0 || self.with_empty {
                self.window[self.end] = u64::from(shortness) << 32 | number as u64;
                self.end += 1;
            }
        }
        self.rest.start += size;
        self.window[..self.end].sort_unstable();
    }
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
        let number = self.window[self.next] & u64::from(u32::MAX);
        self.next += 1;
        #[allow(clippy::cast_possible_truncation)] // below WINDOW
        Some(self.base + number as usize)
    }
}
