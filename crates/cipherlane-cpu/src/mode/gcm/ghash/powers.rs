//! The powers of a hash key.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use super::ONE;
use super::lane_powers::LanePowers;
use super::products::{Power, Products};
use crate::lanes::{Isa, Lanes, MAX_LANES, WOVEN, wipe_blocks};

/// Most powers of H that a table holds, in whole registers.
pub(crate) const MAX_POWERS: usize = 96;

/// A block for each power, the highest first, and zeros behind the power 0. What no hash key has had powers for is not
/// written: a table is kilobytes, and one message may be all that it is for.
#[repr(C, align(64))]
struct Column([MaybeUninit<[u8; BLOCK]>; MAX_POWERS + MAX_LANES]);

impl Column {
    /// The power 0, which is that of any hash key.
    #[inline(always)]
    fn new(one: u128) -> Self {
        let mut blocks = [const { MaybeUninit::uninit() }; MAX_POWERS + MAX_LANES];
        blocks[MAX_POWERS] = MaybeUninit::new(one.to_le_bytes());
        blocks[MAX_POWERS + 1..].fill(MaybeUninit::zeroed());
        Self(blocks)
    }

    /// Where the powers from `exponent` on lie, falling.
    #[inline(always)]
    const fn from(&self, exponent: usize) -> *const u8 {
        self.0.as_ptr().wrapping_add(MAX_POWERS - exponent).cast()
    }

    /// Puts the powers from `exponent` down to exponent - LANES + 1 in their places.
    #[inline(always)]
    fn put<V: Lanes>(&mut self, exponent: usize, powers: V) {
        let places = &mut self.0[MAX_POWERS - exponent..][..V::LANES];
        // SAFETY: so many lanes are writable.
        unsafe { powers.store(places.as_mut_ptr().cast()) }
    }

    /// Wipes the powers 1 to `highest`.
    ///
    /// # Safety
    /// They are written.
    #[inline(always)]
    unsafe fn wipe(&mut self, highest: usize) {
        // SAFETY: the caller's promise.
        wipe_blocks(unsafe { self.0[MAX_POWERS - highest..MAX_POWERS].assume_init_mut() });
    }
}

/// WOVEN registers of which each has the same block in every lane: an instruction takes that from memory, where one that
/// brings it to every lane would be another.
#[repr(C, align(64))]
struct InEveryLane([MaybeUninit<[u8; BLOCK]>; WOVEN * MAX_LANES]);

/// Powers of the hash key: for exponent e, H^e times x.
///
/// Consecutive ones load as one register: blocks followed by ever fewer blocks.
#[repr(C)]
pub(crate) struct Powers<I: Isa> {
    isa: I,
    entries: Column,
    /// High half XOR low half of each entry, for Karatsuba's product of sums.
    sums: Column,
    /// Those of the powers LANES * WOVEN, LANES * (WOVEN - 1), down to LANES, if there are so many.
    sums_woven: InEveryLane,
    /// Whether this hash key or an earlier one has left those.
    is_woven: bool,
    /// The highest power of the hash key.
    highest: usize,
    /// The highest power that this one or an earlier hash key has left, which is no less: all below are written.
    written: usize,
}

impl<I: Isa> Powers<I> {
    /// No powers but 0.
    #[inline(always)]
    pub(crate) fn none(isa: I) -> Self {
        let [entries, sums] = [ONE, ONE ^ ONE.rotate_left(64)].map(Column::new);
        let sums_woven = InEveryLane([const { MaybeUninit::uninit() }; WOVEN * MAX_LANES]);
        Self { isa, entries, sums, sums_woven, is_woven: false, highest: 0, written: 0 }
    }

    /// Becomes the powers 0 to `highest` of the hash key that is `h` in every lane (SP 800-38D section 7.1: the encrypted
    /// zero block).
    #[inline(always)]
    pub(crate) fn rekey(&mut self, h: I::V, highest: usize) {
        assert!(highest <= MAX_POWERS, "a table holds so many powers");
        // In whole registers: what is loaded of one that was stored in part waits for it to reach the cache.
        let all = highest.max(1).next_multiple_of(I::V::LANES);
        // The factor is H^known in every lane. A chain of squares of its own, it waits for nothing that was stored.
        let [lowest, mut factor] = lowest(h.reverse_bytes().times_x_reflected());
        let mut known = I::V::LANES;
        self.put(known, lowest);
        while known < all {
            let mut product = factor;
            for below in (0..known.min(all - known)).step_by(I::V::LANES) {
                let low = below + I::V::LANES;
                // SAFETY: the powers up to `known` are written.
                let lower = unsafe { self.isa.load(self.entries.from(low)) };
                product = Products::of(lower, factor).reduce(self.isa);
                self.put(known + low, product);
            }
            // Of one lane, the last product is that square.
            factor = if I::V::LANES == 1 { product } else { Products::square(factor).reduce(self.isa) };
            known *= 2;
        }
        self.have(highest, all);
    }

    /// Becomes the powers 0 to `highest` of the hash key of lane `lane`, which has as many.
    #[inline(always)]
    pub(crate) fn rekey_from(&mut self, powers: &LanePowers<I::V>, lane: usize, highest: usize) {
        let all = highest.max(1).next_multiple_of(I::V::LANES);
        assert!(all <= MAX_POWERS, "a table holds so many powers");
        for below in (0..all).step_by(I::V::LANES) {
            let exponent = below + I::V::LANES;
            self.put(exponent, powers.falling(self.isa, lane, exponent));
        }
        self.have(highest, all);
    }

    /// Has the powers up to `highest`, and beyond that those up to `all` are written.
    #[inline(always)]
    fn have(&mut self, highest: usize, all: usize) {
        (self.highest, self.written) = (highest, self.written.max(all));
        if highest < Self::WOVEN_POWERS || I::V::LANES < MAX_LANES {
            return;
        }
        for i in 0..WOVEN {
            let exponent = Self::WOVEN_POWERS - i * I::V::LANES;
            let [_, sum] = self.in_every_lane(exponent);
            let place = &mut self.sums_woven.0[i * I::V::LANES..][..I::V::LANES];
            // SAFETY: so many lanes are writable.
            unsafe { sum.store(place.as_mut_ptr().cast()) }
        }
        self.is_woven = true;
    }

    /// Powers for groups of WOVEN registers.
    const WOVEN_POWERS: usize = WOVEN * I::V::LANES;

    /// Where the powers for groups of WOVEN registers lie, falling, and where the sums of the halves of every LANES-th of them
    /// do, each in every lane.
    #[inline(always)]
    pub(crate) fn woven(&self) -> [*const u8; 2] {
        debug_assert!(self.is_woven, "registers of {} lanes have none", I::V::LANES);
        [self.from(Self::WOVEN_POWERS)[0], self.sums_woven.0.as_ptr().cast()]
    }

    /// Puts the powers from `exponent` down to exponent - LANES + 1 in their places.
    #[inline(always)]
    fn put(&mut self, exponent: usize, powers: I::V) {
        self.entries.put(exponent, powers);
        self.sums.put(exponent, powers.xor(powers.swap_halves()));
    }

    /// Where the powers from `exponent` on lie, falling, and where the sums of their halves do. So many are written, with as
    /// many zeros behind them as a register may reach.
    #[inline(always)]
    pub(crate) fn from(&self, exponent: usize) -> [*const u8; 2] {
        assert!(exponent <= self.highest, "the table has no power that high");
        [self.entries.from(exponent), self.sums.from(exponent)]
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
        let [entry, sum] = self.blocks(exponent);
        let sum = self.isa.splat(sum);
        if !KARATSUBA {
            return Power::with_sum(self.isa.splat(entry), sum);
        }
        let [low, high] = self.isa.splat_halves(entry);
        Power { low, high, sum }
    }

    /// H^exponent and the sum of its halves, in every lane.
    #[inline(always)]
    pub(super) fn in_every_lane(&self, exponent: usize) -> [I::V; 2] {
        let [entry, sum] = self.blocks(exponent);
        [self.isa.splat(entry), self.isa.splat(sum)]
    }

    /// H^exponent and the sum of its halves.
    #[inline(always)]
    fn blocks(&self, exponent: usize) -> [&[u8; BLOCK]; 2] {
        let [entry, sum] = self.from(exponent);
        // SAFETY: they are written.
        unsafe { [&*entry.cast(), &*sum.cast()] }
    }

    /// H^exponents[i] in lane i, for the first LANES exponents.
    #[inline(always)]
    pub(crate) fn each(&self, exponents: &[usize; MAX_LANES]) -> Power<I::V> {
        let (mut values, mut sums) = ([std::ptr::null(); MAX_LANES], [std::ptr::null(); MAX_LANES]);
        for (lane, &exponent) in exponents.iter().enumerate().take(I::V::LANES) {
            [values[lane], sums[lane]] = self.from(exponent);
        }
        // SAFETY: entries are blocks.
        unsafe { Power::with_sum(self.isa.gather(&values), self.isa.gather(&sums)) }
    }

    /// H^exponent in lane 0, then falling powers; lanes beyond the power 0 hold zero.
    #[inline(always)]
    pub(crate) fn falling(&self, exponent: usize) -> Power<I::V> {
        let [entries, sums] = self.from(exponent);
        // SAFETY: a whole register is readable.
        unsafe { Power::with_sum(self.isa.load(entries), self.isa.load(sums)) }
    }
}

impl<I: Isa> Drop for Powers<I> {
    fn drop(&mut self) {
        // SAFETY: so many are written.
        unsafe {
            self.entries.wipe(self.written);
            self.sums.wipe(self.written);
            if self.is_woven {
                wipe_blocks(self.sums_woven.0[..Self::WOVEN_POWERS].assume_init_mut());
            }
        }
    }
}

/// H^exponent in table form, of any exponent.
pub(crate) fn power<I: Isa>(powers: &Powers<I>, exponent: usize) -> I::V {
    let isa = powers.isa();
    let mut square = isa.splat(powers.blocks(1)[0]);
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
