//! One's own workload, from random bytes or from a file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use cipherlane::{Algorithm, Operation};
use cipherlane_record::Keys;
use cipherlane_record::units::bytes;
use thiserror::Error;

use super::part::{Part, Rows, full_tag, mixed_offsets, text_bytes, uniform_offsets};
use super::{Job, Lengths, Outline, Request, Task, WorkloadError};
use crate::random::Random;

/// One's own workload: messages without AAD; nonces of 12 bytes in GCM; tags of 16 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Custom {
    /// The cipher in its mode.
    pub algorithm: Algorithm,
    /// What is done to each message.
    pub operation: Operation,
    /// Bytes of each message. An input is cut into messages of one length, of which the last one may be shorter.
    pub lengths: Lengths,
    /// Number of messages; `None` takes as many as make a working set that fits the second-level cache, or cuts the
    /// whole input.
    pub messages: Option<usize>,
    /// One key for all, or one each.
    pub keys: Keys,
    /// A file whose bytes are cut into messages; `None` takes random bytes.
    pub input: Option<PathBuf>,
}

/// Why a custom workload cannot be had.
#[derive(Debug, Error)]
pub enum InputError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file is too short.
    #[error("{} has {found} bytes, too few for {wanted} bytes of messages; give fewer messages or none", path.display())]
    Short {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: usize,
        /// Bytes of the messages that were asked for.
        wanted: usize,
    },
    /// A device or a pipe, of which nobody knows how much comes.
    #[error(
        "{} has no length, and may have no end: of such an input {} are read at most; give a number of messages, or write it to a file first",
        path.display(),
        bytes(MOST_UNTOLD)
    )]
    Endless {
        /// The device or pipe.
        path: PathBuf,
    },
    /// A file of many messages of no bytes.
    #[error("an input is cut into messages of at least 1 byte; give a size")]
    NoSize,
    /// A file that would be cut into messages of different lengths.
    #[error("an input is cut into messages of one length, not of {lengths}; give one size")]
    Ragged {
        /// The lengths that were asked for.
        lengths: Lengths,
    },
    /// Nothing to run.
    #[error("a workload has at least 1 message; {}", remedy)]
    NoMessages {
        /// What helps.
        remedy: &'static str,
    },
    /// More than the machine can hold.
    #[error(
        "{messages} x {message_bytes} bytes need more memory than this machine has left; take fewer messages or shorter ones"
    )]
    Memory {
        /// Messages.
        messages: usize,
        /// Bytes of each.
        message_bytes: usize,
    },
}

const GCM_NONCE_BYTES: usize = 12;

/// Bytes that are read at most of an input without a length, unless a number of messages says how many are wanted.
const MOST_UNTOLD: u64 = 256 << 20;

impl Custom {
    pub(super) const fn outline(&self) -> Outline {
        Outline { messages: self.messages, message_bytes: self.lengths.most(), keys: self.keys() }
    }

    /// Its name, which tells lengths that differ.
    pub(super) fn name(&self) -> Cow<'static, str> {
        match self.lengths.one() {
            Some(_) => "custom".into(),
            None => format!("lengths-{}-{}", self.lengths.least(), self.lengths.most()).into(),
        }
    }

    /// The keys that its messages have: where the algorithm takes none, there cannot be one each.
    #[must_use]
    pub const fn keys(&self) -> Keys {
        if self.algorithm.key_bytes() == 0 { Keys::Same } else { self.keys }
    }

    /// The number of messages: of random bytes, as many as were asked for or fill `working_set_bytes`.
    fn count(&self, working_set_bytes: usize) -> usize {
        let other = self.algorithm.key_bytes() + 2 * cipherlane::BLOCK;
        self.messages.unwrap_or_else(|| super::filling(working_set_bytes, self.lengths.mean(), other))
    }

    /// The same with its number of messages told, but for an input, whose length tells it, and the keys that they have.
    pub(super) fn settled(&self, working_set_bytes: usize) -> Self {
        let messages = if self.input.is_some() { self.messages } else { Some(self.count(working_set_bytes)) };
        Self { messages, keys: self.keys(), ..self.clone() }
    }

    /// Looks at what is known before anything is measured, or read.
    ///
    /// # Errors
    /// If there are no messages, more than can be held, or none in the input.
    pub fn check(&self) -> Result<(), InputError> {
        if self.messages == Some(0) {
            return Err(InputError::NoMessages { remedy: "give a number of messages from 1" });
        }
        match &self.input {
            Some(path) => self.check_input(path),
            None => self.messages.map_or(Ok(()), |messages| self.check_memory(messages)),
        }
    }

    /// Looks at the file at `path`. A pipe is not opened, since it can be read once.
    fn check_input(&self, path: &Path) -> Result<(), InputError> {
        let message_bytes = self.cut_bytes()?;
        let failed = |error| InputError::File { path: path.to_owned(), error };
        let there = path.metadata().map_err(failed)?;
        if there.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if there.file_type().is_fifo() || there.file_type().is_socket() {
            return Ok(());
        }
        let file = File::open(path).map_err(failed)?;
        if !there.is_file() {
            let may_be_endless = there.file_type().is_char_device() && !file.is_terminal();
            return if may_be_endless && self.messages.is_none() {
                Err(InputError::Endless { path: path.to_owned() })
            } else {
                Ok(())
            };
        }
        // Files that the system makes up, as those of /proc, have no length and bytes all the same.
        let is_told = there.len() > 0 || file.take(1).read_to_end(&mut Vec::new()).map_err(failed)? == 0;
        if !is_told {
            return Ok(());
        }
        let found = usize::try_from(there.len()).unwrap_or(usize::MAX);
        self.check_length(path, found)?;
        self.check_memory(self.wanted().unwrap_or(found).div_ceil(message_bytes))
    }

    /// Bytes of each message that an input is cut into.
    fn cut_bytes(&self) -> Result<usize, InputError> {
        match self.lengths.one() {
            Some(0) => Err(InputError::NoSize),
            Some(bytes) => Ok(bytes),
            None => Err(InputError::Ragged { lengths: self.lengths }),
        }
    }

    /// The bytes of the messages that were asked for.
    fn wanted(&self) -> Option<usize> {
        self.messages.map(|messages| messages.saturating_mul(self.lengths.mean()))
    }

    /// Refuses an input at `path` of which `found` bytes are there, if these are too few.
    fn check_length(&self, path: &Path, found: usize) -> Result<(), InputError> {
        if found == 0 {
            return Err(InputError::NoMessages {
                remedy: "give an input with bytes in it, and a number of messages or none",
            });
        }
        match self.wanted().filter(|&wanted| wanted > found) {
            Some(wanted) => Err(InputError::Short { path: path.to_owned(), found, wanted }),
            None => Ok(()),
        }
    }

    /// Builds the workload and its expected output.
    ///
    /// # Errors
    /// If the input cannot be used, the parts do not fit together, or the judges differ or fail.
    pub(super) fn build(&self, request: &Request<'_>) -> Result<Vec<Task>, WorkloadError> {
        let mut random = Random::new(request.seed);
        let (texts, offsets) = self.texts(request, &mut random)?;
        let messages = offsets.len() - 1;
        let key_bytes = self.algorithm.key_bytes();
        let nonce_bytes = self.algorithm.nonce_bytes().unwrap_or(GCM_NONCE_BYTES);
        let part = Part {
            algorithm: self.algorithm,
            operation: self.algorithm.forward(),
            keys: match self.keys() {
                Keys::Same => Rows::Shared(random.bytes(key_bytes)),
                Keys::Distinct => Rows::Each { bytes: random.bytes(messages * key_bytes), width: key_bytes },
            },
            nonces: Rows::Each { bytes: random.bytes(messages * nonce_bytes), width: nonce_bytes },
            aad: Rows::Shared(Vec::new()),
            texts: texts.into(),
            offsets,
            tag_bytes: full_tag(self.algorithm),
            tags: Vec::new(),
        };
        part.shape()?;
        Ok(vec![super::directed(Job::Single(self.algorithm, self.operation), part, request)?])
    }

    /// The texts and their offsets.
    fn texts(&self, request: &Request<'_>, random: &mut Random) -> Result<(Vec<u8>, Vec<u64>), InputError> {
        if let Some(path) = &self.input {
            return self.texts_of(path);
        }
        let messages = self.count(request.working_set_bytes);
        if messages == 0 {
            return Err(InputError::NoMessages { remedy: "give a number of messages" });
        }
        self.check_memory(messages)?;
        let offsets = self.offsets(messages, random);
        Ok((random.bytes(text_bytes(&offsets)), offsets))
    }

    /// Where messages of random bytes end. Their lengths are drawn where they differ.
    fn offsets(&self, messages: usize, random: &mut Random) -> Vec<u64> {
        match (self.lengths.one(), self.lengths.taken_by(self.algorithm)) {
            (None, Some((lengths, step))) => mixed_offsets(messages, lengths, step, random),
            // What the algorithm does not take is refused with the batch.
            _ => uniform_offsets(messages, self.lengths.most()),
        }
    }

    /// The texts that the file at `path` is cut into, and their offsets.
    fn texts_of(&self, path: &Path) -> Result<(Vec<u8>, Vec<u64>), InputError> {
        let message_bytes = self.cut_bytes()?;
        let failed = |error| InputError::File { path: path.to_owned(), error };
        let file = File::open(path).map_err(failed)?;
        let there = file.metadata().map_err(failed)?;
        // What has a length is read as far as that goes, what has none as far as it is wanted.
        let untold = if there.is_file() { u64::MAX } else { MOST_UNTOLD + 1 };
        let most = self.wanted().map_or(untold, |wanted| wanted as u64);
        // What cannot be held is not read first.
        let length = usize::try_from(there.len().min(most)).unwrap_or(usize::MAX);
        self.check_memory(length.div_ceil(message_bytes))?;
        let mut bytes = Vec::with_capacity(length);
        // What has no length, or no end, is read as far as it can be held, and a byte beyond, which tells.
        let held = self.most_bytes().map_or(u64::MAX, |held| held.saturating_add(1));
        file.take(most.min(held)).read_to_end(&mut bytes).map_err(failed)?;
        // A pipe has no length before it is read.
        if bytes.len() > length {
            self.check_memory(bytes.len().div_ceil(message_bytes))?;
        }
        if bytes.len() as u64 == held {
            let messages = bytes.len().div_ceil(message_bytes);
            return Err(InputError::Memory { messages, message_bytes: self.lengths.mean() });
        }
        if self.messages.is_none() && bytes.len() as u64 == MOST_UNTOLD + 1 && !there.is_file() {
            return Err(InputError::Endless { path: path.to_owned() });
        }
        self.check_length(path, bytes.len())?;
        let cuts = (0..bytes.len()).step_by(message_bytes).chain([bytes.len()]);
        let offsets = cuts.map(|cut| cut as u64).collect();
        Ok((bytes, offsets))
    }

    /// Refuses what would drive the machine out of memory.
    fn check_memory(&self, messages: usize) -> Result<(), InputError> {
        let refused = InputError::Memory { messages, message_bytes: self.lengths.mean() };
        // A message by itself is as long as they get.
        let each = memory_of(if messages == 1 { self.lengths.most() } else { self.lengths.mean() });
        let Some(bytes) = each.and_then(|each| each.checked_mul(messages)) else {
            return Err(refused);
        };
        if crate::host::available_memory_bytes().is_some_and(|available| bytes as u64 > available) {
            return Err(refused);
        }
        Ok(())
    }

    /// The bytes of the messages that the memory there is can hold; none where nobody knows.
    fn most_bytes(&self) -> Option<u64> {
        let messages = crate::host::available_memory_bytes()? / memory_of(self.lengths.mean())? as u64;
        messages.checked_mul(self.lengths.mean() as u64)
    }
}

/// The memory that a message of `bytes` bytes takes: input, output, expected output, and the judge's copy.
fn memory_of(bytes: usize) -> Option<usize> {
    bytes.checked_add(64)?.checked_mul(4)
}

#[cfg(test)]
mod tests {
    use cipherlane::{Cipher, Mode};

    use super::*;

    fn custom(message_bytes: usize, messages: Option<usize>) -> Custom {
        let algorithm = Algorithm::new(Cipher::Aes128, Mode::Ctr);
        let (operation, keys) = (algorithm.forward(), Keys::Distinct);
        Custom { algorithm, operation, lengths: message_bytes.into(), messages, keys, input: None }
    }

    #[test]
    fn a_hash_has_no_key_for_each_message() {
        let of = |name: &str| Custom { algorithm: name.parse().unwrap(), ..custom(64, Some(1)) };
        assert_eq!(
            (of("aes-128-gcm").outline().keys, of("sha-256").outline().keys),
            (Keys::Distinct, Keys::Same)
        );
        assert_eq!(of("sha-256").settled(1 << 10).keys, Keys::Same);
    }

    #[test]
    fn an_input_is_read_as_far_as_it_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        std::fs::write(&path, "0123456789").unwrap();
        assert_eq!(custom(4, None).texts_of(&path).unwrap(), (b"0123456789".to_vec(), vec![0, 4, 8, 10]));
        assert_eq!(custom(4, Some(2)).texts_of(&path).unwrap(), (b"01234567".to_vec(), vec![0, 4, 8]));
        let error = |message_bytes, messages| custom(message_bytes, messages).texts_of(&path).unwrap_err();
        assert!(matches!(error(4, Some(3)), InputError::Short { found: 10, wanted: 12, .. }));
        assert!(matches!(error(0, None), InputError::NoSize));
        assert!(matches!(error(4, Some(0)), InputError::NoMessages { .. }));
    }

    #[test]
    fn an_input_of_too_many_messages_is_not_read() {
        let Some(available) = crate::host::available_memory_bytes() else { return };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        // Nothing but a length: the file takes no room.
        File::create(&path).unwrap().set_len(available / 100).unwrap();
        let error = custom(1, None).texts_of(&path).unwrap_err();
        assert!(matches!(error, InputError::Memory { message_bytes: 1, .. }), "{error}");
        assert_eq!(custom(1, Some(3)).texts_of(&path).unwrap().1, [0, 1, 2, 3]);
    }

    #[test]
    fn what_cannot_be_had_is_known_before_anything_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let of = |input: PathBuf, message_bytes, messages| {
            Custom { input: Some(input), ..custom(message_bytes, messages) }.check()
        };
        let (ten, empty) = (file("ten", "0123456789"), file("empty", ""));
        of(ten.clone(), 4, None).unwrap();
        of(ten.clone(), 4, Some(2)).unwrap();
        assert!(matches!(of(ten.clone(), 4, Some(3)), Err(InputError::Short { found: 10, wanted: 12, .. })));
        assert!(matches!(of(ten.clone(), 0, None), Err(InputError::NoSize)));
        assert!(matches!(of(ten, 4, Some(0)), Err(InputError::NoMessages { .. })));
        assert!(matches!(of(empty, 4, None), Err(InputError::NoMessages { .. })));
        for missing in [folder.path().join("absent"), folder.path().to_owned()] {
            assert!(matches!(of(missing, 4, None), Err(InputError::File { .. })));
        }
        custom(4, None).check().unwrap();
        custom(4, Some(1)).check().unwrap();
        assert!(matches!(custom(4, Some(0)).check(), Err(InputError::NoMessages { .. })));
        assert!(matches!(custom(usize::MAX / 2, Some(1)).check(), Err(InputError::Memory { .. })));
    }

    #[cfg(target_os = "linux")] // which has files without an end
    #[test]
    fn an_input_without_length_is_read_to_a_limit() {
        let of = |messages| Custom { input: Some(PathBuf::from("/dev/zero")), ..custom(16 << 10, messages) };
        assert!(matches!(of(None).check(), Err(InputError::Endless { .. })));
        of(Some(2)).check().unwrap();
        // What memory has room for is still not read.
        let error = of(None).texts_of(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(error, InputError::Endless { .. } | InputError::Memory { .. }), "{error}");
        assert!(
            InputError::Endless { path: PathBuf::new() }.to_string().contains("256 MiB are read at most")
        );
    }

    #[cfg(target_os = "linux")] // which has a file without an end
    #[test]
    fn an_input_without_end_is_not_read_to_the_end_of_memory() {
        let Some(before) = crate::host::available_memory_bytes() else { return };
        // Messages so short that little of the input can be held.
        let error = custom(1, None).texts_of(Path::new("/dev/zero")).unwrap_err();
        match error {
            InputError::Memory { messages, message_bytes: 1 } => {
                assert!((messages as u64) < before / 100, "{messages} of {before}");
            }
            // Where there is more memory than is read of such an input.
            InputError::Endless { .. } => {}
            error => panic!("{error}"),
        }
        assert_eq!(custom(4, Some(2)).texts_of(Path::new("/dev/zero")).unwrap().0, [0; 8]);
    }
}
