//! Messages under one key, by a cipher that runs whole groups, where they do not run by a list: what fills no group by itself has
//! its key stream made together with that of its neighbours, of however many bytes they are.

use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::in_company::list_counters;
use super::{advanced, until_wrap};
use crate::cipher::{Permutation, SMALL, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work, wipe_blocks};
use crate::mode::ecb;

/// Runs messages that share `cipher`.
///
/// # Safety
/// The job's pointers are good, and nobody else touches the output of these messages.
#[inline(always)]
pub(super) unsafe fn run<P: Permutation, const N: usize>(cipher: &P, job: &Job<'_>, range: Range<usize>) {
    let group = group::<P, N>();
    let mut waiting = Waiting::<P, N>::new(cipher);
    let is_alone = range.len() == 1;
    for index in range {
        let (mut counter, mut message) = (job.nonce_block(index), job.message(index));
        let rest = message.bytes % group;
        // SAFETY: the caller's promise, for parts of the message.
        unsafe {
            if is_alone || rest > most_together(group) || until_wrap(&counter) < blocks_of(message) as u64 {
                super::run::<P, N>(cipher, None, counter, message);
                continue;
            }
            let whole = message.bytes - rest;
            if whole > 0 {
                super::run::<P, N>(cipher, None, counter, message.take(whole));
                (counter, message) = (advanced(counter, whole / BLOCK), message.skip(whole));
            }
            if rest > 0 {
                waiting.push(&counter, message);
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe { waiting.run() }
}

/// Bytes of the smallest group.
const fn group<P: Permutation, const N: usize>() -> usize {
    if N < SMALL { N * V::<P>::BYTES } else { SMALL * V::<P>::BYTES }
}

/// Most bytes that run together: to add key stream by itself takes longer than to leave a small part of a group empty.
const fn most_together(group: usize) -> usize {
    group / 4 * 3
}

/// Blocks of a message, with that of its end.
const fn blocks_of(message: Message) -> usize {
    message.bytes.div_ceil(BLOCK)
}

/// Blocks of key stream that are made at a time: those of four groups or more, so that what is left behind the last whole one
/// weighs little.
const BLOCKS: usize = 512;

/// Most parts of messages that they are for.
const PARTS: usize = 128;

/// A part of a message, and the first block of its key stream.
#[derive(Clone, Copy)]
struct Part {
    message: Message,
    first: usize,
}

/// Messages that wait for their key stream.
struct Waiting<'a, P: Permutation, const N: usize> {
    cipher: &'a P,
    room: Room,
    /// The first `count` are written.
    parts: [MaybeUninit<Part>; PARTS],
    count: usize,
    /// So many blocks of the room are counters.
    blocks: usize,
    /// So many have been key stream.
    used: usize,
}

/// Counters, and then what becomes of them. Behind them a register may be filled up.
#[repr(C, align(64))]
struct Room([MaybeUninit<[u8; BLOCK]>; BLOCKS + MAX_LANES]);

impl<'a, P: Permutation, const N: usize> Waiting<'a, P, N> {
    /// No messages yet.
    #[inline(always)]
    fn new(cipher: &'a P) -> Self {
        const { assert!(most_together(group::<P, N>()) <= BLOCKS * BLOCK) };
        let room = Room([const { MaybeUninit::uninit() }; BLOCKS + MAX_LANES]);
        Self { cipher, room, parts: [const { MaybeUninit::uninit() }; PARTS], count: 0, blocks: 0, used: 0 }
    }

    /// Takes `message`, whose first counter block is `counter`.
    ///
    /// # Safety
    /// Until messages are run its pointers are good, and nobody else touches its output. It has some bytes, as many at most as
    /// [run together](most_together), and the last 32 bits of its counters do not wrap.
    #[inline(always)]
    unsafe fn push(&mut self, counter: &[u8; BLOCK], message: Message) {
        let blocks = blocks_of(message);
        // SAFETY: the caller's promise; there is room for the blocks, and for a register behind them.
        unsafe {
            if self.count == PARTS || self.blocks + blocks > BLOCKS {
                self.run();
            }
            let room = self.room.0.as_mut_ptr().cast::<u8>().add(self.blocks * BLOCK);
            if blocks == 1 {
                room.cast::<[u8; BLOCK]>().write(*counter);
            } else {
                list_counters(self.cipher.isa(), counter, blocks, room);
            }
        }
        self.parts[self.count].write(Part { message, first: self.blocks });
        self.count += 1;
        self.blocks += blocks;
    }

    /// Runs the messages that are there.
    ///
    /// # Safety
    /// That of [`Waiting::push`], for all messages that are there.
    #[inline(always)]
    unsafe fn run(&mut self) {
        if self.count == 0 {
            return;
        }
        let room = self.room.0.as_mut_ptr().cast::<u8>();
        self.used = self.used.max(self.blocks);
        let bytes = self.blocks * BLOCK;
        let message = Message { input: room, output: room, bytes, past_caches: false, prefetched: false };
        self.cipher.isa().vectorize(KeyStream::<P, N> { cipher: self.cipher, message });
        // The key stream of the last part is read to the end of its register.
        // SAFETY: there is room for one behind the blocks.
        unsafe { self.cipher.isa().zero().store(room.add(bytes)) }
        for part in &self.parts[..self.count] {
            // SAFETY: so many parts are written, and have key stream from their first block on; the caller's promise.
            unsafe {
                let Part { message, first } = part.assume_init();
                add_to(self.cipher.isa(), message, room.add(first * BLOCK));
            }
        }
        (self.count, self.blocks) = (0, 0);
    }
}

/// Blocks that become key stream where they are, as work of its own, so that it is compiled once and not wherever it is made. They
/// are the room's.
struct KeyStream<'a, P, const N: usize> {
    cipher: &'a P,
    message: Message,
}

impl<P: Permutation, const N: usize> Work for KeyStream<'_, P, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: as `KeyStream` says.
        unsafe { ecb::all::<P, N>(self.cipher, self.message) }
    }
}

/// Adds the key stream at `stream` to `message`.
///
/// # Safety
/// The pointers of `message` are good, nobody else touches its output, and as much key stream is readable, up to the end of its last
/// register.
#[inline(always)]
unsafe fn add_to<I: Isa>(isa: I, mut message: Message, mut stream: *const u8) {
    let width = I::V::BYTES;
    // SAFETY: the caller's; a register of the stream may end behind it, within the room.
    unsafe {
        while message.bytes >= width {
            isa.load(message.input).xor(isa.load(stream)).store(message.output);
            (message, stream) = (message.skip(width), stream.add(width));
        }
        if message.bytes > 0 {
            let text = isa.load_partial(message.input, message.bytes);
            text.xor(isa.load(stream)).store_partial(message.output, message.bytes);
        }
    }
}

/// What came of blocks is key stream.
impl<P: Permutation, const N: usize> Drop for Waiting<'_, P, N> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: so many have been written.
        wipe_blocks(unsafe { self.room.0[..self.used].assume_init_mut() });
    }
}
