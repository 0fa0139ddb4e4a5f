//! Messages of few registers, which wait for company.

use std::marker::PhantomData;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::super::Direction;
use super::super::ending::MAX_AAD_BLOCKS;
use super::super::row::Row;
use super::super::team::{TEAM, Teams};
use super::OneKey;
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes};

/// Most teams that wait.
const TEAMS: usize = 8;
/// Most registers of a message in a team.
pub(super) const MAX_REGISTERS: usize = 4;

/// Messages of one class that wait for company.
#[derive(Clone, Copy)]
struct Class {
    indices: [[usize; TEAM]; TEAMS],
    count: usize,
}

/// Messages that wait for company, by their registers.
pub(super) struct Waiting {
    classes: [Class; MAX_REGISTERS],
    /// [`OneKey::most_bytes`] of all messages, if it is the same for all.
    most: Option<usize>,
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// No messages of `job`.
    #[inline(always)]
    pub(super) fn nobody_waits(&self, job: &Job<'_>) -> Waiting {
        let classes = [Class { indices: [[0; TEAM]; TEAMS], count: 0 }; MAX_REGISTERS];
        Waiting { classes, most: job.widths().map(|widths| self.most_bytes(widths)) }
    }

    /// Runs teams of the messages of `range` up to one that no team takes, and returns that; in the end those that
    /// have not found company.
    #[inline(always)]
    pub(super) fn run_teams_until_single(
        &self,
        job: &Job<'_>,
        range: &mut Range<usize>,
        waiting: &mut Waiting,
    ) -> Option<usize> {
        while let Some(index) = range.next() {
            if Row::may_begin(job, &(index..range.end))
                && let Some(row) = self.run_equal(job, index..range.end)
            {
                range.start = index + row.teams * TEAM;
                continue;
            }
            let Some(class) = self.class(job, index, waiting.most) else { return Some(index) };
            let some = &mut waiting.classes[class];
            some.indices.as_flattened_mut()[some.count] = index;
            some.count += 1;
            if some.count == TEAMS * TEAM {
                self.run_teams(job, class, some.indices.as_slice());
                some.count = 0;
            }
        }
        for (class, some) in waiting.classes.iter_mut().enumerate() {
            let teams = some.count / TEAM;
            if teams > 0 {
                self.run_teams(job, class, &some.indices[..teams]);
                some.indices[0] = some.indices[teams % TEAMS];
                some.count %= TEAM;
            }
            if let Some(rest) = some.count.checked_sub(1) {
                some.count = rest;
                return Some(some.indices[0][rest]);
            }
        }
        None
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
        let class = self.class(job, indices.start, None)?;
        let row = Row::of(job, indices);
        if row.teams == 0 {
            return None;
        }
        self.run_row(job, class, row);
        Some(row)
    }

    /// Registers of a message that a team takes, less one; `most` as in [`Waiting`].
    #[inline(always)]
    fn class(&self, job: &Job<'_>, index: usize, most: Option<usize>) -> Option<usize> {
        let bytes = job.message(index).bytes;
        let class = bytes.wrapping_sub(1) / V::<P>::BYTES;
        let fits = most.map_or_else(|| self.has_powers(job, index), |most| bytes <= most);
        (class < MAX_REGISTERS && fits).then_some(class)
    }

    /// Whether the hash of message `index`, whose nonce is of 12 bytes, needs no more powers than there are.
    #[inline(always)]
    pub(super) fn has_powers(&self, job: &Job<'_>, index: usize) -> bool {
        job.message(index).bytes <= self.most_bytes((job.nonce(index).len(), job.aad(index).len()))
    }

    /// Most bytes of a message, with so many bytes of nonce and AAD, whose hash needs no more powers than there are; 0 where
    /// messages are not hashed in teams.
    #[inline(always)]
    fn most_bytes(&self, (nonce, aad): (usize, usize)) -> usize {
        let aad = aad.div_ceil(BLOCK);
        let blocks = self.powers.highest().saturating_sub(aad + 1);
        if nonce == 12 && aad <= MAX_AAD_BLOCKS { blocks * BLOCK } else { 0 }
    }

    /// Runs messages that are not equal.
    #[inline(always)]
    fn run_teams(&self, job: &Job<'_>, class: usize, teams: &[[usize; TEAM]]) {
        // For the compiler, which need not make code that is never called.
        if P::WHOLE_GROUPS {
            return;
        }
        match class {
            0 => self.teams::<1, 4>(job, teams),
            1 => self.teams::<2, 8>(job, teams),
            2 => self.teams::<3, 12>(job, teams),
            _ => self.teams::<4, 16>(job, teams),
        }
    }

    #[inline(always)]
    fn teams<const R: usize, const M: usize>(&self, job: &Job<'_>, teams: &[[usize; TEAM]]) {
        self.cipher.isa().vectorize(Teams::<P, D, R, M, KARATSUBA> {
            job,
            cipher: &self.cipher,
            powers: &self.powers,
            first_round: self.first_round.as_ref(),
            teams,
            direction: PhantomData,
        });
    }
}
