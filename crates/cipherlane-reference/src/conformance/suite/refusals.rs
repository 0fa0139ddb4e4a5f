//! Batches that are not well formed are refused, and nothing is written.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Cipher, DeviceError, Messages, Mode, Operation, Output, Session, Source,
    TagLengths,
};

use super::super::candidate::Size;
use super::super::examiner::Examiner;
use super::super::failure::Failure;
use crate::random::Random;
use crate::rows::Rows;

/// Messages of a batch before it is spoilt, and the bytes of each.
const MESSAGES: usize = 3;
const BYTES: usize = 2 * BLOCK;

/// A batch with its outputs, to be spoilt in one place.
struct Parts {
    algorithm: Algorithm,
    operation: Operation,
    keys: Rows,
    nonces: Rows,
    aad: Rows,
    input: Vec<u8>,
    offsets: Vec<u64>,
    tag_lengths: Vec<u8>,
    /// All tags have this length, rather than those of `tag_lengths`.
    tag_length: Option<usize>,
    tags: Vec<u8>,
    in_place: bool,
    output_bytes: usize,
    output_tags: usize,
    output_accepted: usize,
}

/// A way to spoil a batch, with its name and the batches that it spoils.
type Spoiler = (&'static str, fn(Algorithm, Operation) -> bool, fn(&mut Parts));

const ANY: fn(Algorithm, Operation) -> bool = |_, _| true;
const AEAD: fn(Algorithm, Operation) -> bool = |algorithm, _| algorithm.is_aead();
const NO_AEAD: fn(Algorithm, Operation) -> bool = |algorithm, _| !algorithm.is_aead();
const SEAL: fn(Algorithm, Operation) -> bool = |_, operation| operation == Operation::Seal;
const OPEN: fn(Algorithm, Operation) -> bool = |_, operation| operation == Operation::Open;
const BLOCKS: fn(Algorithm, Operation) -> bool =
    |algorithm, _| matches!(algorithm.mode(), Some(Mode::Ecb | Mode::Cbc));
const XTS: fn(Algorithm, Operation) -> bool = |algorithm, _| algorithm.mode() == Some(Mode::Xts);

const SPOILERS: [Spoiler; 27] = [
    ("offsets that fall", ANY, |parts| parts.offsets.swap(1, 2)),
    ("offsets that leave the input", ANY, |parts| parts.offsets[MESSAGES] += BLOCK as u64),
    ("an offset of 2^64 - 1", ANY, |parts| parts.offsets[MESSAGES] = u64::MAX),
    ("no offsets", ANY, |parts| parts.offsets.clear()),
    ("a short output", ANY, |parts| parts.output_bytes -= 1),
    ("a short output in place", ANY, |parts| {
        parts.in_place = true;
        parts.output_bytes -= 1;
    }),
    ("a long shared key", ANY, |parts| parts.keys = zeros(parts.algorithm.key_bytes() + 1)),
    ("no key", ANY, |parts| parts.keys = Rows::NONE),
    ("too few keys", ANY, |parts| parts.keys = each(MESSAGES - 1, parts.algorithm.key_bytes())),
    ("too many keys", ANY, |parts| parts.keys = each(MESSAGES + 1, parts.algorithm.key_bytes())),
    ("one short key", ANY, |parts| {
        let bytes = parts.algorithm.key_bytes();
        parts.keys = Rows::ragged([bytes, bytes, bytes - 1], &mut Random::new(0));
    }),
    ("nonces of a length that none takes", ANY, |parts| {
        parts.nonces = zeros(parts.algorithm.nonce_bytes().map_or(0, |bytes| bytes + 1));
    }),
    ("too few nonces", ANY, |parts| parts.nonces = each(MESSAGES - 1, BLOCK)),
    ("one nonce of another length", ANY, |parts| {
        let bytes = parts.algorithm.nonce_bytes().unwrap_or(12);
        let wrong = if bytes == 12 { 0 } else { bytes + 1 };
        parts.nonces = Rows::ragged([bytes, wrong, bytes], &mut Random::new(0));
    }),
    ("AAD", NO_AEAD, |parts| parts.aad = zeros(1)),
    ("a tag length", NO_AEAD, |parts| parts.tag_length = Some(BLOCK)),
    ("too few rows of AAD", AEAD, |parts| parts.aad = each(MESSAGES - 1, 20)),
    ("AAD that leaves its buffer", AEAD, |parts| {
        parts.aad = Rows::Ragged { bytes: vec![0; 4], offsets: vec![0, 1, 2, 5] };
    }),
    ("tags of no length", AEAD, |parts| spoil_tag(parts, 0)),
    ("tags of 5 bytes", AEAD, |parts| spoil_tag(parts, 5)),
    ("tags of 17 bytes", AEAD, |parts| spoil_tag(parts, 17)),
    ("one tag of 11 bytes", AEAD, |parts| {
        parts.tag_length = None;
        parts.tag_lengths[2] = 11;
    }),
    ("too few tag lengths", AEAD, |parts| {
        parts.tag_length = None;
        parts.tag_lengths.pop();
    }),
    ("a short output of tags", SEAL, |parts| parts.output_tags -= 1),
    ("too few tags to check", OPEN, |parts| parts.tags.truncate((MESSAGES - 1) * BLOCK)),
    ("a message that is not whole blocks", BLOCKS, |parts| parts.offsets[1] += 1),
    ("a data unit of 15 bytes", XTS, |parts| parts.offsets[1] = 15),
];

fn zeros(bytes: usize) -> Rows {
    Rows::Shared(vec![0; bytes])
}

fn each(rows: usize, width: usize) -> Rows {
    Rows::each(rows, width, &mut Random::new(0))
}

/// Makes all buffers fit tags of a length that GCM does not have.
fn spoil_tag(parts: &mut Parts, length: usize) {
    parts.tag_length = Some(length);
    if parts.operation == Operation::Open {
        parts.tags = vec![0; MESSAGES * length];
    }
}

impl Parts {
    /// A batch that is well formed.
    fn new(algorithm: Algorithm, operation: Operation) -> Self {
        let (seal, open) = (operation == Operation::Seal, operation == Operation::Open);
        Self {
            algorithm,
            operation,
            keys: each(MESSAGES, algorithm.key_bytes()),
            nonces: each(MESSAGES, algorithm.nonce_bytes().unwrap_or(12)),
            aad: Rows::NONE,
            input: vec![7; MESSAGES * BYTES],
            offsets: (0..=MESSAGES).map(|message| (message * BYTES) as u64).collect(),
            tag_lengths: vec![16; MESSAGES],
            tag_length: Some(if algorithm.is_aead() { BLOCK } else { 0 }),
            tags: vec![0; if open { MESSAGES * BLOCK } else { 0 }],
            in_place: false,
            output_bytes: MESSAGES * BYTES,
            output_tags: if seal { MESSAGES * BLOCK } else { 0 },
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

    fn must_run(&self, session: &mut dyn Session) -> Result<(), String> {
        match self.run(session) {
            (Ok(()), true) => Ok(()),
            (Ok(()), false) => Err("a well-formed batch was not run".to_owned()),
            (Err(error), _) => Err(format!("a well-formed batch was refused: {error}")),
        }
    }

    fn must_be_refused(&self, session: &mut dyn Session) -> Result<(), String> {
        match self.run(session) {
            (Err(DeviceError::Batch(_)), false) => Ok(()),
            (Err(error), true) => Err(format!("the outputs changed before the batch was refused: {error}")),
            (Err(error), false) => Err(format!("the batch failed instead of being refused: {error}")),
            (Ok(()), _) => Err("the batch was run and must be refused".to_owned()),
        }
    }
}

pub(super) fn sit(examiner: &mut Examiner) -> Result<(), Failure> {
    let (algorithm, operation) = (examiner.algorithm, examiner.operation);
    let mut refuse = |name: &str, parts: Parts| {
        let case = format!("a batch with {name}");
        examiner.each(&case, 0, Size::Whole, |session| parts.must_be_refused(session))
    };
    for (name, spoils, spoil) in SPOILERS {
        if spoils(algorithm, operation) {
            let mut parts = Parts::new(algorithm, operation);
            spoil(&mut parts);
            refuse(name, parts)?;
        }
    }
    if operation == Operation::Open {
        let mut parts = Parts::new(algorithm, operation);
        parts.output_accepted -= 1;
        refuse("too few verdicts", parts)?;
    }
    let other = Algorithm::ciphers().find(|other| other.mode() == algorithm.mode() && *other != algorithm);
    let other = other.unwrap_or(Algorithm::new(Cipher::Aes128, Mode::Ecb));
    refuse("another algorithm than the session's", Parts::new(other, operation))?;
    for &other in algorithm.operations().iter().filter(|&&other| other != operation) {
        refuse("the other operation", Parts::new(algorithm, other))?;
    }
    let parts = Parts::new(algorithm, operation);
    examiner.each("a batch after refused ones", 0, Size::Whole, |session| parts.must_run(session))
}
