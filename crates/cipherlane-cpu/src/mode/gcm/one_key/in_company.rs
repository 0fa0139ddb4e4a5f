//! Messages that wait for company: for others of as many registers.

use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::OneKey;
use super::in_fours::MAX_REGISTERS;
use super::series::Ends;
use super::waiting::{CLASSES, Waiting};
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::Lanes;
use crate::mode::gcm::Direction;
use crate::mode::gcm::ending::MAX_AAD_BLOCKS;
use crate::mode::gcm::equal::{FOUR, Row};
use crate::prefetch::prefetch_all;

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// From how many messages on fours are faster than a series: where all stages of one are filled by others.
    const ENOUGH: usize = FOUR * if D::OPEN { 2 } else { 3 };

    /// No messages of `job`.
    #[inline(always)]
    pub(super) fn nobody_waits<'e>(&self, job: &Job<'_>, ends: &'e mut Ends<V<P>>) -> Waiting<'e, V<P>> {
        Waiting::nobody(job.widths().map(|widths| self.most_bytes(widths)), ends)
    }

    /// Runs rows, fours and series of the messages of `range` up to one that none of them takes, and returns that; in the
    /// end those that have not found company.
    #[inline(always)]
    pub(super) fn run_company_until_single(
        &self,
        job: &Job<'_>,
        range: &mut Range<usize>,
        waiting: &mut Waiting<'_, V<P>>,
    ) -> Option<usize> {
        while let Some(index) = range.next() {
            if Row::may_begin(job, &(index..range.end))
                && let Some(row) = self.run_equal(job, index..range.end)
            {
                range.start = index + row.fours * FOUR;
                continue;
            }
            let Some(class) = self.class(job, index, waiting.most) else { return Some(index) };
            // They are run in another order than they lie in.
            prefetch_all(job.message(index));
            if waiting.push(class, index) {
                self.run_class(job, class, waiting);
            }
        }
        while let Some(class) = waiting.next_class() {
            self.run_last(job, class, waiting);
            if let Some(index) = waiting.pop(class) {
                return Some(index);
            }
        }
        self.end_series(job, waiting.ends);
        None
    }

    /// Runs messages of `class`: in fours, so that fewer than a four are left, or all in series.
    #[inline(always)]
    fn run_class(&self, job: &Job<'_>, class: usize, waiting: &mut Waiting<'_, V<P>>) {
        if class >= MAX_REGISTERS {
            return self.run_all_in_series(job, class, waiting);
        }
        let (fours, rest) = waiting.of(class).0.as_chunks();
        let left = rest.len();
        if !fours.is_empty() {
            self.run_fours(job, class, fours);
            waiting.keep(class, left);
        }
    }

    /// Runs the last messages of `class`: all of them, where there are series, otherwise fewer than a four are left.
    #[inline(always)]
    fn run_last(&self, job: &Job<'_>, class: usize, waiting: &mut Waiting<'_, V<P>>) {
        let has_series = self.shared_by_series(job).is_some();
        if !has_series || waiting.of(class).0.len() >= Self::ENOUGH {
            self.run_class(job, class, waiting);
        }
        if has_series {
            self.run_all_in_series(job, class, waiting);
        }
    }

    #[inline(always)]
    fn run_all_in_series(&self, job: &Job<'_>, class: usize, waiting: &mut Waiting<'_, V<P>>) {
        let (indices, ends) = waiting.of(class);
        self.run_series(job, class, indices, ends);
        waiting.keep(class, 0);
    }

    /// Runs the messages of `range`, if they are fewer than a four, and if series take them all: nobody has to wait then, nor
    /// is anything prepared for that. Whether it has.
    #[inline(always)]
    pub(super) fn run_few(&self, job: &Job<'_>, range: Range<usize>) -> bool {
        let class = |index| self.class(job, index, None);
        if range.len() >= FOUR
            || self.shared_by_series(job).is_none()
            || !range.clone().all(|index| class(index).is_some())
        {
            return false;
        }
        let mut place = MaybeUninit::uninit();
        let ends = Ends::nobody(&mut place);
        for (index, class) in range.filter_map(|index| Some((index, class(index)?))) {
            self.run_series(job, class, &[index], ends);
        }
        self.end_series(job, ends);
        true
    }

    /// Runs equal messages from the first of `indices` on, four or more, and says which.
    #[inline(always)]
    fn run_equal(&self, job: &Job<'_>, indices: Range<usize>) -> Option<Row> {
        if let Some(row) = self.long_row(job, indices.clone()) {
            self.run_long_row(job, row);
            return Some(row);
        }
        if let Some(row) = self.train(job, indices.clone()) {
            self.run_train(job, row);
            return Some(row);
        }
        let class = self.class(job, indices.start, None).filter(|&class| class < MAX_REGISTERS)?;
        let row = Row::of(job, indices);
        if row.fours == 0 {
            return None;
        }
        self.run_row(job, class, row);
        Some(row)
    }

    /// Registers of a message that a four takes, or a series, less one; `most` as in [`Waiting`].
    #[inline(always)]
    fn class(&self, job: &Job<'_>, index: usize, most: Option<usize>) -> Option<usize> {
        let bytes = job.message(index).bytes;
        let class = bytes.wrapping_sub(1) / V::<P>::BYTES;
        let fits = most.map_or_else(|| self.has_powers(job, index), |most| bytes <= most);
        let most = if self.shared_by_series(job).is_some() { CLASSES } else { MAX_REGISTERS };
        (class < most && fits).then_some(class)
    }

    /// Whether the hash of message `index`, whose nonce is of 12 bytes, needs no more powers than there are.
    #[inline(always)]
    pub(super) fn has_powers(&self, job: &Job<'_>, index: usize) -> bool {
        job.message(index).bytes <= self.most_bytes((job.nonce(index).len(), job.aad(index).len()))
    }

    /// Most bytes of a message, with so many bytes of nonce and AAD, whose hash needs no more powers than there are; 0 where
    /// they find no company.
    #[inline(always)]
    fn most_bytes(&self, (nonce, aad): (usize, usize)) -> usize {
        let aad = aad.div_ceil(BLOCK);
        let blocks = self.powers.highest().saturating_sub(aad + 1);
        if nonce == 12 && aad <= MAX_AAD_BLOCKS { blocks * BLOCK } else { 0 }
    }
}
