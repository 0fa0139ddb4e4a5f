//! A message with a key of its own in each lane: four blocks of each at a time, and their hash.

use cipherlane_core::BLOCK;

use super::lane_hash::{Powers, absorb};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::gcm::Direction;

/// Blocks of a message that are run and hashed together: as many powers of H are needed.
pub(super) const BLOCKS: usize = 4;
/// Bytes of these.
pub(super) const CHUNK: usize = BLOCKS * BLOCK;

/// Encrypts or decrypts BLOCKS blocks, or what is left, of each lane's message from byte `at` on, and returns the
/// ciphertext, bytes reversed: block i of all lanes in register i, what is missing zero. Where all are WHOLE, nothing is missing.
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
        let outputs = T::transpose(&outputs);
        for lane in 0..T::LANES {
            ciphertext[first + lane] = outputs[lane].reverse_bytes();
        }
    }
    ciphertext
}

/// One register of messages.
#[derive(Clone, Copy)]
pub(super) struct Set<T> {
    /// The pre-counter blocks: nonce || 1.
    pub(super) pre_counter: T,
    /// The encrypted pre-counter blocks, which mask the tags.
    mask: T,
    /// The messages.
    pub(super) texts: [Message; MAX_LANES],
    /// The blocks of lengths, their bytes reversed: text, then AAD. Made long before they are loaded, because a
    /// register that is loaded from words just stored waits for them to reach the cache.
    lengths: [[u64; 2]; MAX_LANES],
}

impl<T: Lanes> Set<T> {
    /// The messages `indices`.
    #[inline(always)]
    pub(super) fn new(job: &Job<'_>, indices: &[usize; MAX_LANES], pre_counter: T, mask: T) -> Self {
        let mut texts = [job.message(indices[0]); MAX_LANES];
        let mut lengths = [[0; 2]; MAX_LANES];
        for lane in 0..T::LANES {
            texts[lane] = job.message(indices[lane]);
            lengths[lane] = [8 * texts[lane].bytes as u64, 8 * job.aad(indices[lane]).len() as u64];
        }
        Self { pre_counter, mask, texts, lengths }
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

    /// The same messages, which begin with other pre-counter blocks.
    #[inline(always)]
    pub(super) fn begin(&mut self, pre_counter: T, mask: T) {
        (self.pre_counter, self.mask) = (pre_counter, mask);
    }

    /// The tags, of what everything before the blocks of lengths hashes to (SP 800-38D section 7.1 steps 5 and 6).
    #[inline(always)]
    pub(super) fn tags<const KARATSUBA: bool>(&self, powers: &Powers<T>, hash: T) -> [u128; MAX_LANES] {
        // SAFETY: as many lengths as lanes.
        let ends = unsafe { hash.isa().load(self.lengths.as_ptr().cast()) };
        let hash = absorb::<T, 1, KARATSUBA>(powers, hash, &[ends; BLOCKS]);
        hash.reverse_bytes().xor(self.mask).to_words()
    }
}

/// `count` blocks, at most BLOCKS, of what each lane hashes, from byte `at` on, which may end within the last: their
/// bytes reversed.
#[inline(always)]
pub(super) fn blocks_of<T: Lanes>(
    isa: T::Isa,
    bytes: &[&[u8]; MAX_LANES],
    at: usize,
    count: usize,
) -> [T; BLOCKS] {
    let mut registers = [isa.zero(); BLOCKS];
    for (i, register) in registers.iter_mut().enumerate().take(count) {
        let at = at + i * BLOCK;
        let mut blocks: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
        for lane in 0..T::LANES {
            // Where nothing is left, nothing of its end: a masked load from nowhere is slow.
            let rest = &bytes[lane][at.min(bytes[lane].len())..];
            blocks[lane] = &rest[..rest.len().min(BLOCK)];
        }
        *register = isa.gather_partial(&blocks).reverse_bytes();
    }
    registers
}
