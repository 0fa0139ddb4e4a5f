//! Whole numbers for people.

/// A size, exact: `16 KiB` where it is a whole number of them, else `1350 B`.
#[must_use]
pub fn bytes(count: u64) -> String {
    for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if count >= unit && count.is_multiple_of(unit) {
            return format!("{} {name}", count / unit);
        }
    }
    format!("{count} B")
}

/// Digits in groups of three, with `between` between them: `47 250`.
#[must_use]
pub fn grouped(number: u64, between: char) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(between);
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups() {
        assert_eq!(grouped(0, ' '), "0");
        assert_eq!(grouped(999, ' '), "999");
        assert_eq!(grouped(1_234_567, '.'), "1.234.567");
    }

    #[test]
    fn sizes_are_exact() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(3 << 30), "3 GiB");
    }
}
