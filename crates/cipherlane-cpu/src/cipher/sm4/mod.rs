//! SM4 (GB/T 32907), byte-sliced.

#[cfg(target_arch = "x86_64")]
pub(crate) mod aes;
pub(crate) mod bits;
pub(super) mod boxes;
#[cfg(target_arch = "x86_64")]
pub(crate) mod galois;
pub(super) mod keys;
#[cfg(target_arch = "x86_64")]
mod packed;
mod rounds;

use std::marker::PhantomData;

use boxes::Boxes;
use cipherlane_core::BLOCK;
use keys::{EachKey, ForAll, ForEach, Shared};

use super::Groups;
use super::byte_sliced::{ByteSliced, GROUP, Group, Key, SlicedCipher, SlicedKeys, blocks_of, slices_of};
use crate::lanes::bytes::{Bytes, IsaOf};

/// SM4 with the S-box of X.
pub(crate) struct Sm4<X>(PhantomData<fn() -> X>);

/// SM4 encryption.
pub(crate) type Sm4Encrypt<X> = ByteSliced<Sm4<X>, false>;

/// SM4 decryption.
pub(crate) type Sm4Decrypt<X> = ByteSliced<Sm4<X>, true>;

impl<X: Boxes> SlicedCipher for Sm4<X> {
    type Bytes = X::Bytes;
    type Shared = Shared;
    type GroupKeys = EachKey<<X::Bytes as Bytes>::Lanes>;
    type Few = X::Few;
    const PAIRS: bool = true;

    #[inline(always)]
    fn none_shared(_: IsaOf<X::Bytes>) -> Shared {
        Shared::none()
    }

    #[inline(always)]
    fn share<const INVERSE: bool>(isa: IsaOf<X::Bytes>, key: &Key, to: &mut Shared) {
        to.set::<X, INVERSE>(isa, key.first);
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
    fn run_shared(isa: IsaOf<X::Bytes>, keys: &Shared, block: [X::Bytes; GROUP]) -> [X::Bytes; GROUP] {
        let [block] = rounds::crypt::<X, 1>(&ForAll { isa, keys }, [block]);
        block
    }

    /// In pairs: a round is a chain of instructions that leaves half of the ports idle.
    #[inline(always)]
    fn run_groups(isa: IsaOf<X::Bytes>, keys: &Shared, groups: &mut [Group<Self>]) {
        let (pairs, last) = groups.as_chunks_mut();
        for [first, second] in pairs {
            let slices = [slices_of::<Self>(first), slices_of::<Self>(second)];
            let slices = rounds::crypt::<X, 2>(&ForAll { isa, keys }, slices);
            blocks_of::<Self>(slices[0], first);
            blocks_of::<Self>(slices[1], second);
        }
        for group in last {
            blocks_of::<Self>(Self::run_shared(isa, keys, slices_of::<Self>(group)), group);
        }
    }

    /// Pairs, of which it takes some time to begin with the first.
    #[inline(always)]
    fn runs_in_memory(groups: usize) -> usize {
        if X::IN_MEMORY && groups >= 6 { groups / 2 * 2 } else { 0 }
    }

    #[inline(always)]
    unsafe fn run_in_memory(keys: &Shared, groups: Groups, added: Option<*const u8>) {
        // SAFETY: the caller's.
        unsafe { X::run_pairs(keys, groups, added) }
    }

    #[inline(always)]
    fn counts(groups: usize) -> usize {
        if X::IN_MEMORY && groups >= 4 { groups / 2 * 2 } else { 0 }
    }

    #[inline(always)]
    unsafe fn count(isa: IsaOf<X::Bytes>, keys: &Shared, counter: [u8; BLOCK], text: Groups) {
        // SAFETY: the caller's.
        unsafe { X::count_pairs(isa, keys, counter, text) }
    }

    #[inline(always)]
    fn run_each(keys: &Self::GroupKeys, block: [X::Bytes; GROUP]) -> [X::Bytes; GROUP] {
        let [block] = rounds::crypt::<X, 1>(&ForEach(keys), [block]);
        block
    }
}
