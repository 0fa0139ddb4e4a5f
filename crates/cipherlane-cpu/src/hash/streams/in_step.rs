//! Messages that run in step, a lane for each: all begin at once, and none takes the place of one that ends.

use std::ops::Range;

use super::{Cut, NO_PADDING, Streams, ZEROS};
use crate::hash::{Absorb, Iterated, MAX_END, MAX_STREAMS};
use crate::prefetch;

/// Most blocks that lanes idle at the end, while those of longer messages are absorbed: looking after each lane by itself, so that
/// the next message begins in it, takes as long.
const IDLE: usize = 1;

impl<H: Iterated, E: Absorb<H>> Streams<'_, H, E> {
    /// Runs messages of one length, a lane for each, in step: what holds for one holds for all of them.
    #[inline(always)]
    pub(super) fn run_alike(&mut self, messages: Range<usize>) {
        self.active = messages.len();
        let bytes = self.job.text(messages.start).len();
        let Cut { blocks, rest } = self.cut(bytes);
        for (from, message) in self.from.iter_mut().zip(messages.clone()) {
            *from = self.job.text(message).as_ptr();
        }
        if blocks > 0 {
            self.absorb(blocks);
        }
        let blocks = self.pad_alike(&messages, bytes, rest);
        self.ask_for_next();
        self.absorb(blocks);
        self.store_outputs(&messages, 0);
        self.active = 0;
    }

    /// Pads the ends of messages of one length, a lane for each. Returns how many blocks they are.
    #[inline(always)]
    fn pad_alike(&mut self, messages: &Range<usize>, bytes: usize, rest: usize) -> usize {
        if rest == 0 {
            let end = self.pad(0, bytes, &[]);
            self.from[..messages.len()].fill(end.from);
            return end.blocks;
        }
        // What they have in common.
        let mut padding = NO_PADDING;
        let blocks = self.hash.pad(&mut padding.0[..H::END], rest, bytes as u64);
        let end_bytes = blocks * self.hash.block_bytes();
        self.used = self.used.max(messages.len());
        for (lane, message) in messages.clone().enumerate() {
            let (end, text) = (&mut self.ends[lane], self.job.text(message)[bytes - rest..].as_ptr());
            // SAFETY: the message has so many bytes left, less than a block, and an end has room for its blocks.
            unsafe { self.engine.lay_end(end, (text, rest), &padding, end_bytes) }
            self.from[lane] = end.as_ptr().cast();
        }
        blocks
    }

    /// Asks for the first lines of the messages that are next to run in step. Nobody else has seen them coming.
    #[inline(always)]
    fn ask_for_next(&self) {
        for message in self.order.alike(E::LANES) {
            let text = self.job.text(message).as_ptr();
            for at in (0..self.hash.block_bytes()).step_by(prefetch::LINE) {
                prefetch::ask(text.wrapping_add(at));
            }
        }
    }

    /// Runs the next messages in step, if they are of nearly one length. Returns whether they are.
    ///
    /// What they have behind the blocks that all of them have is padded in buffers.
    #[inline(always)]
    pub(super) fn run_near(&mut self) -> bool {
        let Some((count, ends)) = self.order.falling(E::LANES) else { return false };
        let [longest, shortest] = ends.map(|message| self.job.text(message).len());
        let (block, common) = (self.hash.block_bytes(), self.cut(shortest));
        let start = common.blocks * block;
        if longest - start >= MAX_END {
            return false;
        }
        let (most, least) = (self.hash.padded_blocks(longest - start), self.hash.padded_blocks(common.rest));
        let has_more_output = self.job.digest_bytes() > self.hash.output_bytes();
        let idle = if has_more_output { 0 } else { IDLE };
        if most - least > idle || most * block > MAX_END {
            return false;
        }
        let mut messages = [0; MAX_STREAMS];
        let messages = &mut messages[..count];
        self.order.next_few(messages);
        self.active = count;
        if common.blocks > 0 {
            for (from, &message) in self.from.iter_mut().zip(&*messages) {
                *from = self.job.text(message).as_ptr();
            }
            self.absorb(common.blocks);
        }
        let blocks = self.pad_near(messages, start);
        self.absorb_ends(messages, &blocks);
        true
    }

    /// Pads what messages have from byte `start` on, a lane for each. Returns how many blocks that is of each.
    #[inline(always)]
    fn pad_near(&mut self, messages: &[usize], start: usize) -> [usize; MAX_STREAMS] {
        let block = self.hash.block_bytes();
        let mut blocks = [0; MAX_STREAMS];
        self.used = self.used.max(messages.len());
        for (lane, &message) in messages.iter().enumerate() {
            let text = self.job.text(message);
            debug_assert!(start <= text.len());
            let rest = text.len() - start;
            blocks[lane] = self.hash.padded_blocks(rest);
            let end_bytes = blocks[lane] * block;
            debug_assert!(end_bytes <= MAX_END);
            let end = &mut self.ends[lane];
            // SAFETY: the last text is so long, and there is room for the end of the first. Those between are as long as one of
            // these or between them; or come as they lie, none of them with a whole block, and then `start` is 0.
            let end = unsafe {
                self.engine.lay_end(end, (text.as_ptr().add(start), rest), &NO_PADDING, end_bytes);
                std::slice::from_raw_parts_mut(end.as_mut_ptr().cast::<u8>(), end_bytes)
            };
            self.hash.pad(end, rest, text.len() as u64);
            self.from[lane] = end.as_ptr();
        }
        blocks
    }

    /// Absorbs the ends of messages, `blocks` of each, of which those behind have the fewest, and stores the outputs.
    #[inline(always)]
    fn absorb_ends(&mut self, messages: &[usize], blocks: &[usize; MAX_STREAMS]) {
        let mut absorbed = 0;
        while self.active > 0 {
            let next = blocks[self.active - 1];
            self.absorb(next - absorbed);
            let bytes = (next - absorbed) * self.hash.block_bytes();
            for from in &mut self.from[..self.active] {
                *from = from.wrapping_add(bytes);
            }
            absorbed = next;
            let mut running = self.active;
            while running > 0 && blocks[running - 1] == absorbed {
                running -= 1;
            }
            self.store_outputs(&messages[running..self.active].iter().copied(), running);
            self.active = running;
        }
    }

    /// Stores the output of messages, which run in the lanes from `first` on.
    #[inline(always)]
    fn store_outputs(&mut self, messages: &(impl Iterator<Item = usize> + Clone), first: usize) {
        let mut start = 0;
        loop {
            let end = self.job.digest_bytes().min(start + self.hash.output_bytes());
            self.take_chains(first..self.active);
            for (message, chain) in messages.clone().zip(&self.chains[first..]) {
                // SAFETY: this thread alone has the message.
                let row = unsafe { self.job.digest(message) };
                // SAFETY: a chaining value has been taken for every message.
                self.hash.output(unsafe { chain.assume_init_ref() }, &mut row[start..end]);
            }
            if end == self.job.digest_bytes() {
                return;
            }
            start = end;
            self.from.fill(ZEROS.as_ptr());
            self.absorb(1);
        }
    }
}
