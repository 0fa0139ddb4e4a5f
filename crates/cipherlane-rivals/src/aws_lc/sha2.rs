//! SHA-2 by AWS-LC's functions of one call.
#![allow(unsafe_code)] // the library is C

use aws_lc_sys as aws;
use cipherlane_core::Hash;

use crate::message::{Fault, Message, PerMessage, Tag};

/// `SHA256`: text, its bytes, digest.
type OneCall = unsafe extern "C" fn(*const u8, usize, *mut u8) -> *mut u8;

/// One hash; there is nothing to keep from message to message.
pub(super) struct Sha2(OneCall);

impl Sha2 {
    pub(super) fn of(hash: Hash) -> Option<Self> {
        Some(Self(match hash {
            Hash::Sha224 => aws::SHA224,
            Hash::Sha256 => aws::SHA256,
            Hash::Sha384 => aws::SHA384,
            Hash::Sha512 => aws::SHA512,
            Hash::Sha512_256 => aws::SHA512_256,
            _ => return None,
        }))
    }
}

impl PerMessage for Sha2 {
    fn message(&mut self, _: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        let Tag::Make(digest) = &mut message.tag else { return Err("the search for a digest") };
        let text = message.source.ok_or("the search for a text")?;
        // SAFETY: the text can be read; the row, which is as long as the digest, can be written.
        let made = unsafe { (self.0)(text.as_ptr(), text.len(), digest.as_mut_ptr()) };
        if made.is_null() { Err("SHA256") } else { Ok(true) }
    }
}
