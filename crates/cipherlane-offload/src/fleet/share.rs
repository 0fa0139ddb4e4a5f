//! Where a batch is cut for several devices, and where each share writes.

use std::ops::Range;

use cipherlane_core::{Algorithm, Batch, Mode, Operation, Output, Shape};

use crate::copy;
use crate::cut::last_that;
use crate::part::Part;

/// What a message costs beside its text, in bytes of text: its rows, its key and its tag.
const MESSAGE: u64 = 256;
/// Least cost of a share. An estimate that nobody has measured: a link takes so much in some 20 microseconds, and a thread
/// that asks a device takes about as long to start.
const LEAST: u64 = 1 << 20;
/// Messages are cut at multiples of so many bytes from their start: whole tiles of the kernels for long messages.
pub(crate) const STEP: u64 = 128 << 10;

/// A run of messages; the first and the last may be parts of one. Parts of GCM messages are shares of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) messages: Range<usize>,
    /// Offsets of text, as the batch counts them.
    pub(super) text: Range<u64>,
}

impl Share {
    /// Whether it begins within a message.
    pub(super) fn starts_inside(&self, offsets: &[u64]) -> bool {
        self.text.start > offsets[self.messages.start]
    }

    /// Whether it is no more than a part of a message of `batch`, where the sums of its parts are to be put together.
    pub(super) fn part(&self, batch: &Batch<'_>) -> Option<Part> {
        let offsets = &batch.messages.offsets;
        let &[start, end] = offsets.get(self.messages.start..=self.messages.end)? else { return None };
        let is_part = batch.algorithm.is_aead() && self.text != (start..end);
        is_part.then_some(Part { start: self.text.start - start, message_bytes: end - start })
    }

    /// Room for what kernels make of it beside its text, if it is a part.
    pub(super) fn aside(&self, batch: &Batch<'_>) -> Aside {
        self.part(batch).map_or_else(Aside::default, |_| Aside::new(batch))
    }

    /// The shares that its device runs one after the other: a part of a GCM message at either end, and what is between.
    pub(super) fn runs(self, batch: &Batch<'_>) -> Vec<Self> {
        let offsets = batch.messages.offsets;
        let Self { messages, text } = self;
        if !batch.algorithm.is_aead() || messages.len() < 2 {
            return vec![Self { messages, text }];
        }
        // A message that is whole keeps with its neighbours.
        let first = messages.start + usize::from(text.start > offsets[messages.start]);
        let last = messages.end - usize::from(text.end < offsets[messages.end]);
        let runs = [messages.start..first, first..last, last..messages.end];
        let texts = [text.start..offsets[first], offsets[first]..offsets[last], offsets[last]..text.end];
        let runs = runs.into_iter().zip(texts).filter(|(messages, _)| !messages.is_empty());
        runs.map(|(messages, text)| Self { messages, text }).collect()
    }
}

/// How parts of a message can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// By themselves, or not at all.
    Apart,
    /// Those of GCM messages as well, whose sums are put together.
    Summed,
    /// Not at all.
    Whole,
}

/// Whether messages are cut.
const fn is_cut(algorithm: Algorithm, operation: Operation, how: Cut) -> bool {
    match algorithm {
        _ if matches!(how, Cut::Whole) => false,
        Algorithm::Cipher(_, Mode::Ecb | Mode::Ctr) => true,
        Algorithm::Cipher(_, Mode::Cbc) => matches!(operation, Operation::Decrypt),
        Algorithm::Cipher(_, Mode::Gcm) => matches!(how, Cut::Summed),
        Algorithm::Cipher(_, Mode::Xts) | Algorithm::Hash(_) => false,
    }
}

/// The shape of a share of batches of `shape` on `devices` devices.
pub(super) fn shape(shape: &Shape, devices: usize) -> Shape {
    let parts = devices.max(1) as u64;
    let longest = if is_cut(shape.algorithm, shape.operation, Cut::Summed) {
        shape.longest.min(shape.bytes.div_ceil(parts).next_multiple_of(STEP))
    } else {
        shape.longest
    };
    Shape {
        messages: shape.messages.div_ceil(devices.max(1)),
        bytes: shape.bytes.div_ceil(parts).max(longest),
        beside: shape.beside.div_ceil(parts),
        longest,
        ..*shape
    }
}

/// Cuts a checked batch into at most `devices` shares, of which none is empty unless the batch is.
pub(super) fn cut(batch: &Batch<'_>, devices: usize, how: Cut) -> Vec<Share> {
    let offsets = batch.messages.offsets;
    let count = offsets.len().saturating_sub(1);
    let Some((&start, &end)) = offsets.first().zip(offsets.last()) else { return Vec::new() };
    // What all before text offset `at` costs, `messages` of them begun.
    let cost = |at: u64, messages: usize| at - start + MESSAGE * messages as u64;
    let all = cost(end, count);
    let parts = (all / LEAST).clamp(1, devices.max(1) as u64);
    let mut shares: Vec<Share> = Vec::new();
    let (mut message, mut at) = (0, start);
    for part in 1..=parts {
        let (first, text_start) = (message, at);
        let target = u64::try_from(u128::from(all) * u128::from(part) / u128::from(parts)).unwrap_or(all);
        // Costs do not fall, so that halving finds the last whole message that belongs here.
        let whole = last_that(message..count, |number| cost(offsets[number], number) <= target);
        if whole > message {
            (message, at) = (whole, offsets[whole]);
        }
        let mut last = message;
        if message < count && is_cut(batch.algorithm, batch.operation, how) {
            // The part of the next message that still belongs here.
            let wanted = (start + target).saturating_sub(MESSAGE * message as u64);
            let inside = wanted.saturating_sub(offsets[message]) / STEP * STEP;
            let place = offsets[message] + inside;
            if place > at && place < offsets[message + 1] {
                at = place;
                last = message + 1;
            }
        }
        if part == parts {
            (message, last, at) = (count, count, end);
        }
        if last > first || at > text_start {
            shares.push(Share { messages: first..last.max(first), text: text_start..at });
        }
    }
    shares
}

/// A tag or a verdict beside those of the batch: parts of a message have none.
#[derive(Default)]
pub(super) struct Aside {
    tags: Vec<u8>,
    accepted: Vec<bool>,
}

impl Aside {
    /// Room for what comes of one message of `batch`.
    pub(super) fn new(batch: &Batch<'_>) -> Self {
        let opens = batch.operation == Operation::Open;
        Self {
            tags: vec![0; if opens { 0 } else { batch.tag_lengths.stride() }],
            accepted: vec![false; usize::from(opens)],
        }
    }

    /// An output without text.
    pub(super) fn output(&mut self) -> Output<'_> {
        Output { bytes: &mut [], tags: &mut self.tags, accepted: &mut self.accepted }
    }

    /// Puts what came of message `message` into `output`; if it was rejected, its text is zeroed.
    pub(super) fn settle(&self, batch: &Batch<'_>, output: &mut Output<'_>, message: usize) {
        if let Some(&accepted) = self.accepted.first() {
            output.accepted[message] = accepted;
            if !accepted {
                let text = batch.messages.offsets[message]..batch.messages.offsets[message + 1];
                copy::zero(&mut output.bytes[size(text.start)..size(text.end)]);
            }
            return;
        }
        let row = message * self.tags.len();
        output.tags[row..row + self.tags.len()].copy_from_slice(&self.tags);
    }
}

/// A text offset of a checked batch, which lies within a buffer.
fn size(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// The front of `rest`, `skip` items further on; nothing where there are none at all.
fn take<'a, T>(rest: &mut &'a mut [T], skip: usize, count: usize) -> &'a mut [T] {
    if rest.is_empty() {
        return &mut [];
    }
    let (mine, others) = std::mem::take(rest).split_at_mut(skip).1.split_at_mut(count);
    *rest = others;
    mine
}

/// The outputs of `shares`, which follow one another, within that of `batch`; tags and verdicts of parts go to their
/// `asides`. What the operation does not write may have any length, and is left as it is.
pub(super) fn outputs<'a>(
    batch: &Batch<'_>,
    shares: &[Share],
    output: &'a mut Output<'_>,
    asides: &'a mut [Aside],
) -> Vec<Output<'a>> {
    let stride = batch.tag_lengths.stride();
    let mut bytes = &mut *output.bytes;
    let (mut tags, mut accepted): (&mut [u8], &mut [bool]) = match batch.operation {
        Operation::Open => (&mut [], output.accepted),
        Operation::Seal | Operation::Hash => (output.tags, &mut []),
        Operation::Encrypt | Operation::Decrypt => (&mut [], &mut []),
    };
    // How far texts and rows have been handed out.
    let (mut at, mut row) = (0, 0);
    let mut outputs = Vec::with_capacity(shares.len());
    for (share, aside) in shares.iter().zip(asides) {
        let Share { messages, text } = share;
        let mine = if batch.algorithm.hash().is_some() {
            &mut []
        } else {
            take(&mut bytes, size(text.start - at), size(text.end - text.start))
        };
        at = text.end;
        if share.part(batch).is_some() {
            outputs.push(Output { bytes: mine, ..aside.output() });
            continue;
        }
        // What parts of messages have not taken.
        let skip = messages.start.saturating_sub(row);
        row = messages.end;
        outputs.push(Output {
            bytes: mine,
            tags: take(&mut tags, skip * stride, messages.len() * stride),
            accepted: take(&mut accepted, skip, messages.len()),
        });
    }
    outputs
}

#[cfg(test)]
mod tests {
    use cipherlane_core::{Column, Messages, Source};

    use super::*;

    fn batch<'a>(name: &str, operation: Operation, offsets: &'a [u64]) -> Batch<'a> {
        let messages = Messages { source: Source::InPlace, offsets };
        let column = Column::Shared(&[0; 16]);
        Batch::cipher(name.parse().unwrap(), operation, column, column, messages)
    }

    fn shares(name: &str, operation: Operation, offsets: &[u64], devices: usize) -> Vec<Share> {
        cut(&batch(name, operation, offsets), devices, Cut::Apart)
    }

    fn texts(shares: &[Share]) -> Vec<Range<u64>> {
        shares.iter().map(|share| share.text.clone()).collect()
    }

    #[test]
    fn a_long_message_is_cut_where_its_parts_stand_alone() {
        const MIB: u64 = 1 << 20;
        let found = shares("aes-128-ctr", Operation::Encrypt, &[5, 5 + 8 * MIB], 4);
        let cuts: Vec<u64> = found.iter().map(|share| (share.text.start - 5) / STEP).collect();
        assert_eq!(cuts, [0, 16, 32, 48]);
        assert!(found.iter().all(|share| share.messages == (0..1)));
        // Blocks of these wait for one another.
        for (name, operation) in [
            ("aes-128-cbc", Operation::Encrypt),
            ("aes-128-gcm", Operation::Seal),
            ("aes-128-xts", Operation::Encrypt),
        ] {
            assert_eq!(shares(name, operation, &[0, 8 * MIB], 4).len(), 1, "{name}");
        }
    }

    #[test]
    fn parts_of_gcm_messages_run_by_themselves() {
        const MIB: u64 = 1 << 20;
        let offsets = [7, 7 + MIB, 7 + MIB, 7 + 5 * MIB, 7 + 5 * MIB + 40];
        let batch = batch("aes-128-gcm", Operation::Seal, &offsets);
        let runs: Vec<Vec<Share>> =
            cut(&batch, 2, Cut::Summed).into_iter().map(|share| share.runs(&batch)).collect();
        let told = |runs: &[Share]| {
            let tell = |run: &Share| (run.messages.clone(), run.part(&batch).map(|part| part.start));
            runs.iter().map(tell).collect::<Vec<_>>()
        };
        let start = runs[1][0].text.start - offsets[2];
        assert!(start > MIB && start.is_multiple_of(STEP), "{start}");
        assert_eq!(told(&runs[0]), [(0..2, None), (2..3, Some(0))]);
        assert_eq!(told(&runs[1]), [(2..3, Some(start)), (3..4, None)]);
        let texts = runs.concat();
        assert!(texts.windows(2).all(|pair| pair[0].text.end == pair[1].text.start), "{texts:?}");
        assert_eq!(cut(&batch, 2, Cut::Apart).iter().filter(|share| share.part(&batch).is_some()).count(), 0);
    }

    #[test]
    fn little_work_is_not_shared() {
        let found = texts(&shares("aes-128-ctr", Operation::Encrypt, &[3, 3 + 4096], 8));
        assert!(found.len() == 1 && found[0] == (3..4099), "{found:?}");
        assert!(shares("aes-128-ctr", Operation::Encrypt, &[], 8).is_empty());
    }

    #[test]
    fn every_byte_and_every_message_is_in_a_share() {
        let offsets: Vec<u64> = (0..3000_u64).map(|i| 7 + i * i).collect();
        for (name, operation) in [("aes-128-ctr", Operation::Encrypt), ("aes-128-gcm", Operation::Seal)] {
            for devices in 1..9 {
                let found = shares(name, operation, &offsets, devices);
                assert_eq!(found.len(), devices, "{name}");
                let end = found.iter().fold(7, |at, share| {
                    assert_eq!(share.text.start, at);
                    share.text.end
                });
                assert_eq!(end, offsets[2999]);
                assert_eq!((found[0].messages.start, found[devices - 1].messages.end), (0, 2999));
                for pair in found.windows(2) {
                    let shared = pair[0].messages.end - pair[1].messages.start;
                    assert!(shared <= usize::from(name == "aes-128-ctr"), "{pair:?}");
                }
                let most = found.iter().map(|share| share.text.end - share.text.start).max().unwrap();
                assert!(most < 9_000_000_000 / devices as u64 * 11 / 10, "{most} of {devices}");
            }
        }
    }
}
