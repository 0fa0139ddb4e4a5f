//! The answers that are known, as the readable reference has given them.

use std::fmt;

use cipherlane_core::{Algorithm, Operation};
use sha2::{Digest as _, Sha256};

use super::Answer;
use crate::cache::hex;

/// A line for each algorithm and direction, as [`Known`] writes it.
const ANSWERS: &str = include_str!("../../known/answers.txt");

/// What is known of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    algorithm: Algorithm,
    operation: Operation,
    digest: [u8; 32],
    /// The tags by which the question's texts open; none for another operation.
    pub(super) tags: Vec<u8>,
}

impl Known {
    /// What is to be known of `answer`, which was opened by `tags`.
    #[must_use]
    pub fn new(algorithm: Algorithm, operation: Operation, answer: &Answer, tags: Vec<u8>) -> Self {
        Self { algorithm, operation, digest: digest(answer), tags }
    }

    /// What is known of the answer to `operation` of `algorithm`.
    pub(super) fn of(algorithm: Algorithm, operation: Operation) -> Option<Self> {
        let (name, direction) = (algorithm.to_string(), operation.to_string());
        let words = |line: &'static str| -> Vec<&'static str> { line.split(' ').collect() };
        let line = ANSWERS.lines().map(words).find(|line| line.starts_with(&[&name, &direction]))?;
        let digest = unhex(line.get(2)?)?.try_into().ok()?;
        let tags = line.get(3).map_or_else(|| Some(Vec::new()), |tags| unhex(tags))?;
        Some(Self { algorithm, operation, digest, tags })
    }

    /// Whether `answer` is what is known, every tag accepted.
    pub(super) fn is(&self, answer: &Answer) -> bool {
        digest(answer) == self.digest && answer.accepted.iter().all(|&accepted| accepted)
    }
}

impl fmt::Display for Known {
    /// As a line of the file: name, operation, digest, and where there are some, tags.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.algorithm, self.operation, hex(&self.digest))?;
        if self.tags.is_empty() { Ok(()) } else { write!(f, " {}", hex(&self.tags)) }
    }
}

/// Of the texts, then the tags or digests.
fn digest(answer: &Answer) -> [u8; 32] {
    Sha256::new().chain_update(&answer.texts).chain_update(&answer.tags).finalize().into()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |place: usize| u8::from_str_radix(text.get(place..place + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(digit).collect()
}
