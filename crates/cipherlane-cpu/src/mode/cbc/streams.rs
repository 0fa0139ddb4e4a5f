//! Messages that run side by side, one in each lane.

use cipherlane_core::BLOCK;

use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::order::Order;

/// Most messages side by side: 16 registers.
pub(super) const MAX_STREAMS: usize = 16 * MAX_LANES;

/// Most blocks of each message that are staged at a time. Four cache lines, which the CPU brings one with the other:
/// messages often lie a power of two apart, where taking one block of each in turn would drive every line from the cache
/// before its second block.
pub(super) const MAX_STEPS: usize = 16;

/// The messages in the lanes: stream i is lane i % LANES of register i / LANES.
#[repr(C, align(64))] // the chaining blocks first: registers of them then lie within cache lines
pub(super) struct Streams {
    /// The ciphertext block before the next one, at first the IV.
    chain: [[u8; BLOCK]; MAX_STREAMS],
    /// Streams that run.
    active: usize,
    message: [usize; MAX_STREAMS],
    input: [*const u8; MAX_STREAMS],
    output: [*mut u8; MAX_STREAMS],
    blocks_left: [usize; MAX_STREAMS],
}

impl Streams {
    /// No streams. `message` is one of the batch.
    pub(super) fn new(message: usize) -> Self {
        Self {
            active: 0,
            message: [message; MAX_STREAMS],
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

    /// The message of `stream`, or one that was there before.
    #[inline(always)]
    pub(super) fn message(&self, stream: usize) -> usize {
        self.message[stream]
    }

    /// The chaining blocks.
    #[inline(always)]
    pub(super) fn chains(&mut self) -> &mut [[u8; BLOCK]; MAX_STREAMS] {
        &mut self.chain
    }

    /// Where the next block of each stream is, and where it goes.
    #[inline(always)]
    pub(super) fn ends(&self) -> (&[*const u8; MAX_STREAMS], &[*mut u8; MAX_STREAMS]) {
        (&self.input, &self.output)
    }

    /// Input, output and blocks left of the first stream.
    #[inline(always)]
    pub(super) fn only(&self) -> (*const u8, *mut u8, usize) {
        debug_assert_eq!(self.active, 1);
        (self.input[0], self.output[0], self.blocks_left[0])
    }

    /// Blocks to run next: no more than every stream still has.
    #[inline(always)]
    pub(super) fn steps(&self) -> usize {
        self.left().min(MAX_STEPS)
    }

    /// How many blocks every stream still has.
    #[inline(always)]
    pub(super) fn left(&self) -> usize {
        self.blocks_left[..self.active].iter().fold(usize::MAX, |least, &left| least.min(left))
    }

    /// Blocks to run before the outputs of most streams are aligned to a register of LANES blocks; none where no number
    /// of blocks does it.
    #[inline(always)]
    pub(super) fn unaligned(&self, lanes: usize) -> usize {
        // A field for each number: counters in memory would wait for one another.
        const FIELD: usize = 16;
        let mut counts = 0_u64;
        for output in &self.output[..self.active] {
            let blocks = output.addr().wrapping_neg() / BLOCK % lanes;
            counts += u64::from(output.addr().is_multiple_of(BLOCK)) << (FIELD * blocks);
        }
        for blocks in 0..lanes {
            let count = counts >> (FIELD * blocks) & ((1 << FIELD) - 1);
            if 2 * count > self.active as u64 {
                return blocks;
            }
        }
        0
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

    /// Lets a stream enter that has begun: so many blocks from `input` to `output`, behind block `chain`. One key has all of them,
    /// so that nobody asks for its message.
    #[inline(always)]
    pub(super) fn go_on(&mut self, input: *const u8, output: *mut u8, blocks: usize, chain: [u8; BLOCK]) {
        self.input[self.active] = input;
        self.output[self.active] = output;
        self.blocks_left[self.active] = blocks;
        self.chain[self.active] = chain;
        self.active += 1;
    }

    /// Moves all streams by `steps` blocks, and gives the place of one that has ended to the next message, or else
    /// to the last stream.
    #[inline(always)]
    pub(super) fn advance(&mut self, steps: usize, job: &Job<'_>, order: &mut Order<'_>) {
        for stream in 0..self.active {
            self.input[stream] = self.input[stream].wrapping_add(steps * BLOCK);
            self.output[stream] = self.output[stream].wrapping_add(steps * BLOCK);
            self.blocks_left[stream] -= steps;
        }
        let mut stream = 0;
        while stream < self.active {
            if self.blocks_left[stream] > 0 {
                stream += 1;
            } else if let Some(message) = order.next() {
                self.enter(stream, job, message);
                stream += 1;
            } else {
                self.active -= 1;
                self.replace(stream, self.active);
            }
        }
    }

    /// Has the lanes behind those of the streams, `lanes` in all, do once more what the first stream does: nobody then has
    /// to ask which lanes there are.
    #[inline(always)]
    pub(super) fn repeat_first(&mut self, lanes: usize) {
        for stream in self.active..lanes {
            self.replace(stream, 0);
        }
    }

    #[inline(always)]
    fn replace(&mut self, to: usize, from: usize) {
        self.message[to] = self.message[from];
        self.input[to] = self.input[from];
        self.output[to] = self.output[from];
        self.blocks_left[to] = self.blocks_left[from];
        self.chain[to] = self.chain[from];
    }

    /// The next LANES blocks or fewer, `blocks` of them from block `first` on, of each stream in `register`:
    /// result i holds block `first + i` of all of them.
    ///
    /// # Safety
    /// The streams in the lanes of `register` have these blocks.
    #[inline(always)]
    pub(super) unsafe fn load<I: Isa>(
        &self,
        isa: I,
        register: usize,
        first: usize,
        blocks: usize,
    ) -> [I::V; MAX_LANES] {
        let mut streams = [isa.zero(); MAX_LANES];
        for (lane, text) in streams.iter_mut().enumerate().take(I::V::LANES) {
            let stream = register * I::V::LANES + lane;
            // SAFETY: the caller's promise.
            let from = unsafe { self.input.get_unchecked(stream) }.wrapping_add(first * BLOCK);
            // SAFETY: the caller's promise.
            *text = unsafe {
                if blocks >= I::V::LANES { isa.load(from) } else { isa.load_partial(from, blocks * BLOCK) }
            };
        }
        I::V::transpose(&streams)
    }

    /// Stores what [`Streams::load`] has loaded, once it is encrypted.
    ///
    /// # Safety
    /// The streams in the lanes of `register` have these blocks, and this thread alone has their messages.
    #[inline(always)]
    pub(super) unsafe fn store<V: Lanes>(
        &self,
        text: &[V; MAX_LANES],
        register: usize,
        first: usize,
        blocks: usize,
    ) {
        let streams = V::transpose(text);
        for (lane, text) in streams.iter().enumerate().take(V::LANES) {
            let stream = register * V::LANES + lane;
            // SAFETY: the caller's promise.
            let to = unsafe { self.output.get_unchecked(stream) }.wrapping_add(first * BLOCK);
            // SAFETY: the caller's promise.
            unsafe {
                if blocks >= V::LANES {
                    text.store(to);
                } else {
                    text.store_partial(to, blocks * BLOCK);
                }
            }
        }
    }
}
