//! Modes of operation over any [`BlockCipher`](crate::cipher::BlockCipher), one file a mode.
//!
//! All work in place and expect lengths that [`cipherlane_core::Batch::check`] has let pass.

pub mod cbc;
pub mod ctr;
pub mod ecb;
pub mod gcm;
pub mod xts;

use cipherlane_core::BLOCK;

use crate::cipher::Block;

/// The whole blocks of `text`.
///
/// # Panics
/// If `text` does not end with a whole block.
fn whole_blocks(text: &mut [u8]) -> &mut [Block] {
    let (blocks, rest) = text.as_chunks_mut::<BLOCK>();
    assert!(rest.is_empty(), "the mode takes whole blocks");
    blocks
}
