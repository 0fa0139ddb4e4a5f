//! One lane a register, in integers: for every CPU, and the tier that all others are compared with.
//!
//! Constant time wherever shifts, bitwise operations and 64-bit multiplication are, which holds for every CPU that
//! people run a 64-bit operating system on.

use cipherlane_core::BLOCK;

use super::{Isa, Lanes, MAX_LANES, Work};

/// Proof of nothing: this instruction set is always there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

/// A register of 1 lane: its low half, then its high half.
///
/// Aligned like a vector register, so that an array of them can be read as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct X1(pub(crate) [u64; 2]);

impl X1 {
    #[inline(always)]
    fn from_bytes(block: [u8; BLOCK]) -> Self {
        Self::from_integer(u128::from_le_bytes(block))
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // takes the halves apart
    fn from_integer(integer: u128) -> Self {
        Self([integer as u64, (integer >> 64) as u64])
    }

    #[inline(always)]
    fn to_integer(self) -> u128 {
        u128::from(self.0[0]) | u128::from(self.0[1]) << 64
    }
}

impl Isa for Portable {
    type V = X1;

    #[inline(never)] // compiled once, not into all that runs it
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        work.run()
    }

    #[inline(always)]
    fn zero(self) -> X1 {
        X1([0; 2])
    }

    #[inline(always)]
    fn splat(self, block: &[u8; BLOCK]) -> X1 {
        X1::from_bytes(*block)
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> X1 {
        // SAFETY: the caller vouches for 16 readable bytes; an array of bytes has no alignment.
        X1::from_bytes(unsafe { from.cast::<[u8; BLOCK]>().read() })
    }

    #[inline(always)]
    unsafe fn gather(self, from: &[*const u8]) -> X1 {
        // SAFETY: the caller vouches for the pointer.
        unsafe { self.load(from[0]) }
    }
}

impl Lanes for X1 {
    type Isa = Portable;
    const LANES: usize = 1;

    #[inline(always)]
    fn isa(self) -> Portable {
        Portable
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller vouches for 16 writable bytes; an array of bytes has no alignment.
        unsafe { to.cast::<[u8; BLOCK]>().write(self.to_integer().to_le_bytes()) }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }

    #[inline(always)]
    fn reverse_bytes(self) -> Self {
        Self([self.0[1].swap_bytes(), self.0[0].swap_bytes()])
    }

    /// Adds without the top bits of the words, which then have room for the carry, and puts those in by XOR.
    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        const TOP: u64 = 0x8000_0000_8000_0000;
        let add = |a: u64, b: u64| ((a & !TOP) + (b & !TOP)) ^ ((a ^ b) & TOP);
        Self([add(self.0[0], other.0[0]), add(self.0[1], other.0[1])])
    }

    #[inline(always)]
    fn shift_in(self, before: Self) -> Self {
        before
    }

    /// Time and addresses depend on `pattern`, so patterns must be public, as those of all modes are.
    #[inline(always)]
    fn permute_bytes(self, pattern: Self) -> Self {
        let (bytes, pattern) = (self.to_integer().to_le_bytes(), pattern.to_integer().to_le_bytes());
        Self::from_bytes(std::array::from_fn(|i| bytes[usize::from(pattern[i] & 15)]))
    }

    #[inline(always)]
    fn shift_bytes<const BYTES: i32>(self) -> Self {
        Self::from_integer(self.to_integer() << (8 * BYTES))
    }

    #[inline(always)]
    fn swap_halves(self) -> Self {
        Self([self.0[1], self.0[0]])
    }

    #[inline(always)]
    fn low_low(self, other: Self) -> Self {
        Self([self.0[0], other.0[0]])
    }

    #[inline(always)]
    fn high_low(self, other: Self) -> Self {
        Self([self.0[1], other.0[0]])
    }

    #[inline(always)]
    fn high_high(self, other: Self) -> Self {
        Self([self.0[1], other.0[1]])
    }

    #[inline(always)]
    fn clmul_low(self, other: Self) -> Self {
        Self::from_integer(clmul(self.0[0], other.0[0]))
    }

    #[inline(always)]
    fn clmul_high(self, other: Self) -> Self {
        Self::from_integer(clmul(self.0[1], other.0[1]))
    }

    #[inline(always)]
    fn clmul_low_high(self, other: Self) -> Self {
        Self::from_integer(clmul(self.0[0], other.0[1]))
    }

    #[inline(always)]
    fn fold(self) -> [u8; BLOCK] {
        self.to_integer().to_le_bytes()
    }

    #[inline(always)]
    fn fold_each(registers: &[Self; MAX_LANES]) -> Self {
        registers[0]
    }

    #[inline(always)]
    fn transpose(registers: &[Self; MAX_LANES]) -> [Self; MAX_LANES] {
        *registers
    }

    #[inline(always)]
    fn times_x8<const BYTES: i32>(self) -> Self {
        let integer = self.to_integer();
        let carried = integer >> (128 - 8 * BYTES);
        Self::from_integer(integer << (8 * BYTES) ^ carried ^ carried << 1 ^ carried << 2 ^ carried << 7)
    }
}

/// Every fourth bit: the integer multiplication of two such numbers is a carry-less one in these bits, as long as
/// no column sums up to 16, which would carry into the next.
const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;

/// The carry-less product of two polynomials, by integer multiplication "with holes": the technique of T. Pornin,
/// "Constant-Time Crypto" (BearSSL, section "GHASH"), here with the whole 128-bit product of each multiplication.
///
/// Bits i, i + 4, i + 8, ... of an operand are one coefficient of a polynomial of degree 3 in x. Two levels of
/// Karatsuba's method multiply two of those in 9 multiplications instead of 16; XOR keeps the holes empty. Sums of
/// columns reach 15 at most because the top four bits of `x`, the sixteenth of each coefficient, are left to
/// [`clmul_top`].
#[inline(never)] // a hundred instructions that every product would repeat
fn clmul(x: u64, y: u64) -> u128 {
    let fourths = |z: u64| -> [u64; 4] { std::array::from_fn(|i| z >> i & EVERY_FOURTH) };
    let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (fourths(x << 4 >> 4), fourths(y));
    let times = |a: u64, b: u64| u128::from(a) * u128::from(b);

    let (p0, p1, p2, p3) = (times(a0, b0), times(a1, b1), times(a2, b2), times(a3, b3));
    let (p01, p23) = (times(a0 ^ a1, b0 ^ b1), times(a2 ^ a3, b2 ^ b3));
    let (p02, p13) = (times(a0 ^ a2, b0 ^ b2), times(a1 ^ a3, b1 ^ b3));
    let p0123 = times(a0 ^ a1 ^ a2 ^ a3, b0 ^ b1 ^ b2 ^ b3);

    // Coefficients of x^0 to x^6. Those of x^4 to x^6 have their bits where those of x^0 to x^2 have them.
    let (low, high) = (p0 ^ p1, p2 ^ p3);
    let (c1, c5) = (p01 ^ low, p23 ^ high);
    let (c2, c4) = (p02 ^ low ^ p2, p13 ^ high ^ p1);
    let c3 = p0123 ^ p02 ^ p13 ^ c1 ^ c5;
    let keep = u128::from(EVERY_FOURTH) << 64 | u128::from(EVERY_FOURTH);
    let x0 = (p0 ^ c4 << 4) & keep;
    let x1 = (c1 ^ c5 << 4) & keep;
    let x2 = (c2 ^ p3 << 4) & keep;
    let x3 = c3 & keep;
    x0 ^ x1 << 1 ^ x2 << 2 ^ x3 << 3 ^ clmul_top(x, y)
}

/// What the top four bits of `x` add to its product with `y`.
#[inline(always)]
fn clmul_top(x: u64, y: u64) -> u128 {
    (60..64).fold(0, |sum, bit| {
        let chosen = (x >> bit & 1).wrapping_neg() & y;
        sum ^ u128::from(chosen) << bit
    })
}
