//! One message of a batch, and the part of a batch that one thread runs.

use std::ops::Range;

use cipherlane_core::{BLOCK, Batch, Operation, Output, Source, TagLengths};
use subtle::ConstantTimeEq;

use crate::rows::Rows;

/// What to do with the tag of a message.
pub(crate) enum Tag<'a> {
    /// The mode has none.
    Absent,
    /// Seal: write it here. The length is the tag's. Hash: write the digest here, and nothing to `out`.
    Make(&'a mut [u8]),
    /// Open: compare with this.
    Check(&'a [u8]),
}

/// Whether `computed` begins with the tag `expected`, found in a time that does not tell where they differ.
pub(crate) fn is_tag(expected: &[u8], computed: &[u8; 16]) -> bool {
    match <[u8; 16]>::try_from(expected) {
        // As numbers: byte by byte this took as long as opening a short message.
        Ok(whole) => {
            let differing = u128::from_ne_bytes(whole) ^ u128::from_ne_bytes(*computed);
            ((differing >> 64) as u64 | differing as u64).ct_eq(&0).into()
        }
        Err(_) => expected.ct_eq(&computed[..expected.len()]).into(),
    }
}

/// One message, as a library's functions take it.
pub(crate) struct Message<'a> {
    /// Nonce, IV, initial counter block or tweak; empty for ECB.
    pub(crate) nonce: &'a [u8],
    /// Additional data; empty without an AEAD.
    pub(crate) aad: &'a [u8],
    /// The input, or `None` where it lies in `out`. As long as `out`, but for a hash, which has no `out`.
    pub(crate) source: Option<&'a [u8]>,
    /// Where the result goes.
    pub(crate) out: &'a mut [u8],
    /// The tag to make or to check.
    pub(crate) tag: Tag<'a>,
}

impl Message<'_> {
    /// Copies the input to where the result goes, for functions that only work in place.
    #[cfg(feature = "crates")]
    pub(crate) fn bring_in_place(&mut self) {
        if let Some(source) = self.source.take() {
            self.out.copy_from_slice(source);
        }
    }
}

/// A library's function that failed.
pub(crate) type Fault = &'static str;

/// An expanded key with whatever else a library needs to run messages.
pub(crate) trait Context: Send {
    /// Runs a part.
    fn part(&mut self, part: &mut Part<'_>) -> Result<(), Fault>;
}

/// A [`Context`] of a library that takes one message per call.
pub(crate) trait PerMessage: Send {
    /// Runs one message; `key` is given where it differs from that of the message before. Returns whether the tag
    /// was right (always, where there is none to check). Where a library is quick it is to be inlined: a message that is
    /// handed over in memory takes longer than a short one's encryption.
    fn message(&mut self, key: Option<&[u8]>, message: &mut Message<'_>) -> Result<bool, Fault>;
}

impl<P: PerMessage> Context for P {
    fn part(&mut self, part: &mut Part<'_>) -> Result<(), Fault> {
        let (messages, verdicts) = part.messages();
        let mut verdicts = verdicts.iter_mut();
        // No adapter of iterators: its `next` is not inlined.
        for (key, mut message) in messages {
            let accepted = self.message(key, &mut message)?;
            if let Some(verdict) = verdicts.next() {
                if !accepted {
                    message.out.fill(0);
                }
                *verdict = accepted;
            }
        }
        Ok(())
    }
}

/// Consecutive messages of a checked batch with their share of the output.
pub(crate) struct Part<'a> {
    batch: &'a Batch<'a>,
    messages: Range<usize>,
    /// Where `bytes` starts within the output of the batch.
    base: usize,
    bytes: &'a mut [u8],
    tags: &'a mut [u8],
    accepted: &'a mut [bool],
    /// Whether a shared key has yet to be set up.
    pub(crate) new_key: bool,
}

/// The parts of a batch, in order: each byte of the output belongs to one.
pub(crate) struct Cuts<'a> {
    batch: &'a Batch<'a>,
    /// The least work of a part, but for the last: bytes, and a block more for each message.
    chunk: usize,
    /// The first message that is left.
    first: usize,
    /// Where `bytes` starts within the output of the batch.
    base: usize,
    bytes: &'a mut [u8],
    tags: &'a mut [u8],
    accepted: &'a mut [bool],
}

impl<'a> Cuts<'a> {
    /// Cuts a checked `batch` into parts of at least `chunk` bytes; all is one part where that is [`usize::MAX`].
    pub(crate) fn new(batch: &'a Batch<'a>, output: &'a mut Output<'_>, chunk: usize) -> Self {
        let (bytes, tags, accepted) = (&mut *output.bytes, &mut *output.tags, &mut *output.accepted);
        Self { batch, chunk, first: 0, base: 0, bytes, tags, accepted }
    }

    /// All that is left, where it is one part.
    pub(crate) fn whole(&mut self) -> Option<Part<'a>> {
        if self.end() == self.batch.len() { self.next() } else { None }
    }

    /// Behind the last message of the next part. Found without a look at each: offsets of a batch never fall.
    fn end(&self) -> usize {
        let (from, to) = (self.first, self.batch.len());
        if self.chunk == usize::MAX {
            return to;
        }
        let start = offset(self.batch, from);
        let enough =
            |index: usize| offset(self.batch, index + 1) - start + (index - from) * BLOCK >= self.chunk;
        // The last message of the part is one of from..to, or all that are left are too little.
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = usize::midpoint(low, high);
            if enough(middle) { high = middle } else { low = middle + 1 }
        }
        to.min(low + 1)
    }
}

impl<'a> Iterator for Cuts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let batch = self.batch;
        if self.first == batch.len() {
            return None;
        }
        let messages = self.first..self.end();
        let (count, base, end) = (messages.len(), self.base, offset(batch, messages.end));
        let makes = matches!(batch.operation, Operation::Seal | Operation::Hash);
        let rows = if makes { count * batch.tag_lengths.stride() } else { 0 };
        let verdicts = if batch.operation == Operation::Open { count } else { 0 };
        let bytes = if batch.operation == Operation::Hash { 0 } else { end - base };
        (self.first, self.base) = (messages.end, end);
        Some(Part {
            batch,
            messages,
            base,
            bytes: take(&mut self.bytes, bytes),
            tags: take(&mut self.tags, rows),
            accepted: take(&mut self.accepted, verdicts),
            new_key: false,
        })
    }
}

impl Part<'_> {
    /// The messages, each with its key where that has to be set up, and where their verdicts go.
    pub(crate) fn messages(&mut self) -> (PartMessages<'_>, &mut [bool]) {
        let lead = offset(self.batch, self.messages.start) - self.base;
        let bytes = if self.bytes.is_empty() { &mut [] } else { &mut self.bytes[lead..] };
        let new_key = std::mem::take(&mut self.new_key);
        let batch = self.batch;
        let messages = PartMessages {
            operation: batch.operation,
            offsets: batch.messages.offsets,
            source: match batch.messages.source {
                Source::Apart(bytes) => Some(bytes),
                // What lies on a device has not passed the check.
                Source::InPlace | Source::OnDevice => None,
            },
            keys: Rows::of(&batch.keys),
            nonces: Rows::of(&batch.nonces),
            aad: Rows::of(&batch.aad),
            given: batch.tags,
            lengths: batch.tag_lengths,
            stride: batch.tag_lengths.stride(),
            left: self.messages.clone(),
            bytes,
            tags: &mut *self.tags,
            new_key,
        };
        (messages, self.accepted)
    }
}

/// The messages of a part, in order. It has what it needs of the batch itself, so that a loop keeps that in registers.
pub(crate) struct PartMessages<'p> {
    operation: Operation,
    offsets: &'p [u64],
    /// Of all messages, unless they lie in the output.
    source: Option<&'p [u8]>,
    keys: Rows<'p>,
    nonces: Rows<'p>,
    aad: Rows<'p>,
    /// Tags to be checked.
    given: &'p [u8],
    lengths: TagLengths<'p>,
    /// Bytes from a tag to the next.
    stride: usize,
    left: Range<usize>,
    /// The output of those that are left.
    bytes: &'p mut [u8],
    tags: &'p mut [u8],
    new_key: bool,
}

impl ExactSizeIterator for PartMessages<'_> {}

impl<'p> Iterator for PartMessages<'p> {
    type Item = (Option<&'p [u8]>, Message<'p>);

    /// Inlined, as is what takes it, so that a message is not put together in memory.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.left.next()?;
        let place = within(self.offsets[index])..within(self.offsets[index + 1]);
        let out = take(&mut self.bytes, if self.operation == Operation::Hash { 0 } else { place.len() });
        let source = self.source.map(|bytes| &bytes[place]);
        let stride = self.stride;
        let length = match self.lengths {
            TagLengths::Same(length) => length,
            TagLengths::Each(_) => self.lengths.get(index),
        };
        let tag = match self.operation {
            Operation::Seal | Operation::Hash => {
                let (tag, rest) = take(&mut self.tags, stride).split_at_mut(length);
                if !rest.is_empty() {
                    rest.fill(0);
                }
                Tag::Make(tag)
            }
            Operation::Open => Tag::Check(&self.given[index * stride..index * stride + length]),
            Operation::Encrypt | Operation::Decrypt => Tag::Absent,
        };
        let wanted = !self.keys.are_same() || std::mem::take(&mut self.new_key);
        let key = wanted.then(|| self.keys.row(index));
        Some((key, Message { nonce: self.nonces.row(index), aad: self.aad.row(index), source, out, tag }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

/// Where message `index` starts.
fn offset(batch: &Batch<'_>, index: usize) -> usize {
    within(batch.messages.offsets[index])
}

/// An offset of a checked batch, which is within a buffer, hence within a usize.
#[allow(clippy::cast_possible_truncation)]
#[inline(always)]
const fn within(offset: u64) -> usize {
    offset as usize
}

#[inline(always)]
fn take<'a, T>(from: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (front, rest) = std::mem::take(from).split_at_mut(count);
    *from = rest;
    front
}

#[cfg(test)]
mod tests {
    use cipherlane_core::{Algorithm, Batch, Cipher, Column, Messages, Mode, Operation, Output, Source};

    use super::Cuts;

    /// Where parts end by a walk over all messages.
    fn walk(offsets: &[u64], chunk: usize) -> Vec<usize> {
        let (mut ends, mut first) = (Vec::new(), 0);
        for index in 0..offsets.len() - 1 {
            let work = (offsets[index + 1] - offsets[first]) as usize + (index - first) * 16;
            if work >= chunk || index + 2 == offsets.len() {
                ends.push(index + 1);
                first = index + 1;
            }
        }
        ends
    }

    #[test]
    fn parts_are_cut_where_a_walk_over_the_messages_would_cut_them() {
        let ragged: Vec<u64> = (0..200_u64).map(|index| 16 * (index * index % 37)).collect();
        for lengths in [vec![], vec![48], vec![0; 100], vec![16; 1000], ragged] {
            // The first text need not begin where the output does.
            let mut offsets = vec![32];
            offsets.extend(lengths.iter().scan(32, |end, length| {
                *end += length;
                Some(*end)
            }));
            let mut text = vec![0; *offsets.last().unwrap() as usize];
            let messages = Messages { source: Source::InPlace, offsets: &offsets };
            let algorithm = Algorithm::new(Cipher::Aes128, Mode::Ecb);
            let key = Column::Shared(&[0; 16]);
            let batch = Batch::cipher(algorithm, Operation::Encrypt, key, Column::EMPTY, messages);
            for chunk in [1, 16, 100, 1000, 1 << 20, usize::MAX] {
                let mut output = Output::text(&mut text);
                let (mut ends, mut bytes) = (Vec::new(), 0);
                for part in Cuts::new(&batch, &mut output, chunk) {
                    assert_eq!(part.base, bytes, "no byte is left out");
                    bytes += part.bytes.len();
                    ends.push(part.messages.end);
                }
                assert_eq!(ends, walk(&offsets, chunk), "{} messages by {chunk}", lengths.len());
                let whole = Cuts::new(&batch, &mut output, chunk).whole();
                assert_eq!(whole.is_some(), ends.len() == 1, "{} messages by {chunk}", lengths.len());
            }
        }
    }
}
