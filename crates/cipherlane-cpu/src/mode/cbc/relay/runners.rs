//! The messages in the lanes.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use super::super::succession::STREAMS;
use super::STEPS;
use crate::job::Job;
use crate::order::Order;

/// Streams from which on registers are worth running where no message is left to take the place of those that have ended.
const MANY: u32 = STREAMS as u32 / 2;

/// Blocks that fewer streams may have left to be run by these registers nevertheless.
const SOON: usize = 4 * STEPS;

/// Behind the end of any message.
const NEVER: usize = usize::MAX;

/// The messages in the lanes. They are found, and end, by blocks from where the first of all began: those that go on need not
/// be looked at.
#[repr(C, align(64))] // registers of any of them lie within cache lines
pub(super) struct Runners {
    /// So many blocks before the next ones.
    pub(super) input: [*const u8; STREAMS],
    pub(super) output: [*mut u8; STREAMS],
    /// Behind the last block; NEVER in a lane without a message.
    end: [usize; STREAMS],
    /// Blocks that have been planned: stages.
    pub(super) now: usize,
    /// Lanes with a message, a bit for each.
    pub(super) running: u32,
    /// Lanes whose message has not begun, as [`Set`](crate::lanes::Set) has them.
    pub(super) begin: u64,
}

impl Runners {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            input: [std::ptr::null(); STREAMS],
            output: [std::ptr::null_mut(); STREAMS],
            end: [NEVER; STREAMS],
            now: 0,
            running: 0,
            begin: 0,
        }
    }

    /// Gives `lanes`, whose messages have ended, the next ones, as long as there are any. The block before the first one of
    /// each goes to `chains`.
    #[inline(always)]
    pub(super) fn enter(
        &mut self,
        lanes: u32,
        job: &Job<'_>,
        order: &mut Order<'_>,
        chains: &mut [MaybeUninit<[u8; BLOCK]>; STREAMS],
    ) {
        let (mut messages, mut vacant) = ([0; STREAMS], lanes);
        // All before the first is looked at: what they are does not wait for what has been written of those before.
        let count = order.next_few(&mut messages[..lanes.count_ones() as usize]);
        for &message in &messages[..count] {
            let stream = vacant.trailing_zeros() as usize % STREAMS;
            vacant &= vacant.wrapping_sub(1);
            let text = job.message(message);
            self.input[stream] = text.input.wrapping_sub(self.now * BLOCK);
            self.output[stream] = text.output.wrapping_sub(self.now * BLOCK);
            self.end[stream] = self.now + text.bytes / BLOCK;
            // SAFETY: the nonces of this mode are blocks.
            chains[stream].write(unsafe { job.nonces_from(message).cast::<[u8; BLOCK]>().read() });
        }
        for stream in each(vacant) {
            self.end[stream] = NEVER;
        }
        let entered = lanes & !vacant;
        self.running = self.running & !lanes | entered;
        self.begin = doubled(entered);
    }

    /// Whether they fill enough lanes, or else end soon.
    #[inline(always)]
    pub(super) fn go_on(&self) -> bool {
        if self.running.count_ones() >= MANY {
            return true;
        }
        let mut end = self.now;
        for stream in each(self.running) {
            end = end.max(self.end[stream]);
        }
        (self.now + 1..=self.now + SOON).contains(&end)
    }

    /// Moves all by a stage, or, if none ends there and all lanes are full, by as many as every stream has. Returns how many,
    /// and which have ended: of one stage these may lack some blocks.
    #[inline(always)]
    pub(super) fn advance(&mut self) -> (usize, u32) {
        let mut count = 1;
        let mut ended = self.ended(self.now + STEPS);
        if ended == 0 && self.running == u32::MAX {
            let end = self.end.iter().fold(NEVER, |first, &end| first.min(end));
            count = (end - self.now) / STEPS;
            ended = self.ended(self.now + count * STEPS);
        }
        self.now += count * STEPS;
        (count, ended)
    }

    /// Streams that end at block `now`, or before.
    #[inline(always)]
    fn ended(&self, now: usize) -> u32 {
        let mut ended = 0;
        for (stream, &end) in self.end.iter().enumerate() {
            ended |= u32::from(end <= now) << stream;
        }
        ended
    }

    /// Bytes that a stream that has ended had on its last stage.
    #[inline(always)]
    pub(super) fn last_bytes(&self, stream: usize) -> usize {
        (self.end[stream] + STEPS - self.now) * BLOCK
    }

    /// Input, output and number of the blocks of a stream that are left.
    #[inline(always)]
    pub(super) fn rest(&self, stream: usize) -> (*const u8, *mut u8, usize) {
        let behind = self.now * BLOCK;
        let (input, output) =
            (self.input[stream].wrapping_add(behind), self.output[stream].wrapping_add(behind));
        (input, output, self.end[stream] - self.now)
    }
}

/// Numbers of the bits that are set.
#[inline(always)]
pub(super) fn each(bits: u32) -> Each {
    Each(bits)
}

/// See [`each`].
pub(super) struct Each(u32);

impl Iterator for Each {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let number = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(number)
    }
}

/// Each bit twice.
#[inline(always)]
fn doubled(bits: u32) -> u64 {
    let mut bits = u64::from(bits);
    bits = (bits | bits << 16) & 0x0000_ffff_0000_ffff;
    bits = (bits | bits << 8) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333;
    bits = (bits | bits << 1) & 0x5555_5555_5555_5555;
    bits | bits << 1
}
