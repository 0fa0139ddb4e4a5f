//! Block ciphers over the vector vocabulary: one file each.

#[cfg(target_arch = "x86_64")]
pub(crate) mod aes_rounds;

use crate::lanes::Isa;

/// Registers of instruction set `I`.
pub(crate) type V<P> = <<P as Permutation>::Isa as Isa>::V;

/// A block cipher in one direction under one expanded key: a permutation of blocks.
///
/// A mode is written once over it. Values wipe their key when dropped.
pub(crate) trait Permutation: Send + Sync + Sized {
    /// Where it runs.
    type Isa: Isa;

    /// Expands `key`, whose length is that of the cipher.
    fn new(isa: Self::Isa, key: &[u8]) -> Self;

    /// The instruction set.
    fn isa(&self) -> Self::Isa;

    /// Applies the permutation to every lane of N registers. `meanwhile(i)` is called [`CALLS`] times or more, with
    /// rising `i` from 0, between the steps of the cipher: work placed there shares the execution ports that the
    /// cipher leaves idle.
    fn apply_while<const N: usize>(&self, blocks: [V<Self>; N], meanwhile: impl FnMut(usize))
    -> [V<Self>; N];

    /// Applies the permutation to every lane of N registers.
    #[inline(always)]
    fn apply<const N: usize>(&self, blocks: [V<Self>; N]) -> [V<Self>; N] {
        self.apply_while(blocks, |_| ())
    }
}

/// How often [`Permutation::apply_while`] calls back at least: the inner rounds of AES-128.
pub(crate) const CALLS: usize = 9;
