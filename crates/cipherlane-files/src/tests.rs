//! Files that Tink wrote, files there and back, and files that somebody meddled with.

use std::io::{self, Read, Write};

use cipherlane::{Engine, Wish};
use serde::Deserialize;
use zeroize::ZeroizeOnDrop;

use crate::header::Stream;
use crate::run::seal_segments;
use crate::{Error, Hkdf, Keyset, Params, open, seal};

#[derive(Deserialize)]
struct Tink {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    keyset: serde_json::Value,
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    length: usize,
    sealed: String,
}

const AAD: &[u8] = b"associated";

/// As `tests/tink.json` says.
fn text(length: usize) -> Vec<u8> {
    (0..length).map(|i| (7 * i + i / 256) as u8).collect()
}

fn small_segments() -> Params {
    Params { segment_bytes: 100, key_bytes: 32, hkdf: Hkdf::Sha256 }
}

fn sealed(keyset: &Keyset, text: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::new();
    seal(&Engine::new(), keyset, AAD, text, &mut sealed).unwrap();
    sealed
}

fn opened(keyset: &Keyset, sealed: &[u8]) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    open(&Engine::new(), keyset, AAD, sealed, &mut text).map(|()| text)
}

#[test]
fn what_tink_wrote_is_opened_and_comes_out_again() {
    let tink: Tink = serde_json::from_str(include_str!("../tests/tink.json")).unwrap();
    let engine = Engine::new();
    let mut files = 0;
    for case in &tink.cases {
        let keyset = Keyset::from_json(&case.keyset.to_string()).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&keyset.to_json()).unwrap(), case.keyset);
        for file in &case.files {
            let (text, theirs) =
                (text(file.length), data_encoding::HEXLOWER.decode(file.sealed.as_bytes()).unwrap());
            assert_eq!(opened(&keyset, &theirs).unwrap(), text, "{}, {} bytes", case.name, file.length);
            // Under their salt and nonces, ours is theirs.
            let stream = Stream::read(keyset.primary(), AAD, &theirs).unwrap().unwrap();
            let mut ours = stream.header().to_vec();
            seal_segments(&engine, &stream, &mut &text[..], &mut ours).unwrap();
            assert!(ours == theirs, "{}, {} bytes", case.name, file.length);
            files += 1;
        }
    }
    assert_eq!(files, 17);
}

#[test]
fn all_lengths_come_back() {
    let keyset = Keyset::generate(small_segments()).unwrap();
    for length in 0..400 {
        let text = text(length);
        assert_eq!(opened(&keyset, &sealed(&keyset, &text)).unwrap(), text, "{length}");
    }
}

#[test]
fn a_file_of_several_windows_comes_back() {
    let keyset = Keyset::generate(Params::AES128_GCM_HKDF_1MB).unwrap();
    let text = text((70 << 20) + 5);
    assert!(opened(&keyset, &sealed(&keyset, &text)).unwrap() == text);
}

#[test]
fn whatever_is_changed_is_seen() {
    let keyset = Keyset::generate(small_segments()).unwrap();
    let good = sealed(&keyset, &text(150));
    let engine = Engine::new().with_wish(Wish { threads: Some(1), ..Wish::default() });
    let is_refused = |file: &[u8]| {
        let mut text = Vec::new();
        let refused = open(&engine, &keyset, AAD, file, &mut text);
        matches!(refused, Err(Error::NoKey | Error::Rejected { .. }))
    };
    assert!(!is_refused(&good));
    for at in 0..good.len() {
        let mut changed = good.clone();
        changed[at] ^= 1;
        assert!(is_refused(&changed), "byte {at}");
        assert!(is_refused(&good[..at]), "{at} bytes alone");
    }
    assert!(is_refused(&[&good[..], &[0]].concat()));
    // Segments 1 and 2 in each other's place.
    let long = sealed(&keyset, &text(400));
    let swapped = [&long[..100], &long[200..300], &long[100..200], &long[300..]].concat();
    assert!(is_refused(&swapped) && !is_refused(&long));
}

#[test]
fn the_segment_at_fault_is_named() {
    let keyset = Keyset::generate(small_segments()).unwrap();
    let mut file = sealed(&keyset, &text(1000));
    file[250] ^= 1;
    let error = opened(&keyset, &file).unwrap_err();
    assert!(matches!(error, Error::Rejected { segment: 2 }), "{error}");
    // A whole segment less: the one before is not the last.
    file[250] ^= 1;
    let error = opened(&keyset, &file[..500]).unwrap_err();
    assert!(matches!(error, Error::Rejected { segment: 4 }), "{error}");
}

#[test]
fn a_segment_of_a_later_window_is_refused() {
    let keyset = Keyset::generate(Params::AES256_GCM_HKDF_1MB).unwrap();
    let mut file = sealed(&keyset, &text(50 << 20));
    file[45 << 20] ^= 1;
    let mut written = Vec::new();
    let refused = open(&Engine::new(), &keyset, AAD, &file[..], &mut written);
    assert!(matches!(refused, Err(Error::Rejected { segment: 45 })));
    assert!(written == text(50 << 20)[..written.len()] && written.len() <= 45 << 20);
}

#[test]
fn keys_that_nobody_needs_are_no_hindrance() {
    let mine = Keyset::generate(small_segments()).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&mine.to_json()).unwrap();
    let mut other = json["key"][0].clone();
    other["keyId"] = 7.into();
    other["keyData"]["typeUrl"] = "type.googleapis.com/google.crypto.tink.AesCtrHmacStreamingKey".into();
    let destroyed = serde_json::json!({ "status": "DESTROYED", "keyId": 8, "outputPrefixType": "RAW" });
    json["key"].as_array_mut().unwrap().extend([other, destroyed]);
    // Java's numbers of keys have a sign.
    let id = json["primaryKeyId"].as_u64().unwrap() as u32 as i32;
    (json["primaryKeyId"], json["key"][0]["keyId"]) = (id.into(), id.into());
    let all = Keyset::from_json(&json.to_string()).unwrap();
    assert_eq!(opened(&all, &sealed(&mine, b"text")).unwrap(), b"text");
}

#[test]
fn keys_and_associated_data_have_to_be_the_same() {
    let (mine, other) =
        (Keyset::generate(small_segments()).unwrap(), Keyset::generate(small_segments()).unwrap());
    let file = sealed(&mine, b"text");
    assert!(matches!(opened(&other, &file), Err(Error::NoKey)));
    let result = open(&Engine::new(), &mine, b"other", &file[..], Vec::new());
    assert!(matches!(result, Err(Error::NoKey)));
}

#[test]
fn any_key_of_a_keyset_opens() {
    let keysets = [small_segments(), Params::AES128_GCM_HKDF_4KB, Params::AES256_GCM_HKDF_1MB]
        .map(|params| Keyset::generate(params).unwrap());
    let mut all: serde_json::Value = serde_json::from_str(&keysets[0].to_json()).unwrap();
    for keyset in &keysets[1..] {
        let more: serde_json::Value = serde_json::from_str(&keyset.to_json()).unwrap();
        all["key"].as_array_mut().unwrap().push(more["key"][0].clone());
    }
    let all = Keyset::from_json(&all.to_string()).unwrap();
    for keyset in &keysets {
        for length in [0, 70, 5000] {
            assert_eq!(opened(&all, &sealed(keyset, &text(length))).unwrap(), text(length));
        }
    }
    assert!(opened(&keysets[0], &sealed(&all, b"by the primary one")).is_ok());
}

#[test]
fn no_two_keys_are_the_primary_one() {
    let (mine, other) =
        (Keyset::generate(small_segments()).unwrap(), Keyset::generate(small_segments()).unwrap());
    let json = |keyset: &Keyset| serde_json::from_str::<serde_json::Value>(&keyset.to_json()).unwrap();
    let (one, more) = (json(&mine), json(&other)["key"][0].clone());
    let with = |status: &str, number: i64| {
        let (mut all, mut more) = (one.clone(), more.clone());
        (more["status"], more["keyId"]) = (status.into(), number.into());
        // Before the other: the first of them would be taken for the primary one.
        all["key"].as_array_mut().unwrap().insert(0, more);
        Keyset::from_json(&all.to_string())
    };
    let number = one["primaryKeyId"].as_i64().unwrap();
    // Java's numbers have a sign.
    for number in [number, i64::from(number as i32)] {
        let error = with("ENABLED", number).unwrap_err().to_string();
        assert!(error.contains("2 enabled keys have the number"), "{error}");
        for key in [&one["key"][0], &more] {
            assert!(!error.contains(key["keyData"]["value"].as_str().unwrap()), "{error}");
        }
    }
    // One that is not enabled does no harm, nor does one of another number.
    for keyset in [with("DISABLED", number), with("ENABLED", number ^ 1)] {
        assert_eq!(opened(&mine, &sealed(&keyset.unwrap(), b"text")).unwrap(), b"text");
    }
}

#[test]
fn keysets_that_do_not_serve_say_why() {
    let good = Keyset::generate(small_segments()).unwrap().to_json();
    let with = |from: &str, to: &str| {
        assert!(good.contains(from), "{from} is not in {}", *good);
        Keyset::from_json(&good.replace(from, to)).unwrap_err().to_string()
    };
    assert!(with("AesGcmHkdfStreamingKey", "AesCtrHmacStreamingKey").contains("AesCtrHmacStreamingKey"));
    assert!(with("ENABLED", "DISABLED").contains("not enabled"));
    assert!(with("\"value\": \"", "\"value\": \"*").contains("Base64"));
    assert!(with("\"value\": \"", "\"value\": \"AAAA").contains("not of its type"));
    assert!(with("{", "").contains("not one in JSON"));
    let encrypted = Keyset::from_json(r#"{"encryptedKeyset": "AAAA"}"#).unwrap_err().to_string();
    assert!(encrypted.contains("encrypted"), "{encrypted}");
    for (params, word) in [
        (Params { key_bytes: 24, ..small_segments() }, "16 or 32"),
        (Params { segment_bytes: 56, ..small_segments() }, "57"),
        (Params { segment_bytes: 1 << 31, ..small_segments() }, "the most"),
    ] {
        let error = Keyset::generate(params).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// HKDF hashes the keys of keysets, and copies them to do so.
#[test]
fn what_is_hashed_is_wiped() {
    fn is_wiped(_: impl ZeroizeOnDrop) {}
    is_wiped(sha1::Sha1::default());
    is_wiped(sha2::Sha256::default());
    is_wiped(sha2::Sha512::default());
}

#[test]
fn no_secret_is_shown() {
    let shown = format!("{:?}", Keyset::generate(small_segments()).unwrap());
    assert!(shown.contains("segment_bytes") && !shown.contains("secret"), "{shown}");
}

#[test]
fn no_error_quotes_a_secret() {
    let secret = "c2VjcmV0IGtleQ==";
    let error = |json: String| Keyset::from_json(&json).unwrap_err().to_string();
    let of_key = |data: &str| {
        format!("{{\"primaryKeyId\": 1,\n\"key\": [{{\"keyData\": {data}, \"status\": \"ENABLED\"}}]}}")
    };
    for (json, line, what) in [
        (of_key(&format!("\"{secret}\"")), 2, "of another kind"),
        (format!("\"{secret}\""), 1, "of another kind"),
        (format!("{{\"primaryKeyId\": \"{secret}\"}}"), 1, "of another kind"),
        (of_key(secret), 2, "a syntax error"),
        (of_key(&format!("{{\"value\": \"{secret}")), 2, "a syntax error"),
        (format!("{{\"key\": [\"{secret}"), 1, "the end is missing"),
    ] {
        let error = error(json);
        assert!(error.contains(&format!("(line {line}, column ")) && error.contains(what), "{error}");
        assert!(!error.contains("c2Vj"), "{error}");
    }
    let mixed = of_key(&format!("{{\"typeUrl\": \"{secret}\", \"value\": \"type.googleapis.com/x\"}}"));
    let mixed = error(mixed.replace("\"keyData\"", "\"keyId\": 1, \"keyData\""));
    assert!(mixed.contains("its type is another") && !mixed.contains("c2Vj"), "{mixed}");
    // No field has a number of 63 bits.
    let json = format!(
        "{{\"primaryKeyId\": 1, \"key\": [{{\"keyId\": 1, \"status\": \"ENABLED\", \"keyData\": {{\"typeUrl\": \
         \"type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey\", \"value\": \"{}\"}}}}]}}",
        data_encoding::BASE64.encode(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])
    );
    let error = error(json);
    assert!(error.ends_with("it is not of its type"), "{error}");
}

/// Fails after some bytes.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = buffer.len().min(self.0);
        self.0 -= read;
        if read == 0 { Err(io::Error::other("the cable is out")) } else { Ok(read) }
    }
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = bytes.len().min(self.0);
        self.0 -= written;
        if written == 0 { Err(io::Error::other("the disk is full")) } else { Ok(written) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_fails_ends_it() {
    let (engine, keyset) = (Engine::new(), Keyset::generate(Params::AES256_GCM_HKDF_1MB).unwrap());
    let good = sealed(&keyset, &text(50 << 20));
    // At once, in the first window, and beyond it.
    for bytes in [0, 1000, 40 << 20] {
        let result = seal(&engine, &keyset, AAD, Failing(bytes), io::sink());
        assert!(matches!(result, Err(Error::Read(_))), "{bytes}");
        let result = seal(&engine, &keyset, AAD, io::repeat(7).take(150 << 20), Failing(bytes));
        assert!(matches!(result, Err(Error::Write(_))), "{bytes}");
        let result = open(&engine, &keyset, AAD, (&good[..bytes]).chain(Failing(0)), io::sink());
        assert!(matches!(result, Err(Error::Read(_))), "{bytes}");
        let result = open(&engine, &keyset, AAD, &good[..], Failing(bytes));
        assert!(matches!(result, Err(Error::Write(_))), "{bytes}");
    }
}
