//! What the ciphers with tables share: blocks one by one in integers. For the laboratory alone,
//! which compares them with the constant-time ciphers.
//!
//! Not constant-time: secrets are indices, and caches tell them. No tier picks one of these ciphers.

use super::grouped::{InGroups, KeyPerBlock};
use crate::lanes::portable::{Portable, X1};

/// A block cipher in one direction under one key. Values wipe their key when dropped.
pub(crate) trait TableCipher: Send + Sync + 'static {
    /// Expands `key`. Reads addresses that depend on it.
    fn expand_vartime(key: &[u8]) -> Self;

    /// One block, as two little-endian words. Reads addresses that depend on it and on the key.
    fn crypt_vartime(&self, block: [u64; 2]) -> [u64; 2];
}

/// The words of a block, first byte highest.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // takes the words apart
pub(super) fn words_of(block: [u64; 2]) -> [u32; 4] {
    let [low, high] = block.map(u64::swap_bytes);
    [(low >> 32) as u32, low as u32, (high >> 32) as u32, high as u32]
}

/// The block of four words, first byte highest.
#[inline(always)]
pub(super) fn block_of([a, b, c, d]: [u32; 4]) -> [u64; 2] {
    [u64::from(a) << 32 | u64::from(b), u64::from(c) << 32 | u64::from(d)].map(u64::swap_bytes)
}

/// A cipher with tables, in whose groups no block waits for another.
pub(crate) struct OneByOne<C>(C);

/// A lane is a register here. The look-ups of a block wait for one another, and the CPU finds those of the next, which
/// do not, by itself.
impl<C: TableCipher> InGroups for OneByOne<C> {
    type Isa = Portable;
    type GroupKeys = KeyPerBlock<Self>;

    fn new(_: Portable, key: &[u8]) -> Self {
        Self(C::expand_vartime(key))
    }

    fn rekey(&mut self, key: &[u8]) {
        self.0 = C::expand_vartime(key);
    }

    fn apply(&self, blocks: &mut [X1]) {
        for block in blocks {
            block.0 = self.0.crypt_vartime(block.0);
        }
    }
}

/// Asserts that E and D are encryption and decryption as C has them: for a chain of blocks, each under another key of
/// one of these lengths.
#[cfg(test)]
pub(super) fn assert_agrees<E, D, C>(key_bytes: &[usize])
where
    E: InGroups<Isa = Portable>,
    D: InGroups<Isa = Portable>,
    C: super::Permutation<Isa = Portable, Source = Portable>,
{
    use super::Permutation;
    use super::grouped::Only;
    let mut block = [X1([0x0123_4567_89ab_cdef, 0x5a5a_a5a5_3c3c_c3c3])];
    for (seed, &bytes) in (0..=u8::MAX).zip(key_bytes.iter().cycle()) {
        let words = block[0].0.map(u64::to_ne_bytes);
        let key: [u8; 32] = std::array::from_fn(|i| {
            let rotated = words.as_flattened()[i % 16].rotate_left(i as u32 / 16);
            rotated ^ seed.wrapping_mul(37)
        });
        let next = Only::<E>::new(Portable, &key[..bytes]).apply(block);
        assert_eq!(next, C::new(Portable, &key[..bytes]).apply(block), "block {seed}");
        assert_eq!(Only::<D>::new(Portable, &key[..bytes]).apply(next), block, "block {seed}");
        block = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_first_byte_highest() {
        let bytes: [u8; 16] = std::array::from_fn(|i| u8::try_from(i).unwrap());
        let halves = [0, 8].map(|i| u64::from_le_bytes(bytes[i..i + 8].try_into().unwrap()));
        assert_eq!(words_of(halves), [0x0001_0203, 0x0405_0607, 0x0809_0a0b, 0x0c0d_0e0f]);
        assert_eq!(block_of(words_of(halves)), halves);
    }
}
