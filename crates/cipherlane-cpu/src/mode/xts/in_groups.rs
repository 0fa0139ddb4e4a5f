//! Units under one key, by a cipher that runs whole groups, where they do not run by a list.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::together::{Short, Together};
use super::unit::run_apart;
use super::{Between, Direction, XtsBody};
use crate::cipher::Permutation;
use crate::job::Job;
use crate::lanes::{Lanes, times_x_of_tweak};
use crate::mode::key_each::block_of;

/// Runs the units of `range`, which share `cipher`: together those of whole blocks that would leave half of a group
/// empty.
///
/// # Safety
/// The job's pointers are good, and nobody else touches the output of these units.
#[inline(always)]
pub(super) unsafe fn run<P, E, D, const N: usize>(
    body: &XtsBody<P, E, D, N>,
    cipher: &P,
    job: &Job<'_>,
    range: Range<usize>,
) where
    P: Permutation,
    E: Permutation<Isa = P::Isa>,
    D: Direction,
{
    let mut together = Together::<P, N>::new(cipher);
    for (index, tweak) in body.firsts(job, range) {
        let message = job.message(index);
        // SAFETY: the caller's promise.
        unsafe {
            if message.bytes.is_multiple_of(BLOCK) && Together::<P, N>::takes(message.bytes) {
                together.push_all::<Between>(block_of(&tweak.to_blocks()[0]), message);
            } else {
                run_apart::<P, D, N>(cipher, tweak, message);
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe { together.end() }
}

impl Short for Between {
    #[inline(always)]
    fn next_block(tweak: &mut u128, text: u128) -> [u128; 2] {
        let now = std::mem::replace(tweak, times_x_of_tweak(*tweak));
        [text ^ now, now]
    }
}
