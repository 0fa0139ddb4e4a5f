//! Numbers for people: three significant digits, sizes exact, decimal units for rates.

pub(crate) use cipherlane_record::units::{bytes, rate, rate_unit, significant};

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
    fn units_fit_the_size() {
        assert_eq!(per_second(12_407_023.0), "12.4 M/s");
        assert_eq!(seconds(0.0634), "63.4 ms");
        assert_eq!(
            [40.0, 300.0, 12_600.0, 405_016.0].map(duration),
            ["40.0 s", "5.00 min", "3.50 h", "4.69 days"]
        );
        assert_eq!(count(1, "row"), "1 row");
        assert_eq!(count(2, "row"), "2 rows");
    }
}
