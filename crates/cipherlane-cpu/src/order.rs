//! The order in which messages enter lanes.

use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use crate::job::Job;

/// Messages that are sorted at a time: enough to fill all lanes with messages of nearly one length, and small enough for
/// the stack.
const WINDOW: usize = 512;

/// Bits of a message's number within its window. The length has the others; beyond them all are equally long, which
/// costs time, not results.
const NUMBER_BITS: u32 = WINDOW.ilog2();
const LONGEST: u64 = u64::MAX >> NUMBER_BITS;

/// The messages of a range, longest first within each window: messages that run side by side then end together, and
/// the last to run are short.
pub(crate) struct Order<'a> {
    job: &'a Job<'a>,
    rest: Range<usize>,
    /// Lengths are counted by 2 to this power bytes: messages of a batch are too many for a division each.
    unit_bits: u32,
    /// Whether empty messages are among them.
    with_empty: bool,
    /// First message of the window.
    base: usize,
    /// What sorts by falling length, above the message's number within the window. Written up to `end`.
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

    /// By bytes, with the messages that are empty.
    pub(crate) fn by_bytes(job: &'a Job<'a>, range: Range<usize>) -> Self {
        Self::new(job, range, 0, true)
    }

    fn new(job: &'a Job<'a>, range: Range<usize>, unit_bits: u32, with_empty: bool) -> Self {
        let (window, base) = ([MaybeUninit::uninit(); WINDOW], range.start);
        Self { job, rest: range, unit_bits, with_empty, base, window, next: 0, end: 0 }
    }

    /// Whether all messages have been given out.
    pub(crate) fn is_empty(&self) -> bool {
        debug_assert!(
            self.with_empty,
            "messages that are left out are not told from others before they are looked at"
        );
        self.next == self.end && self.rest.is_empty()
    }

    /// Fills the window with the next messages.
    fn refill(&mut self) {
        self.base = self.rest.start;
        (self.next, self.end) = (0, 0);
        let numbers = self.rest.len().min(WINDOW);
        self.rest.start += numbers;
        let mut is_sorted = true;
        let mut before = 0;
        for number in 0..numbers {
            let length = self.job.bytes(self.base + number).div_ceil(1 << self.unit_bits) as u64;
            if length > 0 || self.with_empty {
                let entry = (LONGEST - length.min(LONGEST)) << NUMBER_BITS | number as u64;
                is_sorted &= before <= entry;
                before = *self.window[self.end].write(entry);
                self.end += 1;
            }
        }
        // As messages of one length are.
        if !is_sorted {
            // SAFETY: the loop has written everything before `end`.
            unsafe { self.window[..self.end].assume_init_mut() }.sort_unstable();
        }
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
        // SAFETY: `refill` has written everything before `end`.
        let number = unsafe { self.window[self.next].assume_init() } % WINDOW as u64;
        self.next += 1;
        #[allow(clippy::cast_possible_truncation)] // below WINDOW
        Some(self.base + number as usize)
    }
}
