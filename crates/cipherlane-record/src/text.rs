//! Texts of records on their way to a reader: whoever wrote a record may have put anything in them.

/// The text on one line, a blank for each control character: on a terminal these move the cursor, colour what follows or
/// rename the window.
#[must_use]
pub fn on_one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_find_nothing_to_obey() {
        assert_eq!(on_one_line("OpenSSL 3.6 \u{1b}[31m\u{9b}2J"), "OpenSSL 3.6  [31m 2J");
        assert_eq!(on_one_line("µs\r\nand\tmore\u{7}"), "µs  and more ");
    }
}
