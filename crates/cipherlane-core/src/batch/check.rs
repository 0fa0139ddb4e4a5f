//! The check that every batch passes before a session touches it.

use std::fmt::Display;

use super::{Batch, DeviceTexts, Source, TagLengths};
use crate::algorithm::{Algorithm, Hash, Mode, Operation};
use crate::column::Column;
use crate::error::BatchError;
use crate::limits;
use crate::output::Output;
use crate::shape::Shape;
use crate::survey::{Spread, Survey, alone};

/// How many bytes of text there is room for, wherever it lies.
struct Room {
    what: &'static str,
    input: usize,
    output: usize,
    in_place: bool,
}

impl Batch<'_> {
    /// Checks everything that a kernel relies on, against `output` as well, and returns the sizes.
    ///
    /// No session runs a batch that has not passed it: see [`Checked`](super::Checked). After it, the texts lie in the host's
    /// memory, each offset lies within both buffers, each column has a row of the right length for each message, and each length
    /// is one that the mode takes.
    ///
    /// # Errors
    /// The first thing that does not fit. [`BatchError::OnDevice`] if the texts lie on a device.
    pub fn check(&self, output: &Output<'_>) -> Result<Shape, BatchError> {
        self.check_by(output, &alone)
    }

    /// The same, where `spread` shares out the looks at offsets.
    pub(super) fn check_by(&self, output: &Output<'_>, spread: &Spread<'_>) -> Result<Shape, BatchError> {
        let bytes = output.bytes.len();
        let (what, input, in_place) = match self.messages.source {
            Source::Apart(input) => ("messages", input.len(), false),
            Source::InPlace => ("messages (in place)", bytes, true),
            Source::OnDevice => return Err(BatchError::OnDevice),
        };
        self.check_in(&Room { what, input, output: bytes, in_place }, output, spread)
    }

    /// The same for a batch whose texts lie on a device: after it each offset lies within `texts`.
    ///
    /// # Errors
    /// The first thing that does not fit. [`BatchError::OnHost`] if the texts lie in the host's memory.
    pub fn check_on_device(&self, texts: &DeviceTexts, output: &Output<'_>) -> Result<Shape, BatchError> {
        if !matches!(self.messages.source, Source::OnDevice) {
            return Err(BatchError::OnHost);
        }
        if !output.bytes.is_empty() {
            return Err(self.unused("output bytes of the host, as its texts come out on the device"));
        }
        if self.operation == Operation::Hash && texts.output().is_some() {
            return Err(self.unused("memory to write texts to, as it only reads them"));
        }
        let room = Room {
            what: "messages (on the device)",
            input: texts.input().bytes(),
            output: texts.output().map_or(0, |memory| memory.bytes()),
            in_place: matches!(texts, DeviceTexts::InPlace(_)),
        };
        self.check_in(&room, output, &alone)
    }

    /// Checks that it asks for what a session was opened for.
    ///
    /// # Errors
    /// [`BatchError::OtherSession`] if `algorithm` or `operation` is another than its own.
    pub fn check_operation(&self, algorithm: Algorithm, operation: Operation) -> Result<(), BatchError> {
        if (self.algorithm, self.operation) == (algorithm, operation) {
            return Ok(());
        }
        Err(BatchError::OtherSession {
            session: format!("{algorithm} {operation}"),
            batch: format!("{} {}", self.algorithm, self.operation),
        })
    }

    fn check_in(&self, room: &Room, output: &Output<'_>, spread: &Spread<'_>) -> Result<Shape, BatchError> {
        if !self.algorithm.operations().contains(&self.operation) {
            return Err(BatchError::Operation { algorithm: self.algorithm, operation: self.operation });
        }
        let lengths = self.check_messages(room, spread)?;
        let key_bytes = self.algorithm.key_bytes();
        self.check_column(("keys", "keys"), &self.keys, key_bytes, |found| found == key_bytes, spread)?;
        match self.algorithm.nonce_bytes() {
            Some(bytes) => {
                self.check_column(("nonces", "nonces"), &self.nonces, bytes, |found| found == bytes, spread)?;
            }
            // SP 800-38D section 5.2.1.1: 1 <= len(IV).
            None => {
                self.check_column(
                    ("nonces", "nonces"),
                    &self.nonces,
                    "1 or more",
                    |found| found > 0,
                    spread,
                )?;
            }
        }
        if self.algorithm.is_aead() {
            let right = |found| found as u64 <= limits::GCM_AAD_BYTES;
            self.check_column(("rows of AAD", "AAD"), &self.aad, "at most 2^61 - 1", right, spread)?;
        } else if !matches!(self.aad, Column::Shared([]) | Column::Each { bytes: [], width: 0 }) {
            return Err(self.unused("AAD"));
        }
        match self.algorithm {
            Algorithm::Cipher(..) if self.algorithm.is_aead() => self.check_tags(output)?,
            Algorithm::Cipher(..) => self.check_no_tags()?,
            Algorithm::Hash(hash) => self.check_digests(hash, output)?,
        }
        self.check_lengths(&lengths, room.in_place)
    }

    /// Returns what is known of the messages' lengths.
    fn check_messages(&self, room: &Room, spread: &Spread<'_>) -> Result<Survey, BatchError> {
        let offsets = self.messages.offsets;
        let lengths = Survey::of(offsets, spread);
        if !lengths.fits(offsets, room.input) {
            return Err(BatchError::Offsets { what: room.what, bytes: room.input });
        }
        if self.operation == Operation::Hash {
            // Its results are digests: no text comes out, so there is no place to read it from, either.
            return if room.in_place {
                Err(self.unused("messages in place, as it leaves them unchanged"))
            } else {
                Ok(lengths)
            };
        }
        // The last offset is within a buffer, hence a usize.
        #[allow(clippy::cast_possible_truncation)]
        let wanted = offsets.last().map_or(0, |&end| end as usize);
        check_size("bytes of text", wanted, room.output).map(|()| lengths)
    }

    /// Checks that there is a row for each message, as long as is `right`: a number of bytes, or all from one to another.
    fn check_column(
        &self,
        (rows, what): (&'static str, &'static str),
        column: &Column<'_>,
        wanted: impl Display,
        right: impl Fn(usize) -> bool,
        spread: &Spread<'_>,
    ) -> Result<(), BatchError> {
        let lengths = match column {
            Column::Shared(_) | Column::Each { .. } => None,
            Column::Ragged(ragged) => {
                let lengths = Survey::of(ragged.offsets, spread);
                if !lengths.fits(ragged.offsets, ragged.bytes.len()) {
                    return Err(BatchError::Offsets { what, bytes: ragged.bytes.len() });
                }
                Some(lengths)
            }
        };
        if column.rows().is_some_and(|count| count != self.len()) {
            return Err(BatchError::Rows { what: rows, messages: self.len() });
        }
        // Rows lie within a buffer: their lengths are such.
        #[allow(clippy::cast_possible_truncation)]
        let ends = lengths.map(|lengths| [lengths.shortest as usize, lengths.longest as usize]);
        let all = match (column.width(), ends) {
            (Some(width), _) => right(width),
            (None, Some(ends)) => ends.into_iter().all(&right),
            (None, None) => false,
        };
        if all || self.is_empty() {
            return Ok(());
        }
        let mut found = (0..self.len()).map(|message| (message, column.row(message).len()));
        let wrong = found.find(|&(_, found)| !right(found));
        wrong.map_or(Ok(()), |(message, found)| Err(self.width_error(what, &wanted, message, found)))
    }

    #[cold]
    fn width_error(
        &self,
        what: &'static str,
        wanted: &dyn Display,
        message: usize,
        found: usize,
    ) -> BatchError {
        BatchError::Width { algorithm: self.algorithm, what, wanted: wanted.to_string(), message, found }
    }

    const fn unused(&self, what: &'static str) -> BatchError {
        BatchError::Unused { algorithm: self.algorithm, what }
    }

    fn check_no_tags(&self) -> Result<(), BatchError> {
        match self.tag_lengths {
            TagLengths::Same(0) if self.tags.is_empty() => Ok(()),
            TagLengths::Same(_) | TagLengths::Each(_) => Err(self.unused("tags")),
        }
    }

    fn check_digests(&self, hash: Hash, output: &Output<'_>) -> Result<(), BatchError> {
        let TagLengths::Same(found) = self.tag_lengths else {
            return Err(self.unused("digest lengths that differ"));
        };
        if !self.tags.is_empty() {
            return Err(self.unused("digests to check"));
        }
        match hash.digest_bytes() {
            Some(wanted) if found != wanted => return Err(self.width_error("digests", &wanted, 0, found)),
            None if !limits::digest_bytes(hash).contains(&found) => {
                let wanted = format_args!("1 to {}", limits::XOF_BYTES);
                return Err(self.width_error("digests", &wanted, 0, found));
            }
            Some(_) | None => {}
        }
        let bytes = self.len().checked_mul(found);
        check_size("bytes of digests", bytes.unwrap_or(usize::MAX), output.tags.len())
    }

    fn check_tags(&self, output: &Output<'_>) -> Result<(), BatchError> {
        let messages = self.len();
        if let TagLengths::Each(lengths) = self.tag_lengths
            && lengths.len() != messages
        {
            return Err(BatchError::Tags { what: "tag lengths", messages });
        }
        let all = if matches!(self.tag_lengths, TagLengths::Same(_)) { messages.min(1) } else { messages };
        for message in 0..all {
            let found = self.tag_lengths.get(message);
            if !limits::GCM_TAG_BYTES.contains(&found) {
                return Err(self.width_error("tags", &"4, 8 or 12 to 16", message, found));
            }
        }
        let wanted = messages * self.tag_lengths.stride();
        match self.operation {
            Operation::Open if self.tags.len() != wanted => {
                Err(BatchError::Tags { what: "tags to check", messages })
            }
            Operation::Open => check_size("verdicts (accepted)", messages, output.accepted.len()),
            _ if !self.tags.is_empty() => Err(self.unused("tags to check when it seals")),
            _ => check_size("bytes of tags", wanted, output.tags.len()),
        }
    }

    fn check_lengths(&self, lengths: &Survey, in_place: bool) -> Result<Shape, BatchError> {
        let (wanted, right) = limits::text_bytes(self.algorithm);
        let &Survey { bits, longest, shortest, .. } = lengths;
        // Modes take multiples of a block, which no low bit tells of, or lengths between two.
        let all = match self.algorithm.mode() {
            Some(Mode::Ecb | Mode::Cbc) => right(bits),
            _ => self.is_empty() || (right(shortest) && right(longest)),
        };
        if !all {
            let wrong = |(_, pair): &(usize, &[u64])| !right(pair[1] - pair[0]);
            if let Some((message, pair)) = self.messages.offsets.windows(2).enumerate().find(wrong) {
                let found = pair[1] - pair[0];
                return Err(BatchError::Length { algorithm: self.algorithm, wanted, message, found });
            }
        }
        Ok(Shape {
            algorithm: self.algorithm,
            operation: self.operation,
            messages: self.len(),
            bytes: span(self.messages.offsets),
            longest,
            beside: self.bytes_beside(),
            shared_key: self.keys.is_shared(),
            in_place,
        })
    }

    /// [`Shape::beside`] of a batch whose columns and offsets are checked. One row may serve so many messages that the sum
    /// has no place in 64 bits; it counts as all that have.
    fn bytes_beside(&self) -> u64 {
        let each = match (self.algorithm, self.aad) {
            (Algorithm::Hash(hash), _) => self.tag_lengths.stride().saturating_sub(hash.usual_digest_bytes()),
            (Algorithm::Cipher(..), Column::Ragged(rows)) => return span(rows.offsets),
            (Algorithm::Cipher(..), Column::Shared(row)) => row.len(),
            (Algorithm::Cipher(..), Column::Each { width, .. }) => width,
        };
        (each as u64).saturating_mul(self.len() as u64)
    }
}

/// Bytes between the first of `offsets`, which never fall, and the last.
fn span(offsets: &[u64]) -> u64 {
    offsets.last().zip(offsets.first()).map_or(0, |(last, first)| last - first)
}

fn check_size(what: &'static str, wanted: usize, found: usize) -> Result<(), BatchError> {
    if found < wanted { Err(BatchError::Output { what, wanted, found }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::super::Messages;
    use super::*;
    use crate::algorithm::Cipher;
    use crate::column::Ragged;

    const GCM: Algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);

    fn messages<'a>(bytes: &'a [u8], offsets: &'a [u64]) -> Messages<'a> {
        Messages { source: Source::Apart(bytes), offsets }
    }

    fn check_seal(keys: Column<'_>, nonces: Column<'_>, texts: Messages<'_>) -> Result<Shape, BatchError> {
        let (mut bytes, mut tags) = (vec![0; 100], vec![0; 100]);
        let batch = Batch::seal(GCM, keys, nonces, Column::EMPTY, texts);
        batch.check(&Output::sealed(&mut bytes, &mut tags))
    }

    #[test]
    fn a_well_formed_batch_has_a_shape() {
        let shape = check_seal(
            Column::Shared(&[0; 16]),
            Column::Each { bytes: &[0; 24], width: 12 },
            messages(&[0; 40], &[0, 40, 40]),
        )
        .unwrap();
        assert_eq!((shape.messages, shape.bytes, shape.longest, shape.shared_key), (2, 40, 40, true));
    }

    #[test]
    fn aad_and_long_digests_count_beside_the_texts() {
        let texts = messages(&[0; 40], &[0, 40, 40]);
        let (mut bytes, mut tags) = (vec![0; 100], vec![0; 100]);
        let ragged = Ragged { bytes: &[0; 9], offsets: &[2, 2, 9] };
        for (aad, beside) in [
            (Column::EMPTY, 0),
            (Column::Shared(&[0; 5]), 10),
            (Column::Each { bytes: &[0; 6], width: 3 }, 6),
            (Column::Ragged(ragged), 7),
        ] {
            let batch = Batch::seal(GCM, Column::Shared(&[0; 16]), Column::Shared(&[0; 12]), aad, texts);
            let shape = batch.check(&Output::sealed(&mut bytes, &mut tags)).unwrap();
            assert_eq!((shape.bytes, shape.beside), (40, beside), "{aad:?}");
        }
        for (hash, digest, beside) in
            [(Hash::Sha512, 64, 0), (Hash::Shake128, 8, 0), (Hash::Shake128, 32, 0), (Hash::Shake128, 50, 36)]
        {
            let shape = Batch::hash(hash, texts, digest).check(&Output::digests(&mut [0; 128])).unwrap();
            assert_eq!((shape.bytes, shape.beside), (40, beside), "{hash:?}, {digest} bytes");
        }
    }

    #[test]
    fn wrong_parts_are_named() {
        let (key, nonce) = (Column::Shared(&[0; 16]), Column::Shared(&[0; 12]));
        let one = messages(&[0; 40], &[0, 40]);
        let error = |keys, nonces, texts| check_seal(keys, nonces, texts).unwrap_err().to_string();
        assert!(error(Column::Shared(&[0; 24]), nonce, one).contains("keys of 16 bytes"));
        assert!(error(key, Column::EMPTY, one).contains("nonces of 1 or more"));
        assert!(error(Column::Each { bytes: &[0; 33], width: 16 }, nonce, one).contains("one row each"));
        assert!(error(key, nonce, messages(&[0; 40], &[0, 41])).contains("offsets of messages"));
        assert!(error(key, nonce, messages(&[0; 40], &[])).contains("offsets of messages"));
        let ragged = Ragged { bytes: &[0; 3], offsets: &[0, 4] };
        assert!(error(key, Column::Ragged(ragged), one).contains("offsets of nonces"));
        assert!(error(key, nonce, messages(&[0; 200], &[0, 200])).contains("200 bytes of text"));
    }

    #[test]
    fn a_batch_for_another_session_is_refused() {
        let (key, nonce) = (Column::Shared(&[0; 16]), Column::Shared(&[0; 12]));
        let batch = Batch::seal(GCM, key, nonce, Column::EMPTY, messages(&[0; 16], &[0, 16]));
        assert_eq!(batch.check_operation(GCM, Operation::Seal), Ok(()));
        let error = batch.check_operation(GCM, Operation::Open).unwrap_err().to_string();
        assert!(error.contains("runs aes-128-gcm open, the batch asks for aes-128-gcm seal"), "{error}");
        let other = Algorithm::new(Cipher::Aes256, Mode::Gcm);
        assert!(batch.check_operation(other, Operation::Seal).is_err());
    }

    #[test]
    fn tags_are_checked() {
        let mut bytes = vec![0; 16];
        let mut accepted = [false];
        let (key, nonce) = (Column::Shared(&[0; 16]), Column::Shared(&[0; 12]));
        let mut batch = Batch::open(GCM, key, nonce, Column::EMPTY, messages(&[0; 16], &[0, 16]), &[0; 5]);
        batch.tag_lengths = TagLengths::Same(5);
        let error = batch.check(&Output::opened(&mut bytes, &mut accepted)).unwrap_err();
        assert!(error.to_string().contains("tags of 4, 8 or 12 to 16 bytes"), "{error}");
        batch.tag_lengths = TagLengths::Same(4);
        let error = batch.check(&Output::opened(&mut bytes, &mut accepted)).unwrap_err();
        assert!(error.to_string().contains("1 tags to check"), "{error}");
    }

    #[test]
    fn a_hash_takes_texts_and_nothing_else() {
        let texts = messages(&[0; 40], &[0, 40, 40]);
        let mut digests = vec![0; 64];
        let good = Batch::hash(Hash::Sha256, texts, 32);
        assert_eq!(good.check(&Output::digests(&mut digests)).unwrap().messages, 2);
        let mut error =
            |batch: Batch<'_>| batch.check(&Output::digests(&mut digests)).unwrap_err().to_string();
        assert!(error(Batch { keys: Column::Shared(&[0; 16]), ..good }).contains("keys of 0 bytes"));
        assert!(error(Batch { aad: Column::Shared(&[0; 16]), ..good }).contains("no AAD"));
        assert!(error(Batch::hash(Hash::Sha256, texts, 31)).contains("digests of 32 bytes"));
        assert!(error(Batch::hash(Hash::Shake128, texts, 0)).contains("1 to"));
        assert!(error(Batch::hash(Hash::Shake128, texts, 33)).contains("66 bytes of digests"));
        let in_place = Messages { source: Source::InPlace, offsets: &[0] };
        assert!(error(Batch::hash(Hash::Sha256, in_place, 32)).contains("in place"));
        assert!(error(Batch { operation: Operation::Seal, ..good }).contains("it can hash"));
    }

    #[test]
    fn modes_say_which_lengths_they_take() {
        let mut bytes = vec![0; 64];
        for (mode, length, part) in [(Mode::Cbc, 17, "whole blocks"), (Mode::Xts, 15, "16 bytes to 16 MiB")] {
            let algorithm = Algorithm::new(Cipher::Aes256, mode);
            let (key, offsets) = (vec![0; algorithm.key_bytes()], [0, length]);
            let batch = Batch::cipher(
                algorithm,
                Operation::Encrypt,
                Column::Shared(&key),
                Column::Shared(&[0; 16]),
                messages(&[0; 64], &offsets),
            );
            let error = batch.check(&Output::text(&mut bytes)).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
