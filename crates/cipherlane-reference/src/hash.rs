//! Hash functions by name.

use cipherlane_core::Hash;

use crate::keccak::{self, sponge};
use crate::sha2;

/// The digest of `message`, which fills `digest`.
///
/// # Panics
/// If `hash` has digests of one length and `digest` has another.
pub fn hash(hash: Hash, message: &[u8], digest: &mut [u8]) {
    let fits = hash.digest_bytes().is_none_or(|bytes| bytes == digest.len());
    assert!(fits, "{} has no digests of {} bytes", hash.name(), digest.len());
    let rate = hash.block_bytes();
    match hash {
        Hash::Sha224 => digest.copy_from_slice(&sha2::sha224(message)),
        Hash::Sha256 => digest.copy_from_slice(&sha2::sha256(message)),
        Hash::Sha384 => digest.copy_from_slice(&sha2::sha384(message)),
        Hash::Sha512 => digest.copy_from_slice(&sha2::sha512(message)),
        Hash::Sha512_256 => digest.copy_from_slice(&sha2::sha512_256(message)),
        Hash::Sha3_224 | Hash::Sha3_256 | Hash::Sha3_384 | Hash::Sha3_512 => {
            sponge(rate, keccak::SHA3, message, digest);
        }
        Hash::Shake128 | Hash::Shake256 => sponge(rate, keccak::SHAKE, message, digest),
        Hash::Keccak224 | Hash::Keccak256 | Hash::Keccak384 | Hash::Keccak512 => {
            sponge(rate, keccak::KECCAK, message, digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 202 sections 6.1 and 6.2: the capacity is twice the digest, or twice the strength.
    #[test]
    fn rates_follow_from_digests() {
        for hash in Hash::ALL {
            let sponge = !hash.name().starts_with("sha-");
            let capacity = match hash {
                Hash::Shake128 => 2 * 128,
                Hash::Shake256 => 2 * 256,
                _ => 2 * 8 * hash.usual_digest_bytes(),
            };
            assert!(!sponge || hash.block_bytes() == (1600 - capacity) / 8, "{hash:?}");
        }
    }

    /// Each name leads to a function of its own.
    #[test]
    fn no_two_are_the_same() {
        let mut digests: Vec<Vec<u8>> = Hash::ALL
            .into_iter()
            .map(|name| {
                let mut digest = vec![0; name.usual_digest_bytes()];
                hash(name, b"abc", &mut digest);
                digest.truncate(28);
                digest
            })
            .collect();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), Hash::ALL.len());
    }
}
