//! Messages of few registers, four at once.

use std::marker::PhantomData;

use super::OneKey;
use super::team::Teams;
use crate::cipher::Permutation;
use crate::job::Job;
use crate::lanes::Isa;
use crate::mode::gcm::Direction;
use crate::mode::gcm::equal::TEAM;

/// Most registers of a message in a team.
pub(super) const MAX_REGISTERS: usize = 4;

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// Runs teams of messages of `class`.
    #[inline(always)]
    pub(super) fn run_teams(&self, job: &Job<'_>, class: usize, teams: &[[usize; TEAM]]) {
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
            first_round: self.first_round(),
            teams,
            direction: PhantomData,
        });
    }
}
