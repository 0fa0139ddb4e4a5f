//! Counter blocks of GCM (SP 800-38D sections 6.2, 6.5 and 7.1). A block by itself is a word whose lowest byte is
//! its first.

use cipherlane_core::BLOCK;

use super::ghash::{Ghash, MAX_POWERS, Powers, lengths};
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::rows::load_block;

/// Entries of a table of steps: the blocks of the largest group or of a short message, and a register more.
const MAX_BLOCKS: usize = MAX_POWERS + MAX_LANES + 2;

/// `i` as a big-endian number in the last byte of a block, which counts without a carry while it stays below 256.
pub(super) static BIG_STEPS: [[u8; BLOCK]; MAX_BLOCKS] = steps(BLOCK - 1);
/// `i` as a little-endian number in the first four bytes.
static LITTLE_STEPS: [[u8; BLOCK]; MAX_BLOCKS] = steps(0);

/// One in the last byte of every block.
pub(super) static ONE_EACH: [[u8; BLOCK]; MAX_LANES] = [steps::<2>(BLOCK - 1)[1]; MAX_LANES];

const fn steps<const COUNT: usize>(position: usize) -> [[u8; BLOCK]; COUNT] {
    let mut steps = [[0; BLOCK]; COUNT];
    let mut i = 0;
    while i < COUNT {
        steps[i][position] = i as u8;
        i += 1;
    }
    steps
}

/// The pre-counter block J0 (SP 800-38D section 7.1 step 2): nonce || 1 for 96 bits, else a hash of the nonce.
#[inline(always)]
pub(crate) fn pre_counter<I: Isa, const KARATSUBA: bool>(powers: &Powers<I>, nonce: &[u8]) -> u128 {
    if nonce.len() == 12 {
        return pre_counter_96(nonce);
    }
    let mut hash = Ghash::<I, KARATSUBA>::new(powers);
    // SAFETY: the slice is readable.
    unsafe { hash.update(nonce.as_ptr(), nonce.len()) };
    hash.finish(lengths(0, nonce.len()))
}

/// The pre-counter block of a nonce of 96 bits.
#[inline(always)]
pub(crate) fn pre_counter_96(nonce: &[u8]) -> u128 {
    debug_assert_eq!(nonce.len(), 12);
    // SAFETY: the slice is readable.
    let nonce = unsafe { load_block(nonce.as_ptr(), 12) };
    nonce | (1 << 120)
}

/// `block` with its last 32 bits raised by `by`, modulo 2^32 (inc32 of SP 800-38D section 6.2).
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // the last four bytes
pub(crate) fn advanced(block: u128, by: u32) -> u128 {
    let count = ((block >> 96) as u32).swap_bytes().wrapping_add(by);
    (block & (u128::MAX >> 32)) | (u128::from(count.swap_bytes()) << 96)
}

/// A register of steps: lane i of register j holds j * LANES + i.
#[inline(always)]
fn step<I: Isa>(isa: I, table: &'static [[u8; BLOCK]; MAX_BLOCKS], register: usize) -> I::V {
    debug_assert!((register + 1) * I::V::LANES <= MAX_BLOCKS);
    // SAFETY: the table reaches that far.
    unsafe { isa.load(table.as_ptr().add(register * I::V::LANES).cast()) }
}

/// The counter blocks from `base` on, in N registers. Needs a last byte of `base` that does not overflow:
/// see [`stays_in_last_byte`].
#[inline(always)]
pub(crate) fn count_in_last_byte<I: Isa, const N: usize>(isa: I, base: I::V) -> [I::V; N] {
    let mut counters = [base; N];
    for (register, counter) in counters.iter_mut().enumerate() {
        *counter = base.add32(step(isa, &BIG_STEPS, register));
    }
    counters
}

/// `base` raised by `by` in the last byte of every lane.
#[inline(always)]
pub(crate) fn counted<I: Isa>(isa: I, base: I::V, by: usize) -> I::V {
    base.add32(isa.splat(&BIG_STEPS[by]))
}

/// `base` raised by `by` in the last 32 bits of every lane, modulo 2^32.
#[inline(always)]
pub(crate) fn counted_in_32_bits<I: Isa>(isa: I, base: I::V, by: usize) -> I::V {
    base.reverse_bytes().add32(isa.splat(&LITTLE_STEPS[by])).reverse_bytes()
}

/// Whether `blocks` counters from `base` on differ in their last byte alone.
#[inline(always)]
pub(crate) fn stays_in_last_byte(base: u128, blocks: usize) -> bool {
    (base >> 120) as usize + blocks <= 256
}

/// The counter blocks of a long message, N registers at a time.
pub(crate) struct Counters<I: Isa, const N: usize> {
    isa: I,
    /// The next counter block.
    next: u128,
    /// The same in every lane; up to date while the last byte has not overflowed.
    splat: I::V,
}

impl<I: Isa, const N: usize> Counters<I, N> {
    const BLOCKS: usize = N * I::V::LANES;

    /// Counts from `first` on.
    #[inline(always)]
    pub(crate) fn new(isa: I, first: u128) -> Self {
        Self { isa, next: first, splat: isa.splat_word(first) }
    }

    /// The next N registers of counters.
    ///
    /// Adding to the last byte needs no byte reversal, which would cost a shuffle a register; when that byte would
    /// overflow, one group in eight at 32 blocks a group, the 32-bit counter is carried properly.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // BLOCKS <= 64
    pub(crate) fn take(&mut self) -> [I::V; N] {
        let last = (self.next >> 120) as usize;
        let splat = self.splat;
        self.next = advanced(self.next, Self::BLOCKS as u32);
        if last + Self::BLOCKS < 256 {
            self.splat = splat.add32(self.isa.splat(&BIG_STEPS[Self::BLOCKS]));
            return count_in_last_byte(self.isa, splat);
        }
        self.splat = self.isa.splat_word(self.next);
        let little = splat.reverse_bytes();
        let mut counters = [little; N];
        for (register, counter) in counters.iter_mut().enumerate() {
            *counter = little.add32(step(self.isa, &LITTLE_STEPS, register)).reverse_bytes();
        }
        counters
    }
}
