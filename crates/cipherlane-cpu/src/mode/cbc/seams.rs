//! Decryption of messages under one key as if they were one, by a cipher that runs whole groups: only the last group of all
//! of them is padded. The chain breaks off between them, but they follow one another in memory: the first block of each
//! comes out added to the block before it there, and not to its IV. That is mended afterwards.

use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::chain;
use crate::cipher::Permutation;
use crate::job::Job;
use crate::mode::key_each::block_of;
use crate::rows::{load_block, store_block};

/// Most messages that run as one.
const MOST: usize = 256;

/// Bytes from which on no other message is added to those that run as one: what is mended mostly still lies in the
/// first cache.
const BYTES: usize = 16 << 10;

/// Decrypts the messages of `range`, which share `cipher`.
///
/// # Safety
/// The job's pointers are good, and nobody else touches the output of these messages.
#[inline(always)]
pub(super) unsafe fn run<P: Permutation, const N: usize>(cipher: &P, job: &Job<'_>, range: Range<usize>) {
    let mut seams = Seams::new();
    let mut next = range.start;
    while next < range.end {
        // SAFETY: the caller's promise.
        unsafe {
            let messages = next..next + seams.open(job, next..range.end);
            let iv = job.nonce_block(next);
            chain::run::<P, N>(cipher, &iv, job.consecutive(messages.clone()));
            next = messages.end;
            seams.mend(job, messages);
        }
    }
}

/// What is to be added to the first block of each of the messages that run as one.
struct Seams([MaybeUninit<u128>; MOST]);

impl Seams {
    /// None yet.
    #[inline(always)]
    const fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; MOST])
    }

    /// How many of the messages from the first of `range` on are to run as one. What is to be mended is noted now: in place,
    /// it is overwritten.
    ///
    /// # Safety
    /// The job's pointers are good, and nobody touches these messages.
    #[inline(always)]
    unsafe fn open(&mut self, job: &Job<'_>, range: Range<usize>) -> usize {
        // The first message is not mended, since its IV is what the chain begins with.
        let (mut before, mut bytes, mut count) = (block_of(job.nonce(range.start)), 0, 0);
        for (index, seam) in range.zip(&mut self.0) {
            if bytes >= BYTES {
                break;
            }
            let message = job.message(index);
            seam.write(before ^ block_of(job.nonce(index)));
            if message.bytes > 0 {
                // SAFETY: the message has a block or more.
                before = unsafe { load_block(message.input.add(message.bytes - BLOCK), BLOCK) };
            }
            (bytes, count) = (bytes + message.bytes, count + 1);
        }
        count
    }

    /// Mends the messages of `range`, which have run as one since they were opened.
    ///
    /// # Safety
    /// The job's pointers are good, and nobody else touches the output of these messages.
    #[inline(always)]
    unsafe fn mend(&self, job: &Job<'_>, range: Range<usize>) {
        for (index, seam) in range.zip(&self.0).skip(1) {
            let message = job.message(index);
            if message.bytes > 0 {
                // SAFETY: the message has a block or more, and what was opened is written.
                unsafe {
                    let mended = load_block(message.output, BLOCK) ^ seam.assume_init();
                    store_block(mended, message.output, BLOCK);
                }
            }
        }
    }
}
