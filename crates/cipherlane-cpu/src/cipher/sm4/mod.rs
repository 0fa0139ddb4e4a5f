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
use keys::{Each, ForAll, PerLane, Shared};

use super::byte_sliced::{ByteSliced, GROUP, Keys, SlicedCipher};
use crate::lanes::bytes::{Bytes, IsaOf};

/// SM4 with the S-box of X.
pub(crate) struct Sm4<X>(PhantomData<fn() -> X>);

/// SM4 encryption.
pub(crate) type Sm4Encrypt<X> = ByteSliced<Sm4<X>, false>;

/// SM4 decryption.
pub(crate) type Sm4Decrypt<X> = ByteSliced<Sm4<X>, true>;

impl<X: Boxes> SlicedCipher for Sm4<X> {
    type Bytes = X::Bytes;
    type PerLane = PerLane<<X::Bytes as Bytes>::Lanes>;
    type Shared = Shared;
    type Few = X::Few;

    #[inline(always)]
    fn none_per_lane(isa: IsaOf<X::Bytes>) -> Self::PerLane {
        PerLane::none(isa)
    }

    #[inline(always)]
    fn none_shared() -> Shared {
        Shared::none()
    }

    /// All lanes at once, however many are asked for.
    #[inline(always)]
    fn expand<const INVERSE: bool>(isa: IsaOf<X::Bytes>, keys: &Keys, _lanes: usize, to: &mut Self::PerLane) {
        to.set::<X, INVERSE>(isa, &keys.first);
    }

    #[inline(always)]
    fn share(_: IsaOf<X::Bytes>, from: &Self::PerLane, to: &mut Shared) {
        to.set::<X>(from);
    }

    #[inline(always)]
    fn run_shared(isa: IsaOf<X::Bytes>, keys: &Shared, block: [X::Bytes; GROUP]) -> [X::Bytes; GROUP] {
        let [block] = rounds::crypt::<X, 1>(&ForAll { isa, keys }, [block]);
        block
    }

    /// A round is a chain of instructions that leaves half of the ports idle.
    #[inline(always)]
    fn run_two(
        isa: IsaOf<X::Bytes>,
        keys: &Shared,
        groups: [[X::Bytes; GROUP]; 2],
    ) -> [[X::Bytes; GROUP]; 2] {
        rounds::crypt::<X, 2>(&ForAll { isa, keys }, groups)
    }

    #[inline(always)]
    fn run_each(keys: &[&Self::PerLane; GROUP], block: [X::Bytes; GROUP]) -> [X::Bytes; GROUP] {
        let [block] = rounds::crypt::<X, 1>(&Each(keys), [block]);
        block
    }
}
