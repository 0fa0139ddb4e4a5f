//! Batches to hash that are not well formed are refused, and nothing is written.

use cipherlane_core::{Algorithm, Cipher, Hash, Mode, Operation, limits};

use super::super::candidate::Size;
use super::super::examiner::Examiner;
use super::super::failure::Failure;
use super::parts::{MESSAGES, OFFSETS, Parts, Spoiler, each, zeros};

const SPOILERS: [Spoiler; 13] = [
    ("a shared key", |parts| parts.keys = zeros(16)),
    ("a key each", |parts| parts.keys = each(MESSAGES, 16)),
    ("a shared nonce", |parts| parts.nonces = zeros(12)),
    ("a nonce each", |parts| parts.nonces = each(MESSAGES, 16)),
    ("AAD", |parts| parts.aad = zeros(1)),
    ("AAD each", |parts| parts.aad = each(MESSAGES, 20)),
    ("the input in place", |parts| parts.in_place = true),
    ("digests to check", |parts| parts.tags = vec![0; parts.output_tags]),
    ("a short output of digests", |parts| parts.output_tags -= 1),
    ("no output of digests", |parts| parts.output_tags = 0),
    ("digests of no length", |parts| resize(parts, 0)),
    ("digests of lengths of their own", |parts| parts.tag_length = None),
    ("digests whose sizes overflow", |parts| parts.tag_length = Some(usize::MAX / 2)),
];

/// Makes the output fit digests of another length.
fn resize(parts: &mut Parts, bytes: usize) {
    parts.tag_length = Some(bytes);
    parts.output_tags = MESSAGES * bytes;
}

pub(super) fn sit(examiner: &mut Examiner, hash: Hash) -> Result<(), Failure> {
    let new = || Parts::new(Algorithm::Hash(hash), Operation::Hash);
    let mut refuse = |name: &str, parts: Parts| {
        let case = format!("a batch with {name}");
        examiner.each(&case, 0, Size::Whole, |session| parts.must_be_refused(session))
    };
    for (name, spoil) in OFFSETS.into_iter().chain(SPOILERS) {
        let mut parts = new();
        spoil(&mut parts);
        refuse(name, parts)?;
    }
    let wrong = match hash.digest_bytes() {
        // That of another function is wrong, too.
        Some(bytes) => vec![1, bytes - 1, bytes + 1, bytes + 4, 2 * bytes],
        None => vec![limits::XOF_BYTES + 1],
    };
    for bytes in wrong {
        let mut parts = new();
        resize(&mut parts, bytes);
        refuse(&format!("digests of {bytes} bytes"), parts)?;
    }
    let same_length = |other: &Hash| *other != hash && other.digest_bytes() == hash.digest_bytes();
    for other in Hash::ALL.into_iter().filter(same_length) {
        refuse(&format!("{} instead", other.name()), Parts::new(Algorithm::Hash(other), Operation::Hash))?;
    }
    refuse("a cipher", Parts::new(Algorithm::new(Cipher::Aes128, Mode::Ctr), Operation::Encrypt))?;
    for other in Operation::ALL.into_iter().filter(|&other| other != Operation::Hash) {
        refuse(&format!("the operation {other}"), Parts { operation: other, ..new() })?;
    }
    let parts = new();
    examiner.each("a batch after refused ones", 0, Size::Whole, |session| parts.must_run(session))
}
