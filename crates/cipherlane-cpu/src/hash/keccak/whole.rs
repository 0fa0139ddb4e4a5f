//! Messages of one length from the initial value to the output: their states are nowhere but in registers, as far as these
//! suffice.

use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use super::ahead::Rows;
use super::permutation::Permute;
use super::texts::{Texts, align_frame};
use super::{Keccak, WORDS};
use crate::hash::{MAX_STREAMS, Uniform, wipe};
use crate::lanes::Work;
use crate::lanes::words::{MAX_WORDS_64, WordLanes};
use crate::rows::load_block;

/// As many messages as V has words, as work. The pointers are good.
pub(super) struct Whole<'a, V: WordLanes, P> {
    texts: Texts<'a, V>,
    suffix: u8,
    messages: &'a Uniform<'a>,
    permute: PhantomData<P>,
}

impl<'a, V: WordLanes, P: Permute<V>> Whole<'a, V, P> {
    /// The work of hashing `messages`, which want no more output than a block.
    ///
    /// # Safety
    /// What [`Uniform`] says of them is true.
    #[inline(always)]
    pub(super) unsafe fn new(isa: V::Isa, hash: Keccak, messages: &'a Uniform<'a>) -> Self {
        const { assert!(V::WORDS_64 <= MAX_STREAMS) };
        debug_assert!(messages.digest_bytes <= hash.rate);
        let texts = Texts { isa, rate_words: hash.rate_words(), from: messages.from };
        Self { texts, suffix: hash.suffix, messages, permute: PhantomData }
    }
}

impl<V: WordLanes, P: Permute<V>> Work for Whole<'_, V, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        align_frame::<V>();
        let Uniform { blocks, rest, .. } = *self.messages;
        let block_bytes = self.texts.rate_words * size_of::<u64>();
        // SAFETY: the message is so long.
        let mut ends = unsafe { self.ends(blocks * block_bytes) };
        let mut from = [std::ptr::null(); MAX_STREAMS];
        for (from, end) in from.iter_mut().zip(&ends) {
            *from = end.as_ptr();
        }
        let mut state = [V::zero(self.texts.isa); WORDS];
        let mut rows = Rows::new();
        for block in 0..=blocks {
            let at = block * block_bytes;
            let is_copied = P::COPIES && block > 0;
            // SAFETY: whoever made this vouches for the pointers.
            unsafe {
                if block == blocks {
                    self.texts.add_end(&mut state, (at, rest), &from, is_copied.then_some(&rows));
                } else if is_copied {
                    self.texts.add_copied(&mut state, &rows);
                } else {
                    self.texts.add(&mut state, at);
                }
                let next = match blocks - block {
                    0 => 0,
                    1 => rest,
                    _ => block_bytes,
                };
                state = P::permute(state, &self.texts.ahead::<P>(&mut rows, at + block_bytes, next));
            }
        }
        if P::COPIES && blocks > 0 {
            wipe(&mut rows);
        }
        wipe(&mut ends);
        // SAFETY: as above.
        unsafe {
            self.put::<0>(&state);
            self.put::<1>(&state);
            self.put::<2>(&state);
            self.put::<3>(&state);
            self.put::<4>(&state);
            self.put::<5>(&state);
            self.put::<6>(&state);
            self.put::<7>(&state);
            self.put::<8>(&state);
            self.put::<9>(&state);
            self.put::<10>(&state);
        }
    }
}

impl<V: WordLanes, P: Permute<V>> Whole<'_, V, P> {
    /// What there is of each message behind the last 16 bytes that are whole, its blocks being `blocks_bytes`, with what begins
    /// the padding, and zeros.
    ///
    /// # Safety
    /// The messages are so long.
    #[inline(always)]
    unsafe fn ends(&self, blocks_bytes: usize) -> [[u8; BLOCK]; MAX_WORDS_64] {
        let Uniform { from, rest, .. } = *self.messages;
        let bytes = rest % BLOCK;
        let padding = u128::from(self.suffix) << (8 * bytes);
        let mut ends = [[0; BLOCK]; MAX_WORDS_64];
        for (end, from) in ends.iter_mut().zip(from).take(V::WORDS_64) {
            // SAFETY: the caller's.
            let text = unsafe { load_block(from.add(blocks_bytes + rest - bytes), bytes) };
            *end = (text | padding).to_le_bytes();
        }
        ends
    }

    /// Stores the words of output that are register G's, if there are any, of each message.
    ///
    /// # Safety
    /// Whoever made this vouches for the pointers.
    #[inline(always)]
    unsafe fn put<const G: usize>(&self, state: &[V; WORDS]) {
        let Uniform { active, to, digest_bytes, .. } = *self.messages;
        let (first, start) = (G * V::WORDS_64, G * V::BYTES);
        if first + V::WORDS_64 > WORDS || start >= digest_bytes {
            return;
        }
        let mut registers = [state[0]; MAX_WORDS_64];
        registers[..V::WORDS_64].copy_from_slice(&state[first..first + V::WORDS_64]);
        V::transpose_64(&mut registers);
        let bytes = digest_bytes - start;
        for (message, register) in registers.iter().enumerate().take(V::WORDS_64.min(active)) {
            // SAFETY: the caller's.
            unsafe {
                let to = to.add(message * digest_bytes + start);
                if bytes >= V::BYTES {
                    register.store(to);
                } else {
                    register.store_first(to, bytes);
                }
            }
        }
    }
}
