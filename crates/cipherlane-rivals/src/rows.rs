//! Rows of a column, whose kind is looked at once for many messages.

use cipherlane_core::Column;

/// A column of a checked batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    /// One row for all messages.
    Same(&'a [u8]),
    /// A row for each, of `width` bytes.
    Each {
        /// The rows, one behind the other.
        bytes: &'a [u8],
        width: usize,
    },
    /// A row for each, of lengths of their own.
    Ragged(&'a Column<'a>),
}

impl<'a> Rows<'a> {
    pub(crate) fn of(column: &'a Column<'a>) -> Self {
        match *column {
            Column::Shared(row) => Self::Same(row),
            Column::Each { bytes, width } => Self::Each { bytes, width },
            _ => Self::Ragged(column),
        }
    }

    pub(crate) const fn are_same(&self) -> bool {
        matches!(self, Self::Same(_))
    }

    /// The row of message `index`.
    #[inline(always)] // a call more would count as the library's time
    pub(crate) fn row(&self, index: usize) -> &'a [u8] {
        match *self {
            Self::Same(row) => row,
            Self::Each { bytes, width } => &bytes[index * width..][..width],
            Self::Ragged(column) => column.row(index),
        }
    }
}
