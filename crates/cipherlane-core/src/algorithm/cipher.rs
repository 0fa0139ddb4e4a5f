//! Block ciphers by name.

/// A block cipher of 128-bit blocks, with its key length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cipher {
    /// AES with a 128-bit key, 10 rounds (FIPS 197).
    Aes128,
    /// AES with a 192-bit key, 12 rounds (FIPS 197).
    Aes192,
    /// AES with a 256-bit key, 14 rounds (FIPS 197).
    Aes256,
    /// Camellia with a 128-bit key, 18 rounds (RFC 3713).
    Camellia128,
    /// Camellia with a 192-bit key, 24 rounds (RFC 3713).
    Camellia192,
    /// Camellia with a 256-bit key, 24 rounds (RFC 3713).
    Camellia256,
    /// SC2000 with a 128-bit key, 6.5 rounds (CRYPTREC 09).
    Sc2000_128,
    /// SC2000 with a 192-bit key, 7.5 rounds (CRYPTREC 09).
    Sc2000_192,
    /// SC2000 with a 256-bit key, 7.5 rounds (CRYPTREC 09).
    Sc2000_256,
    /// SM4, 128-bit key, 32 rounds (GB/T 32907).
    Sm4,
}

impl Cipher {
    /// Every cipher, in the order in which tables list them.
    pub const ALL: [Self; 10] = [
        Self::Aes128,
        Self::Aes192,
        Self::Aes256,
        Self::Camellia128,
        Self::Camellia192,
        Self::Camellia256,
        Self::Sc2000_128,
        Self::Sc2000_192,
        Self::Sc2000_256,
        Self::Sm4,
    ];

    /// AES with each of its key lengths.
    pub const AES: [Self; 3] = [Self::Aes128, Self::Aes192, Self::Aes256];

    /// The name, with the key length in bits where there is more than one, as records spell it: `aes-128`, `sm4`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "aes-128",
            Self::Aes192 => "aes-192",
            Self::Aes256 => "aes-256",
            Self::Camellia128 => "camellia-128",
            Self::Camellia192 => "camellia-192",
            Self::Camellia256 => "camellia-256",
            Self::Sc2000_128 => "sc2000-128",
            Self::Sc2000_192 => "sc2000-192",
            Self::Sc2000_256 => "sc2000-256",
            Self::Sm4 => "sm4",
        }
    }

    /// The name without the key length, as kernels spell it: `aes`.
    #[must_use]
    pub const fn family(self) -> &'static str {
        match self {
            Self::Aes128 | Self::Aes192 | Self::Aes256 => "aes",
            Self::Camellia128 | Self::Camellia192 | Self::Camellia256 => "camellia",
            Self::Sc2000_128 | Self::Sc2000_192 | Self::Sc2000_256 => "sc2000",
            Self::Sm4 => "sm4",
        }
    }

    /// Bytes of one cipher key.
    #[must_use]
    pub const fn key_bytes(self) -> usize {
        match self {
            Self::Aes128 | Self::Camellia128 | Self::Sc2000_128 | Self::Sm4 => 16,
            Self::Aes192 | Self::Camellia192 | Self::Sc2000_192 => 24,
            Self::Aes256 | Self::Camellia256 | Self::Sc2000_256 => 32,
        }
    }
}
