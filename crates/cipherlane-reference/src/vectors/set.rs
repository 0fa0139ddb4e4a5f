//! The sets of vectors that there are, by name.

use std::fmt;

use cipherlane_core::Mode;

/// What a collection has on one mode of a cipher, or on one family of hash functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// The collection: `NIST CAVP`.
    pub source: &'static str,
    /// `aes`; `sha-2`, `sha-3`, `shake` or `keccak`.
    pub family: &'static str,
    /// The mode of a cipher.
    pub mode: Option<Mode>,
}

impl Set {
    pub(super) const fn cipher(source: &'static str, family: &'static str, mode: Mode) -> Self {
        Self { source, family, mode: Some(mode) }
    }

    pub(super) const fn hash(source: &'static str, family: &'static str) -> Self {
        Self { source, family, mode: None }
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.source, self.family)?;
        self.mode.map_or(Ok(()), |mode| write!(f, "-{}", mode.name()))
    }
}

/// The sets that `cargo xtask vectors` fetches.
pub const FETCHED: [Set; 20] = [
    Set::cipher("NIST CAVP", "aes", Mode::Ecb),
    Set::cipher("NIST CAVP", "aes", Mode::Cbc),
    Set::cipher("RFC 3686", "aes", Mode::Ctr),
    Set::cipher("NIST CAVP", "aes", Mode::Gcm),
    Set::cipher("NIST CAVP", "aes", Mode::Xts),
    Set::cipher("Wycheproof", "aes", Mode::Cbc),
    Set::cipher("Wycheproof", "aes", Mode::Gcm),
    Set::cipher("Wycheproof", "aes", Mode::Xts),
    Set::cipher("NTT", "camellia", Mode::Ecb),
    Set::cipher("OpenSSL", "camellia", Mode::Cbc),
    Set::cipher("Wycheproof", "camellia", Mode::Cbc),
    Set::cipher("draft-ribose-cfrg-sm4", "sm4", Mode::Ecb),
    Set::cipher("draft-ribose-cfrg-sm4", "sm4", Mode::Cbc),
    Set::cipher("draft-ribose-cfrg-sm4", "sm4", Mode::Ctr),
    Set::cipher("RFC 8998", "sm4", Mode::Gcm),
    Set::cipher("Wycheproof", "sm4", Mode::Gcm),
    Set::hash("NIST CAVP", "sha-2"),
    Set::hash("NIST CAVP", "sha-3"),
    Set::hash("NIST CAVP", "shake"),
    Set::hash("KeccakKAT-3", "keccak"),
];
