//! Files of test vectors: what is understood, and what is said of the rest.

use cipherlane_core::{Algorithm, Hash, Mode, Operation, Wish};
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
    let Format::Other(what) = Format::of("x.json", &json("AES-CCM")) else {
        panic!("no set of AES-CCM is known")
    };
    assert!(what.starts_with("JSON of AES-CCM, and not") && what.contains("AES-GCM"), "{what}");
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

const DIGEST: &str = "MD = ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// Reads a text as a file of digests.
fn digests(text: &str) -> Result<Vec<vectors::Case>, String> {
    vectors::parse("a.rsp", text).map_err(|error| error.to_string())
}

#[test]
fn digests_are_known_by_comments_names_and_headers() {
    let of = |name: &str, text: &str| {
        vectors::digests::Form::of(name, text).map(|form| form.map(|form| form.hash))
    };
    let title = |words: &str| format!("#  CAVS 11.0\r\n#  \"{words}\" information\r\n\r\n[L = 32]\r\n");
    assert_eq!(of("x.rsp", &title("SHA-512/256 ShortMsg")), Some(Ok(Hash::Sha512_256)));
    assert_eq!(of("x.rsp", &title("SHAKE128 VariableOut")), Some(Ok(Hash::Shake128)));
    assert!(of("x.rsp", &title("SHA-1 Monte")).unwrap().unwrap_err().contains("tests SHA-1"));
    assert_eq!(of("dir/LongMsgKAT_224.txt", "# generated"), Some(Ok(Hash::Keccak224)));
    assert_eq!(of("dir/ShortMsgKAT_SHA3-256.txt", "# generated"), None);
    assert_eq!(of("mine.txt", "# mine\n[keccak-384]\n"), Some(Ok(Hash::Keccak384)));
    assert_eq!(of("gcmEncryptExtIV128.rsp", "# GCM Encrypt with keysize 128"), None);
    let set = vectors::FETCHED.into_iter().find(|set| set.to_string() == "NIST CAVP sha-2").unwrap();
    assert_eq!(Format::of("x.rsp", &title("SHA-224 LongMsg")), Format::Vectors(set));
}

#[test]
fn digests_are_read_with_their_lengths() {
    let text = format!(
        "[sha-256]\nLen = 0\nMsg = 00\n{DIGEST}\nLen = 24\nMsg = 616263\n{DIGEST}\nLen = 5\nMsg = 60\n{DIGEST}\n\
         [shake128]\nOutputlen = 16\nMsg = 6162\nOutput = 0102\n[keccak-256]\nLen = 8\nMsg = 61\n{DIGEST}\n"
    );
    let cases = digests(&text).unwrap();
    assert_eq!(cases.iter().map(|case| case.input.len()).collect::<Vec<_>>(), [0, 3, 0, 2, 1]);
    assert_eq!((cases[1].id.as_str(), cases[1].operation), ("a.rsp:7", Operation::Hash));
    assert!(
        matches!(cases[2].expectation, Expectation::NotApplicable(reason) if reason.contains("within a byte"))
    );
    assert_eq!((cases[3].algorithm, &cases[3].tag[..]), (Algorithm::Hash(Hash::Shake128), &[1, 2][..]));
    let tally = exam::run(&Reference::new(), &Wish::default(), &cases).unwrap();
    let total = tally.total();
    // The second digest is that of `abc`; the others are made up.
    assert_eq!((total.passed, total.failed, total.not_applicable), (1, 3, 1), "{tally:?}");
}

#[test]
fn errors_in_digests_name_the_line_and_the_remedy() {
    let error = |text: &str| digests(&format!("[sha-256]\n{text}")).unwrap_err();
    assert_eq!(error("gibberish"), "a.rsp:2: `gibberish` is neither `Name = value` nor `[header]`");
    assert!(error("Salt = 00").starts_with("a.rsp:2: unknown field `salt`; known: Len"));
    assert!(error("Len = many").contains("`many` is no number"));
    assert!(error(DIGEST).contains("no `Msg = ..` or `Seed = ..` before it"));
    assert!(error(&format!("Len = 16\nMsg = 00\n{DIGEST}")).starts_with("a.rsp:4: the message is shorter"));
    assert!(error("Msg = 00\nMD = 0011").contains("a digest of 2 bytes, where 32 are expected"));
    let shake = "# \"SHAKE128 Monte\" information\nMsg = 00\nOutput = 00";
    assert!(digests(shake).unwrap_err().contains("a.rsp:3: which lengths? put [Minimum Output Length"));
}

/// The first turn of NIST's SHA3_256Monte, which leads to the second.
const MONTE: &str = "# \"SHA3-256 Monte\" information\n\
    Seed = aa64f7245e2177c654eb4de360da8761a516fdc7578c3498c5e582e096b8730c\n\
    COUNT = 0\nMD = 225cbac2be6f329d94228c5360a1c177bc495a761c442a1771b1d18555c309a5\n\
    COUNT = 1\nMD = 96d364a1b1ced3dbbce6380093fb1ac77221abcee30faf16546ffad8fe1eef8c\n";

#[test]
fn a_monte_carlo_test_of_digests_starts_from_the_digest_before() {
    let mut cases = digests(MONTE).unwrap();
    assert_eq!(cases[1].input, cases[0].tag);
    let run = |cases: &[vectors::Case]| exam::run(&Reference::new(), &Wish::default(), cases).unwrap();
    assert_eq!(run(&cases).total().passed, 2);
    cases[1].input[0] ^= 1;
    let tally = run(&cases);
    assert_eq!((tally.total().passed, tally.total().failed), (1, 1));
    assert!(tally.failures[0].reason.contains("digest after 1000 turns"), "{:?}", tally.failures);
}
