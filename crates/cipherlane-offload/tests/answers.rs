//! The known answers are those of the readable reference, and there is one for each algorithm and direction.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use std::fmt::Write;

use cipherlane_core::{Algorithm, Device, Operation, Shape, Wish};
use cipherlane_offload::answers::{Answer, Known, Question};
use cipherlane_reference::Reference;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/known/answers.txt");

/// What the reference makes of `texts`.
fn answer(algorithm: Algorithm, operation: Operation, texts: &[u8], tags: &[u8]) -> Answer {
    let reference = Reference::new();
    let shape = Shape::uniform(algorithm, operation, 2, 64, true);
    let mut session = reference.open(&reference.plan(&shape, &Wish::default()).unwrap()).unwrap();
    Question::new(algorithm).ask(&mut *session, operation, true, texts, tags).unwrap()
}

/// The tags by which the question's texts open. The key stream is the same in both directions: what sealing makes of what
/// sealing makes of them are they themselves, with their tags.
fn tags(algorithm: Algorithm, texts: &[u8]) -> Vec<u8> {
    let opened = answer(algorithm, Operation::Seal, texts, &[]).texts;
    let sealed = answer(algorithm, Operation::Seal, &opened, &[]);
    assert_eq!(sealed.texts, texts);
    sealed.tags
}

/// With `CIPHERLANE_BLESS` set, the file is written instead of compared.
#[test]
fn known_answers_are_those_of_the_reference() {
    let mut lines = String::new();
    for algorithm in Algorithm::all() {
        let question = Question::new(algorithm);
        let texts = question.texts();
        for operation in std::iter::once(algorithm.forward()).chain(algorithm.backward()) {
            let tags = if operation == Operation::Open { tags(algorithm, texts) } else { Vec::new() };
            let answer = answer(algorithm, operation, texts, &tags);
            assert!(answer.accepted.iter().all(|&accepted| accepted), "{algorithm}");
            writeln!(lines, "{}", Known::new(algorithm, operation, &answer, tags)).unwrap();
        }
    }
    if std::env::var_os("CIPHERLANE_BLESS").is_some() {
        std::fs::write(FILE, &lines).unwrap();
    }
    assert_eq!(std::fs::read_to_string(FILE).unwrap(), lines);
}
