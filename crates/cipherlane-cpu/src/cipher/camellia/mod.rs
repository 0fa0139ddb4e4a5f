//! Camellia (RFC 3713), byte-sliced.

pub(crate) mod bits;
pub(super) mod boxes;
#[cfg(target_arch = "x86_64")]
pub(crate) mod by_aes;
#[cfg(target_arch = "x86_64")]
pub(crate) mod galois;
#[cfg(target_arch = "x86_64")]
mod packed;
mod rounds;
pub(super) mod schedule;
mod subkeys;

use std::marker::PhantomData;

use boxes::Boxes;
use cipherlane_core::BLOCK;
use subkeys::{EachKey, ForAll, ForEach, Shared};

use super::Groups;
use super::byte_sliced::{ByteSliced, GROUP, Key, SlicedCipher, SlicedKeys};
use crate::lanes::bytes::{Bytes, IsaOf};

/// Camellia with the S-boxes of X, under keys of any length.
pub(crate) struct Camellia<X>(PhantomData<fn() -> X>);

/// Camellia encryption.
pub(crate) type CamelliaEncrypt<X> = ByteSliced<Camellia<X>, false>;

/// Camellia decryption.
pub(crate) type CamelliaDecrypt<X> = ByteSliced<Camellia<X>, true>;

impl<X: Boxes> SlicedCipher for Camellia<X> {
    type Bytes = X::Bytes;
    type Shared = Shared;
    type GroupKeys = EachKey<<X::Bytes as Bytes>::Lanes>;
    type Few = X::Few;

    #[inline(always)]
    fn none_shared(_: IsaOf<X::Bytes>) -> Shared {
        Shared::none()
    }

    #[inline(always)]
    fn share<const INVERSE: bool>(isa: IsaOf<X::Bytes>, key: &Key, to: &mut Shared) {
        to.set::<X, INVERSE>(isa, key);
    }

    #[inline(always)]
    fn none_each(isa: IsaOf<X::Bytes>) -> Self::GroupKeys {
        EachKey::none(isa)
    }

    #[inline(always)]
    fn expand_each<const INVERSE: bool>(
        isa: IsaOf<X::Bytes>,
        keys: &SlicedKeys<X::Bytes>,
        to: &mut Self::GroupKeys,
    ) {
        to.set::<X, INVERSE>(isa, keys);
    }

    #[inline(always)]
    fn run_shared(isa: IsaOf<X::Bytes>, subkeys: &Shared, block: [X::Bytes; GROUP]) -> [X::Bytes; GROUP] {
        rounds::crypt::<X>(&ForAll { isa, subkeys }, block)
    }

    #[inline(always)]
    fn runs_in_memory(groups: usize) -> usize {
        if X::IN_MEMORY { groups } else { 0 }
    }

    #[inline(always)]
    unsafe fn run_in_memory(subkeys: &Shared, groups: Groups, added: Option<*const u8>) {
        // SAFETY: the caller's.
        unsafe { X::run_in_memory(subkeys, groups, added) }
    }

    #[inline(always)]
    fn counts(groups: usize) -> usize {
        if X::IN_MEMORY { groups } else { 0 }
    }

    #[inline(always)]
    unsafe fn count(isa: IsaOf<X::Bytes>, subkeys: &Shared, counter: [u8; BLOCK], text: Groups) {
        // SAFETY: the caller's.
        unsafe { X::count(isa, subkeys, counter, text) }
    }

    #[inline(always)]
    fn run_each(keys: &Self::GroupKeys, block: [X::Bytes; GROUP]) -> [X::Bytes; GROUP] {
        rounds::crypt::<X>(&ForEach(keys), block)
    }
}
