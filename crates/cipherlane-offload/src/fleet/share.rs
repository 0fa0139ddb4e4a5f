//! Where a batch is cut for several devices, and each share as a batch of its own.

use std::ops::Range;

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Messages, Mode, Operation, Output, Ragged, Shape, Source, TagLengths,
};

/// What a message costs beside its text, in bytes of text: its rows, its key and its tag.
const MESSAGE: u64 = 256;
/// Least cost of a share: below it a device takes longer to be asked than to work.
const LEAST: u64 = 1 << 20;
/// Messages are cut at multiples of so many bytes from their start: whole tiles of the kernels for long messages.
const STEP: u64 = 128 << 10;

/// A run of messages; the first and the last may be parts of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) messages: Range<usize>,
    /// Offsets of text, as the batch counts them.
    pub(super) text: Range<u64>,
}

/// Whether parts of a message can be run by themselves.
const fn is_cut(algorithm: Algorithm, operation: Operation) -> bool {
    match algorithm {
        Algorithm::Cipher(_, Mode::Ecb | Mode::Ctr) => true,
        Algorithm::Cipher(_, Mode::Cbc) => matches!(operation, Operation::Decrypt),
        Algorithm::Cipher(_, Mode::Gcm | Mode::Xts) | Algorithm::Hash(_) => false,
    }
}

/// The shape of a share of batches of `shape` on `devices` devices.
pub(super) fn shape(shape: &Shape, devices: usize) -> Shape {
    let parts = devices.max(1) as u64;
    let longest = if is_cut(shape.algorithm, shape.operation) {
        shape.longest.min(shape.bytes.div_ceil(parts).next_multiple_of(STEP))
    } else {
        shape.longest
    };
    Shape {
        messages: shape.messages.div_ceil(devices.max(1)),
        bytes: shape.bytes.div_ceil(parts).max(longest),
        longest,
        ..*shape
    }
}

/// Cuts a checked batch into at most `devices` shares, of which none is empty unless the batch is.
pub(super) fn cut(batch: &Batch<'_>, devices: usize) -> Vec<Share> {
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
        while message < count && cost(offsets[message + 1], message + 1) <= target {
            message += 1;
            at = offsets[message];
        }
        let mut last = message;
        if message < count && is_cut(batch.algorithm, batch.operation) {
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

/// A share's own columns, where it cannot borrow those of the batch.
#[derive(Default)]
pub(super) struct Owned {
    offsets: Vec<u64>,
    nonces: Option<Vec<u8>>,
}

impl Owned {
    /// What `share` of `batch` needs. `text` is the whole input: for CBC, the block before a part is its IV.
    pub(super) fn new(batch: &Batch<'_>, share: &Share, text: &[u8]) -> Self {
        let offsets = batch.messages.offsets;
        let Share { messages, text: range } = share;
        let inner = offsets.get(messages.start + 1..messages.end).unwrap_or(&[]);
        let own = std::iter::once(range.start).chain(inner.iter().copied()).chain([range.end]);
        let starts_inside = range.start > offsets[messages.start];
        let mode = batch.algorithm.mode();
        let moved = starts_inside && matches!(mode, Some(Mode::Ctr | Mode::Cbc));
        let nonces = moved.then(|| {
            let mut rows: Vec<u8> =
                messages.clone().flat_map(|message| batch.nonces.row(message).iter().copied()).collect();
            let first: &mut [u8] = &mut rows[..BLOCK];
            if mode == Some(Mode::Ctr) {
                move_on(first, (range.start - offsets[messages.start]) / BLOCK as u64);
            } else {
                let end = usize::try_from(range.start).unwrap_or(usize::MAX);
                first.copy_from_slice(&text[end - BLOCK..end]);
            }
            rows
        });
        Self { offsets: own.map(|offset| offset - range.start).collect(), nonces }
    }

    /// The share as a batch: its input is `input`, which begins where the share does, or lies in the output.
    pub(super) fn batch<'a>(&'a self, batch: &Batch<'a>, share: &Share, source: Source<'a>) -> Batch<'a> {
        let Range { start, end } = share.messages;
        let stride = batch.tag_lengths.stride();
        Batch {
            keys: rows(&batch.keys, start..end),
            nonces: match &self.nonces {
                Some(nonces) => Column::Each { bytes: nonces, width: BLOCK },
                None => rows(&batch.nonces, start..end),
            },
            aad: rows(&batch.aad, start..end),
            messages: Messages { source, offsets: &self.offsets },
            tag_lengths: match batch.tag_lengths {
                TagLengths::Same(length) => TagLengths::Same(length),
                TagLengths::Each(lengths) => TagLengths::Each(&lengths[start..end]),
            },
            tags: if batch.tags.is_empty() { &[] } else { &batch.tags[start * stride..end * stride] },
            ..*batch
        }
    }
}

/// A counter block, moved on by `blocks` (SP 800-38A appendix B.1, all 128 bits).
fn move_on(counter: &mut [u8], blocks: u64) {
    let mut wide = [0; BLOCK];
    wide.copy_from_slice(counter);
    counter.copy_from_slice(&u128::from_be_bytes(wide).wrapping_add(u128::from(blocks)).to_be_bytes());
}

/// The rows of `range`.
fn rows<'a>(column: &Column<'a>, range: Range<usize>) -> Column<'a> {
    match *column {
        Column::Shared(bytes) => Column::Shared(bytes),
        Column::Each { bytes: [], width } => Column::Each { bytes: &[], width },
        Column::Each { bytes, width } => {
            Column::Each { bytes: &bytes[range.start * width..range.end * width], width }
        }
        Column::Ragged(Ragged { bytes, offsets }) => {
            Column::Ragged(Ragged { bytes, offsets: &offsets[range.start..=range.end] })
        }
    }
}

/// The outputs of `shares`, which follow one another, within that of `batch`.
pub(super) fn outputs<'a>(
    batch: &Batch<'_>,
    shares: &[Share],
    output: &'a mut Output<'_>,
) -> Vec<Output<'a>> {
    let stride = batch.tag_lengths.stride();
    let (mut bytes, mut tags) = (&mut *output.bytes, &mut *output.tags);
    let mut accepted = &mut *output.accepted;
    let mut at = 0;
    let mut outputs = Vec::with_capacity(shares.len());
    for Share { messages, text } in shares {
        let size = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let has_text = batch.algorithm.hash().is_none();
        let (before, length) =
            if has_text { (size(text.start - at), size(text.end - text.start)) } else { (0, 0) };
        at = text.end;
        let count = messages.len();
        let mine = std::mem::take(&mut bytes).split_at_mut(before).1.split_at_mut(length);
        let tag_bytes = if tags.is_empty() { 0 } else { count * stride };
        let my_tags = std::mem::take(&mut tags).split_at_mut(tag_bytes);
        let verdicts = if accepted.is_empty() { 0 } else { count };
        let mine_accepted = std::mem::take(&mut accepted).split_at_mut(verdicts);
        (bytes, tags, accepted) = (mine.1, my_tags.1, mine_accepted.1);
        outputs.push(Output { bytes: mine.0, tags: my_tags.0, accepted: mine_accepted.0 });
    }
    outputs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(name: &str, operation: Operation, offsets: &[u64], devices: usize) -> Vec<Share> {
        let messages = Messages { source: Source::InPlace, offsets };
        let algorithm = name.parse().unwrap();
        let column = Column::Shared(&[0; 16]);
        cut(&Batch::cipher(algorithm, operation, column, column, messages), devices)
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

    #[test]
    fn counters_move_on_over_all_their_bytes() {
        let mut counter = [0xff; 16];
        move_on(&mut counter, 3);
        assert_eq!(counter, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    }
}
