//! Camellia by the S-box of the AES (AES-NI): both are an inversion in GF(2^8) between affine maps.
//!
//! The instructions that substitute, `aesenclast` and `aesdeclast`, also move bytes from block to block of a slice, as
//! ShiftRows does and as InvShiftRows undoes. So the right half of a block is kept moved, and rounds that change it take
//! the one instruction, rounds that change the left half the other one: nothing has to be moved back. Both instructions
//! add a round key at their end, which is where a round's subkey goes once it is taken back through what follows.

mod assembly;
mod boxes;
mod rounds;
mod subkeys;

use std::marker::PhantomData;

pub(crate) use rounds::Segments;

use super::subkeys::EachKey;
use crate::cipher::byte_sliced::{ByteSliced, GROUP, Key, SlicedCipher, SlicedKeys};
use crate::cipher::few::Nothing;
use crate::lanes::bytes::IsaOf;

/// Camellia in registers B, under keys of any length.
pub(crate) struct Camellia<B>(PhantomData<fn() -> B>);

/// Camellia encryption.
pub(crate) type CamelliaEncrypt<B> = ByteSliced<Camellia<B>, false>;

/// Camellia decryption.
pub(crate) type CamelliaDecrypt<B> = ByteSliced<Camellia<B>, true>;

impl<B: Segments> SlicedCipher for Camellia<B> {
    type Bytes = B;
    /// Of registers, too: instructions add them from where they lie.
    type Shared = EachKey<B::Lanes>;
    type GroupKeys = EachKey<B::Lanes>;
    type Few = Nothing;

    #[inline(always)]
    fn none_shared(isa: IsaOf<B>) -> Self::Shared {
        EachKey::none(isa)
    }

    #[inline(always)]
    fn share<const INVERSE: bool>(isa: IsaOf<B>, key: &Key, to: &mut Self::Shared) {
        subkeys::share::<B, INVERSE>(isa, key, to);
    }

    #[inline(always)]
    fn none_each(isa: IsaOf<B>) -> Self::GroupKeys {
        EachKey::none(isa)
    }

    #[inline(always)]
    fn expand_each<const INVERSE: bool>(isa: IsaOf<B>, keys: &SlicedKeys<B>, to: &mut Self::GroupKeys) {
        subkeys::expand_each::<B, INVERSE>(isa, keys, to);
    }

    #[inline(always)]
    fn run_shared(_: IsaOf<B>, subkeys: &Self::Shared, block: [B; GROUP]) -> [B; GROUP] {
        rounds::crypt(subkeys, block)
    }

    #[inline(always)]
    fn run_each(subkeys: &Self::GroupKeys, block: [B; GROUP]) -> [B; GROUP] {
        rounds::crypt(subkeys, block)
    }
}
