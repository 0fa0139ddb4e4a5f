//! The hash functions of sha2, sha3 and shake.

use std::marker::PhantomData;

use cipherlane_core::Hash;
use sha2::digest::{ExtendableOutput, FixedOutput, Update};

use crate::message::{Context, Fault, Message, PerMessage, Tag};

/// A context for `hash`: nothing is kept from message to message.
pub(super) fn context(hash: Hash) -> Box<dyn Context> {
    fn fixed<D: Default + Update + FixedOutput + 'static>() -> Box<dyn Context> {
        Box::new(Fixed::<D>(PhantomData))
    }
    fn extendable<D: Default + Update + ExtendableOutput + 'static>() -> Box<dyn Context> {
        Box::new(Extendable::<D>(PhantomData))
    }
    match hash {
        Hash::Sha224 => fixed::<sha2::Sha224>(),
        Hash::Sha256 => fixed::<sha2::Sha256>(),
        Hash::Sha384 => fixed::<sha2::Sha384>(),
        Hash::Sha512 => fixed::<sha2::Sha512>(),
        Hash::Sha512_256 => fixed::<sha2::Sha512_256>(),
        Hash::Sha3_224 => fixed::<sha3::Sha3_224>(),
        Hash::Sha3_256 => fixed::<sha3::Sha3_256>(),
        Hash::Sha3_384 => fixed::<sha3::Sha3_384>(),
        Hash::Sha3_512 => fixed::<sha3::Sha3_512>(),
        Hash::Shake128 => extendable::<shake::Shake128>(),
        Hash::Shake256 => extendable::<shake::Shake256>(),
        Hash::Keccak224 => fixed::<sha3::Keccak224>(),
        Hash::Keccak256 => fixed::<sha3::Keccak256>(),
        Hash::Keccak384 => fixed::<sha3::Keccak384>(),
        Hash::Keccak512 => fixed::<sha3::Keccak512>(),
    }
}

/// A function whose digests have one length.
struct Fixed<D>(PhantomData<fn() -> D>);

/// A function whose digests have any length.
struct Extendable<D>(PhantomData<fn() -> D>);

/// The state of `D` after the text, and where its digest goes.
fn absorb<'m, D: Default + Update>(message: &'m mut Message<'_>) -> Result<(D, &'m mut [u8]), Fault> {
    let text = message.source.ok_or("the search for a text")?;
    let Tag::Make(digest) = &mut message.tag else { return Err("the search for a digest") };
    let mut state = D::default();
    state.update(text);
    Ok((state, digest))
}

impl<D: Default + Update + FixedOutput> PerMessage for Fixed<D> {
    fn message(&mut self, _: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        let (state, digest) = absorb::<D>(message)?;
        state.finalize_into(digest.try_into().map_err(|_| "a digest of its length")?);
        Ok(true)
    }
}

impl<D: Default + Update + ExtendableOutput> PerMessage for Extendable<D> {
    fn message(&mut self, _: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        let (state, digest) = absorb::<D>(message)?;
        state.finalize_xof_into(digest);
        Ok(true)
    }
}
