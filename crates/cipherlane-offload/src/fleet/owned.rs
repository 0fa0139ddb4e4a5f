//! A share of a batch as a batch of its own.

use std::ops::Range;

use cipherlane_core::{BLOCK, Batch, Column, Messages, Mode, Ragged, Source, TagLengths};

use super::share::Share;

/// A share's own columns, where it cannot borrow those of the batch.
#[derive(Default)]
pub(super) struct Owned {
    offsets: Vec<u64>,
    nonces: Option<Vec<u8>>,
}

impl Owned {
    /// Of a message without its text.
    pub(super) fn without_text() -> Self {
        Self { offsets: vec![0, 0], nonces: None }
    }

    /// What `share` of `batch` needs. `text` is the whole input: for CBC, the block before a part is its IV.
    pub(super) fn new(batch: &Batch<'_>, share: &Share, text: &[u8]) -> Self {
        let offsets = batch.messages.offsets;
        let Share { messages, text: range } = share;
        let inner = offsets.get(messages.start + 1..messages.end).unwrap_or(&[]);
        let mut own = Vec::with_capacity(inner.len() + 2);
        own.push(0);
        own.extend(inner.iter().map(|offset| offset - range.start));
        own.push(range.end - range.start);
        let starts_inside = share.starts_inside(offsets);
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
        Self { offsets: own, nonces }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_move_on_over_all_their_bytes() {
        let mut counter = [0xff; 16];
        move_on(&mut counter, 3);
        assert_eq!(counter, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    }
}
