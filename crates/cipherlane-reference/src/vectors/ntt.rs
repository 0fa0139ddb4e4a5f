//! NTT's file of Camellia vectors (`t_camellia.txt`).
//!
//! A line `K No.001 : 00 11 ..` holds for the pairs of `P No.001 : ..` and `C No.001 : ..` that follow. Every text is
//! one block.

use cipherlane_core::{Algorithm, BLOCK, Cipher, Mode, Operation};

use super::{Case, Expectation, VectorError, hex};

/// Whether `text` looks like such a file: its first line that is no comment is a key.
#[must_use]
pub fn is_one(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("K No."))
}

/// Reads the cases of a file; `name` is for messages.
///
/// # Errors
/// The first line that cannot be understood, and what would help.
pub fn parse(name: &str, text: &str) -> Result<Vec<Case>, VectorError> {
    let mut cases = Vec::new();
    let (mut key, mut plaintext) = (None, None);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let failed = |problem: &str| VectorError::at_line(name, index + 1, problem);
        let (label, value) =
            line.split_once(':').ok_or_else(|| failed("a line is `K`, `P` or `C No.n : ..`"))?;
        let value = hex::decode(&value.replace(' ', "")).map_err(|problem| failed(&problem))?;
        match (label.chars().next(), &key, plaintext.take()) {
            (Some('K'), _, None) => {
                let cipher = camellia(&value).ok_or_else(|| failed("no key of Camellia"))?;
                key = Some((cipher, value));
            }
            (Some('P' | 'C'), ..) if value.len() != BLOCK => return Err(failed("a text has 16 bytes")),
            (Some('P'), Some(_), None) => plaintext = Some(value),
            (Some('C'), Some((cipher, key)), Some(plaintext)) => {
                cases.push(Case {
                    source: "NTT".to_owned(),
                    id: format!("{name}:{}", index + 1),
                    algorithm: Algorithm::new(*cipher, Mode::Ecb),
                    operation: Operation::Encrypt,
                    key: key.clone(),
                    nonce: Vec::new(),
                    aad: Vec::new(),
                    input: plaintext,
                    output: value,
                    tag: Vec::new(),
                    expectation: Expectation::Output,
                });
            }
            _ => {
                return Err(failed(
                    "the order is a key `K`, then pairs of a plaintext `P` and a ciphertext `C`",
                ));
            }
        }
    }
    Ok(cases)
}

/// Camellia with a key of that length.
fn camellia(key: &[u8]) -> Option<Cipher> {
    Cipher::ALL.into_iter().find(|cipher| cipher.family() == "camellia" && cipher.key_bytes() == key.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "# a comment\n\nK No.001 : 00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF\n";
    const BLOCK: &str = "No.001 : 80 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01";

    #[test]
    fn pairs_share_the_key_before_them() {
        let text = format!("{KEY}P {BLOCK}\nC {BLOCK}\n\nP {BLOCK}\nC {BLOCK}\n");
        assert!(is_one(&text) && !is_one("# AESVS\nKEY = 00"));
        let cases = parse("t.txt", &text).unwrap();
        assert_eq!((cases.len(), cases[1].id.as_str()), (2, "t.txt:8"));
        assert_eq!(cases[1].algorithm, Algorithm::new(Cipher::Camellia128, Mode::Ecb));
        assert_eq!((cases[1].key[1], cases[1].input[0], cases[1].output[15]), (0x11, 0x80, 1));
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| parse("t.txt", text).unwrap_err().to_string();
        assert_eq!(error("K No.001 : 00"), "t.txt:1: no key of Camellia");
        assert!(error(&format!("P {BLOCK}")).starts_with("t.txt:1: the order is a key `K`"));
        assert!(error(&format!("{KEY}C {BLOCK}")).starts_with("t.txt:4: the order is"));
        assert!(error(&format!("{KEY}P {BLOCK}\nP {BLOCK}")).starts_with("t.txt:5: the order is"));
        assert_eq!(error(&format!("{KEY}P No.001 : 00")), "t.txt:4: a text has 16 bytes");
        assert!(error(&format!("{KEY}P No.001 : 0g")).contains("`g` is no hexadecimal digit"));
        assert!(error("gibberish").starts_with("t.txt:1: a line is `K`"));
    }
}
