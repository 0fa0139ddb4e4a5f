//! Modes of operation by name.

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
