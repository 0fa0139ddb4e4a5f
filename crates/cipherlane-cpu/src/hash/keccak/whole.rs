//! Messages from the initial value to the output, in groups of as many as a register has words: their states are nowhere but
//! in registers, as far as these suffice.
//!
//! The messages of a group end together. Those with fewer blocks than the first begin later, and what their lanes hold until
//! then does not matter. The block that a group begins with is brought beside the last rounds of the group before it.

use std::marker::PhantomData;

use super::permutation::Permute;
use super::source::Source;
use super::texts::align_frame;
use super::{Keccak, WORDS};
use crate::hash::{MAX_BLOCK, MAX_STREAMS, Text};
use crate::lanes::Work;
use crate::lanes::words::{MAX_WORDS_64, WordLanes};
use crate::prefetch;

/// Groups of messages, as work. The pointers are good.
pub(super) struct Whole<'a, V: WordLanes, P> {
    isa: V::Isa,
    hash: Keccak,
    texts: &'a [Text],
    digest_bytes: usize,
    permute: PhantomData<P>,
}

impl<'a, V: WordLanes, P: Permute<V>> Whole<'a, V, P> {
    /// The work of hashing `texts`, with no more output than a block.
    ///
    /// # Safety
    /// That of [`Absorb::hash_whole`](crate::hash::Absorb::hash_whole).
    #[inline(always)]
    pub(super) unsafe fn new(isa: V::Isa, hash: Keccak, texts: &'a [Text], digest_bytes: usize) -> Self {
        const { assert!(V::WORDS_64 <= MAX_STREAMS) };
        debug_assert!(digest_bytes <= hash.rate);
        Self { isa, hash, texts, digest_bytes, permute: PhantomData }
    }
}

impl<V: WordLanes, P: Permute<V>> Work for Whole<'_, V, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        align_frame::<V>();
        let mut groups = self.texts.chunks(V::WORDS_64);
        let Some(mut group) = groups.next() else { return };
        let mut source = Source::new(self.isa, self.hash);
        // SAFETY: whoever made this vouches for the texts.
        unsafe { source.begin::<V>(group) };
        loop {
            let mut state = [V::zero(self.isa); WORDS];
            let next = groups.next();
            loop {
                // SAFETY: as above.
                unsafe { source.add::<V>(&mut state) };
                let (is_last, running) = (source.is_last(), source.running());
                // SAFETY: as above.
                unsafe {
                    match next {
                        _ if !is_last => source.advance::<V>(group),
                        Some(next) => source.begin::<V>(next),
                        None => {}
                    }
                    let has_more = !is_last || next.is_some();
                    if is_last && !P::COPIES {
                        ask_for(groups.clone().next().unwrap_or_default());
                    }
                    state = P::permute(state, &source.ahead(P::COPIES && has_more));
                }
                if is_last {
                    break;
                }
                if running < source.running() {
                    self.clear(&mut state, running);
                }
            }
            // SAFETY: as above.
            unsafe { self.put_all(&state, group) }
            match next {
                Some(next) => group = next,
                None => break,
            }
        }
        source.wipe();
    }
}

impl<V: WordLanes, P: Permute<V>> Whole<'_, V, P> {
    /// Makes all states zero but the first `kept`.
    #[inline(always)]
    fn clear(&self, state: &mut [V; WORDS], kept: usize) {
        static KEPT: [u64; 2 * MAX_WORDS_64] = {
            let mut kept = [0; 2 * MAX_WORDS_64];
            let mut i = 0;
            while i < MAX_WORDS_64 {
                kept[i] = u64::MAX;
                i += 1;
            }
            kept
        };
        let from = KEPT[MAX_WORDS_64 - kept..].as_ptr().cast();
        // SAFETY: a register is no more than half of them.
        let mask = unsafe { V::load(self.isa, from) };
        for word in state {
            *word = word.and(mask);
        }
    }

    /// Stores the output of the messages of a group.
    ///
    /// # Safety
    /// Whoever made this vouches for the pointers.
    #[inline(always)]
    unsafe fn put_all(&self, state: &[V; WORDS], group: &[Text]) {
        // SAFETY: the caller's.
        unsafe {
            self.put::<0>(state, group);
            self.put::<1>(state, group);
            self.put::<2>(state, group);
            self.put::<3>(state, group);
            self.put::<4>(state, group);
            self.put::<5>(state, group);
            self.put::<6>(state, group);
            self.put::<7>(state, group);
            self.put::<8>(state, group);
            self.put::<9>(state, group);
            self.put::<10>(state, group);
        }
    }

    /// Stores the words of output that are register G's, if there are any.
    ///
    /// # Safety
    /// That of `put_all`.
    #[inline(always)]
    unsafe fn put<const G: usize>(&self, state: &[V; WORDS], group: &[Text]) {
        let (word, start) = (G * V::WORDS_64, G * V::BYTES);
        if word + V::WORDS_64 > WORDS || start >= self.digest_bytes {
            return;
        }
        let mut registers = [state[0]; MAX_WORDS_64];
        registers[..V::WORDS_64].copy_from_slice(&state[word..word + V::WORDS_64]);
        V::transpose_64(&mut registers);
        let bytes = self.digest_bytes - start;
        // Of constant length, so that registers stay what they are.
        for (lane, register) in registers.iter().enumerate().take(V::WORDS_64) {
            let Some(text) = group.get(lane) else { return };
            // SAFETY: the caller's.
            unsafe {
                let to = text.to.add(start);
                if bytes >= V::BYTES {
                    register.store(to);
                } else {
                    register.store_first(to, bytes);
                }
            }
        }
    }
}

/// Asks for the first lines of the messages of a group that nobody else has seen coming.
#[inline(always)]
fn ask_for(group: &[Text]) {
    for text in group {
        for at in (0..MAX_BLOCK).step_by(prefetch::LINE) {
            prefetch::ask(text.from.wrapping_add(at));
        }
    }
}
