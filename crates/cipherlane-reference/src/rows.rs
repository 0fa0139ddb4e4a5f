//! A [`Column`] that owns its bytes.

use cipherlane_core::{Column, Ragged};

use crate::random::Random;

/// One byte string per message, or one for all.
#[derive(Clone, Debug)]
pub(crate) enum Rows {
    Shared(Vec<u8>),
    Each { bytes: Vec<u8>, width: usize },
    Ragged { bytes: Vec<u8>, offsets: Vec<u64> },
}

impl Rows {
    /// No bytes for any message.
    pub(crate) const NONE: Self = Self::Shared(Vec::new());

    /// `count` random rows of `width` bytes.
    pub(crate) fn each(count: usize, width: usize, random: &mut Random) -> Self {
        Self::Each { bytes: random.bytes(count * width), width }
    }

    /// Random rows of these lengths.
    pub(crate) fn ragged(lengths: impl IntoIterator<Item = usize>, random: &mut Random) -> Self {
        let offsets = offsets(0, lengths);
        let total = usize::try_from(offsets[offsets.len() - 1]).unwrap_or(usize::MAX);
        Self::Ragged { bytes: random.bytes(total), offsets }
    }

    /// The row of each item, one after the other.
    pub(crate) fn of<T>(items: &[T], row: impl Fn(&T) -> &[u8]) -> Self {
        let offsets = offsets(0, items.iter().map(|item| row(item).len()));
        Self::Ragged { bytes: items.iter().flat_map(|item| row(item).iter().copied()).collect(), offsets }
    }

    pub(crate) fn column(&self) -> Column<'_> {
        match self {
            Self::Shared(bytes) => Column::Shared(bytes),
            Self::Each { bytes, width } => Column::Each { bytes, width: *width },
            Self::Ragged { bytes, offsets } => Column::Ragged(Ragged { bytes, offsets }),
        }
    }

    /// Flips one bit of row `index`; of all rows if they are shared. False if the row is empty.
    pub(crate) fn flip(&mut self, index: usize, random: &mut Random) -> bool {
        let row = match self {
            Self::Shared(bytes) => &mut bytes[..],
            Self::Each { bytes, width } => &mut bytes[index * *width..(index + 1) * *width],
            Self::Ragged { bytes, offsets } => &mut bytes[item(offsets, index)],
        };
        flip(row, random)
    }
}

/// Flips one bit. False if there is none.
pub(crate) fn flip(bytes: &mut [u8], random: &mut Random) -> bool {
    if bytes.is_empty() {
        return false;
    }
    bytes[random.below(bytes.len())] ^= 1 << random.below(8);
    true
}

/// Offsets of items of these lengths, the first at `start`.
pub(crate) fn offsets(start: u64, lengths: impl IntoIterator<Item = usize>) -> Vec<u64> {
    let mut end = start;
    let ends = lengths.into_iter().map(|length| {
        end += length as u64;
        end
    });
    std::iter::once(start).chain(ends).collect()
}

/// Where item `index` lies.
#[allow(clippy::cast_possible_truncation)] // offsets into buffers that exist
pub(crate) fn item(offsets: &[u64], index: usize) -> std::ops::Range<usize> {
    offsets[index] as usize..offsets[index + 1] as usize
}
