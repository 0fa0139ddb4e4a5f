//! Registers of bytes, which byte-sliced ciphers compute in, and affine maps of bytes by one instruction.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod sse;
#[cfg(test)]
mod tests;

use super::Lanes;

/// Operations on the bytes of each lane.
pub(crate) trait ByteLanes: Lanes {
    /// `half`, little-endian, in both halves of every lane.
    fn splat_half(isa: Self::Isa, half: u64) -> Self;

    /// Byte `i` of the low half of `self`, then that of `other`, for each `i`.
    fn interleave_low(self, other: Self) -> Self;

    /// Byte `i` of the high half of `self`, then that of `other`, for each `i`.
    fn interleave_high(self, other: Self) -> Self;

    /// Shifts each byte by BITS bits towards its high bit, filling with zeros.
    fn shift_bits_left<const BITS: u32>(self) -> Self;

    /// Shifts each byte by BITS bits towards its low bit, filling with zeros.
    fn shift_bits_right<const BITS: u32>(self) -> Self;
}

/// Registers with affine maps over GF(2) as instructions (GFNI).
///
/// A matrix is a 64-bit word: byte `7 - i` of it, from the low end, is the row of output bit `i`. Each half of a
/// lane goes through the matrix in the same half of `matrix`. `C` is XORed to every byte of the result.
pub(crate) trait GaloisLanes: ByteLanes {
    /// `matrix` times each byte, XOR C.
    fn affine<const C: i32>(self, matrix: Self) -> Self;

    /// `matrix` times the inverse of each byte modulo x^8 + x^4 + x^3 + x + 1, XOR C. The inverse of 0 is 0.
    fn affine_of_inverse<const C: i32>(self, matrix: Self) -> Self;
}

/// A byte in all bytes of a half.
pub(crate) const fn repeated(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}
