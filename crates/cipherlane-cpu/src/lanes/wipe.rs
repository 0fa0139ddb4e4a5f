//! Secrets in memory, overwritten.

use cipherlane_core::BLOCK;

use super::Lanes;

/// Overwrites registers that held a secret. A register at a time: a key of one's own for each small message makes
/// this part of the running time.
#[inline(always)]
pub(crate) fn wipe<V: Lanes>(registers: &mut [V]) {
    for register in registers {
        // SAFETY: a register is plain bytes, and zeros are one. A volatile write is never left out.
        unsafe { std::ptr::write_volatile(register, std::mem::zeroed()) }
    }
    // What follows, the release of the memory included, stays after the writes.
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

/// Overwrites blocks that held a secret.
#[inline(always)]
pub(crate) fn wipe_blocks(blocks: &mut [[u8; BLOCK]]) {
    // Four at a time: they are many, and the loop takes longer than the writes.
    let (fours, rest) = blocks.as_chunks_mut::<4>();
    for [a, b, c, d] in fours {
        wipe_block(a);
        wipe_block(b);
        wipe_block(c);
        wipe_block(d);
    }
    for block in rest {
        wipe_block(block);
    }
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

#[inline(always)]
fn wipe_block(block: &mut [u8; BLOCK]) {
    // SAFETY: an exclusive reference is good for a write. A volatile write is never left out.
    unsafe { std::ptr::write_volatile(block, [0; BLOCK]) }
}
