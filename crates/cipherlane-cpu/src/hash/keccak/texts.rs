//! Blocks of several messages on their way into states.

use super::WORDS;
use super::ahead::Rows;
use super::words::Stored;
use crate::hash::{MAX_BLOCK, MAX_STREAMS};

const _: () = assert!(MAX_BLOCK / size_of::<u64>() == 21, "what `by_twos` has");

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
    /// Words of a block, or of what there is of it: none, or two at least.
    pub(super) words: usize,
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
            if I + 1 < self.words {
                let [first, second] = W::two(self.isa, self.from, at);
                state[I] = state[I].xor(first);
                state[I + 1] = state[I + 1].xor(second);
            } else if I < self.words {
                let [_, last] = W::two(self.isa, self.from, at - size_of::<u64>());
                state[I] = state[I].xor(last);
            }
        }
    }

    /// Adds the block of each message that has been [copied](Rows::ahead) to `rows`.
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
            if I < self.words {
                state[I] = state[I].xor(rows.word(self.isa, I));
            }
            if I + 1 < self.words {
                state[I + 1] = state[I + 1].xor(rows.word(self.isa, I + 1));
            }
        }
    }

    /// Adds what is `behind` the words of the text to a block of `rate_words` words, unless these are all it has, and the last
    /// bit of pad10*1 (FIPS 202 section 5.1).
    #[inline(always)]
    pub(super) fn pad(&self, state: &mut [W; WORDS], behind: W, rate_words: usize) {
        by_twos!(self.pad_two(state, behind, rate_words));
    }

    /// Adds of it what belongs to words I and I + 1.
    #[inline(always)]
    fn pad_two<const I: usize>(&self, state: &mut [W; WORDS], behind: W, rate_words: usize) {
        const LAST: u64 = 1 << 63;
        for i in [I, I + 1] {
            if i == self.words && i < rate_words {
                state[i] = state[i].xor(behind);
            }
            if i + 1 == rate_words {
                state[i] = state[i].xor_constant(LAST);
            }
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
