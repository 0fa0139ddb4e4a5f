//! One message that comes in pieces, on the engine that is best at a single one.

use std::fmt;
use std::sync::OnceLock;

use cipherlane_core::Hash;

use super::{Absorb, Iterated, MAX_BLOCK, MAX_END, MAX_STREAMS, table, wipe};
use crate::lanes::clear_upper_parts;
use crate::tier::Tier;

/// A hash function at work on one message that comes in pieces: on the best code that this CPU has for one message.
///
/// What it holds is wiped when it is dropped.
pub struct Hasher {
    hash: Hash,
    stream: Box<dyn Stream>,
}

/// The output of SHAKE, read piece by piece. What it holds is wiped when it is dropped.
pub struct Xof {
    stream: Box<dyn Stream>,
}

impl Hasher {
    /// A hasher that has seen nothing. The tiers that the environment leaves on when the first one is made (see
    /// [`Tier::switch`]) serve all.
    #[must_use]
    pub fn new(hash: Hash) -> Self {
        static BEST: OnceLock<Tier> = OnceLock::new();
        let best = *BEST.get_or_init(|| Tier::available()[0]);
        Self { hash, stream: table::stream(best, hash) }
    }

    /// The hash function.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        self.stream.update(bytes);
    }

    /// Ends the message and fills `digest`.
    ///
    /// # Panics
    /// If the function has digests of one length and `digest` has another.
    pub fn finalize(mut self, digest: &mut [u8]) {
        let wanted = self.hash.digest_bytes();
        assert!(
            wanted.is_none_or(|bytes| bytes == digest.len()),
            "{} has no digests of {} bytes",
            self.hash.name(),
            digest.len()
        );
        self.stream.end();
        self.stream.read(digest);
    }

    /// Ends the message; the output is read from what is returned.
    ///
    /// # Panics
    /// If the function has digests of one length: it is not SHAKE.
    #[must_use]
    pub fn finalize_xof(mut self) -> Xof {
        assert!(self.hash.digest_bytes().is_none(), "{} has digests of one length", self.hash.name());
        self.stream.end();
        Xof { stream: self.stream }
    }
}

impl Xof {
    /// Fills `output` with the bytes that follow those read before.
    pub fn read(&mut self, output: &mut [u8]) {
        self.stream.read(output);
    }
}

impl Clone for Hasher {
    fn clone(&self) -> Self {
        Self { hash: self.hash, stream: self.stream.copy() }
    }
}

impl Clone for Xof {
    fn clone(&self) -> Self {
        Self { stream: self.stream.copy() }
    }
}

// States are secrets: no more than the name reaches a log.
impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hasher({})", self.hash.name())
    }
}

impl fmt::Debug for Xof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Xof")
    }
}

/// A message in pieces, then its output in pieces.
pub(crate) trait Stream: Send + Sync {
    /// Appends `bytes` to the message.
    fn update(&mut self, bytes: &[u8]);

    /// Ends the message.
    fn end(&mut self);

    /// The next bytes of output, once the message has ended. No function but a sponge has more than one digest.
    fn read(&mut self, output: &mut [u8]);

    /// The same stream again.
    fn copy(&self) -> Box<dyn Stream>;
}

/// A stream on any engine.
#[derive(Clone)]
pub(super) struct Incremental<H: Iterated, E: Absorb<H>> {
    hash: H,
    engine: E,
    states: E::States,
    /// Bytes of the message, which is longer than memory where it comes in parts.
    total: u64,
    /// The bytes after the last whole block.
    buffer: [u8; MAX_END],
    /// Bytes of output that the chaining value has given.
    read: usize,
}

impl<H: Iterated, E: Absorb<H>> Incremental<H, E> {
    pub(super) fn new(hash: H, engine: E) -> Self {
        Self { hash, engine, states: engine.fresh(hash), total: 0, buffer: [0; MAX_END], read: 0 }
    }

    /// Absorbs whole blocks.
    fn absorb(&mut self, blocks: &[u8]) {
        clear_upper_parts();
        let count = blocks.len() / self.hash.block_bytes();
        // SAFETY: every lane, idle or not, reads these blocks.
        unsafe {
            let from = [blocks.as_ptr(); MAX_STREAMS];
            self.engine.absorb(self.hash, &mut self.states, &from, 1, count);
        }
    }

    /// Absorbs the first `blocks` blocks of the buffer.
    fn absorb_buffer(&mut self, blocks: usize) {
        let mut buffer = self.buffer;
        self.absorb(&buffer[..blocks * self.hash.block_bytes()]);
        wipe(&mut buffer);
    }
}

impl<H: Iterated, E: Absorb<H, States: Send + Sync>> Stream for Incremental<H, E> {
    fn update(&mut self, bytes: &[u8]) {
        let block = self.hash.block_bytes();
        let filled = self.hash.rest(self.total);
        self.total += bytes.len() as u64;
        let mut rest = bytes;
        if filled > 0 {
            let (first, others) = bytes.split_at(bytes.len().min(block - filled));
            self.buffer[filled..filled + first.len()].copy_from_slice(first);
            if filled + first.len() < block {
                return;
            }
            self.absorb_buffer(1);
            rest = others;
        }
        let (whole, rest) = rest.split_at(rest.len() / block * block);
        if !whole.is_empty() {
            self.absorb(whole);
        }
        self.buffer[..rest.len()].copy_from_slice(rest);
    }

    fn end(&mut self) {
        let rest = self.hash.rest(self.total);
        self.buffer[rest..].fill(0);
        let blocks = self.hash.pad(&mut self.buffer[..H::END], rest, self.total);
        self.absorb_buffer(blocks);
    }

    fn read(&mut self, mut output: &mut [u8]) {
        let most = self.hash.output_bytes();
        let mut block = [0; MAX_BLOCK];
        while !output.is_empty() {
            if self.read == most {
                self.buffer.fill(0);
                self.absorb_buffer(1);
                self.read = 0;
            }
            let count = output.len().min(most - self.read);
            self.hash.output(&E::get(&self.states, 0), &mut block[..most]);
            let (now, later) = output.split_at_mut(count);
            now.copy_from_slice(&block[self.read..self.read + count]);
            self.read += count;
            output = later;
        }
        wipe(&mut block);
    }

    fn copy(&self) -> Box<dyn Stream> {
        Box::new(self.clone())
    }
}

impl<H: Iterated, E: Absorb<H>> Drop for Incremental<H, E> {
    fn drop(&mut self) {
        wipe(&mut self.states);
        wipe(&mut self.buffer);
    }
}

/// The streams of all tiers; what is public of them is in `tests/kernels/`, on the tier that a [`Hasher`] chooses.
#[cfg(test)]
mod tests {
    use cipherlane_reference::hash::hash as reference;

    use super::*;
    use crate::hash::tests::message;

    fn expected(hash: Hash, message: &[u8], bytes: usize) -> Vec<u8> {
        let mut digest = vec![0; bytes];
        reference(hash, message, &mut digest);
        digest
    }

    #[test]
    fn pieces_make_the_message() {
        for tier in Tier::available() {
            for hash in Hash::ALL {
                let (block, bytes) = (hash.block_bytes(), hash.usual_digest_bytes());
                let text = message(5 * block + 3, 1);
                let whole = expected(hash, &text, bytes);
                for piece in [1, 7, block - 1, block, block + 1, 3 * block, text.len()] {
                    let mut hasher = Hasher { hash, stream: table::stream(tier, hash) };
                    text.chunks(piece).for_each(|piece| hasher.update(piece));
                    let early = hasher.clone();
                    hasher.update(&[]);
                    let (mut first, mut second) = (vec![0; bytes], vec![0; bytes]);
                    hasher.finalize(&mut first);
                    early.finalize(&mut second);
                    assert_eq!((&first, &second), (&whole, &whole), "{tier} {} by {piece}", hash.name());
                }
            }
        }
    }

    #[test]
    fn every_length_is_padded() {
        for tier in Tier::available() {
            for hash in Hash::ALL {
                let bytes = hash.usual_digest_bytes();
                for length in 0..=2 * hash.block_bytes() {
                    let text = message(length, length);
                    let mut hasher = Hasher { hash, stream: table::stream(tier, hash) };
                    hasher.update(&text);
                    let mut found = vec![0; bytes];
                    hasher.finalize(&mut found);
                    assert_eq!(found, expected(hash, &text, bytes), "{tier} {} of {length}", hash.name());
                }
            }
        }
    }
}
