//! Blocks of several messages on their way into states.

use super::WORDS;
use super::ahead::{Ahead, Rows};
use super::permutation::Permute;
use super::words::Stored;
use crate::hash::{MAX_BLOCK, MAX_STREAMS};

const _: () = assert!(MAX_BLOCK / size_of::<u64>() == 21, "what `by_twos` has");

/// Bytes of two words.
const PAIR: usize = 2 * size_of::<u64>();

/// A call for each two words of the longest block, of which it is told the first as a constant: only so is a state in
/// registers.
macro_rules! by_twos {
    ($self:ident.$add:ident($($with:expr),*)) => { by_twos!(@ $self $add ($($with),*) 0 2 4 6 8 10 12 14 16 18 20) };
    (@ $self:ident $add:ident $with:tt $($i:literal)*) => {{ $(by_twos!(= $self $add $i $with);)* }};
    (= $self:ident $add:ident $i:literal ($($with:expr),*)) => { $self.$add::<$i>($($with),*) };
}

/// The texts of as many messages as W has words.
pub(super) struct Texts<'a, W: Stored> {
    pub(super) isa: W::Isa,
    pub(super) rate_words: usize,
    pub(super) from: &'a [*const u8; MAX_STREAMS],
}

impl<W: Stored> Texts<'_, W> {
    /// Adds the block of each message at byte `at` to its state.
    ///
    /// # Safety
    /// The messages have these blocks.
    #[inline(always)]
    pub(super) unsafe fn add(&self, state: &mut [W; WORDS], at: usize) {
        // SAFETY: the caller's.
        unsafe { by_twos!(self.add_two(state, at)) }
    }

    /// Adds words I and I + 1 of the block, as far as it has them.
    ///
    /// # Safety
    /// That of `add`.
    #[inline(always)]
    unsafe fn add_two<const I: usize>(&self, state: &mut [W; WORDS], at: usize) {
        let at = at + I * size_of::<u64>();
        // SAFETY: the caller's; the word before the last one is part of the block, too.
        unsafe {
            if I + 1 < self.rate_words {
                let [first, second] = W::two(self.isa, self.from, at);
                state[I] = state[I].xor(first);
                state[I + 1] = state[I + 1].xor(second);
            } else if I < self.rate_words {
                let [_, last] = W::two(self.isa, self.from, at - size_of::<u64>());
                state[I] = state[I].xor(last);
            }
        }
    }

    /// Adds the block of each message that has been [copied](Rows::block) to `rows`.
    ///
    /// # Safety
    /// It has.
    #[inline(always)]
    pub(super) unsafe fn add_copied(&self, state: &mut [W; WORDS], rows: &Rows) {
        // SAFETY: the caller's.
        unsafe { by_twos!(self.add_two_copied(state, rows)) }
    }

    /// Adds words I and I + 1 of the block, as far as it has them.
    ///
    /// # Safety
    /// That of `add_copied`.
    #[inline(always)]
    unsafe fn add_two_copied<const I: usize>(&self, state: &mut [W; WORDS], rows: &Rows) {
        // SAFETY: the caller's.
        unsafe {
            if I < self.rate_words {
                state[I] = state[I].xor(rows.word(self.isa, I, self.rate_words));
            }
            if I + 1 < self.rate_words {
                state[I + 1] = state[I + 1].xor(rows.word(self.isa, I + 1, self.rate_words));
            }
        }
    }

    /// What P is to copy to `rows` of the `bytes` bytes at byte `at` of each message, behind other blocks: a block, or of an end
    /// the whole pairs of words. Nothing, if it copies nothing.
    #[inline(always)]
    pub(super) fn ahead<'r, P: Permute<W>>(&self, rows: &'r mut Rows, at: usize, bytes: usize) -> Ahead<'r> {
        if !P::COPIES {
            Ahead::NOTHING
        } else if bytes == self.rate_words * size_of::<u64>() {
            rows.block(self.from, at, self.rate_words)
        } else {
            rows.pairs(self.from, at, bytes / PAIR)
        }
    }

    /// Adds the last `rest` bytes of each message, those at byte `at`, less than a block, and the padding behind them: `ends`
    /// have the last `rest % 16` bytes, then what begins the padding, then zeros. Its last bit is added here (FIPS 202 section
    /// 5.1). The words before `ends` may have been [copied](Rows::pairs).
    ///
    /// # Safety
    /// The messages have these bytes, and ends are 16.
    #[inline(always)]
    pub(super) unsafe fn add_end(
        &self,
        state: &mut [W; WORDS],
        (at, rest): (usize, usize),
        ends: &[*const u8; MAX_STREAMS],
        copied: Option<&Rows>,
    ) {
        // SAFETY: the caller's.
        unsafe { by_twos!(self.end_two(state, (at, rest), ends, copied)) }
    }

    /// Adds words I and I + 1 of what `add_end` adds.
    ///
    /// # Safety
    /// That of `add_end`.
    #[inline(always)]
    unsafe fn end_two<const I: usize>(
        &self,
        state: &mut [W; WORDS],
        (at, rest): (usize, usize),
        ends: &[*const u8; MAX_STREAMS],
        copied: Option<&Rows>,
    ) {
        /// The last bit of pad10*1, as one of the last word.
        const LAST: u64 = 1 << 63;
        let begin = I * size_of::<u64>();
        if begin <= rest {
            // SAFETY: the caller's.
            let [first, second] = unsafe {
                match copied {
                    _ if begin + PAIR > rest => W::two(self.isa, ends, 0),
                    Some(rows) => [rows.row(self.isa, I), rows.row(self.isa, I + 1)],
                    None => W::two(self.isa, self.from, at + begin),
                }
            };
            state[I] = state[I].xor(first);
            // Zeros, where the block ends before it.
            state[I + 1] = state[I + 1].xor(second);
        }
        if I + 1 == self.rate_words {
            state[I] = state[I].xor_constant(LAST);
        } else if I + 2 == self.rate_words {
            state[I + 1] = state[I + 1].xor_constant(LAST);
        }
    }
}

/// A local value of this type makes the compiler align the function's frame. Without one it leaves to chance whether
/// the registers that it spills lie across cache lines: in AVX2, which has too few of them, that is a third of the
/// speed.
#[repr(align(64))]
struct AlignedFrame(#[allow(dead_code)] u8); // for its address alone

/// Aligns the frame of who calls this, where words are of several states.
#[inline(always)]
pub(super) fn align_frame<W: Stored>() {
    if W::COUNT > 1 {
        std::hint::black_box(&mut AlignedFrame(0));
    }
}
