//! A batch to hash with its digests, and the comparison of what a session makes of it.

use cipherlane_core::{Batch, Hash, Messages, Output, Session, Source};

use super::trial::{GUARD, difference, first_difference};
use crate::hash::hash;
use crate::random::Random;
use crate::rows::{item, offsets};

/// A batch that is being drawn up: everything but texts and digests.
#[derive(Clone, Debug)]
pub(super) struct DigestDraft {
    pub(super) hash: Hash,
    /// Bytes of each message.
    pub(super) lengths: Vec<usize>,
    /// Bytes of each digest.
    pub(super) digest_bytes: usize,
    /// Bytes before the first message.
    pub(super) lead: usize,
}

impl DigestDraft {
    /// With the usual digests, or for SHAKE more or less than a block of output.
    pub(super) fn new(hash: Hash, lengths: Vec<usize>, random: &mut Random) -> Self {
        let digest_bytes = hash.digest_bytes().unwrap_or_else(|| 1 + random.below(200));
        Self { hash, lengths, digest_bytes, lead: random.below(40) }
    }
}

/// A draft with its texts and digests.
pub(super) struct DigestTrial {
    draft: DigestDraft,
    offsets: Vec<u64>,
    /// What lies before the first message is noise.
    input: Vec<u8>,
    digests: Vec<u8>,
}

impl DigestTrial {
    /// Draws texts, and has the reference hash them.
    pub(super) fn new(draft: DigestDraft, random: &mut Random) -> Self {
        let offsets = offsets(draft.lead as u64, draft.lengths.iter().copied());
        let input = random.bytes(draft.lead + draft.lengths.iter().sum::<usize>());
        let mut digests = vec![0; draft.lengths.len() * draft.digest_bytes];
        for (message, digest) in digests.chunks_exact_mut(draft.digest_bytes).enumerate() {
            hash(draft.hash, &input[item(&offsets, message)], digest);
        }
        Self { draft, offsets, input, digests }
    }

    /// Runs the batch on `session`. `noise` draws what the output buffers hold before.
    ///
    /// # Errors
    /// What came out wrong.
    pub(super) fn run(&self, session: &mut dyn Session, noise: &mut Random) -> Result<(), String> {
        let messages = Messages { source: Source::Apart(&self.input), offsets: &self.offsets };
        let batch = Batch::hash(self.draft.hash, messages, self.draft.digest_bytes);
        let mut digests = noise.bytes(self.digests.len() + GUARD);
        let mut expected = digests.clone();
        expected[..self.digests.len()].copy_from_slice(&self.digests);
        // A hash writes no text, wherever there is room for one.
        let text = noise.bytes(self.input.len().min(GUARD));
        let mut bytes = text.clone();
        let mut output = Output { bytes: &mut bytes, tags: &mut digests, accepted: &mut [] };
        session.run(&batch, &mut output).map_err(|error| error.to_string())?;
        if bytes != text {
            return Err("the output for texts changed".to_owned());
        }
        let Some(at) = first_difference(&expected, &digests) else { return Ok(()) };
        if at >= self.digests.len() {
            return Err(format!("byte {} behind the last digest changed", at - self.digests.len()));
        }
        let message = at / self.draft.digest_bytes;
        Err(format!(
            "message {message} of {} ({} bytes): byte {} of its digest {}",
            self.draft.lengths.len(),
            self.draft.lengths[message],
            at % self.draft.digest_bytes,
            difference(&expected, &digests, at)
        ))
    }
}
