//! A batch in parts, to be spoilt in one place.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, DeviceError, Hash, Messages, Operation, Output, Session, Source, TagLengths,
};

use crate::random::Random;
use crate::rows::Rows;

/// Messages of a batch before it is spoilt, and the bytes of each.
pub(super) const MESSAGES: usize = 3;
pub(super) const BYTES: usize = 2 * BLOCK;

/// A batch with its outputs, to be spoilt in one place.
pub(super) struct Parts {
    pub(super) algorithm: Algorithm,
    pub(super) operation: Operation,
    pub(super) keys: Rows,
    pub(super) nonces: Rows,
    pub(super) aad: Rows,
    pub(super) input: Vec<u8>,
    pub(super) offsets: Vec<u64>,
    pub(super) tag_lengths: Vec<u8>,
    /// All tags have this length, rather than those of `tag_lengths`.
    pub(super) tag_length: Option<usize>,
    pub(super) tags: Vec<u8>,
    pub(super) in_place: bool,
    pub(super) output_bytes: usize,
    pub(super) output_tags: usize,
    pub(super) output_accepted: usize,
}

/// A way to spoil a batch, with its name.
pub(super) type Spoiler = (&'static str, fn(&mut Parts));

/// Ways to spoil any batch.
pub(super) const OFFSETS: [Spoiler; 4] = [
    ("offsets that fall", |parts| parts.offsets.swap(1, 2)),
    ("offsets that leave the input", |parts| parts.offsets[MESSAGES] += BLOCK as u64),
    ("an offset of 2^64 - 1", |parts| parts.offsets[MESSAGES] = u64::MAX),
    ("no offsets", |parts| parts.offsets.clear()),
];

pub(super) fn zeros(bytes: usize) -> Rows {
    Rows::Shared(vec![0; bytes])
}

pub(super) fn each(rows: usize, width: usize) -> Rows {
    Rows::each(rows, width, &mut Random::new(0))
}

impl Parts {
    /// A batch that is well formed.
    pub(super) fn new(algorithm: Algorithm, operation: Operation) -> Self {
        let (seal, open) = (operation == Operation::Seal, operation == Operation::Open);
        let hash = algorithm.hash();
        // Tags, or digests.
        let bytes = hash.map_or(if algorithm.is_aead() { BLOCK } else { 0 }, Hash::usual_digest_bytes);
        let column = |width| if hash.is_some() { Rows::NONE } else { each(MESSAGES, width) };
        Self {
            algorithm,
            operation,
            keys: column(algorithm.key_bytes()),
            nonces: column(algorithm.nonce_bytes().unwrap_or(12)),
            aad: Rows::NONE,
            input: vec![7; MESSAGES * BYTES],
            offsets: (0..=MESSAGES).map(|message| (message * BYTES) as u64).collect(),
            tag_lengths: vec![16; MESSAGES],
            tag_length: Some(bytes),
            tags: vec![0; if open { MESSAGES * BLOCK } else { 0 }],
            in_place: false,
            output_bytes: MESSAGES * BYTES,
            output_tags: if seal || hash.is_some() { MESSAGES * bytes } else { 0 },
            output_accepted: if open { MESSAGES } else { 0 },
        }
    }

    /// Runs the batch; also returns whether any output changed.
    fn run(&self, session: &mut dyn Session) -> (Result<(), DeviceError>, bool) {
        let batch = Batch {
            algorithm: self.algorithm,
            operation: self.operation,
            keys: self.keys.column(),
            nonces: self.nonces.column(),
            aad: self.aad.column(),
            messages: Messages {
                source: if self.in_place { Source::InPlace } else { Source::Apart(&self.input) },
                offsets: &self.offsets,
            },
            tag_lengths: self.tag_length.map_or(TagLengths::Each(&self.tag_lengths), TagLengths::Same),
            tags: &self.tags,
        };
        let before =
            (vec![0x5a; self.output_bytes], vec![0x5a; self.output_tags], vec![true; self.output_accepted]);
        let (mut bytes, mut tags, mut accepted) = before.clone();
        let mut output = Output { bytes: &mut bytes, tags: &mut tags, accepted: &mut accepted };
        let result = session.run(&batch, &mut output).map(|_| ());
        (result, (bytes, tags, accepted) != before)
    }

    pub(super) fn must_run(&self, session: &mut dyn Session) -> Result<(), String> {
        match self.run(session) {
            (Ok(()), true) => Ok(()),
            (Ok(()), false) => Err("a well-formed batch was not run".to_owned()),
            (Err(error), _) => Err(format!("a well-formed batch was refused: {error}")),
        }
    }

    pub(super) fn must_be_refused(&self, session: &mut dyn Session) -> Result<(), String> {
        match self.run(session) {
            (Err(DeviceError::Batch(_)), false) => Ok(()),
            (Err(error), true) => Err(format!("the outputs changed before the batch was refused: {error}")),
            (Err(error), false) => Err(format!("the batch failed instead of being refused: {error}")),
            (Ok(()), _) => Err("the batch was run and must be refused".to_owned()),
        }
    }
}
