//! Powers of a hash key in every lane.

use std::marker::PhantomData;

use super::powers::Powers;
use super::products::Power;
use crate::lanes::{Isa, MAX_LANES, Work, wipe};

/// Most registers of a message whose powers are there.
pub(crate) const REGISTERS: usize = 23;
/// The highest power: what the first block of such a message of four lanes is multiplied by, before the block of lengths.
const HIGHEST: usize = REGISTERS * MAX_LANES + 1;
/// What follows the power 1. Registers are run up to four at a time, of which two and a part of a third may lack their
/// blocks: the block behind the text is multiplied by H, and those behind that by these.
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
    pub(crate) fn of(powers: &Powers<I>) -> Self {
        let (isa, highest) = (powers.isa(), powers.highest().min(HIGHEST));
        let mut spread = Self { isa, entries: Box::new([[isa.zero(); 2]; _]), highest };
        isa.vectorize(Fill { powers, spread: &mut spread });
        spread
    }

    /// The powers from H^highest on.
    #[inline(always)]
    pub(crate) fn falling(&self, highest: usize) -> Falling<'_, I> {
        assert!((2..=self.highest).contains(&highest), "the power of a message's first block");
        let entries = &self.entries[HIGHEST - highest..];
        Falling { isa: self.isa, first: entries.as_ptr(), left: entries.len(), table: PhantomData }
    }
}

/// The making of the table, as work.
struct Fill<'a, I: Isa> {
    powers: &'a Powers<I>,
    spread: &'a mut Spread<I>,
}

impl<I: Isa> Work for Fill<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for exponent in 1..=self.spread.highest {
            self.spread.entries[HIGHEST - exponent] = self.powers.in_every_lane(exponent);
        }
    }
}

/// Falling powers of a [`Spread`], as a place: what is known of its end is known to its user.
#[derive(Clone, Copy)]
pub(crate) struct Falling<'a, I: Isa> {
    isa: I,
    first: *const [I::V; 2],
    /// Entries from there on.
    left: usize,
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
    /// The table goes on behind them.
    #[inline(always)]
    pub(crate) unsafe fn skip(self, count: usize) -> Self {
        debug_assert!(count < self.left);
        // SAFETY: the caller's.
        Self { first: unsafe { self.first.add(count) }, left: self.left - count, ..self }
    }

    /// What block `index` of a message is multiplied by, if the first one is by the first of these. Behind the text, where
    /// blocks are zero: anything.
    ///
    /// # Safety
    /// The table has as many entries: one for each block and for that of lengths, and BEYOND.
    #[inline(always)]
    pub(crate) unsafe fn of(&self, index: usize) -> Power<I::V> {
        debug_assert!(index < self.left);
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
