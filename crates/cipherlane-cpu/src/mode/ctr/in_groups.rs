//! Messages under one key, by a cipher that runs whole groups, where they do not run by a list.

use std::ops::Range;

use super::Counted;
use crate::cipher::Permutation;
use crate::job::Job;
use crate::mode::together::{Short, Together};

/// Runs messages that share `cipher`: together those that would leave half of a group empty.
///
/// # Safety
/// The job's pointers are good, and nobody else touches the output of these messages.
#[inline(always)]
pub(super) unsafe fn run<P: Permutation, const N: usize>(cipher: &P, job: &Job<'_>, range: Range<usize>) {
    let mut together = Together::<P, N>::new(cipher);
    for index in range {
        let (counter, message) = (job.nonce_block(index), job.message(index));
        // SAFETY: the caller's promise.
        unsafe {
            if Together::<P, N>::takes(message.bytes) {
                together.push_all::<Counted>(u128::from_be_bytes(counter), message);
            } else {
                super::run::<P, N>(cipher, None, counter, message);
            }
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
