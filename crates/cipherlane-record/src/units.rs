//! Numbers for people: sizes exact, three significant digits of all else, decimal units for rates.

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

/// Three significant digits; more where the whole part has more.
#[must_use]
pub fn significant(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return value.to_string();
    }
    match size {
        0.0 => "0".to_owned(),
        1e6.. => format!("{value:.2e}"),
        99.95.. => format!("{value:.0}"),
        9.995.. => format!("{value:.1}"),
        0.9995.. => format!("{value:.2}"),
        0.000_999_5.. => {
            // As many places as leave three digits after the zeros.
            let places = (0..6).find(|&places| size * 10f64.powi(places) >= 99.95).unwrap_or(6);
            format!("{value:.*}", usize::try_from(places).unwrap_or(6))
        }
        _ => format!("{value:.2e}"),
    }
}

/// A rate with its unit: `16.3 GB/s` (1 GB is 1e9 bytes).
#[must_use]
pub fn rate(bytes_per_second: f64) -> String {
    let (factor, unit) = rate_unit(bytes_per_second);
    format!("{} {unit}", significant(bytes_per_second / factor))
}

/// The unit in which a rate up to `most` reads well, and how many bytes per second it is.
#[must_use]
pub const fn rate_unit(most: f64) -> (f64, &'static str) {
    match most {
        1e12.. => (1e12, "TB/s"),
        0.1e9.. => (1e9, "GB/s"),
        0.1e6.. => (1e6, "MB/s"),
        _ => (1e3, "kB/s"),
    }
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
    fn three_digits_are_shown() {
        for (value, text) in [
            (0.0, "0"),
            (1234.4, "1234"),
            (99.96, "100"),
            (16.34, "16.3"),
            (1.0, "1.00"),
            (0.0123, "0.0123"),
            (0.00123, "0.00123"),
            (0.5, "0.500"),
            (0.9999, "1.00"),
            (0.000_012, "1.20e-5"),
            (2.5e9, "2.50e9"),
            (-3.456, "-3.46"),
        ] {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn units_of_rates_fit_the_size() {
        assert_eq!(rate(16.34e9), "16.3 GB/s");
        assert_eq!(rate(2.5e6), "2.50 MB/s");
        assert_eq!(rate(1.5e12), "1.50 TB/s");
        assert_eq!(rate(512.0), "0.512 kB/s");
    }

    #[test]
    fn sizes_are_exact() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(3 << 30), "3 GiB");
    }
}
