//! SHA-2 by OpenSSL's functions on a bare state, which look nothing up: for short messages they are twice as fast as its
//! EVP interface. Deprecated since 3.0, and there still.
#![allow(unsafe_code)] // the libraries are C

use std::ffi::{c_int, c_void};

use cipherlane_core::Hash;
use zeroize::Zeroize;

use crate::message::{Fault, Message, PerMessage, Tag};

/// `SHA256_CTX` (112 bytes) or `SHA512_CTX` (216).
#[repr(C, align(16))]
pub(crate) struct State([u8; 256]);

/// The functions of one hash, with the prototypes of OpenSSL's `sha.h`.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) init: unsafe extern "C" fn(*mut State) -> c_int,
    pub(crate) update: unsafe extern "C" fn(*mut State, *const c_void, usize) -> c_int,
    pub(crate) finish: unsafe extern "C" fn(*mut u8, *mut State) -> c_int,
}

/// The start of the functions' names: `SHA256` of `SHA256_Init`. SHA-512/256 has none.
pub(crate) const fn prefix(hash: Hash) -> Option<&'static str> {
    match hash {
        Hash::Sha224 => Some("SHA224"),
        Hash::Sha256 => Some("SHA256"),
        Hash::Sha384 => Some("SHA384"),
        Hash::Sha512 => Some("SHA512"),
        _ => None,
    }
}

/// A state that serves one message after the other.
pub(crate) struct Bare {
    steps: Steps,
    state: Box<State>,
}

impl Bare {
    /// # Safety
    /// The functions are those of one hash.
    pub(crate) unsafe fn new(steps: Steps) -> Self {
        Self { steps, state: Box::new(State([0; 256])) }
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.state.0.zeroize();
    }
}

impl PerMessage for Bare {
    fn message(&mut self, _: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        let Tag::Make(digest) = &mut message.tag else { return Err("the search for a digest") };
        let text = message.source.ok_or("the search for a text")?;
        let (state, steps) = (&raw mut *self.state, &self.steps);
        // SAFETY: the state has room for either structure; the text can be read; the row, which is as long as the digest,
        // can be written.
        let done = unsafe {
            (steps.init)(state) == 1
                && (steps.update)(state, text.as_ptr().cast(), text.len()) == 1
                && (steps.finish)(digest.as_mut_ptr(), state) == 1
        };
        if done { Ok(true) } else { Err("SHA256_Init, SHA256_Update or SHA256_Final") }
    }
}
