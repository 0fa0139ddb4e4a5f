//! The lengths that the standards allow.

use std::ops::RangeInclusive;

use crate::BLOCK;
use crate::algorithm::{Algorithm, Hash, Mode};

/// Longest plaintext of one GCM message in bytes: 2^39 - 256 bits (SP 800-38D section 5.2.1.1).
pub const GCM_TEXT_BYTES: u64 = (1 << 36) - 32;
/// Longest additional data of one GCM message in bytes: 2^64 - 1 bits (SP 800-38D section 5.2.1.1).
pub const GCM_AAD_BYTES: u64 = (1 << 61) - 1;
/// Tag lengths of GCM in bytes (SP 800-38D section 5.2.1.2; appendix C on the two short ones).
pub const GCM_TAG_BYTES: [usize; 7] = [4, 8, 12, 13, 14, 15, 16];
/// Longest XTS data unit in bytes: 2^20 blocks (SP 800-38E section 4).
pub const XTS_UNIT_BYTES: u64 = 16 << 20;
/// Longest digest of SHAKE that a batch may ask for, in bytes. The standard sets no limit; ours is far above any use.
pub const XOF_BYTES: usize = 1 << 20;
/// Shortest XTS data unit in bytes: one block (IEEE 1619 section 5.3).
pub const XTS_UNIT_MIN_BYTES: u64 = 16;

/// Which bytes a digest of `hash` may have: its own, or of SHAKE up to [`XOF_BYTES`].
#[must_use]
pub fn digest_bytes(hash: Hash) -> RangeInclusive<usize> {
    hash.digest_bytes().map_or(1..=XOF_BYTES, |own| own..=own)
}

/// Which lengths of a message `algorithm` takes: in words, and as a test of a number of bytes.
///
/// A hash takes any: FIPS 180-4 allows up to 2^64 - 1 bits, and no buffer has more bytes than that has bits.
#[must_use]
pub fn text_bytes(algorithm: Algorithm) -> (&'static str, fn(u64) -> bool) {
    match algorithm {
        Algorithm::Cipher(_, Mode::Ecb | Mode::Cbc) => {
            ("whole blocks of 16 bytes", |bytes| bytes % BLOCK as u64 == 0)
        }
        Algorithm::Cipher(_, Mode::Ctr) | Algorithm::Hash(_) => ("any length", |_| true),
        Algorithm::Cipher(_, Mode::Gcm) => ("at most 2^36 - 32 bytes", |bytes| bytes <= GCM_TEXT_BYTES),
        Algorithm::Cipher(_, Mode::Xts) => ("16 bytes to 16 MiB (2^20 blocks)", |bytes| {
            (XTS_UNIT_MIN_BYTES..=XTS_UNIT_BYTES).contains(&bytes)
        }),
    }
}
