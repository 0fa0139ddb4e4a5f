//! Secrets that are compared word by word: byte by byte, as `subtle` compares slices, that takes as long as a short
//! message.

use subtle::ConstantTimeEq;

/// Whether two keys are the same, in a time that tells nothing else.
#[inline]
pub(crate) fn agree(one: &[u8], other: &[u8]) -> bool {
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
    fn keys_agree_in_all_bytes_or_not_at_all() {
        for bytes in [0, 7, 16, 24, 33] {
            let key: Vec<u8> = (0..bytes).collect();
            assert!(agree(&key, &key.clone()));
            assert!(!agree(&key, &[&key[..], &[0]].concat()) && !agree(&[&key[..], &[0]].concat(), &key));
            for at in 0..key.len() {
                let mut other = key.clone();
                other[at] ^= 0x80;
                assert!(!agree(&key, &other), "{at} of {bytes}");
            }
        }
    }
}
