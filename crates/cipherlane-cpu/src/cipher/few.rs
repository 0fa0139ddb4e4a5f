//! Few blocks: a way to run them that takes less time than a group of slices does however full it is.

use cipherlane_core::BLOCK;

use super::byte_sliced::Key;
use crate::lanes::Isa;

/// Blocks that wait for one another.
pub(crate) trait Chain: Send + Sync {
    /// CBC encryption (SP 800-38A section 6.2) of `blocks` blocks that follow the ciphertext block `before`.
    ///
    /// # Safety
    /// So many blocks are readable from `input` and writable to `output`, which are the same or do not overlap.
    unsafe fn encrypt(&self, before: &[u8; BLOCK], input: *const u8, output: *mut u8, blocks: usize);
}

/// What runs few blocks under one key.
pub(crate) trait Few<I: Isa>: Chain + Sized + 'static {
    /// Most registers of blocks that it runs in less time than slices take.
    const REGISTERS: usize;

    /// Expands `key`, if there is such a way at all. Runs compiled for `isa`.
    fn new<const INVERSE: bool>(isa: I, key: &Key) -> Option<Self>;

    /// Runs every lane of `registers`.
    fn apply(&self, registers: &mut [I::V]);
}

/// No such way.
pub(crate) enum Nothing {}

impl<I: Isa> Few<I> for Nothing {
    const REGISTERS: usize = 0;

    #[inline(always)]
    fn new<const INVERSE: bool>(_: I, _: &Key) -> Option<Self> {
        None
    }

    fn apply(&self, _: &mut [I::V]) {
        match *self {}
    }
}

impl Chain for Nothing {
    unsafe fn encrypt(&self, _: &[u8; BLOCK], _: *const u8, _: *mut u8, _: usize) {
        match *self {}
    }
}
