//! One's own workload, from random bytes or from a file.

use std::io;
use std::path::PathBuf;

use cipherlane::{Algorithm, Operation};
use cipherlane_record::Keys;
use thiserror::Error;

use super::part::{Part, Rows, full_tag};
use super::{Job, Outline, Request, Task, WorkloadError};
use crate::random::Random;

/// One's own workload: messages of one length, without AAD; nonces of 12 bytes in GCM; tags of 16 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Custom {
    /// The cipher in its mode.
    pub algorithm: Algorithm,
    /// What is done to each message.
    pub operation: Operation,
    /// Bytes of each message. The last message of an input may be shorter.
    pub message_bytes: usize,
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
    /// A file of many messages of no bytes.
    #[error("an input is cut into messages of at least 1 byte; give a size")]
    NoSize,
    /// Nothing to run.
    #[error("a workload has at least 1 message; {}", remedy)]
    NoMessages {
        /// What helps.
        remedy: &'static str,
    },
    /// More than the machine can hold.
    #[error(
        "{messages} messages of {message_bytes} bytes need more memory than this machine has left; take fewer"
    )]
    Memory {
        /// Messages.
        messages: usize,
        /// Bytes of each.
        message_bytes: usize,
    },
}

const GCM_NONCE_BYTES: usize = 12;

impl Custom {
    pub(super) const fn outline(&self) -> Outline {
        Outline { messages: self.messages, message_bytes: self.message_bytes, keys: self.keys }
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
            keys: match self.keys {
                Keys::Same => Rows::Shared(random.bytes(key_bytes)),
                Keys::Distinct => Rows::Each { bytes: random.bytes(messages * key_bytes), width: key_bytes },
            },
            nonces: Rows::Each { bytes: random.bytes(messages * nonce_bytes), width: nonce_bytes },
            aad: Rows::Shared(Vec::new()),
            texts,
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
            let mut bytes =
                std::fs::read(path).map_err(|error| InputError::File { path: path.clone(), error })?;
            bytes.truncate(self.wanted_of_input(path, bytes.len())?);
            let cuts = (0..bytes.len()).step_by(self.message_bytes).chain([bytes.len()]);
            let offsets = cuts.map(|cut| cut as u64).collect();
            return Ok((bytes, offsets));
        }
        let other = self.algorithm.key_bytes() + 2 * cipherlane::BLOCK;
        let messages = self.messages.unwrap_or_else(|| request.messages(self.message_bytes, other));
        if messages == 0 {
            return Err(InputError::NoMessages { remedy: "give a number of messages" });
        }
        self.check_memory(messages)?;
        let texts = random.bytes(messages * self.message_bytes);
        Ok((texts, super::part::uniform_offsets(messages, self.message_bytes)))
    }

    /// How many bytes of an input of `found` bytes are wanted.
    fn wanted_of_input(&self, path: &std::path::Path, found: usize) -> Result<usize, InputError> {
        if self.message_bytes == 0 {
            return Err(InputError::NoSize);
        }
        if found == 0 || self.messages == Some(0) {
            return Err(InputError::NoMessages {
                remedy: "give an input with bytes in it, and a number of messages or none",
            });
        }
        let wanted = self.messages.map_or(found, |messages| messages.saturating_mul(self.message_bytes));
        if wanted > found {
            return Err(InputError::Short { path: path.to_owned(), found, wanted });
        }
        Ok(wanted)
    }

    /// Refuses what would drive the machine out of memory: input, output, expected output, and the judge's copy.
    fn check_memory(&self, messages: usize) -> Result<(), InputError> {
        let refused = InputError::Memory { messages, message_bytes: self.message_bytes };
        let each = self.message_bytes.checked_add(64).and_then(|each| each.checked_mul(4));
        let Some(bytes) = each.and_then(|each| each.checked_mul(messages)) else { return Err(refused) };
        if crate::host::available_memory_bytes().is_some_and(|available| bytes as u64 > available) {
            return Err(refused);
        }
        Ok(())
    }
}
