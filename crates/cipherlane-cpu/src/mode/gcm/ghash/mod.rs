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

mod lane_powers;
mod powers;
mod products;
mod spread;

use cipherlane_core::BLOCK;

pub(crate) use self::lane_powers::LanePowers;
pub(crate) use self::powers::{MAX_POWERS, Powers, power};
pub(crate) use self::products::{Power, Products};
pub(crate) use self::spread::{Falling, REGISTERS as SPREAD_REGISTERS, Spread};
use crate::lanes::{Isa, Lanes, MAX_LANES, REFLECTED_POLYNOMIAL};

/// One, times x, modulo the reflected polynomial x^128 + x^127 + x^126 + x^121 + 1; its high half also reduces.
const ONE: u128 = REFLECTED_POLYNOMIAL;

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
        Self { powers, state: powers.isa().zero() }
    }

    /// The hash of `bytes`, the last block filled with zeros.
    #[inline(always)]
    pub(crate) fn of(powers: &'a Powers<I>, bytes: &[u8]) -> Self {
        let mut hash = Self::new(powers);
        // SAFETY: the slice is readable.
        unsafe { hash.update(bytes.as_ptr(), bytes.len()) };
        hash
    }

    /// Continues from a state that was folded to one block.
    #[inline(always)]
    pub(crate) fn resume(powers: &'a Powers<I>, state: u128) -> Self {
        let mut lanes = [0; MAX_LANES];
        lanes[I::V::LANES - 1] = state;
        Self { powers, state: powers.isa().words(&lanes) }
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
        let whole = (self.powers.highest() - I::V::LANES) * BLOCK;
        let mut done = 0;
        while done < bytes {
            let count = whole.min(bytes - done);
            // SAFETY: done + count <= bytes.
            self.state = unsafe { self.append(from.add(done), count, 0) }.reduce(self.powers.isa());
            // What was folded is the whole state: only the last lane has weight one.
            *self = Self::resume(self.powers, self.state.fold_word());
            done += count;
        }
    }

    /// The product of the state, which is followed by `after` blocks; not settled.
    #[inline(always)]
    pub(crate) fn product(&self, after: usize) -> Products<I::V> {
        let mut product = Products::zero(self.powers.isa());
        product.add::<KARATSUBA>(self.state, self.powers.falling(after + I::V::LANES - 1));
        product
    }

    /// Products of the state and of blocks from `from`, which are followed by `after` more blocks: added over all
    /// lanes they are the pending state after those. At most highest - LANES - after blocks.
    ///
    /// # Safety
    /// `bytes` bytes are readable.
    #[inline(always)]
    pub(crate) unsafe fn append(&self, from: *const u8, bytes: usize, after: usize) -> Products<I::V> {
        let blocks = bytes.div_ceil(BLOCK);
        let mut products = self.product(blocks + after);
        // SAFETY: the caller's.
        unsafe { add_blocks::<I, KARATSUBA>(&mut products, self.powers, from, bytes, after) };
        products.settle::<KARATSUBA>()
    }

    /// The pending state as one block.
    #[inline(always)]
    pub(crate) fn fold(&self) -> u128 {
        let products = Products::of(self.state, self.powers.falling(I::V::LANES - 1).low);
        products.reduce(self.powers.isa()).fold_word()
    }

    /// GHASH of everything so far and the block of the two bit lengths (SP 800-38D section 7.1 step 5), in the byte
    /// order of the standard.
    #[inline(always)]
    pub(crate) fn finish(&self, lengths: u128) -> u128 {
        // SAFETY: a u128 is 16 bytes.
        let pending = unsafe { self.append((&raw const lengths).cast(), BLOCK, 1) };
        pending.reduce(self.powers.isa()).fold_word().swap_bytes()
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
                powers.isa().load(from.add(done))
            } else {
                powers.isa().load_partial(from.add(done), left)
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
