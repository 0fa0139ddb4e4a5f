//! One byte string per message, or one for all.

/// One byte string per message of a batch: keys, nonces or additional data.
#[derive(Clone, Copy)]
pub enum Column<'a> {
    /// The same bytes for every message.
    Shared(&'a [u8]),
    /// Message `i` has `bytes[i * width..(i + 1) * width]`.
    Each {
        /// All rows, one after the other.
        bytes: &'a [u8],
        /// Bytes of one row.
        width: usize,
    },
    /// Rows of different lengths.
    Ragged(Ragged<'a>),
}

impl<'a> Column<'a> {
    /// No bytes for any message.
    pub const EMPTY: Self = Self::Shared(&[]);

    /// The bytes of message `index`.
    ///
    /// # Panics
    /// If the column has no such row; [`crate::Batch::check`] has ruled that out for a checked batch.
    #[must_use]
    #[inline]
    pub fn row(&self, index: usize) -> &'a [u8] {
        match *self {
            Self::Shared(bytes) => bytes,
            Self::Each { bytes, width } => &bytes[index * width..(index + 1) * width],
            Self::Ragged(ragged) => ragged.item(index),
        }
    }

    /// Rows that the column holds, or `None` where one row serves any number of messages.
    #[must_use]
    pub fn rows(&self) -> Option<usize> {
        match *self {
            // Rows of no bytes: there are as many as anyone asks for.
            Self::Shared(_) | Self::Each { bytes: [], width: 0 } => None,
            Self::Each { bytes, width } if width > 0 && bytes.len() % width == 0 => Some(bytes.len() / width),
            // Not a whole number of rows: no count of messages fits.
            Self::Each { .. } => Some(usize::MAX),
            Self::Ragged(ragged) => Some(ragged.items()),
        }
    }

    /// The length of every row, if they all have the same one without looking at each.
    #[must_use]
    pub const fn width(&self) -> Option<usize> {
        match *self {
            Self::Shared(bytes) => Some(bytes.len()),
            Self::Each { width, .. } => Some(width),
            Self::Ragged(_) => None,
        }
    }

    /// Whether one row serves all messages.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }
}

// Columns hold keys: their contents never reach a log.
impl std::fmt::Debug for Column<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shared(bytes) => write!(f, "Shared({} bytes)", bytes.len()),
            Self::Each { bytes, width } => write!(f, "Each({} bytes, {width} a row)", bytes.len()),
            Self::Ragged(ragged) => ragged.fmt(f),
        }
    }
}

/// Byte strings of different lengths in one buffer: item `i` is `bytes[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Copy)]
pub struct Ragged<'a> {
    /// All items, one after the other.
    pub bytes: &'a [u8],
    /// One more offset than there are items, never falling.
    pub offsets: &'a [u64],
}

impl std::fmt::Debug for Ragged<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ragged({} rows)", self.items())
    }
}

impl<'a> Ragged<'a> {
    /// The bytes of item `index`.
    ///
    /// # Panics
    /// If there is no such item or its offsets lie outside the buffer.
    #[must_use]
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // an offset beyond usize cannot index a slice and panics
    pub fn item(&self, index: usize) -> &'a [u8] {
        &self.bytes[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// Number of items.
    #[must_use]
    pub const fn items(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted() {
        assert_eq!(Column::Shared(&[1, 2]).rows(), None);
        assert_eq!(Column::Each { bytes: &[0; 12], width: 4 }.rows(), Some(3));
        assert_eq!(Column::Each { bytes: &[0; 13], width: 4 }.rows(), Some(usize::MAX));
        assert_eq!(Column::Each { bytes: &[], width: 0 }.rows(), None);
        let ragged = Ragged { bytes: &[1, 2, 3], offsets: &[0, 0, 3] };
        assert_eq!(Column::Ragged(ragged).rows(), Some(2));
        assert_eq!(ragged.item(1), [1, 2, 3]);
    }

    #[test]
    fn debug_shows_no_contents() {
        let text = format!("{:?}", Column::Shared(&[0xab; 16]));
        assert_eq!(text, "Shared(16 bytes)");
        let ragged = Ragged { bytes: &[0xab; 16], offsets: &[0, 16] };
        assert_eq!(format!("{ragged:?}"), "Ragged(1 rows)");
    }
}
