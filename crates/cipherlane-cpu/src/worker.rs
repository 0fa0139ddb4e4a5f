//! What threads run: a kernel under a key.

use std::ops::Range;

use cipherlane_core::BLOCK;

use crate::job::Job;

/// A way to run one algorithm and operation on one tier.
pub(crate) trait Kernel: Send + Sync {
    /// A worker for batches that share `key`, expanded once, or for batches with a key each.
    fn worker(&self, key: Option<&[u8]>) -> Box<dyn Worker>;
}

/// A kernel ready to run, used by all threads of a session at once. Wipes its key when dropped.
pub(crate) trait Worker: Send + Sync {
    /// Runs the messages of `range` from first to last byte, tags and verdicts included.
    fn messages(&self, job: &Job<'_>, range: Range<usize>);

    /// How to run one long message on several threads; `None` where each block waits for the one before.
    fn segments(&self) -> Option<&dyn Segments>;
}

/// One message cut into segments, each but the last a whole number of blocks.
pub(crate) trait Segments: Send + Sync {
    /// Runs one segment and returns what [`Segments::finish`] needs to know of it.
    fn segment(&self, job: &Job<'_>, segment: &Segment) -> Partial;

    /// Ends the message once all its segments, here in order, have been run: tag, verdict, and the zeroing of a
    /// rejected text.
    fn finish(&self, job: &Job<'_>, message: usize, segments: &[(Segment, Partial)]);
}

/// A part of one message. Where messages are cut, `split.rs` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Index of the message in its batch.
    pub(crate) message: usize,
    /// Which bytes of the message. The start is a multiple of 16; the end, too, but for the last segment, which is
    /// never shorter than [`LAST_SEGMENT`] unless it is the whole message.
    pub(crate) bytes: Range<usize>,
    /// The 16 bytes of input before the segment, saved before any thread overwrote them; zero at the start.
    pub(crate) before: [u8; BLOCK],
}

/// What a segment leaves for the end of the message: the running hash of an AEAD, else zero.
pub(crate) type Partial = [u8; BLOCK];

/// Least bytes of the last of several segments. Ciphertext stealing (XTS) needs the last whole block and the rest of
/// a message in the same hands: at most 31 bytes.
pub(crate) const LAST_SEGMENT: usize = 2 * BLOCK;
