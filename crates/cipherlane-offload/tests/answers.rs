//! The known answers are those of the readable reference, and there is one for each algorithm.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use std::fmt::Write;

use cipherlane_core::{Algorithm, Device, Shape, Wish};
use cipherlane_offload::answers::Question;
use cipherlane_reference::Reference;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/known/answers.txt");

/// With `CIPHERLANE_BLESS` set, the file is written instead of compared.
#[test]
fn known_answers_are_those_of_the_reference() {
    let reference = Reference::new();
    let mut lines = String::new();
    for algorithm in Algorithm::all() {
        let shape = Shape::uniform(algorithm, algorithm.forward(), 2, 64, true);
        let mut session = reference.open(&reference.plan(&shape, &Wish::default()).unwrap()).unwrap();
        let answer = Question::new(algorithm).ask(&mut *session, true).unwrap();
        write!(lines, "{algorithm} ").unwrap();
        answer.iter().for_each(|byte| write!(lines, "{byte:02x}").unwrap());
        lines.push('\n');
    }
    if std::env::var_os("CIPHERLANE_BLESS").is_some() {
        std::fs::write(FILE, &lines).unwrap();
    }
    assert_eq!(std::fs::read_to_string(FILE).unwrap(), lines);
}
