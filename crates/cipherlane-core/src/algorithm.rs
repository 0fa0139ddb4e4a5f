//! What can be computed, as data: the command line, records and experiments name it.

use std::fmt;
use std::str::FromStr;

use crate::BLOCK;
use crate::error::UnknownName;

/// A block cipher with its key length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cipher {
    /// AES with a 128-bit key, 10 rounds (FIPS 197).
    Aes128,
    /// AES with a 192-bit key, 12 rounds (FIPS 197).
    Aes192,
    /// AES with a 256-bit key, 14 rounds (FIPS 197).
    Aes256,
}

impl Cipher {
    /// Every cipher, in the order in which tables list them.
    pub const ALL: [Self; 3] = [Self::Aes128, Self::Aes192, Self::Aes256];

    /// The name with its key length in bits, as records spell it: `aes-128`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "aes-128",
            Self::Aes192 => "aes-192",
            Self::Aes256 => "aes-256",
        }
    }

    /// The name without the key length, as kernels spell it: `aes`.
    #[must_use]
    pub const fn family(self) -> &'static str {
        match self {
            Self::Aes128 | Self::Aes192 | Self::Aes256 => "aes",
        }
    }

    /// Bytes of one cipher key.
    #[must_use]
    pub const fn key_bytes(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }
}

/// A mode of operation of a block cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Electronic codebook (SP 800-38A section 6.1). Equal blocks stay equal: a building block, not a seal.
    Ecb,
    /// Cipher block chaining (SP 800-38A section 6.2). Whole blocks; padding is the caller's format.
    Cbc,
    /// Counter mode (SP 800-38A section 6.5) with a 128-bit big-endian counter block.
    Ctr,
    /// Galois/counter mode (SP 800-38D).
    Gcm,
    /// XEX with tweak and ciphertext stealing (IEEE 1619, SP 800-38E).
    Xts,
}

impl Mode {
    /// Every mode, in the order in which tables list them.
    pub const ALL: [Self; 5] = [Self::Ecb, Self::Cbc, Self::Ctr, Self::Gcm, Self::Xts];

    /// The name in lower case, as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ecb => "ecb",
            Self::Cbc => "cbc",
            Self::Ctr => "ctr",
            Self::Gcm => "gcm",
            Self::Xts => "xts",
        }
    }
}

/// A cipher in a mode. Written `aes-128-gcm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Algorithm {
    /// The block cipher with its key length.
    pub cipher: Cipher,
    /// The mode of operation.
    pub mode: Mode,
}

impl Algorithm {
    /// The algorithm `cipher` in `mode`.
    #[must_use]
    pub const fn new(cipher: Cipher, mode: Mode) -> Self {
        Self { cipher, mode }
    }

    /// Every algorithm, mode by mode.
    pub fn all() -> impl Iterator<Item = Self> {
        Mode::ALL
            .into_iter()
            .flat_map(|mode| Cipher::ALL.into_iter().map(move |cipher| Self::new(cipher, mode)))
    }

    /// Bytes of the key of one message. XTS takes two cipher keys, data key first (IEEE 1619 section 5.1).
    #[must_use]
    pub const fn key_bytes(self) -> usize {
        match self.mode {
            Mode::Xts => 2 * self.cipher.key_bytes(),
            Mode::Ecb | Mode::Cbc | Mode::Ctr | Mode::Gcm => self.cipher.key_bytes(),
        }
    }

    /// Bytes of the nonce of one message, or `None` where any length from 1 byte is allowed (GCM).
    ///
    /// CBC calls it the IV, CTR the initial counter block, XTS the tweak (the data unit's number, little-endian).
    #[must_use]
    pub const fn nonce_bytes(self) -> Option<usize> {
        match self.mode {
            Mode::Ecb => Some(0),
            Mode::Cbc | Mode::Ctr | Mode::Xts => Some(BLOCK),
            Mode::Gcm => None,
        }
    }

    /// Whether the algorithm authenticates: it takes AAD and makes or checks a tag.
    #[must_use]
    pub const fn is_aead(self) -> bool {
        matches!(self.mode, Mode::Gcm)
    }

    /// The two operations of the algorithm, forward first.
    #[must_use]
    pub const fn operations(self) -> [Operation; 2] {
        if self.is_aead() {
            [Operation::Seal, Operation::Open]
        } else {
            [Operation::Encrypt, Operation::Decrypt]
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}-{}", self.cipher.name(), self.mode.name()))
    }
}

impl FromStr for Algorithm {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::all()
            .find(|algorithm| algorithm.to_string() == name.to_ascii_lowercase())
            .ok_or_else(|| UnknownName::new("algorithm", name, Self::all().map(|a| a.to_string())))
    }
}

/// What is done to each message of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Encrypt and authenticate (AEAD).
    Seal,
    /// Check the tag and decrypt (AEAD).
    Open,
    /// Encrypt without authentication.
    Encrypt,
    /// Decrypt without authentication.
    Decrypt,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 4] = [Self::Seal, Self::Open, Self::Encrypt, Self::Decrypt];

    /// The name in lower case, as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seal => "seal",
            Self::Open => "open",
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        }
    }

    /// Whether plaintext goes in and ciphertext comes out.
    #[must_use]
    pub const fn is_forward(self) -> bool {
        matches!(self, Self::Seal | Self::Encrypt)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Operation {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|operation| operation.name() == name.to_ascii_lowercase())
            .ok_or_else(|| UnknownName::new("operation", name, Self::ALL.map(|o| o.name().to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for algorithm in Algorithm::all() {
            assert_eq!(algorithm.to_string().parse::<Algorithm>().unwrap(), algorithm);
        }
        assert_eq!(Algorithm::all().count(), Cipher::ALL.len() * Mode::ALL.len());
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "aes-512-gcm".parse::<Algorithm>().unwrap_err().to_string();
        assert!(error.contains("aes-512-gcm") && error.contains("aes-256-gcm"), "{error}");
    }
}
