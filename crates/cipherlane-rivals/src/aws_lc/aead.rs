//! GCM by AWS-LC's one-call interface.
#![allow(unsafe_code)] // the library is C

use std::ptr::{null, null_mut};

use aws_lc_sys as aws;
use cipherlane_core::{BLOCK, Cipher};
use zeroize::Zeroizing;

use crate::message::{Fault, Message, PerMessage, Tag};

/// An `EVP_AEAD_CTX`, which knows the tag's length as well as the key.
pub(super) struct Aead {
    algorithm: *const aws::EVP_AEAD,
    /// Boxed, because its state is aligned by an offset that a move would invalidate.
    ctx: Box<aws::EVP_AEAD_CTX>,
    key: Zeroizing<[u8; 32]>,
    key_bytes: usize,
    tag_bytes: usize,
}

// SAFETY: the algorithm is an immutable static; the context is used by one thread at a time, through `&mut self`.
unsafe impl Send for Aead {}

impl Drop for Aead {
    fn drop(&mut self) {
        // SAFETY: the context is initialised or all zero, and not used afterwards; both calls take either.
        unsafe {
            aws::EVP_AEAD_CTX_cleanup(&raw mut *self.ctx);
            aws::OPENSSL_cleanse((&raw mut *self.ctx).cast(), size_of::<aws::EVP_AEAD_CTX>());
        }
    }
}

impl Aead {
    /// A context without a key, or `None` where the library has no such AEAD.
    pub(super) fn new(cipher: Cipher) -> Option<Self> {
        // SAFETY: each takes nothing and returns a static object.
        let algorithm = unsafe {
            match cipher {
                Cipher::Aes128 => aws::EVP_aead_aes_128_gcm(),
                Cipher::Aes192 => aws::EVP_aead_aes_192_gcm(),
                Cipher::Aes256 => aws::EVP_aead_aes_256_gcm(),
                _ => return None,
            }
        };
        // SAFETY: all zero is what `EVP_AEAD_CTX_zero` makes: a context without a key.
        let ctx = Box::new(unsafe { std::mem::zeroed() });
        let key = Zeroizing::new([0; 32]);
        Some(Self { algorithm, ctx, key, key_bytes: cipher.key_bytes(), tag_bytes: 0 })
    }

    /// Expands the key, for tags of `tag_bytes` bytes.
    fn init(&mut self, tag_bytes: usize) -> Result<(), Fault> {
        // SAFETY: the context is initialised or all zero; the key has the algorithm's length.
        let code = unsafe {
            aws::EVP_AEAD_CTX_cleanup(&raw mut *self.ctx);
            let (ctx, key) = (&raw mut *self.ctx, self.key.as_ptr());
            aws::EVP_AEAD_CTX_init(ctx, self.algorithm, key, self.key_bytes, tag_bytes, null_mut())
        };
        self.tag_bytes = tag_bytes;
        if code == 1 { Ok(()) } else { Err("EVP_AEAD_CTX_init") }
    }

    fn seal(&self, message: &mut Message<'_>, input: *const u8) -> Result<[u8; BLOCK], Fault> {
        let (mut tag, mut tag_bytes) = ([0; BLOCK], 0);
        // SAFETY: the context has a key; input and output are of one length, the same or apart.
        let code = unsafe {
            aws::EVP_AEAD_CTX_seal_scatter(
                &raw const *self.ctx,
                message.out.as_mut_ptr(),
                tag.as_mut_ptr(),
                &raw mut tag_bytes,
                BLOCK,
                message.nonce.as_ptr(),
                message.nonce.len(),
                input,
                message.out.len(),
                null(),
                0,
                message.aad.as_ptr(),
                message.aad.len(),
            )
        };
        if code == 1 { Ok(tag) } else { Err("EVP_AEAD_CTX_seal_scatter") }
    }

    fn open(&self, message: &mut Message<'_>, input: *const u8, tag: &[u8]) -> bool {
        // SAFETY: as in `seal`.
        let code = unsafe {
            aws::EVP_AEAD_CTX_open_gather(
                &raw const *self.ctx,
                message.out.as_mut_ptr(),
                message.nonce.as_ptr(),
                message.nonce.len(),
                input,
                message.out.len(),
                tag.as_ptr(),
                tag.len(),
                message.aad.as_ptr(),
                message.aad.len(),
            )
        };
        code == 1
    }
}

impl PerMessage for Aead {
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        // A sealing context always makes 16 bytes, of which a shorter tag is the front (SP 800-38D section 6.5);
        // an opening one takes its own length only.
        let tag_bytes = if let Tag::Check(tag) = &message.tag { tag.len() } else { BLOCK };
        if let Some(key) = key {
            self.key[..self.key_bytes].copy_from_slice(key);
        }
        if key.is_some() || tag_bytes != self.tag_bytes {
            self.init(tag_bytes)?;
        }
        let input = message.source.map_or(message.out.as_ptr(), <[u8]>::as_ptr);
        if let Tag::Check(tag) = message.tag {
            return Ok(self.open(message, input, tag));
        }
        let made = self.seal(message, input)?;
        if let Tag::Make(tag) = &mut message.tag {
            tag.copy_from_slice(&made[..tag.len()]);
        }
        Ok(true)
    }
}
