//! Registers of 32-bit and 64-bit words, which hash functions compute in: word i of a register belongs to message i.
//!
//! Words are little-endian: what [`WordLanes::store`] stores of a word is an integer of this machine.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod sse;
#[cfg(test)]
mod tests;

use super::Isa;

/// 32-bit words of the widest register.
pub(crate) const MAX_WORDS_32: usize = 16;
/// 64-bit words of the widest register.
pub(crate) const MAX_WORDS_64: usize = 8;

/// A register of words. Operations work on each word by itself; shifts and rotations are by 1 to width - 1 bits.
///
/// Not all of them are [`super::Lanes`]: words need no AES, so that AVX2 alone has registers of 256 bits.
pub(crate) trait WordLanes: Copy + Send + Sync + 'static {
    /// The instruction set that the register belongs to.
    type Isa: Isa;
    /// Bytes of the register: 16, 32 or 64.
    const BYTES: usize;
    /// 32-bit words of a register: 4, 8 or 16.
    const WORDS_32: usize = Self::BYTES / 4;
    /// 64-bit words of a register: 2, 4 or 8.
    const WORDS_64: usize = Self::BYTES / 8;

    /// The instruction set: a value proves it.
    fn isa(self) -> Self::Isa;

    /// BYTES bytes from `from`, which need not be aligned.
    ///
    /// # Safety
    /// That many bytes are readable.
    unsafe fn load(isa: Self::Isa, from: *const u8) -> Self;

    /// Word `i` of register `j` is 64-bit word `j` from `from[i]` on, for the first [`Self::WORDS_64`] pointers.
    ///
    /// # Safety
    /// Each of them has 16 readable bytes.
    unsafe fn gather_64(isa: Self::Isa, from: &[*const u8; MAX_WORDS_64]) -> [Self; 2];

    /// Stores all bytes to `to`, which need not be aligned.
    ///
    /// # Safety
    /// BYTES bytes are writable.
    unsafe fn store(self, to: *mut u8);

    /// Stores the first `bytes` bytes, at most BYTES, to `to`.
    ///
    /// # Safety
    /// That many bytes are writable.
    unsafe fn store_first(self, to: *mut u8, bytes: usize);

    /// Zero everywhere.
    #[inline(always)]
    fn zero(isa: Self::Isa) -> Self {
        Self::splat_32(isa, 0)
    }

    /// `word` everywhere.
    fn splat_32(isa: Self::Isa, word: u32) -> Self;

    /// `word` everywhere.
    fn splat_64(isa: Self::Isa, word: u64) -> Self;

    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// `self ^ a ^ b`.
    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        self.xor(a).xor(b)
    }

    /// `self & other`.
    fn and(self, other: Self) -> Self;

    /// Adds 32-bit words modulo 2^32.
    fn add_32(self, other: Self) -> Self;

    /// Adds 64-bit words modulo 2^64.
    fn add_64(self, other: Self) -> Self;

    /// Rotates 32-bit words by R bits towards the low bit.
    fn rotate_right_32<const R: i32>(self) -> Self;

    /// Shifts 32-bit words by R bits towards the low bit, filling with zeros.
    fn shift_right_32<const R: i32>(self) -> Self;

    /// Rotates 64-bit words by R bits towards the low bit.
    fn rotate_right_64<const R: i32>(self) -> Self;

    /// Rotates 64-bit words by R bits towards the high bit.
    fn rotate_left_64<const R: i32>(self) -> Self;

    /// Shifts 64-bit words by R bits towards the low bit, filling with zeros.
    fn shift_right_64<const R: i32>(self) -> Self;

    /// `self ? a : b`, bit by bit: Ch(self, a, b) of FIPS 180-4 section 4.1.2.
    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        a.xor(b).and(self).xor(b)
    }

    /// What at least two of the three say, bit by bit: Maj(self, a, b) of FIPS 180-4 section 4.1.2.
    #[inline(always)]
    fn majority(self, a: Self, b: Self) -> Self {
        self.xor(a).and(a.xor(b)).xor(a)
    }

    /// `self ^ (!a & b)`: one bit of Chi, FIPS 202 section 3.2.4.
    fn chi(self, a: Self, b: Self) -> Self;

    /// Reverses the bytes of each 32-bit word.
    fn swap_bytes_32(self) -> Self;

    /// Reverses the bytes of each 64-bit word.
    fn swap_bytes_64(self) -> Self;

    /// Word `j` of register `i` becomes word `i` of register `j`, for the first [`Self::WORDS_32`] of both.
    fn transpose_32(registers: &mut [Self; MAX_WORDS_32]);

    /// Word `j` of register `i` becomes word `i` of register `j`, for the first [`Self::WORDS_64`] of both.
    fn transpose_64(registers: &mut [Self; MAX_WORDS_64]);
}

/// The byte pattern that rotates 64-bit words by BITS bits, a multiple of 8, towards the high bit: one instruction
/// where a rotation is three.
#[cfg(target_arch = "x86_64")]
const fn byte_rotation<const BITS: i32>() -> [i8; 16] {
    let mut pattern = [0; 16];
    let mut i = 0;
    while i < 16 {
        pattern[i] = ((i & 8) | ((i + 8 - (BITS / 8) as usize) & 7)) as i8;
        i += 1;
    }
    pattern
}
