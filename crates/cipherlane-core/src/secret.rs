//! Secrets that are compared.

use subtle::ConstantTimeEq;

/// Whether two secrets, whose lengths are public, are the same, in a time that tells nothing else: how much of them agrees is
/// nobody's business.
#[inline]
#[must_use]
pub fn agree(one: &[u8], other: &[u8]) -> bool {
    // A word at a time: comparing bytes, as `subtle` does with slices, takes as long as a short message.
    let (words, rest) = one.as_chunks();
    let (other_words, other_rest) = other.as_chunks();
    let word = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes);
    let differ = words.iter().zip(other_words).fold(0, |all, (a, b)| all | (word(a) ^ word(b)));
    one.len() == other.len() && bool::from(differ.ct_eq(&0) & rest.ct_eq(other_rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_agree_in_all_of_their_bytes_or_not() {
        let secret: Vec<u8> = (0..33).collect();
        for bytes in [0, 7, 8, 16, 19, 24, 32, 33] {
            let secret = &secret[..bytes];
            let same = secret.to_vec();
            assert!(agree(secret, &same), "{bytes} bytes");
            for more in [1, 8] {
                let longer = [secret, &vec![0; more]].concat();
                assert!(!agree(secret, &longer) && !agree(&longer, secret), "{more} more than {bytes}");
            }
            for wrong in 0..bytes {
                let mut other = secret.to_vec();
                other[wrong] ^= 0x80;
                assert!(!agree(secret, &other), "byte {wrong} of {bytes}");
            }
        }
    }
}
