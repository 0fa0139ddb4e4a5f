//! GCM with nonces of 12 bytes.
//!
//! A manager has its one-call functions for this CPU behind pointers. Most are exported by name as well, one for each
//! instruction set. Its batch calls are loops over these functions.
#![allow(unsafe_code)] // the library is C

use cipherlane_core::{Algorithm, Cipher, Mode};
use libloading::Library as Shared;

use super::manager::Managers;
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
    /// What they are called.
    pub(super) name: String,
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
        // Version 1.5 has code for it, which it does not export before 3.0, but which its managers have.
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
    /// The best functions for this CPU: those of `managers`, where they tell, else those that `library` exports; or what
    /// it lacks.
    pub(super) fn of(library: &'static Shared, managers: Option<&Managers>) -> Result<Self, &'static str> {
        let pointed = managers.and_then(Self::pointed);
        pointed.or_else(|| Self::exported(library)).ok_or("aes_gcm functions for this CPU by name")
    }

    /// Those that a manager has.
    fn pointed(managers: &Managers) -> Option<Self> {
        let functions = managers.gcm()?.map(|(pre, seal, open)| Functions { pre, seal, open });
        Some(Self { functions, name: "IMB_AES*_GCM_ENC".to_owned() })
    }

    /// Those that are exported.
    fn exported(library: &'static Shared) -> Option<Self> {
        let named = |suffix| {
            let [short, middle, long] = [128, 192, 256].map(|bits| Functions::of(library, bits, suffix));
            Some(Self { functions: [short?, middle?, long?], name: format!("aes_gcm_enc_*_{suffix}") })
        };
        suffixes().find_map(named)
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

#[cfg(test)]
mod tests {
    use super::super::{NAMES, manager};
    use super::*;
    use crate::shared;

    /// A text and its tag under a key of each length.
    fn results(gcms: &Gcms) -> [([u8; 100], [u8; 16]); 3] {
        let key: [u8; 32] = std::array::from_fn(|index| index as u8);
        Cipher::AES.map(|cipher| {
            let mut context = Gcm::new(gcms.functions(Algorithm::new(cipher, Mode::Gcm)).unwrap());
            let (mut text, mut tag) = ([5; 100], [0; 16]);
            let (nonce, aad, out) = (&[7; 12], &[1, 2, 3], &mut text);
            let mut message = Message { nonce, aad, source: None, out, tag: Tag::Make(&mut tag) };
            context.message(Some(&key[..cipher.key_bytes()]), &mut message).unwrap();
            (text, tag)
        })
    }

    #[test]
    fn managers_have_functions_that_do_as_those_by_name() {
        let both = |library| {
            let managers = Managers::of(library, &manager::version(library)?);
            let pointed = managers.as_ref().and_then(Gcms::pointed);
            Ok((pointed, Gcms::exported(library)))
        };
        // Where the library is not here, or one whose layout is not known, there is nothing to compare.
        let Ok(((Some(pointed), Some(exported)), _)) = shared::open(NAMES, both) else { return };
        assert_eq!(results(&pointed), results(&exported));
    }
}
