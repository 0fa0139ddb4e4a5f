//! Project Wycheproof's JSON files, as far as devices here offer what they test.

use cipherlane_core::{Algorithm, BLOCK, Cipher, Mode, limits};
use serde::Deserialize;

use super::{Case, Expectation, VectorError, hex};

/// The sets that are understood, by the name in their field `algorithm`: the family of the cipher, and the mode.
pub const SETS: [(&str, &str, Mode); 5] = [
    ("AES-GCM", "aes", Mode::Gcm),
    ("AES-CBC-PKCS5", "aes", Mode::Cbc),
    ("AES-XTS", "aes", Mode::Xts),
    ("CAMELLIA-CBC-PKCS5", "camellia", Mode::Cbc),
    ("SM4-GCM", "sm4", Mode::Gcm),
];

#[derive(Deserialize)]
struct File {
    algorithm: String,
    #[serde(rename = "testGroups")]
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    #[serde(rename = "tcId")]
    id: u64,
    key: String,
    iv: String,
    #[serde(default)]
    aad: String,
    msg: String,
    ct: String,
    #[serde(default)]
    tag: String,
    result: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Valid,
    Invalid,
    Acceptable,
}

/// Reads the cases of a file; a valid test gives one case in each direction. `name` is for messages.
///
/// # Errors
/// If the file is not JSON of that form, or a test has fields that cannot be understood.
pub fn parse(name: &str, text: &str) -> Result<Vec<Case>, VectorError> {
    let file: File = serde_json::from_str(text).map_err(|error| {
        let problem = format!("{error}; this is not JSON of Wycheproof's {}", known_sets());
        VectorError::at_line(name, error.line(), problem)
    })?;
    let Some((_, family, mode)) = SETS.into_iter().find(|(set, ..)| *set == file.algorithm) else {
        let problem = format!("tests {}; known sets: {}", file.algorithm, known_sets());
        return Err(VectorError { place: name.to_owned(), problem });
    };
    let mut cases = Vec::new();
    for test in file.groups.iter().flat_map(|group| &group.tests) {
        let failed = |problem| VectorError { place: format!("{name}: tcId {}", test.id), problem };
        cases.extend(cases_of(family, mode, name, test).map_err(failed)?);
    }
    Ok(cases)
}

pub(super) fn known_sets() -> String {
    SETS.map(|(set, ..)| set).join(", ")
}

fn cases_of(family: &str, mode: Mode, name: &str, test: &Test) -> Result<Vec<Case>, String> {
    let field = |what: &str, text: &str| hex::decode(text).map_err(|problem| format!("{what}: {problem}"));
    let key = field("key", &test.key)?;
    let cipher_key = if mode == Mode::Xts { key.len() / 2 } else { key.len() };
    let cipher = Cipher::ALL
        .into_iter()
        .find(|cipher| cipher.family() == family && cipher.key_bytes() == cipher_key)
        .ok_or_else(|| format!("{family} has no key of {cipher_key} bytes"))?;
    let algorithm = Algorithm::new(cipher, mode);
    let mut case = Case {
        source: "Wycheproof".to_owned(),
        id: format!("{name}: tcId {}", test.id),
        algorithm,
        operation: algorithm.operations()[0],
        key,
        nonce: field("iv", &test.iv)?,
        aad: field("aad", &test.aad)?,
        input: field("msg", &test.msg)?,
        output: field("ct", &test.ct)?,
        tag: field("tag", &test.tag)?,
        expectation: Expectation::Output,
    };
    match mode {
        // A short tweak is a little-endian number: its upper bytes are zero (IEEE 1619 section 5.1).
        Mode::Xts if case.nonce.len() < BLOCK => case.nonce.resize(BLOCK, 0),
        // A device takes whole blocks; PKCS #7 is a format around it (RFC 5652 section 6.3).
        Mode::Cbc if test.result == Outcome::Valid => pad(&mut case.input),
        Mode::Xts | Mode::Cbc | Mode::Gcm | Mode::Ecb | Mode::Ctr => {}
    }
    if test.result == Outcome::Acceptable {
        case.expectation = Expectation::NotApplicable("tests that may pass or fail");
        return Ok(vec![case]);
    }
    let refused =
        mode == Mode::Gcm && (case.nonce.is_empty() || !limits::GCM_TAG_BYTES.contains(&case.tag.len()));
    if refused && test.result == Outcome::Valid {
        let [nonce, tag] = [case.nonce.len(), case.tag.len()];
        return Err(format!(
            "GCM takes no nonce of {nonce} bytes with a tag of {tag}, yet the test is valid; give both as they were made"
        ));
    }
    if refused {
        case.expectation = Expectation::Refused;
    }
    if refused || test.result == Outcome::Valid {
        return Ok(case.reversed().into_iter().chain([case]).collect());
    }
    let Some(mut case) = case.reversed() else { return Ok(vec![case]) };
    case.output.clear();
    case.expectation = match mode {
        Mode::Gcm => Expectation::Reject,
        Mode::Cbc => Expectation::BadPadding,
        Mode::Ecb | Mode::Ctr | Mode::Xts => {
            return Err(format!("{algorithm} has no way to reject a text, yet the test is invalid"));
        }
    };
    Ok(vec![case])
}

/// Appends the padding of PKCS #7.
fn pad(text: &mut Vec<u8>) {
    let missing = BLOCK - text.len() % BLOCK;
    #[allow(clippy::cast_possible_truncation)] // at most 16
    text.resize(text.len() + missing, missing as u8);
}

/// Whether `text` ends with a padding of PKCS #7.
#[must_use]
pub fn is_padded(text: &[u8]) -> bool {
    let Some(&last) = text.last() else { return false };
    let count = usize::from(last);
    (1..=BLOCK).contains(&count)
        && count <= text.len()
        && text[text.len() - count..].iter().all(|&b| b == last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding() {
        let mut text = vec![7; 16];
        pad(&mut text);
        assert!(text.len() == 32 && is_padded(&text));
        assert!(is_padded(&[1]) && is_padded(&[9, 2, 2]));
        for bad in [&[][..], &[0], &[2], &[3, 2, 3, 3], &[17; 32]] {
            assert!(!is_padded(bad) || bad == [3, 2, 3, 3], "{bad:?}");
        }
        assert!(!is_padded(&[3, 2, 3, 2, 3]));
    }

    #[test]
    fn errors_say_where() {
        let error = parse("a.json", "{\n\"algorithm\": 1}").unwrap_err().to_string();
        assert!(error.starts_with("a.json:2: "), "{error}");
        let error = parse("a.json", r#"{"algorithm": "AES-SIV", "testGroups": []}"#).unwrap_err().to_string();
        assert!(error.contains("AES-SIV") && error.contains("AES-XTS"), "{error}");
        let test = r#"{"tcId": 5, "key": "00", "iv": "", "msg": "", "ct": "", "result": "valid"}"#;
        let file = format!(r#"{{"algorithm": "AES-GCM", "testGroups": [{{"tests": [{test}]}}]}}"#);
        let error = parse("a.json", &file).unwrap_err().to_string();
        assert_eq!(error, "a.json: tcId 5: aes has no key of 1 bytes");
    }

    #[test]
    fn what_is_valid_is_not_to_be_refused() {
        let of = |iv: &str, tag: &str, result: &str| {
            let key = "00".repeat(16);
            let fields =
                format!(r#""key": "{key}", "iv": "{iv}", "msg": "", "ct": "", {tag} "result": "{result}""#);
            let test = format!(r#"{{"tcId": 7, {fields}}}"#);
            parse("a.json", &format!(r#"{{"algorithm": "AES-GCM", "testGroups": [{{"tests": [{test}]}}]}}"#))
        };
        let (iv, tag) = ("00".repeat(12), format!(r#""tag": "{}","#, "00".repeat(16)));
        assert_eq!(of(&iv, &tag, "valid").unwrap().len(), 2);
        for (iv, tag) in [(&*iv, ""), (&iv, r#""tag": "2503","#), ("", &tag)] {
            let error = of(iv, tag, "valid").unwrap_err().to_string();
            assert!(error.starts_with("a.json: tcId 7: GCM takes no nonce of "), "{error}");
            let refused = of(iv, tag, "invalid").unwrap();
            assert!(refused.iter().all(|case| case.expectation == Expectation::Refused));
        }
    }
}
