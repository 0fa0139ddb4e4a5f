//! Messages that are equally long and follow one another.

use std::ops::Range;

use crate::job::Job;
use crate::lanes::MAX_LANES;

/// Messages of a four: of as many, one fills what another waits for, and whatever the tier they are whole registers of ends.
pub(super) const FOUR: usize = MAX_LANES;

/// Equal messages that follow one another.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// The first one.
    pub(super) first: usize,
    /// How many times four there are.
    pub(super) fours: usize,
}

impl Row {
    /// Whether the first two of `indices` are equally long, and there are enough for a row: all that a message costs which has
    /// no such company, as most have not where lengths differ.
    #[inline(always)]
    pub(super) fn may_begin(job: &Job<'_>, indices: &Range<usize>) -> bool {
        let bytes = |index| job.message(index).bytes;
        indices.len() >= FOUR && bytes(indices.start) == bytes(indices.start + 1)
    }

    /// Those of `indices`, from the first one on: a multiple of four, and none where all share a nonce, which a row has one
    /// behind the other.
    #[inline(always)]
    pub(super) fn of(job: &Job<'_>, indices: Range<usize>) -> Self {
        let first = indices.start;
        let fours = if job.shares_nonce() { 0 } else { job.as_long_as_first(indices) / FOUR };
        Self { first, fours }
    }
}
