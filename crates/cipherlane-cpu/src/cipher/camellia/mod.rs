//! Camellia (RFC 3713), byte-sliced.

#[cfg(target_arch = "x86_64")]
pub(crate) mod aes;
pub(crate) mod bits;
pub(super) mod boxes;
#[cfg(target_arch = "x86_64")]
pub(crate) mod galois;
#[cfg(target_arch = "x86_64")]
mod packed;
mod rounds;
pub(super) mod schedule;
mod subkeys;

use std::marker::PhantomData;

use boxes::Boxes;
use subkeys::{Each, ForAll, PerLane, Shared};

use super::byte_sliced::{ByteSliced, GROUP, Keys, SlicedCipher};
use crate::lanes::bytes::{Bytes, IsaOf};

/// Camellia with the S-boxes of X, under keys of any length.
pub(crate) struct Camellia<X>(PhantomData<fn() -> X>);

/// Camellia encryption.
pub(crate) type CamelliaEncrypt<X> = ByteSliced<Camellia<X>, false>;

/// Camellia decryption.
pub(crate) type CamelliaDecrypt<X> = ByteSliced<Camellia<X>, true>;

impl<X: Boxes> SlicedCipher for Camellia<X> {
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

    #[inline(always)]
    fn expand<const INVERSE: bool>(isa: IsaOf<X::Bytes>, keys: &Keys, lanes: usize, to: &mut Self::PerLane) {
        to.set::<X, INVERSE>(isa, keys, lanes);
    }

    #[inline(always)]
    fn share(isa: IsaOf<X::Bytes>, from: &Self::PerLane, to: &mut Shared) {
        to.set::<X>(isa, from);
    }

    #[inline(always)]
    fn run_shared(isa: IsaOf<X::Bytes>, subkeys: &Shared, block: [X::Bytes; GROUP]) -> [X::Bytes; GROUP] {
        rounds::crypt::<X>(&ForAll { isa, subkeys }, block)
    }

    #[inline(always)]
    fn run_each(keys: &[&Self::PerLane; GROUP], block: [X::Bytes; GROUP]) -> [X::Bytes; GROUP] {
        rounds::crypt::<X>(&Each(keys), block)
    }
}
