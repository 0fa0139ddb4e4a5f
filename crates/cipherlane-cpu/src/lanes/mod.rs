//! The vector vocabulary: registers of 128-bit lanes, and the proofs that this CPU has them.
//!
//! [`Isa`] is a zero-size token that exists only where its instructions do: detection hands it out. It makes the
//! first register values; every other operation starts from a value, so a value is a proof, too, and arithmetic on
//! values is safe. What stays unsafe is memory.
//!
//! Kernels are generic over these traits and `#[inline(always)]` down to the intrinsic. [`Isa::vectorize`] is the
//! one place where code generation is switched to the instruction set: outside it everything is sound, but slow.
//! A closure cannot be `#[inline(always)]` and is compiled outside, so hot code has plain loops, no closures and no
//! `array::map` or `from_fn` over registers.

#[cfg(target_arch = "x86_64")]
mod abreast;
mod aes;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
pub(crate) mod bytes;
mod field;
#[cfg(target_arch = "x86_64")]
pub(crate) mod packed;
#[cfg(target_arch = "x86_64")]
mod part;
#[cfg(target_arch = "x86_64")]
pub(crate) mod permute;
#[cfg(target_arch = "x86_64")]
mod pin;
pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
pub(crate) mod sse;
mod stretch;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vaes256;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vaes512;
mod wipe;
pub(crate) mod words;
#[cfg(target_arch = "x86_64")]
mod woven;

use cipherlane_core::BLOCK;

pub(crate) use self::aes::{ABREAST, Abreast, AesLanes, Begun, Set, TURN, WOVEN, Woven};
pub(crate) use self::field::{REDUCED, REFLECTED_POLYNOMIAL, times_x, times_x_of_tweak};
pub(crate) use self::stretch::Stretch;
pub(crate) use self::wipe::{wipe, wipe_blocks};
use crate::rows::{load_block, store_block};

/// Code to be compiled for an instruction set. The implementation of [`Work::run`] is `#[inline(always)]`.
pub(crate) trait Work {
    /// What the work returns.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

/// An instruction set: the proof that this CPU has it, and the source of all its registers.
pub(crate) trait Isa: Copy + Send + Sync + 'static {
    /// Its register of 128-bit lanes.
    type V: Lanes<Isa = Self>;

    /// How many registers of this kind it has. With 16, the compiler spills what it cannot put off.
    const REGISTERS: usize = 16;

    /// Runs `work` compiled for this instruction set.
    fn vectorize<W: Work>(self, work: W) -> W::Output;

    /// Lets other threads see what was stored past the caches before they see what is stored after this.
    #[inline(always)]
    fn fence(self) {}

    /// All lanes zero.
    fn zero(self) -> Self::V;

    /// `block` in every lane.
    fn splat(self, block: &[u8; BLOCK]) -> Self::V;

    /// Two registers whose every lane has the low half of `block` in the low half of the first, and its high half in
    /// the high half of the second: factors of carry-less products. The other halves hold what is cheapest.
    #[inline(always)]
    fn splat_halves(self, block: &[u8; BLOCK]) -> [Self::V; 2] {
        [self.splat(block); 2]
    }

    /// Lane `i` is `blocks[i]`, for the first LANES blocks.
    #[inline(always)]
    fn lanes(self, blocks: &[[u8; BLOCK]; MAX_LANES]) -> Self::V {
        // SAFETY: the array holds MAX_LANES >= LANES lanes.
        unsafe { self.load(blocks.as_ptr().cast()) }
    }

    /// Lane `i` is `words[i]`, little-endian, for the first LANES words. For blocks that were put together in
    /// registers: an array of bytes would be assembled byte by byte.
    #[inline(always)]
    fn words(self, words: &[u128; MAX_LANES]) -> Self::V {
        // SAFETY: the array holds MAX_LANES >= LANES lanes.
        unsafe { self.load(words.as_ptr().cast()) }
    }

    /// `word`, little-endian, in every lane.
    #[inline(always)]
    fn splat_word(self, word: u128) -> Self::V {
        // SAFETY: a u128 is 16 bytes.
        self.splat(unsafe { &*(&raw const word).cast() })
    }

    /// `LANES * 16` bytes from `from`, which need not be aligned.
    ///
    /// # Safety
    /// That many bytes are readable.
    unsafe fn load(self, from: *const u8) -> Self::V;

    /// The first `bytes` bytes from `from`, the rest of the register zero. Nothing beyond is touched.
    ///
    /// # Safety
    /// `bytes` bytes are readable, and `bytes <= LANES * 16`.
    #[inline(always)]
    unsafe fn load_partial(self, from: *const u8, bytes: usize) -> Self::V {
        debug_assert!(bytes <= Self::V::LANES * BLOCK);
        let mut words = [0; MAX_LANES];
        for (lane, word) in words.iter_mut().enumerate().take(Self::V::LANES) {
            let left = bytes.saturating_sub(lane * BLOCK).min(BLOCK);
            // SAFETY: the caller's.
            *word = unsafe { load_block(from.wrapping_add(lane * BLOCK), left) };
        }
        self.words(&words)
    }

    /// Those bytes of a register at `from` that are `there`, the others zero, and not touched.
    ///
    /// # Safety
    /// They are readable, and lie within `LANES * 16`.
    #[inline(always)]
    unsafe fn load_stretch(self, from: *const u8, there: Stretch) -> Self::V {
        let (mut buffer, range) = ([0u8; MAX_LANES * BLOCK], there.range());
        debug_assert!(range.end <= Self::V::LANES * BLOCK);
        // SAFETY: the caller vouches for the source; the buffer holds a whole register.
        unsafe {
            let to = buffer.as_mut_ptr().add(range.start);
            std::ptr::copy_nonoverlapping(from.wrapping_add(range.start), to, range.len());
            self.load(buffer.as_ptr())
        }
    }

    /// A mask of ones in the first `bytes` bytes, at most `LANES * 16`.
    #[inline(always)]
    fn first_bytes(self, bytes: usize) -> Self::V {
        debug_assert!(bytes <= Self::V::LANES * BLOCK);
        // SAFETY: from there on the table has a whole register.
        unsafe { self.load(ONES_THEN_ZEROS.as_ptr().add(MAX_LANES * BLOCK - bytes)) }
    }

    /// The first `bytes` bytes from `from`, at most 16, then zeros: in every lane.
    ///
    /// # Safety
    /// `bytes` bytes are readable.
    #[inline(always)]
    unsafe fn splat_partial(self, from: *const u8, bytes: usize) -> Self::V {
        // SAFETY: the caller's.
        self.splat_word(unsafe { load_block(from, bytes) })
    }

    /// Lane `i` is `blocks[i]`, at most 16 bytes, then zeros, for the first LANES blocks.
    #[inline(always)]
    fn gather_partial(self, blocks: &[&[u8]; MAX_LANES]) -> Self::V {
        let mut words = [0; MAX_LANES];
        for (word, block) in words.iter_mut().zip(blocks).take(Self::V::LANES) {
            // SAFETY: the slice is readable.
            *word = unsafe { load_block(block.as_ptr(), block.len()) };
        }
        self.words(&words)
    }

    /// Lane `i` from `from[i]`, for the first LANES pointers.
    ///
    /// # Safety
    /// `from` has at least LANES pointers to 16 readable bytes each.
    unsafe fn gather(self, from: &[*const u8]) -> Self::V;

    /// Lane `i` is the `i`-th of LANES rows of 12 bytes from `from` on, then zeros.
    ///
    /// # Safety
    /// So many rows are readable.
    #[inline(always)]
    unsafe fn rows_of_12(self, from: *const u8) -> Self::V {
        let mut words = [0; MAX_LANES];
        for (lane, word) in words.iter_mut().enumerate().take(Self::V::LANES) {
            // SAFETY: the caller's.
            *word = unsafe { load_block(from.add(12 * lane), 12) };
        }
        self.words(&words)
    }
}

/// Clears the upper parts of registers, where this CPU has any. What other code has left there, instructions of the older
/// encoding have to keep, such as those of SHA-256: on Zen 5 each then waits for the one that wrote its register before.
#[inline]
pub(crate) fn clear_upper_parts() {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx") {
        // SAFETY: the instruction is there, and no value outlives it in a register's upper part.
        unsafe { std::arch::x86_64::_mm256_zeroupper() }
    }
}

/// Lanes of the widest register.
pub(crate) const MAX_LANES: usize = 4;

/// A window of one register into it is a mask of first bytes.
static ONES_THEN_ZEROS: [u8; 2 * MAX_LANES * BLOCK] = {
    let mut bytes = [0; 2 * MAX_LANES * BLOCK];
    let mut i = 0;
    while i < MAX_LANES * BLOCK {
        bytes[i] = 0xff;
        i += 1;
    }
    bytes
};

/// A register of LANES 128-bit lanes. Operations work on each lane by itself unless they say otherwise.
///
/// Byte 0 of a lane is the byte at its lowest address; "low half" means bytes 0..8 as a little-endian integer.
pub(crate) trait Lanes: Copy + Send + Sync + 'static {
    /// The instruction set whose register it is.
    type Isa: Isa<V = Self>;
    /// Number of lanes: 1, 2 or 4.
    const LANES: usize;
    /// Bytes of the register.
    const BYTES: usize = Self::LANES * BLOCK;

    /// Stores all bytes to `to`, which need not be aligned.
    ///
    /// # Safety
    /// `BYTES` bytes are writable.
    unsafe fn store(self, to: *mut u8);

    /// Stores all bytes to `to` past the caches, where the instruction set can. Other threads may see such stores in
    /// any order before [`Isa::fence`].
    ///
    /// # Safety
    /// `BYTES` bytes are writable, and `to` is a multiple of `BYTES`.
    #[inline(always)]
    unsafe fn store_past_caches(self, to: *mut u8) {
        // SAFETY: the caller's.
        unsafe { self.store(to) }
    }

    /// Stores the first `bytes` bytes to `to` and touches nothing beyond.
    ///
    /// # Safety
    /// `bytes` bytes are writable, and `bytes <= BYTES`.
    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u8, bytes: usize) {
        debug_assert!(bytes <= Self::BYTES);
        for (lane, word) in self.to_words().into_iter().enumerate().take(Self::LANES) {
            let left = bytes.saturating_sub(lane * BLOCK).min(BLOCK);
            // SAFETY: the caller's.
            unsafe { store_block(word, to.wrapping_add(lane * BLOCK), left) }
        }
    }

    /// Stores the bytes that are `there` to where they belong in a register at `to`, and touches nothing else.
    ///
    /// # Safety
    /// They are writable, and lie within `BYTES`.
    #[inline(always)]
    unsafe fn store_stretch(self, to: *mut u8, there: Stretch) {
        let (mut buffer, range) = ([0u8; MAX_LANES * BLOCK], there.range());
        debug_assert!(range.end <= Self::BYTES);
        // SAFETY: the buffer holds a whole register; the caller vouches for the destination.
        unsafe {
            self.store(buffer.as_mut_ptr());
            let from = buffer.as_ptr().add(range.start);
            std::ptr::copy_nonoverlapping(from, to.wrapping_add(range.start), range.len());
        }
    }

    /// Stores the first 12 bytes of lane `i` as the `i`-th of LANES rows of 12 bytes from `to` on.
    ///
    /// # Safety
    /// So many rows are writable.
    #[inline(always)]
    unsafe fn store_rows_of_12(self, to: *mut u8) {
        for (lane, word) in self.to_words().into_iter().enumerate().take(Self::LANES) {
            // SAFETY: the caller's.
            unsafe { store_block(word, to.add(12 * lane), 12) };
        }
    }

    /// Stores lane `i` as the block at the `i`-th place, for the first LANES places.
    ///
    /// # Safety
    /// Blocks are writable there.
    #[inline(always)]
    unsafe fn scatter(self, to: &[*mut u8; MAX_LANES]) {
        for (to, block) in to.iter().zip(self.to_blocks()).take(Self::LANES) {
            // SAFETY: the caller's.
            unsafe { to.cast::<[u8; BLOCK]>().write(block) }
        }
    }

    /// The lanes as bytes.
    #[inline(always)]
    fn to_blocks(self) -> [[u8; BLOCK]; MAX_LANES] {
        let mut blocks = [[0; BLOCK]; MAX_LANES];
        // SAFETY: the array holds MAX_LANES >= LANES lanes.
        unsafe { self.store(blocks.as_mut_ptr().cast()) };
        blocks
    }

    /// The lanes as little-endian words.
    #[inline(always)]
    fn to_words(self) -> [u128; MAX_LANES] {
        let mut words = [0; MAX_LANES];
        // SAFETY: the array holds MAX_LANES >= LANES lanes.
        unsafe { self.store(words.as_mut_ptr().cast()) };
        words
    }

    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// `self ^ a ^ b`.
    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        self.xor(a).xor(b)
    }

    /// `self & other`.
    fn and(self, other: Self) -> Self;

    /// Reverses the bytes of each lane: big-endian integers become little-endian ones and back.
    fn reverse_bytes(self) -> Self;

    /// Adds 32-bit little-endian words, without carries between them.
    fn add32(self, other: Self) -> Self;

    /// The last lane of `before`, then all lanes of `self` but the last: the register one block earlier.
    fn shift_in(self, before: Self) -> Self;

    /// Byte `i` of each lane becomes its byte `pattern[i]`, of which the low four bits count.
    fn permute_bytes(self, pattern: Self) -> Self;

    /// Shifts each lane by BYTES bytes towards its last byte, filling with zeros.
    fn shift_bytes<const BYTES: i32>(self) -> Self;

    /// Exchanges the halves of each lane.
    fn swap_halves(self) -> Self;

    /// The low half of `self`, then the low half of `other`.
    fn low_low(self, other: Self) -> Self;

    /// The high half of `self`, then the low half of `other`.
    fn high_low(self, other: Self) -> Self;

    /// The high half of `self`, then the high half of `other`.
    fn high_high(self, other: Self) -> Self;

    /// Carry-less product of the low halves.
    fn clmul_low(self, other: Self) -> Self;

    /// Carry-less product of the high halves.
    fn clmul_high(self, other: Self) -> Self;

    /// Carry-less product of the low half of `self` and the high half of `other`.
    fn clmul_low_high(self, other: Self) -> Self;

    /// XOR of all lanes, in a single block.
    fn fold(self) -> [u8; BLOCK];

    /// XOR of all lanes, as a little-endian word.
    #[inline(always)]
    fn fold_word(self) -> u128 {
        u128::from_le_bytes(self.fold())
    }

    /// Lane `i` of the result is the XOR of all lanes of `registers[i]`, for the first LANES registers.
    fn fold_each(registers: &[Self; MAX_LANES]) -> Self;

    /// Multiplies each lane by x in the bit-reflected field of GHASH: see [`times_x`].
    #[inline(always)]
    fn times_x_reflected(self) -> Self {
        let mut words = self.to_words();
        for word in &mut words[..Self::LANES] {
            *word = times_x(*word);
        }
        self.isa().words(&words)
    }

    /// Lane `i` of `registers[i]`, whose lanes are all equal, for the first LANES registers.
    #[inline(always)]
    fn diagonal(registers: &[Self; MAX_LANES]) -> Self {
        Self::transpose(registers)[0]
    }

    /// Itself, computed no later than here: where the order of instructions is part of the design.
    #[inline(always)]
    fn pin(self) -> Self {
        self
    }

    /// The instruction set whose register this is: a value proves it.
    fn isa(self) -> Self::Isa;

    /// Result `i` has lane `i` in all lanes, for the first LANES results.
    #[inline(always)]
    fn spread(self) -> [Self; MAX_LANES] {
        let mut each = [self; MAX_LANES];
        if Self::LANES > 1 {
            for (each, word) in each.iter_mut().zip(self.to_words()) {
                *each = self.isa().splat_word(word);
            }
        }
        each
    }

    /// Whether all bytes are zero.
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.to_words()[..Self::LANES].iter().fold(0, |any, word| any | word) == 0
    }

    /// Lane `j` of result `i` is lane `i` of `registers[j]`, for the first LANES of both.
    fn transpose(registers: &[Self; MAX_LANES]) -> [Self; MAX_LANES];

    /// What a product by x carries, from the top bits of both halves of each lane: see [`Lanes::times_x`].
    #[inline(always)]
    fn carries(self) -> Self {
        self
    }

    /// Multiplies each lane by x in the field of XTS: see [`times_x_of_tweak`]. `carries` are [`Lanes::carries`] of this, or
    /// of what this was n multiplications ago, n below 32, [added](Lanes::add32) to themselves n times.
    #[inline(always)]
    fn times_x(self, _carries: Self) -> Self {
        self.isa().words(&self.to_words().map(times_x_of_tweak))
    }

    /// Multiplies each lane by x^(8 * BYTES) in the field of XTS: little-endian, x^128 = x^7 + x^2 + x + 1
    /// (IEEE 1619 section 5.2). `BYTES` is at most 8: the bits carried out are reduced once.
    fn times_x8<const BYTES: i32>(self) -> Self;
}
