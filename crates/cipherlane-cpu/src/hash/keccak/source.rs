//! Where the blocks of a group of messages come from: the messages themselves, their padded ends, or rows of words.

use std::mem::MaybeUninit;

use super::ahead::{Ahead, Rows};
use super::texts::Texts;
use super::{Keccak, WORDS};
use crate::hash::{MAX_END, MAX_STREAMS, PaddedEnd, Text, ends, wipe};
use crate::lanes::Isa;
use crate::lanes::words::{MAX_WORDS_64, WordLanes};
use crate::rows::load_word;

/// Where the next block of each message of a group is.
pub(super) struct Source<I> {
    isa: I,
    hash: Keccak,
    /// Of each lane, less `at`. Idle ones, and those that are to begin later, have the first one's.
    from: [*const u8; MAX_STREAMS],
    at: usize,
    /// Words of it.
    words: usize,
    /// Blocks behind it.
    left: usize,
    /// Messages that have begun, the first ones.
    running: usize,
    /// Of each lane, the word behind the words of the last block: text and what begins the padding.
    behind: [u64; MAX_WORDS_64],
    /// The padded ends.
    ends: [MaybeUninit<PaddedEnd>; MAX_WORDS_64],
    /// Whether there have been any.
    has_ends: bool,
    /// The block, where it has been copied.
    rows: Rows,
    is_copied: bool,
    /// Whether any has been.
    has_rows: bool,
}

impl<I: Isa> Source<I> {
    /// No source yet.
    #[inline(always)]
    pub(super) fn new(isa: I, hash: Keccak) -> Self {
        Self {
            isa,
            hash,
            from: [std::ptr::null(); MAX_STREAMS],
            at: 0,
            words: 0,
            left: 0,
            running: 0,
            behind: [0; MAX_WORDS_64],
            ends: [const { MaybeUninit::uninit() }; MAX_WORDS_64],
            has_ends: false,
            rows: Rows::new(),
            is_copied: false,
            has_rows: false,
        }
    }

    /// Whether the block is the last one of its group.
    #[inline(always)]
    pub(super) fn is_last(&self) -> bool {
        self.left == 0
    }

    /// How many messages of the group have begun.
    #[inline(always)]
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Adds the block to the states.
    ///
    /// # Safety
    /// There is a source, and if the block was [`Source::ahead`], it has been copied.
    #[inline(always)]
    pub(super) unsafe fn add<V: WordLanes<Isa = I>>(&self, state: &mut [V; WORDS]) {
        let texts = Texts { isa: self.isa, words: self.words, from: &self.from };
        // SAFETY: the caller's.
        unsafe {
            if self.is_copied {
                texts.add_copied(state, &self.rows);
            } else {
                texts.add(state, self.at);
            }
        }
        if self.is_last() {
            // SAFETY: they are as many as a register has words, or more.
            let behind = unsafe { V::load(self.isa, self.behind.as_ptr().cast()) };
            texts.pad(state, behind, self.hash.rate_words());
        }
    }

    /// The block, if it is to be copied: it is then taken from where it was copied to.
    #[inline(always)]
    pub(super) fn ahead(&mut self, copies: bool) -> Ahead<'_> {
        self.is_copied = copies;
        self.has_rows |= copies;
        if copies { self.rows.ahead(&self.from, self.at, self.words) } else { Ahead::NOTHING }
    }

    /// The first block of `group`, which is not empty.
    ///
    /// # Safety
    /// The texts are readable.
    #[inline(always)]
    pub(super) unsafe fn begin<V: WordLanes<Isa = I>>(&mut self, group: &[Text]) {
        let first = group[0];
        self.left = first.blocks;
        self.at = 0;
        self.words = self.hash.rate_words();
        self.running = 0;
        for lane in 0..V::WORDS_64 {
            self.from[lane] = group.get(lane).map_or(first.from, |text| text.from);
        }
        while self.running < group.len() && group[self.running].blocks == self.left {
            self.running += 1;
        }
        self.from[self.running..group.len()].fill(first.from);
        // SAFETY: the caller's.
        unsafe { self.end::<V>(group) }
    }

    /// The next block.
    ///
    /// # Safety
    /// That of `begin`.
    #[inline(always)]
    pub(super) unsafe fn advance<V: WordLanes<Isa = I>>(&mut self, group: &[Text]) {
        self.left -= 1;
        self.at += self.hash.rate;
        // Those begin that have no more blocks than are left.
        while self.running < group.len() && group[self.running].blocks >= self.left {
            self.from[self.running] = group[self.running].from.wrapping_sub(self.at);
            self.running += 1;
        }
        // SAFETY: the caller's.
        unsafe { self.end::<V>(group) }
    }

    /// If no block is left but the last, sees to that.
    ///
    /// # Safety
    /// That of `begin`.
    #[inline(always)]
    unsafe fn end<V: WordLanes<Isa = I>>(&mut self, group: &[Text]) {
        if self.left > 0 {
            return;
        }
        let first = group[0];
        let are_alike = group.iter().all(|text| (text.blocks, text.rest) == (first.blocks, first.rest));
        let words = first.rest / size_of::<u64>();
        // SAFETY: the caller's.
        unsafe {
            if are_alike && words != 1 {
                self.words = words;
                // Without text it is the same for all.
                self.behind = [self.word_behind(&first); MAX_WORDS_64];
                if !first.rest.is_multiple_of(size_of::<u64>()) {
                    for (lane, text) in group.iter().enumerate() {
                        self.behind[lane] = self.word_behind(text);
                    }
                }
            } else {
                self.lay_ends::<V>(group);
            }
        }
    }

    /// The word behind the whole words of a message: text and what begins the padding.
    ///
    /// # Safety
    /// That of `begin`.
    #[inline(always)]
    unsafe fn word_behind(&self, text: &Text) -> u64 {
        const WORD: usize = size_of::<u64>();
        let (bytes, start) = (text.rest % WORD, text.blocks * self.hash.rate);
        let padding = u64::from(self.hash.suffix) << (8 * bytes);
        // SAFETY: the caller's; a word that ends with the message is all text where that is long enough.
        unsafe {
            if bytes == 0 {
                padding
            } else if start + text.rest < WORD {
                load_word(text.from, bytes) | padding
            } else {
                let last = text.from.add(start + text.rest - WORD).cast::<[u8; WORD]>().read();
                u64::from_le_bytes(last) >> (8 * (WORD - bytes)) | padding
            }
        }
    }

    /// Lays the padded ends of all messages of a group, which are to be taken next.
    ///
    /// # Safety
    /// That of `begin`.
    #[inline(always)]
    unsafe fn lay_ends<V: WordLanes<Isa = I>>(&mut self, group: &[Text]) {
        (self.at, self.has_ends) = (0, true);
        let padding = self.hash.padding();
        for (lane, text) in group.iter().enumerate() {
            let (end, padding) = (self.ends[lane].as_mut_ptr().cast(), &padding[MAX_END - text.rest..]);
            let from = text.from.wrapping_add(text.blocks * self.hash.rate);
            // SAFETY: the caller's; ends and padding are whole registers, as many as a block has.
            unsafe { ends::lay(self.isa, end, (from, text.rest), padding.as_ptr(), self.hash.rate) }
            self.from[lane] = end;
        }
        let first = self.from[0];
        self.from[group.len()..V::WORDS_64].fill(first);
    }

    /// Overwrites what may be secret.
    #[inline(always)]
    pub(super) fn wipe(&mut self) {
        wipe(&mut self.behind);
        if self.has_ends {
            wipe(&mut self.ends);
        }
        if self.has_rows {
            wipe(&mut self.rows);
        }
    }
}
