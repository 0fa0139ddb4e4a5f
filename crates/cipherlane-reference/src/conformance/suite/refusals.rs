//! Batches that are not well formed are refused, and nothing is written.

use cipherlane_core::{Algorithm, BLOCK, Cipher, Mode, Operation};

use super::super::candidate::Size;
use super::super::examiner::Examiner;
use super::super::failure::Failure;
use super::parts::{MESSAGES, OFFSETS, Parts, each, zeros};
use crate::random::Random;
use crate::rows::Rows;

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

const SPOILERS: [Spoiler; 23] = [
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

/// Makes all buffers fit tags of a length that GCM does not have.
fn spoil_tag(parts: &mut Parts, length: usize) {
    parts.tag_length = Some(length);
    if parts.operation == Operation::Open {
        parts.tags = vec![0; MESSAGES * length];
    }
}

pub(super) fn sit(examiner: &mut Examiner) -> Result<(), Failure> {
    let (algorithm, operation) = (examiner.algorithm, examiner.operation);
    let mut refuse = |name: &str, parts: Parts| {
        let case = format!("a batch with {name}");
        examiner.each(&case, 0, Size::Whole, |session| parts.must_be_refused(session))
    };
    for (name, spoil) in OFFSETS {
        let mut parts = Parts::new(algorithm, operation);
        spoil(&mut parts);
        refuse(name, parts)?;
    }
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
