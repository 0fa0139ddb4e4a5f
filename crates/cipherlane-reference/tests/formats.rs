//! Files of test vectors: what is understood, and what is said of the rest.

use cipherlane_core::{Mode, Operation, Wish};
use cipherlane_reference::vectors::{self, Expectation, Format, rsp};
use cipherlane_reference::{Reference, exam};

const KEY: &str = "KEY = 000102030405060708090a0b0c0d0e0f";

fn error(name: &str, text: &str) -> String {
    rsp::parse(name, text).expect_err("must not be understood").to_string()
}

#[test]
fn errors_name_the_line_and_the_remedy() {
    let cbc = "# AESVS MMT test data for CBC\n";
    assert!(
        error("a.rsp", "COUNT = 0").starts_with("a.rsp:1: neither its comments nor its name say which mode")
    );
    assert!(error("a.rsp", "# AESVS KAT test data for CFB128").contains("the mode cfb128"));
    assert!(error("a.rsp", "# TDES test data for CBC").contains("does not name AES"));
    assert!(
        error("a.rsp", &format!("{cbc}COUNT = 0\n"))
            .starts_with("a.rsp:2: whether to encrypt or to decrypt?")
    );
    assert!(
        error("a.rsp", &format!("{cbc}[ENCRYPT]\n{KEY}")).starts_with("a.rsp:3: a record starts with `COUNT")
    );
    assert!(error("a.rsp", &format!("{cbc}[SHUFFLE]")).starts_with("a.rsp:2: an unknown header"));
    assert!(error("a.rsp", &format!("{cbc}gibberish")).starts_with("a.rsp:2: `gibberish` is neither"));
    let record = format!("{cbc}[ENCRYPT]\nCOUNT = 0\n");
    assert!(error("a.rsp", &record).starts_with("a.rsp:3: the record lacks `KEY = ..`"));
    assert!(
        error("a.rsp", &format!("{record}{KEY}\n{KEY}")).starts_with("a.rsp:5: the record has a second key")
    );
    assert!(error("a.rsp", &format!("{record}KEY = 0g")).starts_with("a.rsp:4: `g` is no hexadecimal digit"));
    assert!(error("a.rsp", &format!("{record}KEY = 00")).contains("has a key of 1 bytes"));
    assert!(error("a.rsp", &format!("{record}{KEY}")).contains("lacks `IV = ..`"));
}

#[test]
fn a_file_is_known_by_its_comments_or_its_name() {
    let of = |name: &str, text: &str| rsp::Form::of(name, text).map(|form| (form.mode, form.monte_carlo));
    assert_eq!(of("x/CBCMCT128.rsp", "# AESVS MCT test data for CBC"), Ok((Mode::Cbc, true)));
    assert_eq!(of("dir/gcmDecrypt128.rsp", ""), Ok((Mode::Gcm, false)));
    assert_eq!(of("aes-192-ctr.txt", "# from RFC 3686"), Ok((Mode::Ctr, false)));
    assert_eq!(of("camellia-cbc.txt", "# Camellia"), Ok((Mode::Cbc, false)));
    assert!(of("camellia-cfb.txt", "# Camellia").is_err());
    let vectors_of = |name: &str| {
        let set = vectors::FETCHED.into_iter().find(|set| set.to_string() == name);
        Format::Vectors(set.unwrap())
    };
    let json = |algorithm: &str| format!("{{\n \"algorithm\": \"{algorithm}\", \"testGroups\": []}}");
    assert_eq!(Format::of("x.json", &json("AES-XTS")), vectors_of("Wycheproof aes-xts"));
    assert_eq!(Format::of("x.json", &json("AES-CCM")), Format::Other("JSON of AES-CCM".to_owned()));
}

#[test]
fn records_are_read_with_their_headers() {
    let text = format!(
        "# GCM Decrypt with keysize 128\r\n[Taglen = 32]\r\n\r\nCount = 0\r\n{KEY}\r\nIV = 00\r\nCT = ab\r\n\
         AAD = \r\nTag = 01020304\r\nFAIL\r\nCount = 1\r\n{KEY}\r\nIV = 00\r\nCT = ab\r\nAAD = \r\n\
         Tag = 01020304\r\nPT = cd\r\n"
    );
    let cases = rsp::parse("x.rsp", &text).unwrap();
    assert_eq!(cases.len(), 2);
    assert_eq!((&cases[0].expectation, cases[0].operation), (&Expectation::Reject, Operation::Open));
    assert_eq!((&cases[1].expectation, &cases[1].output[..]), (&Expectation::Output, &[0xcd][..]));
    assert_eq!((cases[1].id.as_str(), cases[1].tag.len()), ("x.rsp:11", 4));
}

#[test]
fn data_units_have_numbers_and_bits() {
    let head = "# XTSGen information\n[ENCRYPT]\nCOUNT = 1\nDataUnitLen = 130\n";
    let keys = "Key = 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
    let text = format!("{head}{keys}DataUnitSeqNumber = 258\nPT = 00\nCT = 00\n");
    let cases = rsp::parse("x.rsp", &text).unwrap();
    assert_eq!(cases[0].nonce, [&[2, 1][..], &[0; 14]].concat());
    assert!(matches!(cases[0].expectation, Expectation::NotApplicable(_)));
    let tally = exam::run(&Reference::new(), &Wish::default(), &cases).unwrap();
    assert_eq!((tally.total().not_applicable, tally.total().passed), (1, 0));
    assert_eq!(tally.reasons.values().sum::<usize>(), 1);
}

/// The first two turns of NIST's ECBMCT128, whose outer loop leads from one to the other.
const ECB_MCT: &str = "# AESVS MCT test data for ECB\n[ENCRYPT]\n\
    COUNT = 0\nKEY = 139a35422f1d61de3c91787fe0507afd\n\
    PLAINTEXT = b9145a768b7dc489a096b546f43b231f\nCIPHERTEXT = d7c3ffac9031238650901e157364c386\n\
    COUNT = 1\nKEY = c459caeebf2c42586c01666a9334b97b\n\
    PLAINTEXT = d7c3ffac9031238650901e157364c386\nCIPHERTEXT = CT1\n";

#[test]
fn monte_carlo_follows_both_loops() {
    // The second turn is as published by the first: its own result is what the reference makes of it.
    let text = ECB_MCT.replace("CT1", "00");
    let cases = rsp::parse("ECBMCT128.rsp", &text).unwrap();
    let run = |cases: &[vectors::Case]| exam::run(&Reference::new(), &Wish::default(), cases).unwrap();
    let tally = run(&cases);
    assert_eq!((tally.total().passed, tally.total().failed), (1, 1), "{:?}", tally.failures);
    assert!(tally.failures[0].reason.contains("after 1000 turns"), "{:?}", tally.failures);
    let mut wrong = cases;
    let Expectation::MonteCarlo { next: Some(next) } = &mut wrong[0].expectation else {
        panic!("no next turn")
    };
    next.key[3] ^= 1;
    let tally = run(&wrong);
    assert!(
        tally.failures[0].reason.contains("key of the next turn differs from byte 3"),
        "{:?}",
        tally.failures
    );
}

#[test]
fn a_users_file_is_read_whatever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.txt");
    std::fs::write(&path, ECB_MCT.replace("CT1", "00")).unwrap();
    assert_eq!(vectors::parse_file(&path).unwrap().len(), 2);
    std::fs::write(&path, "hello").unwrap();
    let text = vectors::parse_file(&path).unwrap_err().to_string();
    assert!(
        text.contains("mine.txt") && text.contains("add a comment line") && text.contains("Wycheproof"),
        "{text}"
    );
    std::fs::write(folder.path().join("notes.md"), "not looked at").unwrap();
    let found = vectors::find(folder.path()).unwrap();
    assert!(found.len() == 1 && matches!(found[0].format, Format::Other(_)), "{found:?}");
    assert!(vectors::gcm_records(folder.path()).unwrap_err().to_string().contains("cargo xtask vectors"));
}
