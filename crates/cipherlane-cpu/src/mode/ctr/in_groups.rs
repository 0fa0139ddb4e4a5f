//! Messages under one key, by a cipher that runs whole groups.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::{Counted, advanced};
use crate::cipher::Permutation;
use crate::job::Job;
use crate::mode::together::{Short, Together};

/// Runs messages that share `cipher`: together what would leave much of a group empty.
///
/// # Safety
/// The job's pointers are good, and nobody else touches the output of these messages.
#[inline(always)]
pub(super) unsafe fn run<P: Permutation, const N: usize>(cipher: &P, job: &Job<'_>, range: Range<usize>) {
    let mut together = Together::<P, N>::new(cipher);
    for index in range {
        let (mut counter, message) = (job.nonce_block(index), job.message(index));
        let alone = message.bytes - Together::<P, N>::takes(message.bytes);
        // SAFETY: the caller's promise, for the parts of the message.
        unsafe {
            if alone > 0 {
                super::run::<P, N>(cipher, None, counter, message.take(alone));
                counter = advanced(counter, alone / BLOCK);
            }
            together.push_all::<Counted>(u128::from_be_bytes(counter), message.skip(alone));
        }
    }
    // SAFETY: the caller's promise.
    unsafe { together.end() }
}

impl Short for Counted {
    #[inline(always)]
    fn next_block(counter: &mut u128, text: u128) -> [u128; 2] {
        let block = counter.swap_bytes();
        *counter = counter.wrapping_add(1);
        [block, text]
    }
}
