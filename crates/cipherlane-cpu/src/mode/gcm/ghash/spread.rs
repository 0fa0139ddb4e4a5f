//! Powers of a hash key in every lane.

use std::marker::PhantomData;

use super::powers::Powers;
use super::products::Power;
use crate::lanes::{Isa, MAX_LANES, wipe};

/// The highest power: what the first block of a message of fifteen registers of four lanes is multiplied by.
const HIGHEST: usize = 15 * MAX_LANES + 1;
/// What follows the power 1: the last of three registers that are run together may begin with a message's last block, or
/// the first of them.
const BEYOND: usize = 3 * MAX_LANES - 1;

/// Powers of the hash key, highest first, each in every lane: for blocks that lie side by side, a message a lane. Wiped
/// when dropped.
///
/// A factor of a product is read where it lies; broadcasting it took three instructions more.
pub(crate) struct Spread<I: Isa> {
    isa: I,
    /// Entry HIGHEST - e is H^e times x, and the sum of its halves.
    entries: Box<[[I::V; 2]; HIGHEST + BEYOND]>,
    /// The highest power that is there.
    highest: usize,
}

impl<I: Isa> Spread<I> {
    /// Those of `powers`.
    #[inline(always)]
    pub(crate) fn of(powers: &Powers<I>) -> Self {
        let (isa, highest) = (powers.isa(), powers.highest().min(HIGHEST));
        let mut spread = Self { isa, entries: Box::new([[isa.zero(); 2]; _]), highest };
        for exponent in 1..=highest {
            spread.entries[HIGHEST - exponent] = powers.in_every_lane(exponent);
        }
        spread
    }

    /// The powers from H^highest on.
    #[inline(always)]
    pub(crate) fn falling(&self, highest: usize) -> Falling<'_, I> {
        assert!((2..=self.highest).contains(&highest), "the power of a message's first block");
        Falling { isa: self.isa, first: self.entries[HIGHEST - highest..].as_ptr(), table: PhantomData }
    }
}

/// Falling powers of a [`Spread`], as a place: what is known of its end is known to its user.
#[derive(Clone, Copy)]
pub(crate) struct Falling<'a, I: Isa> {
    isa: I,
    first: *const [I::V; 2],
    table: PhantomData<&'a Spread<I>>,
}

impl<I: Isa> Falling<'_, I> {
    /// The instruction set.
    #[inline(always)]
    pub(crate) fn isa(&self) -> I {
        self.isa
    }

    /// The powers behind the first `count`.
    ///
    /// # Safety
    /// One of them is there.
    #[inline(always)]
    pub(crate) unsafe fn skip(self, count: usize) -> Self {
        // SAFETY: the caller's.
        Self { first: unsafe { self.first.add(count) }, ..self }
    }

    /// What block `index` of a message is multiplied by, if the first one is by the first of these. Blocks of zeros behind
    /// the last one, as many as are there to fill its register, have zeros.
    ///
    /// # Safety
    /// The table has as many powers, and the BEYOND behind them.
    #[inline(always)]
    pub(crate) unsafe fn of(&self, index: usize) -> Power<I::V> {
        // SAFETY: the caller's.
        let [value, sum] = unsafe { *self.first.add(index) };
        Power::with_sum(value, sum)
    }
}

impl<I: Isa> Drop for Spread<I> {
    fn drop(&mut self) {
        wipe(self.entries.as_flattened_mut());
    }
}
