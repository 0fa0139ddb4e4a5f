//! The powers of a hash key in each lane: made side by side, since each waits for lower ones.

use std::mem::MaybeUninit;

use super::powers::MAX_POWERS;
use super::products::Products;
use crate::lanes::{Isa, Lanes, MAX_LANES, wipe};

/// Powers of as many hash keys as a register has lanes. Wiped when dropped.
pub(crate) struct LanePowers<V: Lanes> {
    /// By their exponents, from 1 to `written`; in table form.
    powers: [MaybeUninit<V>; MAX_POWERS + 1],
    /// The highest power of the hash keys: as asked for, up to pairs and whole registers.
    highest: usize,
    /// The highest that these or earlier ones have left.
    written: usize,
}

impl<V: Lanes> LanePowers<V> {
    /// No powers.
    #[inline(always)]
    pub(crate) const fn none() -> Self {
        Self { powers: [const { MaybeUninit::uninit() }; MAX_POWERS + 1], highest: 0, written: 0 }
    }

    /// Becomes the powers 1 to `highest`, or a few more, of the hash keys `h` (SP 800-38D section 7.1: the encrypted zero
    /// blocks).
    #[inline(always)]
    pub(crate) fn rekey(&mut self, h: V, highest: usize) {
        // Pairs, and whole registers.
        let all = highest.max(1).next_multiple_of(V::LANES.max(2));
        assert!(all <= MAX_POWERS, "a table holds so many powers");
        let isa = h.isa();
        self.powers[1].write(h.reverse_bytes().times_x_reflected());
        for half in 1..=all / 2 {
            // SAFETY: lower powers are written.
            let low = unsafe { self.powers[half].assume_init() };
            self.powers[2 * half].write(Products::square(low).reduce(isa));
            if 2 * half < all {
                // SAFETY: as above.
                let high = unsafe { self.powers[half + 1].assume_init() };
                self.powers[2 * half + 1].write(Products::of(low, high).reduce(isa));
            }
        }
        (self.highest, self.written) = (all, self.written.max(all));
    }

    /// Of the hash key of lane `lane`, the powers from `exponent` down to exponent - LANES + 1.
    #[inline(always)]
    pub(super) fn falling(&self, isa: V::Isa, lane: usize, exponent: usize) -> V {
        assert!((V::LANES..=self.highest).contains(&exponent) && lane < V::LANES, "no such power");
        // Registers of LANES blocks, of which this lane's are as far apart.
        let highest = self.powers.as_ptr().wrapping_add(exponent).cast::<u128>().wrapping_add(lane);
        let mut from = [std::ptr::null(); MAX_LANES];
        for (i, from) in from.iter_mut().enumerate().take(V::LANES) {
            *from = highest.wrapping_sub(i * V::LANES).cast();
        }
        // SAFETY: the powers 1 to `highest` are written.
        unsafe { isa.gather(&from) }
    }
}

impl<V: Lanes> Drop for LanePowers<V> {
    fn drop(&mut self) {
        // SAFETY: so many are written.
        wipe(unsafe { self.powers[1..=self.written].assume_init_mut() });
    }
}
