//! GHASH (SP 800-38D section 6.4) in the lanes of a register.
//!
//! # Representation
//! GHASH numbers bits from the other end. A block is loaded with its bytes reversed, which leaves the polynomial
//! bit-reflected; a carry-less product of reflected operands is the reflected product shifted by one bit, and that
//! shift is paid once, in the key: the table holds powers of H times x (Gueron and Kounavis, "Intel Carry-Less
//! Multiplication Instruction", algorithm 5). In that form the number one is [`ONE`].
//!
//! # The pending form
//! GHASH of blocks b[0..n] is the sum of b[i] * H^(n - i). The running state kept here is P, the sum of
//! b[i] * H^(n - 1 - i): the last block not yet multiplied, so that GHASH = P * H and the next block is just added
//! to P * H. Spread over lanes, lane i of a state counts for P with weight H^(LANES - 1 - i).

use cipherlane_core::BLOCK;

use crate::lanes::{Isa, Lanes, MAX_LANES, REFLECTED_POLYNOMIAL, times_x, wipe_blocks};

/// Most powers of H that a table holds.
pub(crate) const MAX_POWERS: usize = 64;

/// One, times x, modulo the reflected polynomial x^128 + x^127 + x^126 + x^121 + 1; its high half also reduces.
const ONE: u128 = REFLECTED_POLYNOMIAL;

/// Powers of the hash key, highest first: entry MAX_POWERS - e is H^e times x.
///
/// Consecutive entries load as one register: blocks followed by ever fewer blocks.
#[repr(align(64))]
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
        self.written = self.written.max(highest);
        self.set(0, ONE);
        self.set(1, times_x(h.swap_bytes()));
        // From the powers 1..=known to those up to 2 * known, a register at a time.
        let mut known = 1;
        while known < highest {
            let factor = self.isa.splat(self.entry(known));
            let mut done = 0;
            while done < known && known + done < highest {
                let count = I::V::LANES.min(known - done).min(highest - known - done);
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
        // SAFETY: count lanes at most are read and written, and both ranges lie within the table.
        unsafe {
            let low = self.isa.load_partial(self.entries[from].as_ptr(), bytes);
            let product = Products::of(low, factor).reduce(self.isa);
            product.store_partial(self.entries[to].as_mut_ptr(), bytes);
            product.xor(product.swap_halves()).store_partial(self.sums[to].as_mut_ptr(), bytes);
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

/// A factor of a product: a power of H.
#[derive(Clone, Copy)]
pub(crate) struct Power<V> {
    /// Its low half is that of the power.
    low: V,
    /// Its high half is that of the power.
    high: V,
    /// Its low half is the sum of the power's.
    sum: V,
}

impl<V: Lanes> Power<V> {
    /// A factor in table form (times x).
    #[inline(always)]
    pub(crate) fn new(value: V) -> Self {
        Self::with_sum(value, value.xor(value.swap_halves()))
    }

    #[inline(always)]
    fn with_sum(value: V, sum: V) -> Self {
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

/// The running hash of one message, in the pending form.
#[derive(Clone, Copy)]
pub(crate) struct Ghash<'a, I: Isa, const KARATSUBA: bool> {
    powers: &'a Powers<I>,
    /// Lane i counts with weight H^(LANES - 1 - i).
    pub(crate) state: I::V,
}

impl<'a, I: Isa, const KARATSUBA: bool> Ghash<'a, I, KARATSUBA> {
    /// The hash of nothing.
    #[inline(always)]
    pub(crate) fn new(powers: &'a Powers<I>) -> Self {
        Self { powers, state: powers.isa.zero() }
    }

    /// Continues from a state that was folded to one block.
    #[inline(always)]
    pub(crate) fn resume(powers: &'a Powers<I>, state: u128) -> Self {
        let mut lanes = [0; MAX_LANES];
        lanes[I::V::LANES - 1] = state;
        Self { powers, state: powers.isa.words(&lanes) }
    }

    /// The powers of the hash key.
    #[inline(always)]
    pub(crate) fn powers(&self) -> &'a Powers<I> {
        self.powers
    }

    /// Appends `bytes` bytes from `from`, the last block filled with zeros.
    ///
    /// # Safety
    /// They are readable.
    #[inline(always)]
    pub(crate) unsafe fn update(&mut self, from: *const u8, bytes: usize) {
        let whole = (self.powers.highest - I::V::LANES) * BLOCK;
        let mut done = 0;
        while done < bytes {
            let count = whole.min(bytes - done);
            // SAFETY: done + count <= bytes.
            self.state = unsafe { self.append(from.add(done), count, 0) }.reduce(self.powers.isa);
            // What was folded is the whole state: only the last lane has weight one.
            *self = Self::resume(self.powers, self.state.fold_word());
            done += count;
        }
    }

    /// Products of the state and of blocks from `from`, which are followed by `after` more blocks: added over all
    /// lanes they are the pending state after those. At most highest - LANES - after blocks.
    ///
    /// # Safety
    /// `bytes` bytes are readable.
    #[inline(always)]
    pub(crate) unsafe fn append(&self, from: *const u8, bytes: usize, after: usize) -> Products<I::V> {
        let (isa, blocks) = (self.powers.isa, bytes.div_ceil(BLOCK));
        let mut products = Products::zero(isa);
        products.add::<KARATSUBA>(self.state, self.powers.falling(blocks + after + I::V::LANES - 1));
        // SAFETY: the caller's.
        unsafe { add_blocks::<I, KARATSUBA>(&mut products, self.powers, from, bytes, after) };
        products.settle::<KARATSUBA>()
    }

    /// The pending state as one block.
    #[inline(always)]
    pub(crate) fn fold(&self) -> u128 {
        let products = Products::of(self.state, self.powers.falling(I::V::LANES - 1).low);
        products.reduce(self.powers.isa).fold_word()
    }

    /// GHASH of everything so far and the block of the two bit lengths (SP 800-38D section 7.1 step 5), in the byte
    /// order of the standard.
    #[inline(always)]
    pub(crate) fn finish(&self, lengths: u128) -> u128 {
        // SAFETY: a u128 is 16 bytes.
        let pending = unsafe { self.append((&raw const lengths).cast(), BLOCK, 1) };
        pending.reduce(self.powers.isa).fold_word().swap_bytes()
    }
}

/// Adds to `products` the blocks from `from`, the last of which is followed by `after` blocks. The sum is not
/// settled.
///
/// # Safety
/// `bytes` bytes are readable.
#[inline(always)]
pub(crate) unsafe fn add_blocks<I: Isa, const KARATSUBA: bool>(
    products: &mut Products<I::V>,
    powers: &Powers<I>,
    from: *const u8,
    bytes: usize,
    after: usize,
) {
    let mut done = 0;
    while done < bytes {
        let left = bytes - done;
        // SAFETY: done < bytes, and no more than `left` bytes are read.
        let x = unsafe {
            if left >= I::V::BYTES {
                powers.isa.load(from.add(done))
            } else {
                powers.isa.load_partial(from.add(done), left)
            }
        };
        let factor = powers.falling(left.div_ceil(BLOCK) - 1 + after);
        products.add::<KARATSUBA>(x.reverse_bytes(), factor);
        done += I::V::BYTES;
    }
}

/// The block of the two lengths in bits (SP 800-38D section 7.1 step 5), for lengths in bytes.
#[inline(always)]
pub(crate) fn lengths(aad: usize, text: usize) -> u128 {
    (((aad as u128 * 8) << 64) | (text as u128 * 8)).swap_bytes()
}

/// `base` to the power `exponent`, for the hash key H itself: H^exponent in table form.
pub(crate) fn power<I: Isa>(powers: &Powers<I>, exponent: usize) -> I::V {
    let isa = powers.isa;
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
