//! Equal messages that follow one another.

use std::marker::PhantomData;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::OneKey;
use super::in_fours::MAX_REGISTERS;
use super::row::Rowed;
use super::train::Train;
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes};
use crate::mode::counters::MOST_KNOWN;
use crate::mode::gcm::Direction;
use crate::mode::gcm::equal::Row;
use crate::mode::gcm::ghash::{SPREAD_REGISTERS, Spread};

/// Most registers of a message in a row: there are powers for no more. Up to there it is as fast as a train, or faster, on
/// Zen 5 and Emerald Rapids.
const MAX_IN_ROW: usize = SPREAD_REGISTERS;

/// For CHUNKED of a [`Rowed`]: the registers that are run at once are all that a message has.
const AT_ONCE: bool = false;
/// They are some of them: the message is run chunk by chunk.
const IN_CHUNKS: bool = true;

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// Whether there are registers for two of each of four messages, and what is hashed besides, and no more.
    const IS_NARROW: bool = <P::Isa as Isa>::REGISTERS < 32;
    /// From how many registers on a message is run some at a time: where there are 16, three at once are faster than two and
    /// one. Pairs of registers are too few for two of each.
    const LONG_ROW: usize = match <P::Isa as Isa>::REGISTERS {
        32.. => MAX_REGISTERS + 1,
        16.. => 4,
        _ => usize::MAX,
    };

    /// Equal messages from the first of `indices` on, if they are four or more, each of more registers than are run at once
    /// and not too many, where there are registers for it.
    #[inline(always)]
    pub(super) fn long_row(&self, job: &Job<'_>, indices: Range<usize>) -> Option<Row> {
        let first = indices.start;
        let registers = job.message(first).bytes.div_ceil(V::<P>::BYTES);
        let is_long = (Self::LONG_ROW..=MAX_IN_ROW).contains(&registers);
        if P::WHOLE_GROUPS || !is_long || !self.has_powers(job, first) {
            return None;
        }
        Some(Row::of(job, indices)).filter(|row| row.fours > 0)
    }

    /// Runs equal messages of more registers than are run at once: two of each at a time, or, where there are registers for
    /// it, three or four, whichever leaves fewer over.
    #[inline(always)]
    pub(super) fn run_long_row(&self, job: &Job<'_>, row: Row) {
        // For the compiler, which need not make code that is never called.
        if P::WHOLE_GROUPS {
            return;
        }
        let registers = job.message(row.first).bytes.div_ceil(V::<P>::BYTES);
        if Self::IS_NARROW {
            self.row_of::<2, 8, IN_CHUNKS>(job, row);
        } else if registers.next_multiple_of(3) < registers.next_multiple_of(4) {
            self.row_of::<3, 12, IN_CHUNKS>(job, row);
        } else {
            self.row_of::<4, 16, IN_CHUNKS>(job, row);
        }
    }

    /// Runs equal messages of so few registers as a four takes.
    #[inline(always)]
    pub(super) fn run_row(&self, job: &Job<'_>, class: usize, row: Row) {
        // As above.
        if P::WHOLE_GROUPS {
            return;
        }
        match class {
            0 => self.row_of::<1, 4, AT_ONCE>(job, row),
            1 => self.row_of::<2, 8, AT_ONCE>(job, row),
            2 => self.row_of::<3, 12, AT_ONCE>(job, row),
            _ => self.row_of::<4, 16, AT_ONCE>(job, row),
        }
    }

    /// Runs R registers of each of four messages at a time, M in all: all that a message has, or, CHUNKED, some of them.
    #[inline(always)]
    fn row_of<const R: usize, const M: usize, const CHUNKED: bool>(&self, job: &Job<'_>, row: Row) {
        if job.message(row.first).bytes.is_multiple_of(R * V::<P>::BYTES) {
            self.row::<R, M, true, CHUNKED>(job, row);
        } else {
            self.row::<R, M, false, CHUNKED>(job, row);
        }
    }

    /// Equal messages from the first of `indices` on, if they are four or more, each of groups and no longer than all first
    /// rounds are known ahead.
    #[inline(always)]
    pub(super) fn train(&self, job: &Job<'_>, indices: Range<usize>) -> Option<Row> {
        let (first, group) = (indices.start, N * V::<P>::BYTES);
        let message = job.message(first);
        let is_long = (2 * group..=MOST_KNOWN * BLOCK).contains(&message.bytes);
        if !P::BEGINS || P::WHOLE_GROUPS || !is_long || self.first_round().is_none() {
            return None;
        }
        if job.nonce(first).len() != 12 || Self::is_past_caches(job, message) {
            return None;
        }
        Some(Row::of(job, indices)).filter(|row| row.fours > 0)
    }

    /// Runs a train.
    #[inline(always)]
    pub(super) fn run_train(&self, job: &Job<'_>, row: Row) {
        if let Some(first_round) = self.first_round()
            && P::BEGINS
            && !P::WHOLE_GROUPS
        {
            self.cipher.isa().vectorize(Train::<P, D, N, KARATSUBA> {
                job,
                cipher: &self.cipher,
                powers: &self.powers,
                first_round,
                row,
                direction: PhantomData,
            });
        }
    }

    #[inline(always)]
    fn row<const R: usize, const M: usize, const WHOLE: bool, const CHUNKED: bool>(
        &self,
        job: &Job<'_>,
        row: Row,
    ) {
        self.cipher.isa().vectorize(Rowed::<P, D, R, M, WHOLE, CHUNKED, KARATSUBA> {
            job,
            cipher: &self.cipher,
            powers: &self.powers,
            spread: self.spread.get_or_init(|| Spread::of(&self.powers)),
            first_round: self.first_round(),
            row,
            direction: PhantomData,
        });
    }
}
