//! A message that has no company: its blocks wait for one another, so that nothing counts but how long a block takes.

use cipherlane_core::BLOCK;

use super::streams::Streams;
use crate::cipher::{Permutation, V};
use crate::lanes::{Isa, Lanes};

/// Encrypts what is left of the only stream, whose key is in the first lane of `cipher`. Returns the number of blocks.
///
/// Between two blocks is nothing but rounds: what the first one of a block adds to it comes in with the last key of the
/// block before, and is taken off again beside the chain.
///
/// # Safety
/// This thread alone has the stream's message.
#[inline(always)]
pub(super) unsafe fn encrypt<P: Permutation>(cipher: &P, streams: &mut Streams) -> usize {
    let (isa, (input, output, blocks)) = (cipher.isa(), streams.only());
    // SAFETY: block i is one of the message's.
    let text = |i: usize| unsafe { isa.splat(&*input.wrapping_add(i * BLOCK).cast()) };
    let mut chain = isa.splat(&streams.chains()[0]).xor(cipher.whitened(text(0)));
    for i in 0..blocks {
        let next = if i + 1 < blocks { cipher.whitened(text(i + 1)) } else { isa.zero() };
        chain = cipher.link(chain, next);
        let block: V<P> = chain.xor(next);
        // SAFETY: as above; the caller's promise.
        unsafe { block.store_partial(output.wrapping_add(i * BLOCK), BLOCK) }
    }
    blocks
}
