//! Multiplication by x in the fields of GHASH and of XTS, of a word.

/// x^128 + x^127 + x^126 + x^121 + 1, the bit-reflected polynomial of GHASH (SP 800-38D section 6.3), less x^128.
pub(crate) const REFLECTED_POLYNOMIAL: u128 = 0xc200_0000_0000_0000_0000_0000_0000_0001;

/// `word` times x in the bit-reflected field of GHASH. Constant time: the bit shifted out becomes a mask.
#[inline(always)]
pub(crate) fn times_x(word: u128) -> u128 {
    (word << 1) ^ (REFLECTED_POLYNOMIAL & 0u128.wrapping_sub(word >> 127))
}

/// x^128 in the field of XTS (IEEE 1619 section 5.2).
pub(crate) const REDUCED: u64 = 0x87;

/// `word` times x in the field of XTS: little-endian polynomials modulo x^128 + x^7 + x^2 + x + 1. Constant time.
#[inline(always)]
pub(crate) const fn times_x_of_tweak(word: u128) -> u128 {
    (word << 1) ^ (REDUCED as u128 & (word >> 127).wrapping_neg())
}
