//! Hash functions by name.

/// A hash function, or an extendable-output function (SHAKE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hash {
    /// SHA-224 (FIPS 180-4).
    Sha224,
    /// SHA-256 (FIPS 180-4).
    Sha256,
    /// SHA-384 (FIPS 180-4).
    Sha384,
    /// SHA-512 (FIPS 180-4).
    Sha512,
    /// SHA-512/256 (FIPS 180-4 section 6.7).
    Sha512_256,
    /// SHA3-224 (FIPS 202).
    Sha3_224,
    /// SHA3-256 (FIPS 202).
    Sha3_256,
    /// SHA3-384 (FIPS 202).
    Sha3_384,
    /// SHA3-512 (FIPS 202).
    Sha3_512,
    /// SHAKE128 (FIPS 202 section 6.2): digests of any length.
    Shake128,
    /// SHAKE256 (FIPS 202 section 6.2): digests of any length.
    Shake256,
    /// Keccak\[448\] with the padding of the competition, before FIPS 202 added two bits: 224-bit digests.
    Keccak224,
    /// Keccak\[512\] with the padding of the competition: 256-bit digests.
    Keccak256,
    /// Keccak\[768\] with the padding of the competition: 384-bit digests.
    Keccak384,
    /// Keccak\[1024\] with the padding of the competition: 512-bit digests.
    Keccak512,
}

impl Hash {
    /// Every hash function, in the order in which tables list them.
    pub const ALL: [Self; 15] = [
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha512_256,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
        Self::Shake128,
        Self::Shake256,
        Self::Keccak224,
        Self::Keccak256,
        Self::Keccak384,
        Self::Keccak512,
    ];

    /// The name in lower case, as records spell it: `sha-256`, `sha3-256`, `keccak-256`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha224 => "sha-224",
            Self::Sha256 => "sha-256",
            Self::Sha384 => "sha-384",
            Self::Sha512 => "sha-512",
            Self::Sha512_256 => "sha-512-256",
            Self::Sha3_224 => "sha3-224",
            Self::Sha3_256 => "sha3-256",
            Self::Sha3_384 => "sha3-384",
            Self::Sha3_512 => "sha3-512",
            Self::Shake128 => "shake128",
            Self::Shake256 => "shake256",
            Self::Keccak224 => "keccak-224",
            Self::Keccak256 => "keccak-256",
            Self::Keccak384 => "keccak-384",
            Self::Keccak512 => "keccak-512",
        }
    }

    /// Bytes of a digest, or `None` where the caller chooses (SHAKE).
    #[must_use]
    pub const fn digest_bytes(self) -> Option<usize> {
        match self {
            Self::Sha224 | Self::Sha3_224 | Self::Keccak224 => Some(28),
            Self::Sha256 | Self::Sha512_256 | Self::Sha3_256 | Self::Keccak256 => Some(32),
            Self::Sha384 | Self::Sha3_384 | Self::Keccak384 => Some(48),
            Self::Sha512 | Self::Sha3_512 | Self::Keccak512 => Some(64),
            Self::Shake128 | Self::Shake256 => None,
        }
    }

    /// Bytes of a digest, or for SHAKE the length that matches its strength: 32 and 64 (FIPS 202 section A.1).
    #[must_use]
    pub const fn usual_digest_bytes(self) -> usize {
        match (self, self.digest_bytes()) {
            (_, Some(bytes)) => bytes,
            (Self::Shake128, None) => 32,
            (_, None) => 64,
        }
    }

    /// Bytes of a message that one application of the compression function (FIPS 180-4) or permutation (FIPS 202:
    /// the rate) takes in.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        match self {
            Self::Sha224 | Self::Sha256 => 64,
            Self::Sha384 | Self::Sha512 | Self::Sha512_256 => 128,
            Self::Shake128 => 168,
            Self::Sha3_224 | Self::Keccak224 => 144,
            Self::Sha3_256 | Self::Keccak256 | Self::Shake256 => 136,
            Self::Sha3_384 | Self::Keccak384 => 104,
            Self::Sha3_512 | Self::Keccak512 => 72,
        }
    }
}
