//! The fetched vectors, every one of them, on the reference.

use std::collections::BTreeMap;

use cipherlane_core::{Mode, Operation, Wish};
use cipherlane_reference::exam::{self, Tally};
use cipherlane_reference::vectors::{self, Expectation, Format};
use cipherlane_reference::{Reference, conformance};

#[test]
fn every_fetched_vector_passes() {
    let folder = vectors::directory().unwrap_or_else(|error| panic!("{error}"));
    let mut tally = Tally::default();
    for file in vectors::find(&folder).unwrap() {
        assert!(!matches!(file.format, Format::Other(_)), "{}: {:?}", file.path.display(), file.format);
        let cases = vectors::parse_file(&file.path).unwrap_or_else(|error| panic!("{error}"));
        assert!(!cases.is_empty(), "{}", file.path.display());
        tally.merge(exam::run(&Reference::new(), &Wish::default(), &cases).unwrap());
    }
    assert!(tally.failures.is_empty(), "{} failures, first: {}", tally.failures.len(), tally.failures[0]);
    let mut sums: BTreeMap<(&str, Mode), (usize, usize)> = BTreeMap::new();
    for ((source, algorithm), counts) in &tally.counts {
        let sum = sums.entry((source, algorithm.mode().unwrap())).or_default();
        *sum = (sum.0 + counts.passed, sum.1 + counts.not_applicable);
    }
    // Records of the files; Wycheproof's valid tests count in both directions.
    let expected = [
        (("NIST CAVP", Mode::Ecb), (2138, 0)),
        (("NIST CAVP", Mode::Cbc), (2138 + 6 * 100, 0)),
        (("NIST CAVP", Mode::Gcm), (47_250, 0)),
        (("NIST CAVP", Mode::Xts), (2800, 1200)),
        (("RFC 3686", Mode::Ctr), (9, 0)),
        (("Wycheproof", Mode::Cbc), (2 * 72 + 144, 0)),
        (("Wycheproof", Mode::Gcm), (2 * 229 + 81 + 2 * 6, 0)),
        (("Wycheproof", Mode::Xts), (2 * 123, 0)),
    ];
    assert_eq!(sums, BTreeMap::from(expected));
}

#[test]
fn the_gcm_set_has_its_records_in_order() {
    let folder = vectors::directory().unwrap_or_else(|error| panic!("{error}"));
    let cases = vectors::gcm_records(&folder).unwrap();
    let count = |operation, expectation: &Expectation| {
        cases.iter().filter(|case| case.operation == operation && case.expectation == *expectation).count()
    };
    assert_eq!(cases.len(), 37_800);
    assert_eq!(count(Operation::Seal, &Expectation::Output), 18_900);
    assert_eq!(count(Operation::Open, &Expectation::Output), 9391);
    assert_eq!(count(Operation::Open, &Expectation::Reject), 9509);
    // The first record with a text of the first file.
    assert_eq!(vectors::hex::encode(&cases[0].key), "7fddb57453c241d03efbed3ac44e371c");
    assert!(cases[0].id.contains("gcmEncryptExtIV128.rsp:"), "{}", cases[0].id);
    assert!(cases[37_799].id.contains("gcmDecrypt256.rsp:"), "{}", cases[37_799].id);
}

#[test]
fn a_wish_that_leaves_nothing_is_an_error() {
    let wish = Wish { tier: Some("quantum".to_owned()), ..Wish::default() };
    let failure = conformance::check_with(&Reference::new(), &wish).unwrap_err().to_string();
    assert!(failure.contains("tiers here: reference"), "{failure}");
    let tally = exam::run(&Reference::new(), &wish, &vectors::known()).unwrap();
    assert_eq!(tally.total().passed, 0);
    assert!(tally.reasons.keys().all(|reason| reason.contains("quantum")), "{:?}", tally.reasons);
}
