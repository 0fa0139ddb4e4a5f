//! The fetched vectors, every one of them, on the reference.

use std::collections::{BTreeMap, BTreeSet};

use cipherlane_core::{Operation, Wish};
use cipherlane_reference::exam::{self, Tally};
use cipherlane_reference::vectors::{self, Expectation, Format};
use cipherlane_reference::{Reference, conformance};

#[test]
fn every_fetched_vector_passes() {
    let folder = vectors::directory().unwrap_or_else(|error| panic!("{error}"));
    let (mut tally, mut sets) = (Tally::default(), Vec::new());
    for file in vectors::find(&folder).unwrap() {
        let Format::Vectors(set) = file.format else { panic!("{}: {:?}", file.path.display(), file.format) };
        sets.push(set);
        let cases = vectors::parse_file(&file.path).unwrap_or_else(|error| panic!("{error}"));
        assert!(!cases.is_empty(), "{}", file.path.display());
        tally.merge(exam::run(&Reference::new(), &Wish::default(), &cases).unwrap());
    }
    assert!(tally.failures.is_empty(), "{} failures, first: {}", tally.failures.len(), tally.failures[0]);
    let mut sums: BTreeMap<(&str, String), (usize, usize)> = BTreeMap::new();
    for ((source, algorithm), counts) in &tally.counts {
        let sum = sums.entry((source, algorithm.family())).or_default();
        *sum = (sum.0 + counts.passed, sum.1 + counts.not_applicable);
    }
    let expected = CIPHERS.into_iter().chain(HASHES);
    let expected = expected.map(|(source, family, counts)| ((source, family.to_owned()), counts));
    assert_eq!(sums, expected.collect());
    let found: BTreeSet<String> = sets.iter().map(ToString::to_string).collect();
    assert_eq!(found, vectors::FETCHED.iter().map(ToString::to_string).collect());
}

type Counts = (&'static str, &'static str, (usize, usize));

/// Records of the files that pass, and those that do not apply; Wycheproof's valid tests count in both directions.
const CIPHERS: [Counts; 16] = [
    ("NIST CAVP", "aes-ecb", (2138, 0)),
    ("NIST CAVP", "aes-cbc", (2138 + 6 * 100, 0)),
    ("NIST CAVP", "aes-gcm", (47_250, 0)),
    ("NIST CAVP", "aes-xts", (2800, 1200)),
    ("RFC 3686", "aes-ctr", (9, 0)),
    ("Wycheproof", "aes-cbc", (2 * 72 + 144, 0)),
    ("Wycheproof", "aes-gcm", (2 * 229 + 81 + 2 * 6, 0)),
    ("Wycheproof", "aes-xts", (2 * 123, 0)),
    ("NTT", "camellia-ecb", (3 * 10 * 128, 0)),
    ("OpenSSL", "camellia-cbc", (12, 0)),
    ("Wycheproof", "camellia-cbc", (2 * 72 + 144, 0)),
    ("draft-ribose-cfrg-sm4", "sm4-ecb", (4, 0)),
    ("draft-ribose-cfrg-sm4", "sm4-cbc", (2, 0)),
    ("draft-ribose-cfrg-sm4", "sm4-ctr", (2, 0)),
    ("RFC 8998", "sm4-gcm", (1, 0)),
    ("Wycheproof", "sm4-gcm", (2 * 75 + 27 + 2 * 2, 0)),
];

/// Short and long messages, turns of Monte Carlo tests, and outputs of variable length.
const HASHES: [Counts; 15] = [
    ("NIST CAVP", "sha-224", (65 + 64 + 100, 0)),
    ("NIST CAVP", "sha-256", (65 + 64 + 100, 0)),
    ("NIST CAVP", "sha-384", (129 + 128 + 100, 0)),
    ("NIST CAVP", "sha-512", (129 + 128 + 100, 0)),
    ("NIST CAVP", "sha-512-256", (129 + 128 + 100, 0)),
    ("NIST CAVP", "sha3-224", (145 + 100 + 100, 0)),
    ("NIST CAVP", "sha3-256", (137 + 100 + 100, 0)),
    ("NIST CAVP", "sha3-384", (105 + 100 + 100, 0)),
    ("NIST CAVP", "sha3-512", (73 + 100 + 100, 0)),
    ("NIST CAVP", "shake128", (337 + 100 + 100 + 1126, 0)),
    ("NIST CAVP", "shake256", (273 + 100 + 100 + 1246, 0)),
    ("KeccakKAT-3", "keccak-224", (256 + 65, 0)),
    ("KeccakKAT-3", "keccak-256", (256 + 65, 0)),
    ("KeccakKAT-3", "keccak-384", (256 + 65, 0)),
    ("KeccakKAT-3", "keccak-512", (256 + 65, 0)),
];

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
