//! CBC, one message after the other.
#![allow(unsafe_code)] // the library is C

use std::ffi::c_int;

use libloading::Library as Shared;

use super::keys::{Expansion, RoundKeys};
use crate::message::{Fault, Message, PerMessage};
use crate::shared::symbol;

/// `aes_cbc_enc_*`: in, IV, round keys, out, bytes. What it returns means nothing.
type Encrypt = unsafe extern "C" fn(*const u8, *const u8, *const u8, *mut u8, u64) -> c_int;
/// `aes_cbc_dec_*`, with the same arguments.
type Decrypt = unsafe extern "C" fn(*const u8, *const u8, *const u8, *mut u8, u64);

#[derive(Clone, Copy)]
enum Run {
    Encrypt(Encrypt),
    Decrypt(Decrypt),
}

/// The functions for one key length and direction.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    expansion: Expansion,
    run: Run,
}

impl Functions {
    /// Those of `library` for keys of `bits`, which encrypt where `forward`.
    pub(super) fn of(library: &'static Shared, bits: usize, forward: bool) -> Option<Self> {
        let expansion = Expansion::of(library, bits)?;
        // SAFETY: the types of aes_cbc.h.
        let run = unsafe {
            if forward {
                Run::Encrypt(symbol(library, &format!("aes_cbc_enc_{bits}")).ok()?)
            } else {
                Run::Decrypt(symbol(library, &format!("aes_cbc_dec_{bits}")).ok()?)
            }
        };
        Some(Self { expansion, run })
    }
}

/// An IV where the library wants it to lie.
#[repr(align(16))]
struct Iv([u8; 16]);

/// The round keys of a key.
pub(super) struct Cbc {
    functions: Functions,
    keys: Box<RoundKeys>,
}

impl Cbc {
    pub(super) fn new(functions: Functions) -> Self {
        Self { functions, keys: RoundKeys::empty() }
    }
}

impl PerMessage for Cbc {
    #[inline(always)]
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        if let Some(key) = key {
            self.keys.expand(self.functions.expansion, key);
        }
        if message.out.is_empty() {
            return Ok(true);
        }
        let iv = Iv(message.nonce.try_into().map_err(|_| "an IV of 16 bytes")?);
        let (iv, bytes) = (iv.0.as_ptr(), message.out.len() as u64);
        let out = message.out.as_mut_ptr();
        let input = message.source.map_or(out.cast_const(), <[u8]>::as_ptr);
        // SAFETY: input and output are whole blocks of one length, the same or apart; IV and round keys are aligned.
        unsafe {
            match self.functions.run {
                Run::Encrypt(run) => {
                    run(input, iv, self.keys.pointer(true), out, bytes);
                }
                Run::Decrypt(run) => run(input, iv, self.keys.pointer(false), out, bytes),
            }
        }
        Ok(true)
    }
}
