//! The first round of counter blocks, known ahead of them.
//!
//! Consecutive counter blocks differ in their last byte alone, 255 times of 256. What that byte does to a block in the
//! first round of AES depends on it and on the key, and not on the other bytes: MixColumns is linear, so its column is
//! XORed to the rest. A table of its 256 effects under a key that many blocks share saves that round for all of them
//! (Bernstein and Schwabe, "New AES software speed records", section 4.3, do so in tables of software AES).
//!
//! In the register in which that byte overflows, lanes behind it have the same effects on another rest.
//!
//! The table is looked up by the counter, which is public, and never by data or key.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use super::counters::{BIG_STEPS, counted};
use crate::cipher::{Permutation, V};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work, wipe_blocks};

/// Values of a byte.
pub(crate) const BYTES: usize = 256;

/// The effects, aligned so that loads from entry 2 on, where GCM begins to count, cross no cache line. Nothing is written
/// before they are.
#[repr(C, align(64))]
struct Table {
    _before: [MaybeUninit<[u8; BLOCK]>; MAX_LANES - FIRST],
    /// Those of the first values follow the last one, when it overflows.
    effects: [MaybeUninit<[u8; BLOCK]>; BYTES + MAX_LANES],
}

/// A register of ones from entry MAX_LANES on.
static BEHIND: [[u8; BLOCK]; 2 * MAX_LANES] = {
    let mut behind = [[0; BLOCK]; 2 * MAX_LANES];
    let mut i = MAX_LANES;
    while i < 2 * MAX_LANES {
        behind[i] = [u8::MAX; BLOCK];
        i += 1;
    }
    behind
};

/// Ones in every lane behind `lanes` of them.
#[inline(always)]
pub(crate) fn behind<I: Isa>(isa: I, lanes: usize) -> I::V {
    debug_assert!(lanes <= MAX_LANES);
    // SAFETY: the table has a register from there on.
    unsafe { isa.load(BEHIND.as_ptr().add(MAX_LANES - lanes).cast()) }
}

/// The last byte of GCM's first counter block under a nonce of 96 bits (SP 800-38D section 7.1).
pub(crate) const FIRST: usize = 2;

/// Under one key, what each value of the last byte does to a block in the first round. Wiped when dropped.
pub(crate) struct FirstRound(Table);

impl FirstRound {
    /// That of `cipher`; `None` if it has no round to save.
    pub(crate) fn of<P: Permutation>(cipher: &P) -> Option<Self> {
        let mut first = None;
        Self::put(&mut first, cipher);
        first
    }

    /// Puts that of `cipher` in `place`, over that of the key before, if it has a round to save. It is made where it stays.
    #[inline(always)]
    pub(crate) fn put<P: Permutation>(place: &mut Option<Self>, cipher: &P) {
        if !P::BEGINS {
            return;
        }
        // SAFETY: a table need not be written, and all its effects are before anything else is done with it.
        let Self(table) = place.get_or_insert_with(|| Self(unsafe { MaybeUninit::uninit().assume_init() }));
        cipher.isa().vectorize(Fill { cipher, effects: &mut table.effects });
    }

    /// The effects of `LANES` consecutive values from `value`, modulo BYTES, on.
    #[inline(always)]
    pub(crate) fn effects<I: Isa>(&self, isa: I, value: usize) -> I::V {
        debug_assert!(value <= BYTES);
        // SAFETY: the table reaches that far.
        unsafe { isa.load(self.effects_from(value)) }
    }

    /// The effect of `value` in every lane.
    #[inline(always)]
    pub(crate) fn effect<I: Isa>(&self, isa: I, value: usize) -> I::V {
        // SAFETY: all were written when this was made.
        isa.splat(unsafe { self.0.effects[value].assume_init_ref() })
    }

    /// Where the effects of the values from `value` to 255 lie, and those of a register's first ones.
    #[inline(always)]
    pub(crate) fn effects_from(&self, value: usize) -> *const u8 {
        self.0.effects.as_ptr().wrapping_add(value).cast()
    }
}

impl Drop for FirstRound {
    fn drop(&mut self) {
        // SAFETY: all were written when this was made.
        wipe_blocks(unsafe { self.0.effects.assume_init_mut() });
    }
}

/// The making of the table, as work.
struct Fill<'a, P> {
    cipher: &'a P,
    effects: &'a mut [MaybeUninit<[u8; BLOCK]>],
}

impl<P: Permutation> Work for Fill<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let isa = self.cipher.isa();
        let [zero] = self.cipher.begin([isa.zero()]);
        // SAFETY: the table of steps has more blocks than a register.
        let mut values = unsafe { isa.load(BIG_STEPS.as_ptr().cast()) };
        // The last byte has no carry out of it: its values begin again.
        for effects in self.effects.chunks_exact_mut(V::<P>::LANES) {
            let [begun] = self.cipher.begin([values]);
            values = counted(isa, values, V::<P>::LANES);
            // SAFETY: the chunk has as many blocks as there are lanes.
            unsafe { begun.xor(zero).store(effects.as_mut_ptr().cast()) }
        }
    }
}
