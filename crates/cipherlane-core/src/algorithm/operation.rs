//! Operations by name.

use std::fmt;
use std::str::FromStr;

use crate::unknown_name::UnknownName;

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
    /// Make a digest.
    Hash,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 5] = [Self::Seal, Self::Open, Self::Encrypt, Self::Decrypt, Self::Hash];

    /// The name in lower case, as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seal => "seal",
            Self::Open => "open",
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Hash => "hash",
        }
    }

    /// Whether it starts from the plaintext: the text that is sealed, encrypted or hashed.
    #[must_use]
    pub const fn is_forward(self) -> bool {
        matches!(self, Self::Seal | Self::Encrypt | Self::Hash)
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
            .find(|operation| operation.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownName::new("operation", name, Self::ALL.map(|o| o.name().to_owned())))
    }
}
