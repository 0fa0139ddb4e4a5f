//! A batch of messages.

mod check;
mod checked;
mod texts;

use crate::BLOCK;
use crate::algorithm::{Algorithm, Hash, Operation};
use crate::column::Column;

pub use checked::Checked;
pub use texts::DeviceTexts;

/// Messages that are run together: one algorithm and operation, with one key or a key each.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The cipher in its mode, or the hash function.
    pub algorithm: Algorithm,
    /// What is done to each message.
    pub operation: Operation,
    /// Keys of [`Algorithm::key_bytes`] bytes.
    pub keys: Column<'a>,
    /// Nonces of [`Algorithm::nonce_bytes`] bytes: nonce, IV, initial counter block or tweak.
    pub nonces: Column<'a>,
    /// Additional authenticated data (AEAD only).
    pub aad: Column<'a>,
    /// The texts.
    pub messages: Messages<'a>,
    /// Bytes of each tag (AEAD) or digest (hash).
    pub tag_lengths: TagLengths<'a>,
    /// The tags to check, one row of [`TagLengths::stride`] bytes per message (`open` only).
    pub tags: &'a [u8],
}

/// The texts of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Messages<'a> {
    /// Where the input lies.
    pub source: Source<'a>,
    /// Message `i` is `offsets[i]..offsets[i + 1]`, in the input and in the output alike.
    pub offsets: &'a [u64],
}

/// Where the input of a batch lies.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// In a buffer of its own.
    Apart(&'a [u8]),
    /// In [`Output::bytes`](crate::Output::bytes), which the results overwrite.
    InPlace,
    /// In memory of a device, which [`DeviceTexts`] name: for [`Resident::bind`](crate::Resident::bind) alone. Results stay
    /// there, too.
    OnDevice,
}

// Texts are secrets, too: their contents never reach a log.
impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Apart(bytes) => write!(f, "Apart({} bytes)", bytes.len()),
            Self::InPlace => f.write_str("InPlace"),
            Self::OnDevice => f.write_str("OnDevice"),
        }
    }
}

/// Tag lengths in bytes.
#[derive(Clone, Copy, Debug)]
pub enum TagLengths<'a> {
    /// All tags have this length.
    Same(usize),
    /// Tag `i` has `lengths[i]` bytes, at the front of a row of 16: `seal` fills the rest with zeros, `open` does not look
    /// at it.
    Each(&'a [u8]),
}

impl TagLengths<'_> {
    /// The length of tag `index`.
    ///
    /// # Panics
    /// If there is no such tag.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> usize {
        match *self {
            Self::Same(length) => length,
            Self::Each(lengths) => usize::from(lengths[index]),
        }
    }

    /// Bytes between the starts of two tags: their common length, or 16 where lengths differ.
    #[must_use]
    pub const fn stride(&self) -> usize {
        match *self {
            Self::Same(length) => length,
            Self::Each(_) => BLOCK,
        }
    }
}

impl<'a> Batch<'a> {
    /// A batch to encrypt or decrypt without authentication.
    #[must_use]
    pub const fn cipher(
        algorithm: Algorithm,
        operation: Operation,
        keys: Column<'a>,
        nonces: Column<'a>,
        messages: Messages<'a>,
    ) -> Self {
        let aad = Column::EMPTY;
        Self {
            algorithm,
            operation,
            keys,
            nonces,
            aad,
            messages,
            tag_lengths: TagLengths::Same(0),
            tags: &[],
        }
    }

    /// A batch to seal with tags of 16 bytes; set [`Batch::tag_lengths`] for others.
    #[must_use]
    pub const fn seal(
        algorithm: Algorithm,
        keys: Column<'a>,
        nonces: Column<'a>,
        aad: Column<'a>,
        messages: Messages<'a>,
    ) -> Self {
        let (operation, tag_lengths) = (Operation::Seal, TagLengths::Same(BLOCK));
        Self { algorithm, operation, keys, nonces, aad, messages, tag_lengths, tags: &[] }
    }

    /// A batch to open with `tags` of 16 bytes; set [`Batch::tag_lengths`] for others.
    #[must_use]
    pub const fn open(
        algorithm: Algorithm,
        keys: Column<'a>,
        nonces: Column<'a>,
        aad: Column<'a>,
        messages: Messages<'a>,
        tags: &'a [u8],
    ) -> Self {
        let (operation, tag_lengths) = (Operation::Open, TagLengths::Same(BLOCK));
        Self { algorithm, operation, keys, nonces, aad, messages, tag_lengths, tags }
    }

    /// A batch to hash, with digests of `digest_bytes` bytes: [`Hash::usual_digest_bytes`] or, for SHAKE, any number.
    #[must_use]
    pub const fn hash(hash: Hash, messages: Messages<'a>, digest_bytes: usize) -> Self {
        let (algorithm, operation) = (Algorithm::Hash(hash), Operation::Hash);
        let (none, tag_lengths) = (Column::EMPTY, TagLengths::Same(digest_bytes));
        Self { algorithm, operation, keys: none, nonces: none, aad: none, messages, tag_lengths, tags: &[] }
    }

    /// Number of messages.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.messages.offsets.len().saturating_sub(1)
    }

    /// Whether there is no message.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
