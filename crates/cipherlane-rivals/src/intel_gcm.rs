//! AES-GCM as Intel's two libraries have it, ipsec-mb and ISA-L Crypto: their structures and functions are of one kind.
#![allow(unsafe_code)] // the libraries are C

use zeroize::Zeroize;

use crate::message::Message;

/// `struct gcm_key_data`, opaque: 15 round keys and powers of H. The larger of the two, ISA-L Crypto's of version 2.26, has 65
/// of these or parts of them; this is six times that.
#[repr(C, align(64))]
pub(crate) struct KeyData([u8; 8192]);

/// `struct gcm_context_data`, opaque: below 128 bytes in every version so far.
#[repr(C, align(64))]
pub(crate) struct ContextData([u8; 1024]);

/// `aes_gcm_pre_*`.
pub(crate) type Pre = unsafe extern "C" fn(*const u8, *mut KeyData);
/// `aes_gcm_enc_*` and `aes_gcm_dec_*`: key, context, out, in, bytes, IV of 12 bytes, AAD, its bytes, tag, its bytes.
pub(crate) type Run = unsafe extern "C" fn(
    *const KeyData,
    *mut ContextData,
    *mut u8,
    *const u8,
    u64,
    *const u8,
    *const u8,
    u64,
    *mut u8,
    u64,
);

/// A key and what a message leaves behind.
pub(crate) struct State {
    key: Box<KeyData>,
    context: Box<ContextData>,
}

impl State {
    /// Without a key yet.
    pub(crate) fn new() -> Self {
        Self { key: Box::new(KeyData([0; 8192])), context: Box::new(ContextData([0; 1024])) }
    }

    /// Expands `key`, which has the length of the function.
    pub(crate) fn expand(&mut self, pre: Pre, key: &[u8]) {
        // SAFETY: the structure has room for what the function writes.
        unsafe { pre(key.as_ptr(), &raw mut *self.key) }
    }

    /// Runs a message, whose nonce has 12 bytes, under the key.
    ///
    /// # Safety
    /// There is room for `tag_bytes` bytes of a tag, at most 16, at `tag`, and texts lie as the function demands.
    #[inline(always)] // a call more would count as the library's time
    pub(crate) unsafe fn run(&mut self, run: Run, message: &mut Message<'_>, tag: *mut u8, tag_bytes: usize) {
        let out = message.out.as_mut_ptr();
        let input = message.source.map_or(out.cast_const(), <[u8]>::as_ptr);
        // SAFETY: input and output are of one length, the same or apart; the rest is the caller's promise.
        unsafe {
            run(
                &raw const *self.key,
                &raw mut *self.context,
                out,
                input,
                message.out.len() as u64,
                message.nonce.as_ptr(),
                message.aad.as_ptr(),
                message.aad.len() as u64,
                tag,
                tag_bytes as u64,
            );
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.key.0.zeroize();
        self.context.0.zeroize();
    }
}
