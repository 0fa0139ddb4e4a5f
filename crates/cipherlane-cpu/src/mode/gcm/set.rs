//! A message with a key of its own in each lane: four blocks of each at a time, and their hash.

use cipherlane_core::BLOCK;

use super::Direction;
use super::ghash::{Power, Products};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// Blocks of a message that are run and hashed together: as many powers of H are needed.
pub(super) const BLOCKS: usize = 4;
/// Bytes of these.
pub(super) const CHUNK: usize = BLOCKS * BLOCK;

/// Encrypts or decrypts BLOCKS blocks, or what is left, of each lane's message from byte `at` on, and returns the
/// ciphertext: block i of all lanes in register i, what is missing zero. Where all are WHOLE, nothing is missing.
///
/// # Safety
/// Every message goes beyond `at`, by CHUNK bytes if WHOLE.
#[inline(always)]
pub(super) unsafe fn crypt<T: Lanes, D: Direction, const WHOLE: bool>(
    texts: &[Message; MAX_LANES],
    at: usize,
    keystream: [T; BLOCKS],
) -> [T; BLOCKS] {
    let isa = keystream[0].isa();
    let mut ciphertext = keystream;
    for first in (0..BLOCKS).step_by(T::LANES) {
        let mut keys = [keystream[first]; MAX_LANES];
        keys[..T::LANES].copy_from_slice(&keystream[first..first + T::LANES]);
        // From block i of all messages to message i, and back for the hash.
        let keys = T::transpose(&keys);
        let (mut inputs, mut outputs) = (keys, keys);
        let at = at + first * BLOCK;
        // All are loaded before any is stored: a lane may repeat another.
        for lane in 0..T::LANES {
            let Message { input, bytes, .. } = texts[lane];
            // SAFETY: so many bytes are left.
            inputs[lane] = unsafe {
                if WHOLE {
                    isa.load(input.add(at))
                } else {
                    isa.load_partial(input.wrapping_add(at), bytes.saturating_sub(at).min(T::BYTES))
                }
            };
        }
        for lane in 0..T::LANES {
            let Message { output, bytes, .. } = texts[lane];
            let left = if WHOLE { T::BYTES } else { bytes.saturating_sub(at).min(T::BYTES) };
            let y = inputs[lane].xor(keys[lane]);
            // SAFETY: as above.
            unsafe {
                if WHOLE {
                    y.store(output.add(at));
                } else {
                    y.store_partial(output.wrapping_add(at), left);
                }
            }
            outputs[lane] = match (D::OPEN, WHOLE) {
                (true, _) => inputs[lane],
                (false, true) => y,
                (false, false) => y.and(isa.first_bytes(left)),
            };
        }
        ciphertext[first..first + T::LANES].copy_from_slice(&T::transpose(&outputs)[..T::LANES]);
    }
    ciphertext
}

/// One register of messages.
#[derive(Clone, Copy)]
pub(super) struct Set<T, const KARATSUBA: bool> {
    /// The pre-counter blocks: nonce || 1.
    pub(super) pre_counter: T,
    /// The encrypted pre-counter blocks, which mask the tags.
    mask: T,
    /// Powers of the hash keys, highest first.
    powers: [Power<T>; BLOCKS],
    /// GHASH so far, multiplied and reduced.
    hash: T,
    /// The messages.
    pub(super) texts: [Message; MAX_LANES],
    /// The blocks of lengths, their bytes reversed: text, then AAD. Made long before they are loaded, because a
    /// register that is loaded from words just stored waits for them to reach the cache.
    lengths: [[u64; 2]; MAX_LANES],
}

impl<T: Lanes, const KARATSUBA: bool> Set<T, KARATSUBA> {
    #[inline(always)]
    pub(super) fn new(
        job: &Job<'_>,
        indices: &[usize; MAX_LANES],
        [h, mask]: [T; 2],
        pre_counter: T,
    ) -> Self {
        let isa = h.isa();
        let h = h.reverse_bytes().times_x_reflected();
        let (square, first) = (Products::square(h).reduce(isa), Power::new(h));
        let mut third = Products::zero(isa);
        third.add::<KARATSUBA>(square, first);
        let third = third.settle::<KARATSUBA>().reduce(isa);
        let fourth = Products::square(square).reduce(isa);
        let powers = [Power::new(fourth), Power::new(third), Power::new(square), first];
        let mut texts = [job.message(indices[0]); MAX_LANES];
        let mut lengths = [[0; 2]; MAX_LANES];
        for lane in 0..T::LANES {
            texts[lane] = job.message(indices[lane]);
            lengths[lane] = [8 * texts[lane].bytes as u64, 8 * job.aad(indices[lane]).len() as u64];
        }
        Self { pre_counter, mask, powers, hash: isa.zero(), texts, lengths }
    }

    /// Bytes of the shortest message.
    #[inline(always)]
    pub(super) fn shortest(&self) -> usize {
        let mut shortest = self.texts[0].bytes;
        for text in &self.texts[1..T::LANES] {
            shortest = shortest.min(text.bytes);
        }
        shortest
    }

    /// Hashes the block at `at` of each lane's AAD, which may have ended within it.
    #[inline(always)]
    pub(super) fn hash_aad(&mut self, job: &Job<'_>, indices: &[usize; MAX_LANES], at: usize) {
        let mut blocks: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
        for lane in 0..T::LANES {
            let rest = &job.aad(indices[lane])[at..];
            blocks[lane] = &rest[..rest.len().min(BLOCK)];
        }
        let block = self.hash.isa().gather_partial(&blocks);
        self.absorb_one(block.reverse_bytes());
    }

    #[inline(always)]
    fn absorb_one(&mut self, block: T) {
        let isa = block.isa();
        let mut products = Products::zero(isa);
        products.add::<KARATSUBA>(self.hash.xor(block), self.powers[BLOCKS - 1]);
        self.hash = products.settle::<KARATSUBA>().reduce(isa);
    }

    /// Hashes the first N registers, a block a lane each, with a single reduction.
    #[inline(always)]
    pub(super) fn absorb<const N: usize>(&mut self, text: [T; BLOCKS]) {
        let isa = self.hash.isa();
        let mut products = Products::zero(isa);
        for (i, text) in text.into_iter().enumerate().take(N) {
            let x = text.reverse_bytes();
            let x = if i == 0 { x.xor(self.hash) } else { x };
            products.add::<KARATSUBA>(x, self.powers[BLOCKS - N + i]);
        }
        self.hash = products.settle::<KARATSUBA>().reduce(isa);
    }

    /// The tags (SP 800-38D section 7.1 steps 5 and 6).
    #[inline(always)]
    pub(super) fn finish(&mut self) -> [u128; MAX_LANES] {
        // SAFETY: as many lengths as lanes.
        let ends = unsafe { self.hash.isa().load(self.lengths.as_ptr().cast()) };
        self.absorb_one(ends);
        self.hash.reverse_bytes().xor(self.mask).to_words()
    }
}
