//! The powers of a hash key.

use cipherlane_core::BLOCK;

use super::ONE;
use super::products::{Power, Products};
use crate::lanes::{Isa, Lanes, MAX_LANES, times_x, wipe_blocks};

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

    /// Becomes the powers 0 to `highest` of the hash key `h` (SP 800-38D section 7.1: the encrypted zero block).
    #[inline(always)]
    pub(crate) fn rekey(&mut self, h: u128, highest: usize) {
        assert!(highest <= MAX_POWERS, "a table holds so many powers");
        self.highest = highest;
        // In whole registers: what is loaded of one that was stored in part waits for it to reach the cache.
        let all = highest.next_multiple_of(I::V::LANES);
        self.written = self.written.max(all);
        self.set(0, ONE);
        self.set(1, times_x(h.swap_bytes()));
        // From the powers 1..=known to those up to 2 * known, a register at a time.
        let mut known = 1;
        while known < all {
            let factor = self.isa.splat(self.entry(known));
            let mut done = 0;
            while done < known && known + done < all {
                let count = I::V::LANES.min(known - done);
                self.extend(factor, done, known, count);
                done += count;
            }
            known += done;
        }
    }

    /// The powers known + done + 1 ..= known + done + count: `factor` = H^known times those of done + 1 and up.
    #[inline(always)]
    fn extend(&mut self, factor: I::V, done: usize, known: usize, count: usize) {
        let from = MAX_POWERS - (done + count);
        let to = MAX_POWERS - (known + done + count);
        let bytes = count * BLOCK;
        let (from, [to, sums]) = (
            self.entries[from].as_ptr(),
            [&mut self.entries, &mut self.sums].map(|all| all[to].as_mut_ptr()),
        );
        let is_whole = count == I::V::LANES;
        // SAFETY: count lanes at most are read and written, and both ranges lie within the table.
        unsafe {
            let low = if is_whole { self.isa.load(from) } else { self.isa.load_partial(from, bytes) };
            let product = Products::of(low, factor).reduce(self.isa);
            let sum = product.xor(product.swap_halves());
            if is_whole {
                product.store(to);
                sum.store(sums);
            } else {
                product.store_partial(to, bytes);
                sum.store_partial(sums, bytes);
            }
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
