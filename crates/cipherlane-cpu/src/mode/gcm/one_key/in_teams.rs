//! Messages of few registers, which wait for company.

use std::marker::PhantomData;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::super::Direction;
use super::super::ending::MAX_AAD_BLOCKS;
use super::super::team::{Members, Row, TEAM, Teams};
use super::OneKey;
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes};

/// Most teams that wait.
const TEAMS: usize = 8;
/// Most registers of a message in a team.
const MAX_REGISTERS: usize = 4;

/// Messages of one class that wait for company.
#[derive(Clone, Copy)]
struct Class {
    indices: [[usize; TEAM]; TEAMS],
    count: usize,
}

/// Messages that wait for company, by their registers.
pub(super) struct Waiting([Class; MAX_REGISTERS]);

impl Waiting {
    /// No messages.
    #[inline(always)]
    pub(super) fn none() -> Self {
        Self([Class { indices: [[0; TEAM]; TEAMS], count: 0 }; MAX_REGISTERS])
    }
}

/// How many messages from `index` on are as long as that one, their AAD as well, and have nonces of 12 bytes.
#[inline(always)]
fn equal(job: &Job<'_>, index: usize, end: usize) -> usize {
    let (bytes, aad) = (job.message(index).bytes, job.aad(index).len());
    let mut next = index;
    while next < end
        && job.message(next).bytes == bytes
        && job.aad(next).len() == aad
        && job.nonce(next).len() == 12
    {
        next += 1;
    }
    next - index
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
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
            let Some(class) = self.class(job, index) else { return Some(index) };
            let teams = equal(job, index, range.end) / TEAM;
            if teams > 0 {
                self.run_teams(job, class, Row { first: index, teams });
                range.start = index + teams * TEAM;
                continue;
            }
            let some = &mut waiting.0[class];
            some.indices.as_flattened_mut()[some.count] = index;
            some.count += 1;
            if some.count == TEAMS * TEAM {
                self.run_teams(job, class, some.indices.as_slice());
                some.count = 0;
            }
        }
        for (class, some) in waiting.0.iter_mut().enumerate() {
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

    /// Registers of a message that a team takes, less one.
    #[inline(always)]
    fn class(&self, job: &Job<'_>, index: usize) -> Option<usize> {
        let bytes = job.message(index).bytes;
        let class = bytes.wrapping_sub(1) / V::<P>::BYTES;
        let aad = job.aad(index).len().div_ceil(BLOCK);
        let fits = bytes.div_ceil(BLOCK) + aad < self.powers.highest() && aad <= MAX_AAD_BLOCKS;
        (class < MAX_REGISTERS && fits && job.nonce(index).len() == 12).then_some(class)
    }

    #[inline(always)]
    fn run_teams(&self, job: &Job<'_>, class: usize, members: impl Members) {
        // For the compiler, which need not make code that is never called.
        if P::WHOLE_GROUPS {
            return;
        }
        match class {
            0 => self.teams::<_, 1, 4>(job, members),
            1 => self.teams::<_, 2, 8>(job, members),
            2 => self.teams::<_, 3, 12>(job, members),
            _ => self.teams::<_, 4, 16>(job, members),
        }
    }

    #[inline(always)]
    fn teams<T: Members, const R: usize, const M: usize>(&self, job: &Job<'_>, members: T) {
        self.cipher.isa().vectorize(Teams::<P, D, T, R, M, KARATSUBA> {
            job,
            cipher: &self.cipher,
            powers: &self.powers,
            first_round: self.first_round.as_ref(),
            members,
            direction: PhantomData,
        });
    }
}
