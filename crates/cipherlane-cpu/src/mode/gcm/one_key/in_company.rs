//! Messages that wait for company: for others of as many registers.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::super::Direction;
use super::super::ending::MAX_AAD_BLOCKS;
use super::super::row::Row;
use super::super::team::TEAM;
use super::OneKey;
use super::in_teams::MAX_REGISTERS;
use super::waiting::{CLASSES, Waiting};
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::Lanes;
use crate::prefetch::prefetch_all;

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// No messages of `job`.
    #[inline(always)]
    pub(super) fn nobody_waits(&self, job: &Job<'_>) -> Waiting<V<P>> {
        Waiting::nobody(job.widths().map(|widths| self.most_bytes(widths)))
    }

    /// Runs rows, teams and series of the messages of `range` up to one that none of them takes, and returns that; in the
    /// end those that have not found company.
    #[inline(always)]
    pub(super) fn run_company_until_single(
        &self,
        job: &Job<'_>,
        range: &mut Range<usize>,
        waiting: &mut Waiting<V<P>>,
    ) -> Option<usize> {
        while let Some(index) = range.next() {
            if Row::may_begin(job, &(index..range.end))
                && let Some(row) = self.run_equal(job, index..range.end)
            {
                range.start = index + row.teams * TEAM;
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
            self.run_class(job, class, waiting);
            if let Some(index) = waiting.pop(class) {
                return Some(index);
            }
        }
        self.end_series(job, &mut waiting.ends);
        None
    }

    /// Runs messages of `class`: in teams, so that fewer than a team are left, or all in series.
    #[inline(always)]
    fn run_class(&self, job: &Job<'_>, class: usize, waiting: &mut Waiting<V<P>>) {
        let (indices, ends) = waiting.of(class);
        let (teams, rest) = indices.as_chunks();
        let left = if class < MAX_REGISTERS { rest.len() } else { 0 };
        match class {
            _ if left == indices.len() => return,
            0..MAX_REGISTERS => self.run_teams(job, class, teams),
            _ => self.run_series(job, class, indices, ends),
        }
        waiting.keep(class, left);
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
        if row.teams == 0 {
            return None;
        }
        self.run_row(job, class, row);
        Some(row)
    }

    /// Registers of a message that a team takes, or a series, less one; `most` as in [`Waiting`].
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
