//! XTS, for texts of 16 bytes to 16 MiB.
#![allow(unsafe_code)] // the library is C

use libloading::Library as Shared;
use zeroize::Zeroizing;

use super::keys::{Expansion, RoundKeys};
use crate::message::{Fault, Message, PerMessage};
use crate::shared::symbol;

/// `XTS_AES_*`: key of the tweak, key of the text, tweak, bytes, in, out.
type Run = unsafe extern "C" fn(*const u8, *const u8, *const u8, u64, *const u8, *mut u8);

/// The functions for one key length and direction.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    expansion: Expansion,
    with_keys: Run,
    with_round_keys: Run,
    forward: bool,
}

impl Functions {
    /// Those of `library` for two keys of `bits`, which encrypt where `forward`.
    pub(super) fn of(library: &'static Shared, bits: usize, forward: bool) -> Option<Self> {
        let name = format!("XTS_AES_{bits}_{}", if forward { "enc" } else { "dec" });
        // SAFETY: the types of aes_xts.h.
        unsafe {
            Some(Self {
                expansion: Expansion::of(library, bits)?,
                with_keys: symbol(library, &name).ok()?,
                with_round_keys: symbol(library, &format!("{name}_expanded_key")).ok()?,
                forward,
            })
        }
    }
}

/// Runs a message.
///
/// # Safety
/// `tweak` and `text` are keys as `run` takes them.
unsafe fn text(run: Run, tweak: *const u8, text: *const u8, message: &mut Message<'_>) {
    let out = message.out.as_mut_ptr();
    let input = message.source.map_or(out.cast_const(), <[u8]>::as_ptr);
    // SAFETY: the caller's promise; input and output are of one length, the same or apart; a tweak has 16 bytes.
    unsafe { run(tweak, text, message.nonce.as_ptr(), message.out.len() as u64, input, out) }
}

/// Both keys as they came: the library expands them in each call.
pub(super) struct Direct {
    functions: Functions,
    keys: Zeroizing<[u8; 64]>,
    /// Of one of the two.
    key_bytes: usize,
}

impl Direct {
    pub(super) fn new(functions: Functions) -> Self {
        Self { functions, keys: Zeroizing::new([0; 64]), key_bytes: 0 }
    }
}

impl PerMessage for Direct {
    #[inline(always)]
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        if let Some(key) = key {
            self.keys[..key.len()].copy_from_slice(key);
            self.key_bytes = key.len() / 2;
        }
        let (data, tweak) = self.keys.split_at(self.key_bytes);
        // SAFETY: both keys have the length of the function.
        unsafe { text(self.functions.with_keys, tweak.as_ptr(), data.as_ptr(), message) }
        Ok(true)
    }
}

/// Both keys' round keys.
pub(super) struct Expanded {
    functions: Functions,
    data: Box<RoundKeys>,
    tweak: Box<RoundKeys>,
}

impl Expanded {
    pub(super) fn new(functions: Functions) -> Self {
        Self { functions, data: RoundKeys::empty(), tweak: RoundKeys::empty() }
    }
}

impl PerMessage for Expanded {
    #[inline(always)]
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        let functions = self.functions;
        if let Some(key) = key {
            let (data, tweak) = key.split_at(key.len() / 2);
            self.data.expand(functions.expansion, data);
            self.tweak.expand(functions.expansion, tweak);
        }
        // Tweaks are encrypted in either direction.
        let (tweak, data) = (self.tweak.pointer(true), self.data.pointer(functions.forward));
        // SAFETY: these are round keys of the function's length.
        unsafe { text(functions.with_round_keys, tweak, data, message) }
        Ok(true)
    }
}
