//! The powers of a hash key.

use cipherlane_core::BLOCK;

use super::ONE;
use super::products::{Power, Products};
use crate::lanes::{Isa, Lanes, MAX_LANES, wipe_blocks};

/// Most powers of H that a table holds, in whole registers.
pub(crate) const MAX_POWERS: usize = 96;

/// Powers of the hash key, highest first: entry MAX_POWERS - e is H^e times x.
///
/// Consecutive entries load as one register: blocks followed by ever fewer blocks.
#[repr(C, align(64))]
pub(crate) struct Powers<I: Isa> {
    isa: I,
    entries: [[u8; BLOCK]; MAX_POWERS + MAX_LANES],
    /// High half XOR low half of each entry, for Karatsuba's product of sums.
    sums: [[u8; BLOCK]; MAX_POWERS + MAX_LANES],
    highest: usize,
    /// The highest power that an earlier hash key has left.
    written: usize,
}

impl<I: Isa> Powers<I> {
    /// No powers.
    #[inline(always)]
    pub(crate) fn none(isa: I) -> Self {
        let empty = [[0; BLOCK]; MAX_POWERS + MAX_LANES];
        Self { isa, entries: empty, sums: empty, highest: 0, written: 0 }
    }

    /// Becomes the powers 0 to `highest` of the hash key that is `h` in every lane (SP 800-38D section 7.1: the encrypted
    /// zero block).
    #[inline(always)]
    pub(crate) fn rekey(&mut self, h: I::V, highest: usize) {
        assert!(highest <= MAX_POWERS, "a table holds so many powers");
        self.highest = highest;
        // In whole registers: what is loaded of one that was stored in part waits for it to reach the cache.
        let all = highest.max(1).next_multiple_of(I::V::LANES);
        self.written = self.written.max(all);
        self.set(0, ONE);
        // The factor is H^known in every lane. A chain of squares of its own, it waits for nothing that was stored.
        let [lowest, mut factor] = lowest(h.reverse_bytes().times_x_reflected());
        let mut known = I::V::LANES;
        self.put(known, lowest);
        while known < all {
            let mut product = factor;
            for low in (I::V::LANES..=known.min(all - known)).step_by(I::V::LANES) {
                product = Products::of(self.falling(low).value(), factor).reduce(self.isa);
                self.put(known + low, product);
            }
            // Of one lane, the last product is that square.
            factor = if I::V::LANES == 1 { product } else { Products::square(factor).reduce(self.isa) };
            known *= 2;
        }
    }

    /// Puts the powers from `exponent` down to exponent - LANES + 1 in their places.
    #[inline(always)]
    fn put(&mut self, exponent: usize, powers: I::V) {
        let places = MAX_POWERS - exponent..MAX_POWERS - exponent + I::V::LANES;
        let (entries, sums) = (&mut self.entries[places.clone()], &mut self.sums[places]);
        // SAFETY: so many lanes are writable.
        unsafe {
            powers.store(entries.as_mut_ptr().cast());
            powers.xor(powers.swap_halves()).store(sums.as_mut_ptr().cast());
        }
    }

    fn set(&mut self, exponent: usize, value: u128) {
        self.entries[MAX_POWERS - exponent] = value.to_le_bytes();
        self.sums[MAX_POWERS - exponent] = (value ^ value.rotate_left(64)).to_le_bytes();
    }

    #[inline(always)]
    fn entry(&self, exponent: usize) -> &[u8; BLOCK] {
        &self.entries[MAX_POWERS - exponent]
    }

    /// The instruction set.
    #[inline(always)]
    pub(crate) fn isa(&self) -> I {
        self.isa
    }

    /// The highest power in the table.
    #[inline(always)]
    pub(crate) fn highest(&self) -> usize {
        self.highest
    }

    /// H^exponent in every lane, for [`Products::add`] with the same KARATSUBA: without, one load serves both halves on
    /// CPUs that are right to go without.
    #[inline(always)]
    pub(crate) fn splat<const KARATSUBA: bool>(&self, exponent: usize) -> Power<I::V> {
        debug_assert!(exponent <= self.highest);
        let index = MAX_POWERS - exponent;
        let sum = self.isa.splat(&self.sums[index]);
        if !KARATSUBA {
            return Power::with_sum(self.isa.splat(&self.entries[index]), sum);
        }
        let [low, high] = self.isa.splat_halves(&self.entries[index]);
        Power { low, high, sum }
    }

    /// H^exponent and the sum of its halves, in every lane.
    #[inline(always)]
    pub(super) fn in_every_lane(&self, exponent: usize) -> [I::V; 2] {
        debug_assert!(exponent <= self.highest);
        let index = MAX_POWERS - exponent;
        [self.isa.splat(&self.entries[index]), self.isa.splat(&self.sums[index])]
    }

    /// Where the powers from `exponent` on lie, falling, and where the sums of their halves do.
    #[inline(always)]
    pub(crate) fn from(&self, exponent: usize) -> [*const u8; 2] {
        debug_assert!(exponent <= self.highest);
        let index = MAX_POWERS - exponent;
        [self.entries[index].as_ptr(), self.sums[index].as_ptr()]
    }

    /// H^exponents[i] in lane i, for the first LANES exponents.
    #[inline(always)]
    pub(crate) fn each(&self, exponents: &[usize; MAX_LANES]) -> Power<I::V> {
        let (mut values, mut sums) = ([std::ptr::null(); MAX_LANES], [std::ptr::null(); MAX_LANES]);
        for (lane, &exponent) in exponents.iter().enumerate() {
            let index = MAX_POWERS - exponent;
            (values[lane], sums[lane]) = (self.entries[index].as_ptr(), self.sums[index].as_ptr());
        }
        // SAFETY: entries are blocks.
        unsafe { Power::with_sum(self.isa.gather(&values), self.isa.gather(&sums)) }
    }

    /// H^exponent in lane 0, then falling powers; lanes beyond the power 0 hold zero.
    #[inline(always)]
    pub(crate) fn falling(&self, exponent: usize) -> Power<I::V> {
        debug_assert!(exponent <= self.highest);
        let index = MAX_POWERS - exponent;
        // SAFETY: the table has MAX_LANES - 1 spare entries behind the power 0, so a whole register is readable.
        unsafe {
            Power::with_sum(
                self.isa.load(self.entries.as_ptr().add(index).cast()),
                self.isa.load(self.sums.as_ptr().add(index).cast()),
            )
        }
    }
}

impl<I: Isa> Drop for Powers<I> {
    fn drop(&mut self) {
        let used = MAX_POWERS - self.written..=MAX_POWERS;
        wipe_blocks(&mut self.entries[used.clone()]);
        wipe_blocks(&mut self.sums[used]);
    }
}

/// H^exponent in table form, of any exponent.
pub(crate) fn power<I: Isa>(powers: &Powers<I>, exponent: usize) -> I::V {
    let isa = powers.isa();
    let mut square = isa.splat(powers.entry(1));
    let mut result = isa.splat_word(ONE);
    let mut left = exponent;
    while left > 0 {
        if left & 1 == 1 {
            result = Products::of(result, square).reduce(isa);
        }
        square = Products::square(square).reduce(isa);
        left >>= 1;
    }
    result
}

/// The powers LANES to 1 of what `h` is in every lane, and the first of them in every lane; all in table form.
#[inline(always)]
fn lowest<V: Lanes>(h: V) -> [V; 2] {
    let mut powers = [h; MAX_LANES];
    let mut register = h;
    for i in 1..V::LANES {
        // H^(i + 1), of two that are known and about half of it.
        powers[i] = Products::of(powers[i / 2], powers[(i - 1) / 2]).reduce(h.isa());
        register = register.shift_in(powers[i]);
    }
    [register, powers[V::LANES - 1]]
}
