//! Counter blocks of GCM (SP 800-38D sections 6.2, 6.5 and 7.1). A block by itself is a word whose lowest byte is
//! its first.

use cipherlane_core::BLOCK;

use super::super::counters::steps;
use super::ghash::{Ghash, Powers, lengths};
use crate::lanes::{Isa, MAX_LANES};
use crate::rows::load_block;

/// One in the last byte of every block.
pub(super) static ONE_EACH: [[u8; BLOCK]; MAX_LANES] = [steps::<2>(BLOCK - 1)[1]; MAX_LANES];

/// The pre-counter block J0 (SP 800-38D section 7.1 step 2): nonce || 1 for 96 bits, else a hash of the nonce.
#[inline(always)]
pub(crate) fn pre_counter<I: Isa, const KARATSUBA: bool>(powers: &Powers<I>, nonce: &[u8]) -> u128 {
    if nonce.len() == 12 {
        return pre_counter_96(nonce);
    }
    Ghash::<I, KARATSUBA>::of(powers, nonce).finish(lengths(0, nonce.len()))
}

/// The pre-counter block of a nonce of 96 bits.
#[inline(always)]
pub(crate) fn pre_counter_96(nonce: &[u8]) -> u128 {
    debug_assert_eq!(nonce.len(), 12);
    // SAFETY: the slice is readable.
    let nonce = unsafe { load_block(nonce.as_ptr(), 12) };
    nonce | (1 << 120)
}
