//! Registers of bytes, which byte-sliced ciphers compute in, and S-boxes and affine maps of bytes by one instruction.

#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use cipherlane_core::BLOCK;

use super::{Lanes, MAX_LANES};

/// A register of bytes. Apart from [`Lanes`], because where those are a pair of registers, bytes need not be.
pub(crate) trait Bytes: Copy + Send + Sync + 'static {
    /// The register of blocks that holds as many bytes.
    type Lanes: Lanes;

    /// Whether [`Bytes::xor3`] is one instruction.
    const HAS_XOR3: bool = false;

    /// The instruction set whose register this is: a value proves it.
    fn isa(self) -> IsaOf<Self>;

    /// The same bytes.
    fn from_lanes(lanes: Self::Lanes) -> Self;

    /// The same bytes.
    fn to_lanes(self) -> Self::Lanes;

    /// `half`, little-endian, in both halves of every lane.
    fn splat_half(isa: IsaOf<Self>, half: u64) -> Self;

    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// `self ^ a ^ b`.
    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        self.xor(a).xor(b)
    }

    /// `self & other`.
    fn and(self, other: Self) -> Self;

    /// Byte `i` of the low half of `self`, then that of `other`, for each `i`, in each lane.
    fn interleave_low(self, other: Self) -> Self;

    /// Byte `i` of the high half of `self`, then that of `other`, for each `i`, in each lane.
    fn interleave_high(self, other: Self) -> Self;

    /// Shifts each byte by BITS bits towards its high bit, filling with zeros.
    fn shift_bits_left<const BITS: u32>(self) -> Self;

    /// Shifts each byte by BITS bits towards its low bit, filling with zeros.
    fn shift_bits_right<const BITS: u32>(self) -> Self;
}

/// Memory for any register, which goes from one kind to another through it. Compilers leave the memory out.
#[repr(align(64))]
struct Buffer([u8; MAX_LANES * BLOCK]);

/// The instruction set that bytes B belong to.
pub(crate) type IsaOf<B> = <<B as Bytes>::Lanes as Lanes>::Isa;

/// Registers with affine maps over GF(2) as instructions (GFNI).
///
/// A matrix is a 64-bit word: byte `7 - i` of it, from the low end, is the row of output bit `i`. Each half of a
/// lane goes through the matrix in the same half of `matrix`. `C` is XORed to every byte of the result.
pub(crate) trait GaloisBytes: Bytes {
    /// `matrix` times each byte, XOR C.
    fn affine<const C: i32>(self, matrix: Self) -> Self;

    /// `matrix` times the inverse of each byte modulo x^8 + x^4 + x^3 + x + 1, XOR C. The inverse of 0 is 0.
    fn affine_of_inverse<const C: i32>(self, matrix: Self) -> Self;
}

/// Registers with the S-box of the AES as an instruction, and small tables.
pub(crate) trait AesBytes: Bytes {
    /// `lane` in every lane.
    fn splat(isa: IsaOf<Self>, lane: &[u8; 16]) -> Self;

    /// Byte `i` of each lane becomes its byte `pattern[i]`, which is below 16: a table of 16 bytes for each lane.
    fn permute_bytes(self, pattern: Self) -> Self;

    /// The last round of encryption of each lane: SubBytes, ShiftRows and AddRoundKey (FIPS 197 section 5.1).
    fn last_round(self, key: Self) -> Self;

    /// The last round of decryption of each lane: InvSubBytes, InvShiftRows and AddRoundKey (section 5.3).
    fn inverse_last_round(self, key: Self) -> Self;
}

/// A byte in all bytes of a half.
pub(crate) const fn repeated(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}
