//! Hexadecimal text.

use std::fmt::Write;

/// The bytes that `text` spells, or why it spells none.
///
/// # Errors
/// If `text` has an odd number of digits or something else than digits.
pub fn decode(text: &str) -> Result<Vec<u8>, String> {
    if let Some(wrong) = text.chars().find(|c| !c.is_ascii_hexdigit()) {
        return Err(format!("`{wrong}` is no hexadecimal digit"));
    }
    if !text.len().is_multiple_of(2) {
        return Err(format!("{} hexadecimal digits are not whole bytes", text.len()));
    }
    let byte = |start| u8::from_str_radix(&text[start..start + 2], 16).map_err(|error| error.to_string());
    (0..text.len()).step_by(2).map(byte).collect()
}

/// `bytes` in lower-case digits.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_and_refuses() {
        assert_eq!(decode("00Ffa5").unwrap(), [0, 255, 0xa5]);
        assert_eq!(encode(&[0, 255, 0xa5]), "00ffa5");
        assert!(decode("0").unwrap_err().contains("whole bytes"));
        assert!(decode("0g").unwrap_err().contains("`g`"));
        assert!(decode("0\u{e9}").is_err());
    }
}
