//! Carry-less products and their sums.

use super::ONE;
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// A factor of a product: a power of H.
#[derive(Clone, Copy)]
pub(crate) struct Power<V> {
    /// Its low half is that of the power.
    pub(super) low: V,
    /// Its high half is that of the power.
    pub(super) high: V,
    /// Its low half is the sum of the power's.
    pub(super) sum: V,
}

impl<V: Lanes> Power<V> {
    /// A factor in table form (times x).
    #[inline(always)]
    pub(crate) fn new(value: V) -> Self {
        Self::with_sum(value, value.xor(value.swap_halves()))
    }

    /// The power.
    #[inline(always)]
    pub(crate) fn value(self) -> V {
        self.low
    }

    #[inline(always)]
    pub(crate) fn with_sum(value: V, sum: V) -> Self {
        Self { low: value, high: value, sum }
    }
}

/// A sum of products before reduction: low + middle * x^64 + high * x^128.
#[derive(Clone, Copy)]
pub(crate) struct Products<V> {
    low: V,
    middle: V,
    high: V,
}

impl<V: Lanes> Products<V> {
    /// No products.
    #[inline(always)]
    pub(crate) fn zero(isa: V::Isa) -> Self {
        Self { low: isa.zero(), middle: isa.zero(), high: isa.zero() }
    }

    /// One product.
    #[inline(always)]
    pub(crate) fn of(x: V, factor: V) -> Self {
        Self {
            low: x.clmul_low(factor),
            middle: x.clmul_low_high(factor).xor(factor.clmul_low_high(x)),
            high: x.clmul_high(factor),
        }
    }

    /// A square, both of whose mixed products are the same and cancel.
    #[inline(always)]
    pub(crate) fn square(x: V) -> Self {
        Self { low: x.clmul_low(x), middle: x.isa().zero(), high: x.clmul_high(x) }
    }

    /// Adds `x * factor`. KARATSUBA trades one carry-less multiplication for a shuffle and an XOR: right where
    /// multipliers are scarce (one per two clocks on Zen 5), wrong where shuffles share their port (Intel).
    #[inline(always)]
    pub(crate) fn add<const KARATSUBA: bool>(&mut self, x: V, factor: Power<V>) {
        self.low = self.low.xor(x.clmul_low(factor.low));
        self.high = self.high.xor(x.clmul_high(factor.high));
        self.middle = if KARATSUBA {
            self.middle.xor(x.xor(x.swap_halves()).clmul_low(factor.sum))
        } else {
            self.middle.xor3(x.clmul_low_high(factor.high), factor.low.clmul_low_high(x))
        };
    }

    /// The instruction set.
    #[inline(always)]
    pub(crate) fn isa(&self) -> V::Isa {
        self.low.isa()
    }

    /// Adds other products.
    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            low: self.low.xor(other.low),
            middle: self.middle.xor(other.middle),
            high: self.high.xor(other.high),
        }
    }

    /// The sum, computed no later than here.
    #[inline(always)]
    pub(crate) fn pin(self) -> Self {
        Self { low: self.low.pin(), middle: self.middle.pin(), high: self.high.pin() }
    }

    /// Adds two products: one XOR of three operands in the place of two of two, where registers have that.
    #[inline(always)]
    pub(crate) fn add_two<const KARATSUBA: bool>(&mut self, x: [V; 2], factors: [Power<V>; 2]) {
        let [first, second] = factors;
        self.low = self.low.xor3(x[0].clmul_low(first.low), x[1].clmul_low(second.low));
        self.high = self.high.xor3(x[0].clmul_high(first.high), x[1].clmul_high(second.high));
        if KARATSUBA && V::Isa::REGISTERS < 32 {
            // One after the other: both at once take an operation less, and registers that are not there.
            let sums = [x[0].xor(x[0].swap_halves()), x[1].xor(x[1].swap_halves())];
            self.middle = self.middle.xor3(sums[0].clmul_low(first.sum), sums[1].clmul_low(second.sum));
        } else if KARATSUBA {
            // The sum of the first one's halves, then that of the second one's.
            let sums = x[0].low_low(x[1]).xor(x[0].high_high(x[1]));
            self.middle = self.middle.xor3(sums.clmul_low(first.sum), second.sum.clmul_low_high(sums));
        } else {
            for (x, factor) in [(x[0], first), (x[1], second)] {
                self.middle = self.middle.xor3(x.clmul_low_high(factor.high), factor.low.clmul_low_high(x));
            }
        }
    }

    /// Ends a sum whose products were added with KARATSUBA.
    #[inline(always)]
    pub(crate) fn settle<const KARATSUBA: bool>(mut self) -> Self {
        if KARATSUBA {
            self.middle = self.middle.xor3(self.low, self.high);
        }
        self
    }

    /// The sums over lanes of LANES messages, each in the lane of its message.
    #[inline(always)]
    pub(crate) fn fold_each(messages: &[Self; MAX_LANES]) -> Self {
        let [a, b, c, d] = messages;
        Self {
            low: V::fold_each(&[a.low, b.low, c.low, d.low]),
            middle: V::fold_each(&[a.middle, b.middle, c.middle, d.middle]),
            high: V::fold_each(&[a.high, b.high, c.high, d.high]),
        }
    }

    /// The sum modulo the field's polynomial. Its reflected low word is one, so each of the two steps folds 64
    /// bits with a single multiplication by the high half of [`ONE`].
    #[inline(always)]
    pub(crate) fn reduce(self, isa: V::Isa) -> V {
        let polynomial = isa.splat_word(ONE);
        let middle = self.middle.xor3(self.low.clmul_low_high(polynomial), self.low.swap_halves());
        self.high.xor3(middle.clmul_low_high(polynomial), middle.swap_halves())
    }
}
