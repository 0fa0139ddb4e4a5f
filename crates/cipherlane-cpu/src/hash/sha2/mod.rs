//! SHA-2: SHA-224, SHA-256, SHA-384, SHA-512 and SHA-512/256 (FIPS 180-4).

#[cfg(target_arch = "x86_64")]
mod assembly;
mod constants;
pub(crate) mod in_lanes;
#[cfg(target_arch = "x86_64")]
mod mixed;
mod rounds;
pub(crate) mod scalar;
#[cfg(target_arch = "x86_64")]
pub(crate) mod sha_ni;
#[cfg(test)]
mod tests;
pub(crate) mod word;
#[cfg(target_arch = "x86_64")]
pub(crate) mod zipped;

use cipherlane_core::BLOCK;

use super::Iterated;

/// A function of SHA-2: of 32-bit or of 64-bit words.
#[derive(Clone, Copy)]
pub(crate) struct Sha2<W> {
    /// The initial value, section 5.3.
    initial: [W; 8],
    /// Bytes of a digest.
    digest_bytes: usize,
}

pub(crate) const SHA_224: Sha2<u32> = Sha2 { initial: constants::SHA_224, digest_bytes: 28 };
pub(crate) const SHA_256: Sha2<u32> = Sha2 { initial: constants::SHA_256, digest_bytes: 32 };
pub(crate) const SHA_384: Sha2<u64> = Sha2 { initial: constants::SHA_384, digest_bytes: 48 };
pub(crate) const SHA_512: Sha2<u64> = Sha2 { initial: constants::SHA_512, digest_bytes: 64 };
pub(crate) const SHA_512_256: Sha2<u64> = Sha2 { initial: constants::SHA_512_256, digest_bytes: 32 };

/// A word as an integer.
pub(crate) trait Integer: Copy + Eq + Send + Sync + 'static {
    /// The big-endian word at `from`.
    ///
    /// # Safety
    /// Its bytes are readable.
    unsafe fn load(from: *const u8) -> Self;

    /// Stores the word, big-endian.
    fn to_bytes(self, to: &mut [u8]);
}

impl Integer for u32 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's.
        Self::from_be(unsafe { from.cast::<Self>().read_unaligned() })
    }

    #[inline(always)]
    fn to_bytes(self, to: &mut [u8]) {
        to.copy_from_slice(&self.to_be_bytes());
    }
}

impl Integer for u64 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's.
        Self::from_be(unsafe { from.cast::<Self>().read_unaligned() })
    }

    #[inline(always)]
    fn to_bytes(self, to: &mut [u8]) {
        to.copy_from_slice(&self.to_be_bytes());
    }
}

impl<W: Integer> Iterated for Sha2<W> {
    type Chain = [W; 8];
    const END: usize = 32 * size_of::<W>();

    #[inline(always)]
    fn block_bytes(self) -> usize {
        16 * size_of::<W>()
    }

    #[inline(always)]
    fn initial(self) -> [W; 8] {
        self.initial
    }

    /// Section 5.1: a byte for the bit 1, and two words for the length.
    #[inline(always)]
    fn most_in_a_block(self) -> usize {
        self.block_bytes() - 1 - 2 * size_of::<W>()
    }

    /// Without a branch: a division by a power of two.
    #[inline(always)]
    fn padded_blocks(self, bytes: usize) -> usize {
        (bytes + 1 + 2 * size_of::<W>()).div_ceil(self.block_bytes())
    }

    /// Section 5.1: a bit 1, zeros, and the number of bits in the last two words of a block.
    #[inline(always)]
    fn pad(self, end: &mut [u8], rest: usize, total: u64) -> usize {
        let (block, length_bytes) = (self.block_bytes(), 2 * size_of::<W>());
        let blocks = self.padded_blocks(rest);
        end[rest] = 0x80;
        let bits = (u128::from(total) * 8).to_be_bytes();
        end[blocks * block - length_bytes..blocks * block].copy_from_slice(&bits[BLOCK - length_bytes..]);
        blocks
    }

    #[inline(always)]
    fn output_bytes(self) -> usize {
        self.digest_bytes
    }

    #[inline(always)]
    fn output(self, chain: &[W; 8], to: &mut [u8]) {
        if to.len() == size_of::<[W; 8]>() {
            // Into an array of our own, of a length that the compiler knows: it then reverses all words at once.
            let mut bytes = [0; size_of::<[u64; 8]>()];
            store(chain, &mut bytes[..size_of::<[W; 8]>()]);
            to.copy_from_slice(&bytes[..size_of::<[W; 8]>()]);
        } else {
            store(chain, to);
        }
    }
}

/// Stores as many words, big-endian, as there is room for.
#[inline(always)]
fn store<W: Integer>(words: &[W; 8], to: &mut [u8]) {
    for (word, bytes) in words.iter().zip(to.chunks_exact_mut(size_of::<W>())) {
        word.to_bytes(bytes);
    }
}
