//! GCM with nonces of 12 bytes.
//!
//! Its one-call functions are exported by name, one for each instruction set; a manager has the same behind pointers. Its
//! batch calls are loops over these functions.
#![allow(unsafe_code)] // the library is C

use cipherlane_core::{Algorithm, Cipher, Mode};
use libloading::Library as Shared;

use crate::intel_gcm::{Pre, Run, State};
use crate::message::{Fault, Message, PerMessage, Tag, is_tag};
use crate::shared::symbol;

/// The functions for one key length.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    pre: Pre,
    seal: Run,
    open: Run,
}

/// The functions for this CPU.
pub(super) struct Gcms {
    /// By the order of [`Cipher::AES`].
    functions: [Functions; 3],
    /// What their names end in.
    pub(super) suffix: &'static str,
}

/// What the names of functions for this CPU's instructions end in, best first, as the library's managers choose.
#[cfg(target_arch = "x86_64")]
fn suffixes() -> impl Iterator<Item = &'static str> {
    use std::is_x86_feature_detected as has;
    let wide = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
    let (vaes, aes) = (has!("vaes") && has!("vpclmulqdq") && has!("gfni"), has!("aes") && has!("pclmulqdq"));
    let known = [
        ("vaes_avx512", wide && vaes),
        ("avx512", wide && aes),
        // Version 1.5 has code for it, which it does not export before 3.0.
        ("vaes_avx2", has!("avx2") && vaes),
        ("avx_gen4", has!("avx2") && aes),
        ("avx_gen2", has!("avx") && aes),
        ("sse", has!("sse4.2") && aes),
    ];
    known.into_iter().filter(|(_, runs)| *runs).map(|(suffix, _)| suffix)
}

#[cfg(not(target_arch = "x86_64"))]
fn suffixes() -> impl Iterator<Item = &'static str> {
    std::iter::empty()
}

impl Functions {
    /// Those of `library` for keys of `bits` whose names end in `suffix`.
    fn of(library: &'static Shared, bits: usize, suffix: &str) -> Option<Self> {
        let name = |what: &str| format!("aes_gcm_{what}_{bits}_{suffix}");
        // SAFETY: these are the types of intel-ipsec-mb.h since version 0.50.
        unsafe {
            Some(Self {
                pre: symbol(library, &name("pre")).ok()?,
                seal: symbol(library, &name("enc")).ok()?,
                open: symbol(library, &name("dec")).ok()?,
            })
        }
    }
}

impl Gcms {
    /// The best functions that `library` exports, or what it lacks.
    pub(super) fn of(library: &'static Shared) -> Result<Self, &'static str> {
        let named = |suffix| {
            let [short, middle, long] = [128, 192, 256].map(|bits| Functions::of(library, bits, suffix));
            Some(Self { functions: [short?, middle?, long?], suffix })
        };
        suffixes().find_map(named).ok_or("aes_gcm functions for this CPU by name")
    }

    /// Those of AES-GCM with the key of `algorithm`.
    pub(super) fn functions(&self, algorithm: Algorithm) -> Option<Functions> {
        let Algorithm::Cipher(cipher, Mode::Gcm) = algorithm else { return None };
        Cipher::AES.iter().position(|aes| *aes == cipher).map(|index| self.functions[index])
    }
}

/// A message at a time under a key.
pub(super) struct Gcm {
    functions: Functions,
    state: State,
}

impl Gcm {
    pub(super) fn new(functions: Functions) -> Self {
        Self { functions, state: State::new() }
    }
}

impl PerMessage for Gcm {
    #[inline(always)]
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault> {
        if let Some(key) = key {
            self.state.expand(self.functions.pre, key);
        }
        let mut computed = [0; 16];
        let (run, tag, bytes) = match &mut message.tag {
            Tag::Make(tag) => (self.functions.seal, tag.as_mut_ptr(), tag.len()),
            Tag::Check(tag) => (self.functions.open, computed.as_mut_ptr(), tag.len()),
            Tag::Absent => return Err("the search for a tag"),
        };
        // SAFETY: there is room for the tag in either place.
        unsafe { self.state.run(run, message, tag, bytes) };
        match &message.tag {
            Tag::Check(expected) => Ok(is_tag(expected, &computed)),
            Tag::Make(_) | Tag::Absent => Ok(true),
        }
    }
}
