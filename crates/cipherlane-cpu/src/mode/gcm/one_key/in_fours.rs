//! Messages of few registers, four at once.

use std::marker::PhantomData;

use super::OneKey;
use super::fours::Fours;
use crate::cipher::Permutation;
use crate::job::Job;
use crate::lanes::Isa;
use crate::mode::gcm::Direction;
use crate::mode::gcm::equal::FOUR;

/// Most registers of a message that is one of a four.
pub(super) const MAX_REGISTERS: usize = 4;

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> OneKey<P, D, N, KARATSUBA> {
    /// Runs fours of messages of `class`.
    #[inline(always)]
    pub(super) fn run_fours(&self, job: &Job<'_>, class: usize, fours: &[[usize; FOUR]]) {
        // For the compiler, which need not make code that is never called.
        if P::WHOLE_GROUPS {
            return;
        }
        match class {
            0 => self.fours::<1, 4>(job, fours),
            1 => self.fours::<2, 8>(job, fours),
            2 => self.fours::<3, 12>(job, fours),
            _ => self.fours::<4, 16>(job, fours),
        }
    }

    #[inline(always)]
    fn fours<const R: usize, const M: usize>(&self, job: &Job<'_>, fours: &[[usize; FOUR]]) {
        self.cipher.isa().vectorize(Fours::<P, D, R, M, KARATSUBA> {
            job,
            cipher: &self.cipher,
            powers: &self.powers,
            first_round: self.first_round(),
            fours,
            direction: PhantomData,
        });
    }
}
