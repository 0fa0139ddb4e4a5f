//! Messages that run side by side, one in each lane.

use cipherlane_core::BLOCK;

use super::order::Order;
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::blocks;

/// Most messages side by side: 16 registers.
pub(super) const MAX_STREAMS: usize = 16 * MAX_LANES;

/// The messages in the lanes: stream i is lane i % LANES of register i / LANES.
pub(super) struct Streams {
    /// Streams that run. Those behind them repeat stream 0, which makes no difference: they read what it reads,
    /// before either writes, and write what it writes.
    active: usize,
    message: [usize; MAX_STREAMS],
    input: [*const u8; MAX_STREAMS],
    output: [*mut u8; MAX_STREAMS],
    blocks_left: [usize; MAX_STREAMS],
    /// The ciphertext block before the next one, at first the IV.
    chain: [[u8; BLOCK]; MAX_STREAMS],
}

impl Streams {
    pub(super) fn new() -> Self {
        Self {
            active: 0,
            message: [0; MAX_STREAMS],
            input: [std::ptr::null(); MAX_STREAMS],
            output: [std::ptr::null_mut(); MAX_STREAMS],
            blocks_left: [0; MAX_STREAMS],
            chain: [[0; BLOCK]; MAX_STREAMS],
        }
    }

    /// Streams that run.
    #[inline(always)]
    pub(super) fn active(&self) -> usize {
        self.active
    }

    /// The message of `stream`.
    #[inline(always)]
    pub(super) fn message(&self, stream: usize) -> usize {
        self.message[stream]
    }

    /// Blocks that every stream still has.
    #[inline(always)]
    pub(super) fn steps(&self) -> usize {
        self.blocks_left[..self.active].iter().copied().min().unwrap_or(0)
    }

    /// Lets messages enter as long as fewer than `width` are running.
    #[inline(always)]
    pub(super) fn fill(&mut self, job: &Job<'_>, order: &mut Order<'_>, width: usize) {
        while self.active < width
            && let Some(message) = order.next()
        {
            self.enter(self.active, job, message);
            self.active += 1;
        }
    }

    #[inline(always)]
    fn enter(&mut self, stream: usize, job: &Job<'_>, message: usize) {
        let text = job.message(message);
        self.message[stream] = message;
        self.input[stream] = text.input;
        self.output[stream] = text.output;
        self.blocks_left[stream] = text.bytes / BLOCK;
        self.chain[stream] = job.nonce_block(message);
    }

    /// Moves all streams by `steps` blocks, and gives the place of one that has ended to the next message, or else
    /// to the last stream.
    #[inline(always)]
    pub(super) fn advance(&mut self, steps: usize, job: &Job<'_>, order: &mut Order<'_>) {
        let mut stream = 0;
        while stream < self.active {
            self.input[stream] = self.input[stream].wrapping_add(steps * BLOCK);
            self.output[stream] = self.output[stream].wrapping_add(steps * BLOCK);
            self.blocks_left[stream] -= steps;
            stream += 1;
        }
        stream = 0;
        while stream < self.active {
            if self.blocks_left[stream] > 0 {
                stream += 1;
            } else if let Some(message) = order.next() {
                self.enter(stream, job, message);
                stream += 1;
            } else {
                self.active -= 1;
                self.repeat(self.active, stream);
            }
        }
    }

    /// Makes the streams from the last active one up to `width` repeat stream 0.
    #[inline(always)]
    pub(super) fn pad(&mut self, width: usize) {
        for stream in self.active..width {
            self.repeat(0, stream);
        }
    }

    #[inline(always)]
    fn repeat(&mut self, from: usize, to: usize) {
        self.message[to] = self.message[from];
        self.input[to] = self.input[from];
        self.output[to] = self.output[from];
        self.blocks_left[to] = self.blocks_left[from];
        self.chain[to] = self.chain[from];
    }

    /// The chaining blocks of M registers.
    #[inline(always)]
    pub(super) fn chains<I: Isa, const M: usize>(&self, isa: I) -> [I::V; M] {
        const { assert!(M * I::V::LANES <= MAX_STREAMS, "at most 16 registers") };
        // SAFETY: the array holds M registers.
        unsafe { blocks::load(isa, self.chain.as_ptr().cast()) }
    }

    /// Keeps the chaining blocks of M registers.
    #[inline(always)]
    pub(super) fn set_chains<V: Lanes, const M: usize>(&mut self, chains: [V; M]) {
        const { assert!(M * V::LANES <= MAX_STREAMS, "at most 16 registers") };
        // SAFETY: the array holds M registers.
        unsafe { blocks::store(chains, self.chain.as_mut_ptr().cast()) }
    }

    /// The input block of each lane of `register`, `moved` bytes on.
    ///
    /// # Safety
    /// The streams of the register have that block.
    #[inline(always)]
    pub(super) unsafe fn gather<I: Isa>(&self, isa: I, register: usize, moved: usize) -> I::V {
        let mut lanes = [std::ptr::null(); MAX_LANES];
        for (lane, input) in lanes.iter_mut().zip(&self.input[register * I::V::LANES..]).take(I::V::LANES) {
            *lane = input.wrapping_add(moved);
        }
        // SAFETY: the caller's promise.
        unsafe { isa.gather(&lanes) }
    }

    /// Stores each lane of `blocks` to its stream, `moved` bytes on.
    ///
    /// # Safety
    /// The streams of the register have that block.
    #[inline(always)]
    pub(super) unsafe fn scatter<V: Lanes>(&self, blocks: V, register: usize, moved: usize) {
        let mut lanes = [std::ptr::null_mut(); MAX_LANES];
        for (lane, output) in lanes.iter_mut().zip(&self.output[register * V::LANES..]).take(V::LANES) {
            *lane = output.wrapping_add(moved);
        }
        // SAFETY: the caller's promise.
        unsafe { blocks.scatter(&lanes) }
    }
}
