//! One block of the message of each lane: gathered, and scattered to where it belongs.

use cipherlane_core::BLOCK;

use crate::job::Message;
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::rows::{first_bytes, load_block, store_block};

/// One block of each lane's message.
pub(super) struct Row<'a> {
    messages: &'a [Message; MAX_LANES],
    at: usize,
}

impl<'a> Row<'a> {
    #[inline(always)]
    pub(super) fn new(messages: &'a [Message; MAX_LANES], at: usize) -> Self {
        Self { messages, at }
    }

    /// Whether every lane has a whole block.
    #[inline(always)]
    fn are_whole<I: Isa>(&self) -> bool {
        let mut shortest = usize::MAX;
        for message in &self.messages[..I::V::LANES] {
            shortest = shortest.min(message.bytes);
        }
        self.at + BLOCK <= shortest
    }

    /// # Safety
    /// Every message goes beyond `at`.
    #[inline(always)]
    pub(super) unsafe fn load<I: Isa>(&self, isa: I) -> I::V {
        let mut from = [std::ptr::null(); MAX_LANES];
        // SAFETY: the caller's; no more than what is left of a message is touched.
        unsafe {
            for (pointer, message) in from.iter_mut().zip(self.messages) {
                *pointer = message.input.add(self.at);
            }
            if self.are_whole::<I>() {
                return isa.gather(&from);
            }
            let mut blocks = [0; MAX_LANES];
            for lane in 0..I::V::LANES {
                let bytes = (self.messages[lane].bytes - self.at).min(BLOCK);
                blocks[lane] = load_block(from[lane], bytes);
            }
            isa.words(&blocks)
        }
    }

    /// Stores `x` and returns what was stored, the rest zero.
    ///
    /// # Safety
    /// Every message goes beyond `at`.
    #[inline(always)]
    pub(super) unsafe fn store<I: Isa>(&self, isa: I, x: I::V) -> I::V {
        let mut to = [std::ptr::null_mut(); MAX_LANES];
        // SAFETY: the caller's; no more than what is left of a message is touched.
        unsafe {
            for (pointer, message) in to.iter_mut().zip(self.messages) {
                *pointer = message.output.add(self.at);
            }
            if self.are_whole::<I>() {
                x.scatter(&to);
                return x;
            }
            let mut blocks = x.to_words();
            for lane in 0..I::V::LANES {
                let bytes = (self.messages[lane].bytes - self.at).min(BLOCK);
                store_block(blocks[lane], to[lane], bytes);
                blocks[lane] &= first_bytes(bytes);
            }
            isa.words(&blocks)
        }
    }
}
