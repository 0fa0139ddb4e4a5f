//! One batch of a workload, with buffers of its own.

use std::ops::RangeInclusive;

use cipherlane::{
    Algorithm, BLOCK, Batch, BatchError, Column, Messages, Mode, Operation, Output, Ragged, Shape, Source,
    TagLengths,
};

use super::aligned::Aligned;
use crate::random::Random;

/// Byte strings of all messages, or one for all.
#[derive(Clone, PartialEq, Eq)]
pub enum Rows {
    /// The same bytes for every message.
    Shared(Vec<u8>),
    /// Rows of one width.
    Each {
        /// All rows, one after the other.
        bytes: Vec<u8>,
        /// Bytes of one row.
        width: usize,
    },
    /// Rows of different lengths.
    Ragged {
        /// All rows, one after the other.
        bytes: Vec<u8>,
        /// One more offset than there are rows.
        offsets: Vec<u64>,
    },
}

impl Rows {
    /// Rows of different lengths, one per item.
    pub fn gather<T: AsRef<[u8]>>(items: impl Iterator<Item = T>) -> Self {
        let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
        for item in items {
            bytes.extend_from_slice(item.as_ref());
            offsets.push(bytes.len() as u64);
        }
        Self::Ragged { bytes, offsets }
    }

    /// The rows as a batch takes them.
    #[must_use]
    pub fn column(&self) -> Column<'_> {
        match self {
            Self::Shared(bytes) => Column::Shared(bytes),
            Self::Each { bytes, width } => Column::Each { bytes, width: *width },
            Self::Ragged { bytes, offsets } => Column::Ragged(Ragged { bytes, offsets }),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) | Self::Each { bytes, .. } | Self::Ragged { bytes, .. } => bytes,
        }
    }
}

// Rows hold keys: their contents never reach a log.
impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.column().fmt(f)
    }
}

/// Tag lengths in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagBytes {
    /// All tags have this length; 0 where the algorithm makes none.
    Same(usize),
    /// Tag `i` has `lengths[i]` bytes.
    Each(Vec<u8>),
}

impl TagBytes {
    /// The lengths as a batch takes them.
    #[must_use]
    pub fn lengths(&self) -> TagLengths<'_> {
        match self {
            Self::Same(length) => TagLengths::Same(*length),
            Self::Each(lengths) => TagLengths::Each(lengths),
        }
    }
}

/// The input of one batch.
#[derive(Clone, PartialEq, Eq)]
pub struct Part {
    /// The cipher in its mode, or the hash function.
    pub algorithm: Algorithm,
    /// What is done to each message.
    pub operation: Operation,
    /// Keys.
    pub keys: Rows,
    /// Nonces, IVs, counter blocks or tweaks.
    pub nonces: Rows,
    /// Additional authenticated data; one shared row of no bytes where the algorithm takes none.
    pub aad: Rows,
    /// The texts, one after the other.
    pub texts: Aligned,
    /// Message `i` is `offsets[i]..offsets[i + 1]` of the texts.
    pub offsets: Vec<u64>,
    /// Lengths of the tags, or of the digests.
    pub tag_bytes: TagBytes,
    /// The tags to check (`open` only).
    pub tags: Vec<u8>,
}

impl Part {
    /// The batch, for a session to run.
    #[must_use]
    pub fn batch(&self) -> Batch<'_> {
        Batch {
            algorithm: self.algorithm,
            operation: self.operation,
            keys: self.keys.column(),
            nonces: self.nonces.column(),
            aad: self.aad.column(),
            messages: Messages { source: Source::Apart(&self.texts), offsets: &self.offsets },
            tag_lengths: self.tag_bytes.lengths(),
            tags: &self.tags,
        }
    }

    /// Number of messages.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no message.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where message `index` lies in the texts.
    ///
    /// # Panics
    /// If there is no such message.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // offsets lie within a buffer
    pub fn range(&self, index: usize) -> std::ops::Range<usize> {
        self.offsets[index] as usize..self.offsets[index + 1] as usize
    }

    /// Where the tag of message `index` lies among the tags.
    #[must_use]
    pub fn tag_range(&self, index: usize) -> std::ops::Range<usize> {
        let lengths = self.tag_bytes.lengths();
        let start = index * lengths.stride();
        start..start + lengths.get(index)
    }

    /// The sizes, for a device to plan with.
    ///
    /// # Errors
    /// If the part is not well formed.
    pub fn shape(&self) -> Result<Shape, BatchError> {
        let mut texts = Results::for_part(self);
        self.batch().check(&texts.output())
    }

    /// Message `index` alone.
    #[must_use]
    pub fn single(&self, index: usize) -> Self {
        let tags = if self.tags.is_empty() { &[][..] } else { &self.tags[self.tag_range(index)] };
        self.alone(index, self.operation, &self.texts[self.range(index)], tags)
    }

    /// The forward operation on `text` with what message `index` has beside its text.
    #[must_use]
    pub fn forward(&self, index: usize, text: &[u8]) -> Self {
        self.alone(index, self.algorithm.forward(), text, &[])
    }

    fn alone(&self, index: usize, operation: Operation, text: &[u8], tags: &[u8]) -> Self {
        let row = |rows: &Rows| Rows::Shared(rows.column().row(index).to_vec());
        Self {
            algorithm: self.algorithm,
            operation,
            keys: row(&self.keys),
            nonces: row(&self.nonces),
            aad: row(&self.aad),
            texts: text.into(),
            offsets: vec![0, text.len() as u64],
            tag_bytes: TagBytes::Same(self.tag_bytes.lengths().get(index)),
            tags: tags.to_vec(),
        }
    }

    /// Bytes of input: keys, nonces, AAD, texts and tags.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        self.buffers().iter().map(|buffer| buffer.len()).sum()
    }

    /// Every input buffer.
    #[must_use]
    pub fn buffers(&self) -> [&[u8]; 5] {
        [self.keys.bytes(), self.nonces.bytes(), self.aad.bytes(), &self.texts, &self.tags]
    }
}

// Parts hold keys and texts: their contents never reach a log.
impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.batch().fmt(f)
    }
}

/// The output of one batch: what came out, or what must.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Results {
    /// The texts, at the offsets of the part; none of a hash.
    pub bytes: Aligned,
    /// The tags or digests that were made (`seal` and `hash` only).
    pub tags: Vec<u8>,
    /// Whether each tag was right (`open` only).
    pub accepted: Vec<bool>,
}

impl Results {
    /// Zeroed buffers that fit `part`.
    #[must_use]
    pub fn for_part(part: &Part) -> Self {
        let (hashes, opens) = (part.operation == Operation::Hash, part.operation == Operation::Open);
        let makes = hashes || part.operation == Operation::Seal;
        Self {
            bytes: Aligned::zeros(if hashes { 0 } else { part.texts.len() }),
            tags: vec![0; if makes { part.len() * part.tag_bytes.lengths().stride() } else { 0 }],
            accepted: vec![false; if opens { part.len() } else { 0 }],
        }
    }

    /// The output of message `index` of `part` alone.
    #[must_use]
    pub fn single(&self, part: &Part, index: usize) -> Self {
        let tag = if self.tags.is_empty() { &[][..] } else { &self.tags[part.tag_range(index)] };
        Self {
            bytes: if self.bytes.is_empty() {
                Aligned::default()
            } else {
                self.bytes[part.range(index)].into()
            },
            tags: tag.to_vec(),
            accepted: self.accepted.get(index).into_iter().copied().collect(),
        }
    }

    /// Bytes of output.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() + self.tags.len() + self.accepted.len()
    }

    /// Whether there is no output.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The buffers, for a session to fill.
    #[must_use]
    pub fn output(&mut self) -> Output<'_> {
        Output { bytes: &mut self.bytes, tags: &mut self.tags, accepted: &mut self.accepted }
    }
}

impl std::fmt::Debug for Results {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, tags, accepted } = self;
        write!(f, "Results({} bytes, {} of tags, {} verdicts)", bytes.len(), tags.len(), accepted.len())
    }
}

/// Offsets of `messages` messages of `message_bytes` bytes.
#[must_use]
pub fn uniform_offsets(messages: usize, message_bytes: usize) -> Vec<u64> {
    (0..=messages as u64).map(|index| index * message_bytes as u64).collect()
}

/// Offsets of `messages` messages of any of these lengths in bytes, by steps from one to the next, each as often as any other
/// but the middle one of an odd number, which is there twice as often, in any order; of fewer messages than there are lengths,
/// those that lie as far apart as they can.
pub(super) fn mixed_offsets(
    messages: usize,
    lengths: RangeInclusive<usize>,
    step: usize,
    random: &mut Random,
) -> Vec<u64> {
    let (least, most) = lengths.into_inner();
    let steps = (most - least) / step;
    // The longest, the shortest, the longest but one: on average as many bytes however few there are.
    let pair = |inward: usize| [most - inward * step, least + inward * step];
    let mut lengths: Vec<_> = if messages > steps {
        (0..=steps / 2).cycle().flat_map(pair).take(messages).collect()
    } else {
        let gaps = messages.saturating_sub(1).max(1);
        (0..messages.div_ceil(2)).map(|i| i * steps / gaps).flat_map(pair).take(messages).collect()
    };
    random.shuffle(&mut lengths);
    let mut offsets = vec![0];
    offsets.extend(lengths.iter().scan(0, |end, length| {
        *end += *length as u64;
        Some(*end)
    }));
    offsets
}

/// Bytes of all messages between offsets, which begin with 0.
pub(super) fn text_bytes(offsets: &[u64]) -> usize {
    offsets.last().map_or(0, |&end| usize::try_from(end).unwrap_or(usize::MAX))
}

/// A tag of [`BLOCK`] bytes or a digest of its usual length where the algorithm makes one.
#[must_use]
pub const fn full_tag(algorithm: Algorithm) -> TagBytes {
    TagBytes::Same(match algorithm {
        Algorithm::Cipher(_, Mode::Gcm) => BLOCK,
        Algorithm::Cipher(_, Mode::Ecb | Mode::Cbc | Mode::Ctr | Mode::Xts) => 0,
        Algorithm::Hash(hash) => hash.usual_digest_bytes(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of so many messages, sorted.
    fn lengths(messages: usize, lengths: RangeInclusive<usize>, step: usize) -> Vec<u64> {
        let offsets = mixed_offsets(messages, lengths, step, &mut Random::new(1));
        let mut lengths: Vec<_> = offsets.windows(2).map(|ends| ends[1] - ends[0]).collect();
        lengths.sort_unstable();
        lengths
    }

    #[test]
    fn lengths_are_spread_over_their_range() {
        assert_eq!(lengths(12, 16..=48, 16), [16, 16, 16, 32, 32, 32, 32, 32, 32, 48, 48, 48]);
        assert_eq!(lengths(4, 1..=4, 1), [1, 2, 3, 4]);
        // Fewer messages than lengths.
        assert_eq!(lengths(5, 0..=1000, 1), [0, 250, 500, 750, 1000]);
        assert_eq!(lengths(4, 16..=16 * 100, 16), [16, 33 * 16 + 16, 66 * 16 + 16, 1600]);
        assert_eq!((lengths(1, 3..=9, 1), lengths(0, 3..=9, 1)), (vec![9], vec![]));
    }
}
