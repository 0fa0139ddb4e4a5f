//! CTR and CBC by AWS-LC's functions on a bare key.
#![allow(unsafe_code)] // the library is C

use aws_lc_sys as aws;
use cipherlane_core::{BLOCK, Mode, Operation};

use crate::message::{Fault, Message, PerMessage};

/// An expanded `AES_KEY`.
pub(super) struct Direct {
    key: aws::AES_KEY,
    mode: Mode,
    forward: bool,
}

impl Drop for Direct {
    fn drop(&mut self) {
        // SAFETY: wipes a plain struct.
        unsafe { aws::OPENSSL_cleanse((&raw mut self.key).cast(), size_of::<aws::AES_KEY>()) }
    }
}

impl Direct {
    pub(super) fn new(mode: Mode, operation: Operation) -> Self {
        // SAFETY: a struct of integers, which the first message's key overwrites.
        let key = unsafe { std::mem::zeroed() };
        Self { key, mode, forward: operation.is_forward() }
    }

    fn expand(&mut self, key: &[u8]) -> Result<(), Fault> {
        let expanded = &raw mut self.key;
        #[allow(clippy::cast_possible_truncation)] // 128 to 256
        let bits = (8 * key.len()) as u32;
        // SAFETY: the key has `bits` bits. CTR decrypts with the encryption key (SP 800-38A section 6.5).
        let code = unsafe {
            match self.mode {
                Mode::Cbc if !self.forward => aws::AES_set_decrypt_key(key.as_ptr(), bits, expanded),
                _ => aws::AES_set_encrypt_key(key.as_ptr(), bits, expanded),
            }
        };
        if code == 0 { Ok(()) } else { Err("AES_set_encrypt_key") }
    }
}

impl PerMessage for Direct {
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        if let Some(key) = key {
            self.expand(key)?;
        }
        let mut iv = [0; BLOCK];
        iv.copy_from_slice(message.nonce);
        let (out, length, key) = (message.out.as_mut_ptr(), message.out.len(), &raw const self.key);
        let input = message.source.map_or(out.cast_const(), <[u8]>::as_ptr);
        // SAFETY: input and output are of one length, the same or apart; CBC's is whole blocks.
        unsafe {
            if self.mode == Mode::Cbc {
                aws::AES_cbc_encrypt(input, out, length, key, iv.as_mut_ptr(), i32::from(self.forward));
            } else {
                let (mut keystream, mut used) = ([0; BLOCK], 0);
                let (counter, rest) = (iv.as_mut_ptr(), keystream.as_mut_ptr());
                aws::AES_ctr128_encrypt(input, out, length, key, counter, rest, &raw mut used);
            }
        }
        Ok(true)
    }
}
