//! What can be computed, as data: the command line, records and experiments name it.

mod cipher;
mod hash;
mod mode;
mod operation;

use std::fmt;
use std::str::FromStr;

use crate::BLOCK;
use crate::unknown_name::UnknownName;

pub use cipher::Cipher;
pub use hash::Hash;
pub use mode::Mode;
pub use operation::Operation;

/// A cipher in a mode, written `aes-128-gcm`, or a hash function, written `sha3-256`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// A block cipher in a mode of operation.
    Cipher(Cipher, Mode),
    /// A hash function.
    Hash(Hash),
}

impl Algorithm {
    /// The algorithm `cipher` in `mode`.
    #[must_use]
    pub const fn new(cipher: Cipher, mode: Mode) -> Self {
        Self::Cipher(cipher, mode)
    }

    /// Every algorithm: the ciphers mode by mode, then the hash functions.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ciphers().chain(Hash::ALL.into_iter().map(Self::Hash))
    }

    /// Every cipher in every mode, mode by mode.
    pub fn ciphers() -> impl Iterator<Item = Self> {
        Mode::ALL
            .into_iter()
            .flat_map(|mode| Cipher::ALL.into_iter().map(move |cipher| Self::new(cipher, mode)))
    }

    /// The block cipher, if it is one.
    #[must_use]
    pub const fn cipher(self) -> Option<Cipher> {
        match self {
            Self::Cipher(cipher, _) => Some(cipher),
            Self::Hash(_) => None,
        }
    }

    /// The mode of operation, if it is a block cipher.
    #[must_use]
    pub const fn mode(self) -> Option<Mode> {
        match self {
            Self::Cipher(_, mode) => Some(mode),
            Self::Hash(_) => None,
        }
    }

    /// The hash function, if it is one.
    #[must_use]
    pub const fn hash(self) -> Option<Hash> {
        match self {
            Self::Cipher(..) => None,
            Self::Hash(hash) => Some(hash),
        }
    }

    /// The name without the key length, as kernels spell it: `aes-gcm`, `sha3-256`.
    #[must_use]
    pub fn family(self) -> String {
        match self {
            Self::Cipher(cipher, mode) => format!("{}-{}", cipher.family(), mode.name()),
            Self::Hash(hash) => hash.name().to_owned(),
        }
    }

    /// Bytes of the key of one message; none for a hash. XTS takes two cipher keys, data key first (IEEE 1619
    /// section 5.1).
    #[must_use]
    pub const fn key_bytes(self) -> usize {
        match self {
            Self::Cipher(cipher, Mode::Xts) => 2 * cipher.key_bytes(),
            Self::Cipher(cipher, Mode::Ecb | Mode::Cbc | Mode::Ctr | Mode::Gcm) => cipher.key_bytes(),
            Self::Hash(_) => 0,
        }
    }

    /// Bytes of the nonce of one message, or `None` where any length from 1 byte is allowed (GCM).
    ///
    /// CBC calls it the IV, CTR the initial counter block, XTS the tweak (the data unit's number, little-endian).
    #[must_use]
    pub const fn nonce_bytes(self) -> Option<usize> {
        match self {
            Self::Cipher(_, Mode::Ecb) | Self::Hash(_) => Some(0),
            Self::Cipher(_, Mode::Cbc | Mode::Ctr | Mode::Xts) => Some(BLOCK),
            Self::Cipher(_, Mode::Gcm) => None,
        }
    }

    /// Whether the algorithm authenticates: it takes AAD and makes or checks a tag.
    #[must_use]
    pub const fn is_aead(self) -> bool {
        matches!(self, Self::Cipher(_, Mode::Gcm))
    }

    /// The operations of the algorithm, forward first.
    #[must_use]
    pub const fn operations(self) -> &'static [Operation] {
        match self {
            Self::Cipher(_, Mode::Gcm) => &[Operation::Seal, Operation::Open],
            Self::Cipher(_, Mode::Ecb | Mode::Cbc | Mode::Ctr | Mode::Xts) => {
                &[Operation::Encrypt, Operation::Decrypt]
            }
            Self::Hash(_) => &[Operation::Hash],
        }
    }

    /// The operation that starts from plaintext: seal, encrypt or hash.
    #[must_use]
    pub const fn forward(self) -> Operation {
        self.operations()[0]
    }

    /// The operation that undoes the forward one: open or decrypt; a hash has none.
    #[must_use]
    pub const fn backward(self) -> Option<Operation> {
        match self.operations() {
            [_, backward] => Some(*backward),
            _ => None,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cipher(cipher, mode) => f.pad(&format!("{}-{}", cipher.name(), mode.name())),
            Self::Hash(hash) => f.pad(hash.name()),
        }
    }
}

impl FromStr for Algorithm {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        // Of a call for one short message, spelling out all names to compare them would be the most.
        let of_cipher = || {
            let (cipher, mode) = name.rsplit_once('-')?;
            let cipher = Cipher::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(cipher))?;
            let mode = Mode::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(mode))?;
            Some(Self::Cipher(cipher, mode))
        };
        let hash = Hash::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(name));
        hash.map(Self::Hash).or_else(of_cipher).ok_or_else(|| {
            let ciphers = Cipher::ALL.map(Cipher::name).join(", ");
            let modes = Mode::ALL.map(|mode| format!("-{}", mode.name())).join(", ");
            let known = [format!("a cipher ({ciphers}) with a mode ({modes})")];
            UnknownName::new(
                "algorithm",
                name,
                known.into_iter().chain(Hash::ALL.map(|h| h.name().to_owned())),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for algorithm in Algorithm::all() {
            assert_eq!(algorithm.to_string().parse::<Algorithm>().unwrap(), algorithm);
            assert_eq!(algorithm.to_string().to_uppercase().parse::<Algorithm>().unwrap(), algorithm);
        }
        for part in ["", "-", "aes-128", "gcm", "-gcm", "aes-128-", "aes-128--gcm", "sha-256-ecb", "sha"] {
            assert!(part.parse::<Algorithm>().is_err(), "{part}");
        }
        assert_eq!(Algorithm::all().count(), Cipher::ALL.len() * Mode::ALL.len() + Hash::ALL.len());
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "aes-512-gcm".parse::<Algorithm>().unwrap_err().to_string();
        for part in ["aes-512-gcm", "aes-256", "-gcm", "keccak-512"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn only_hashes_cannot_be_undone() {
        for algorithm in Algorithm::all() {
            assert_eq!(algorithm.backward().is_none(), algorithm.hash().is_some(), "{algorithm}");
            assert!(algorithm.forward().is_forward());
        }
    }
}
