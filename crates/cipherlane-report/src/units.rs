//! Numbers for people: three significant digits, sizes exact, decimal units for rates.

pub(crate) use cipherlane_record::units::bytes;

/// Three significant digits; more where the whole part has more.
pub(crate) fn significant(value: f64) -> String {
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
pub(crate) fn rate(bytes_per_second: f64) -> String {
    let (factor, unit) = rate_unit(bytes_per_second);
    format!("{} {unit}", significant(bytes_per_second / factor))
}

/// The unit in which a rate up to `most` reads well, and how many bytes per second it is.
pub(crate) const fn rate_unit(most: f64) -> (f64, &'static str) {
    match most {
        1e12.. => (1e12, "TB/s"),
        0.1e9.. => (1e9, "GB/s"),
        0.1e6.. => (1e6, "MB/s"),
        _ => (1e3, "kB/s"),
    }
}

/// Messages per second with a prefix: `12.4 M/s`.
pub(crate) fn per_second(value: f64) -> String {
    match value {
        1e9.. => format!("{} G/s", significant(value / 1e9)),
        1e6.. => format!("{} M/s", significant(value / 1e6)),
        1e3.. => format!("{} k/s", significant(value / 1e3)),
        _ => format!("{} /s", significant(value)),
    }
}

/// A part of a whole: `51 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A time with its unit: `63.4 ms`.
pub(crate) fn seconds(value: f64) -> String {
    match value.abs() {
        1.0.. => format!("{} s", significant(value)),
        1e-3.. => format!("{} ms", significant(value * 1e3)),
        1e-6.. => format!("{} µs", significant(value * 1e6)),
        _ => format!("{} ns", significant(value * 1e9)),
    }
}

/// A time of any length: `40.0 s`, `3.50 h`, `4.69 days`.
pub(crate) fn duration(value: f64) -> String {
    match value {
        172_800.0.. => format!("{} days", significant(value / 86_400.0)),
        7200.0.. => format!("{} h", significant(value / 3600.0)),
        120.0.. => format!("{} min", significant(value / 60.0)),
        _ => seconds(value),
    }
}

/// A count with its noun: `1 row`, `2 rows`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_shown() {
        for (value, text) in [
            (0.0, "0"),
            (1234.4, "1234"),
            (99.96, "100"),
            (16.34, "16.3"),
            (1.0, "1.00"),
            (0.0123, "0.0123"),
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
    fn units_fit_the_size() {
        assert_eq!(rate(16.34e9), "16.3 GB/s");
        assert_eq!(rate(2.5e6), "2.50 MB/s");
        assert_eq!(rate(1.5e12), "1.50 TB/s");
        assert_eq!(per_second(12_407_023.0), "12.4 M/s");
        assert_eq!(bytes(16384), "16 KiB");
        assert_eq!(bytes(1350), "1350 B");
        assert_eq!(seconds(0.0634), "63.4 ms");
        assert_eq!(
            [40.0, 300.0, 12_600.0, 405_016.0].map(duration),
            ["40.0 s", "5.00 min", "3.50 h", "4.69 days"]
        );
        assert_eq!(count(1, "row"), "1 row");
        assert_eq!(count(2, "row"), "2 rows");
    }
}
