//! SHA-3 and SHAKE (FIPS 202), and Keccak with the padding that it won the competition with. Section numbers are
//! that standard's, whose 64-bit "lanes" of a state are called words here: lanes hold messages.

mod ahead;
#[cfg(target_arch = "x86_64")]
pub(crate) mod assembly;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod complemented;
pub(crate) mod in_lanes;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ordered;
mod permutation;
pub(crate) mod scalar;
mod source;
#[cfg(test)]
mod tests;
mod texts;
mod whole;
mod words;

use super::{Iterated, MAX_BLOCK, MAX_END};

/// A sponge (section 4) over the permutation KECCAK-p[1600, 24].
#[derive(Clone, Copy)]
pub(crate) struct Keccak {
    /// Bytes of a block.
    rate: usize,
    /// The bits after the message, the first one of the padding included, lowest bit first.
    suffix: u8,
}

/// No suffix, as in "The Keccak SHA-3 submission" (version 3, 2011): the first bit of pad10*1 (section 5.1).
const KECCAK: u8 = 0b1;
/// Suffix 01 (section 6.1), then the padding.
const SHA3: u8 = 0b110;
/// Suffix 1111 (section 6.2), then the padding.
const SHAKE: u8 = 0b1_1111;

pub(crate) const SHA3_224: Keccak = Keccak { rate: 144, suffix: SHA3 };
pub(crate) const SHA3_256: Keccak = Keccak { rate: 136, suffix: SHA3 };
pub(crate) const SHA3_384: Keccak = Keccak { rate: 104, suffix: SHA3 };
pub(crate) const SHA3_512: Keccak = Keccak { rate: 72, suffix: SHA3 };
pub(crate) const SHAKE_128: Keccak = Keccak { rate: 168, suffix: SHAKE };
pub(crate) const SHAKE_256: Keccak = Keccak { rate: 136, suffix: SHAKE };
pub(crate) const KECCAK_224: Keccak = Keccak { suffix: KECCAK, ..SHA3_224 };
pub(crate) const KECCAK_256: Keccak = Keccak { suffix: KECCAK, ..SHA3_256 };
pub(crate) const KECCAK_384: Keccak = Keccak { suffix: KECCAK, ..SHA3_384 };
pub(crate) const KECCAK_512: Keccak = Keccak { suffix: KECCAK, ..SHA3_512 };

/// Words of a state (section 3.1): the one at (x, y) is word 5y + x.
const WORDS: usize = 25;

/// A suffix among zeros, so many before it and behind it.
type Padding = [u8; 2 * MAX_END];

const fn padding(suffix: u8) -> Padding {
    let mut padding = [0; 2 * MAX_END];
    padding[MAX_END] = suffix;
    padding
}

impl Keccak {
    /// Words of a block.
    #[inline(always)]
    fn rate_words(self) -> usize {
        self.rate / size_of::<u64>()
    }

    /// The suffix among zeros.
    #[inline(always)]
    fn padding(self) -> &'static Padding {
        static OF_KECCAK: Padding = padding(KECCAK);
        static OF_SHA3: Padding = padding(SHA3);
        static OF_SHAKE: Padding = padding(SHAKE);
        match self.suffix {
            KECCAK => &OF_KECCAK,
            SHA3 => &OF_SHA3,
            _ => &OF_SHAKE,
        }
    }
}

impl Iterated for Keccak {
    type Chain = [u64; WORDS];
    const END: usize = MAX_BLOCK;

    #[inline(always)]
    fn block_bytes(self) -> usize {
        self.rate
    }

    #[inline(always)]
    fn initial(self) -> [u64; WORDS] {
        [0; WORDS]
    }

    #[inline(always)]
    fn most_in_a_block(self) -> usize {
        self.rate - 1
    }

    #[inline(always)]
    fn pad(self, end: &mut [u8], rest: usize, _total: u64) -> usize {
        // The last bit of pad10*1, which may share a byte with the first. Reading back what was just stored takes a while.
        let last = 0x80;
        let blocks = self.padded_blocks(rest);
        let behind = blocks * self.rate - 1;
        end[behind] = last;
        end[rest] = if rest == behind { self.suffix | last } else { self.suffix };
        blocks
    }

    #[inline(always)]
    fn output_bytes(self) -> usize {
        self.rate
    }

    #[inline(always)]
    fn output(self, state: &[u64; WORDS], to: &mut [u8]) {
        let (words, rest) = to.as_chunks_mut();
        for (bytes, word) in words.iter_mut().zip(state) {
            *bytes = word.to_le_bytes();
        }
        // Part of the next word: a digest of 28 bytes, or the end of a long one.
        if let Some(word) = state.get(words.len()) {
            for (byte, last) in rest.iter_mut().zip(word.to_le_bytes()) {
                *byte = last;
            }
        }
    }
}
