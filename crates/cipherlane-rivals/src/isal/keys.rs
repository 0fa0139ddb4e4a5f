//! Round keys of AES, as the library expands and takes them.
#![allow(unsafe_code)] // the library is C

use libloading::Library as Shared;
use zeroize::Zeroize;

use crate::shared::symbol;

/// `aes_keyexp_*`: key, round keys of encryption, round keys of decryption.
type Expand = unsafe extern "C" fn(*const u8, *mut u8, *mut u8);

/// Bytes of the round keys of the longest key: 15 blocks.
const BYTES: usize = 240;

/// What expands keys of one length.
#[derive(Clone, Copy)]
pub(super) struct Expansion(Expand);

impl Expansion {
    /// That of `library` for keys of `bits`.
    pub(super) fn of(library: &'static Shared, bits: usize) -> Option<Self> {
        let name = format!("aes_keyexp_{bits}");
        // SAFETY: the type of aes_keyexp.h.
        unsafe { symbol(library, &name) }.ok().map(Self)
    }
}

/// The round keys of one key, for both directions, each aligned to a block.
#[repr(C, align(64))]
pub(super) struct RoundKeys {
    encryption: [u8; BYTES],
    decryption: [u8; BYTES],
}

impl RoundKeys {
    /// Those of no key yet.
    pub(super) fn empty() -> Box<Self> {
        Box::new(Self { encryption: [0; BYTES], decryption: [0; BYTES] })
    }

    /// Expands `key`, which has the length of `expansion`.
    pub(super) fn expand(&mut self, expansion: Expansion, key: &[u8]) {
        // SAFETY: the key has the length of the function, which writes 15 blocks at most, twice.
        unsafe { (expansion.0)(key.as_ptr(), self.encryption.as_mut_ptr(), self.decryption.as_mut_ptr()) }
    }

    /// Those to encrypt with where `forward`, else those to decrypt with.
    pub(super) fn pointer(&self, forward: bool) -> *const u8 {
        if forward { self.encryption.as_ptr() } else { self.decryption.as_ptr() }
    }
}

impl Drop for RoundKeys {
    fn drop(&mut self) {
        self.encryption.zeroize();
        self.decryption.zeroize();
    }
}
