//! Which bytes of a register lie in memory.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::MAX_LANES;

/// Consecutive bytes of a register, at most all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch(u64);

impl Stretch {
    /// The bytes `range`, which lie within the largest register.
    #[inline(always)]
    pub(crate) const fn new(range: Range<usize>) -> Self {
        debug_assert!(range.start <= range.end && range.end <= MAX_LANES * BLOCK);
        Self(before(range.end) & !before(range.start))
    }

    /// A bit for each byte that is there.
    #[inline(always)]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// Where they are.
    #[inline(always)]
    pub(crate) fn range(self) -> Range<usize> {
        let start = if self.0 == 0 { 0 } else { self.0.trailing_zeros() as usize };
        start..start + self.0.count_ones() as usize
    }
}

/// A bit for each byte before `end`.
const fn before(end: usize) -> u64 {
    match 1_u64.checked_shl(end as u32) {
        Some(bit) => bit - 1,
        None => u64::MAX,
    }
}
