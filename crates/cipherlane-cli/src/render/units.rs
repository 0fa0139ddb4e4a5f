//! Numbers with units, in and out.

use std::num::IntErrorKind;
use std::time::Duration;

use cipherlane_lab::workload::Lengths;
use cipherlane_record::units::grouped;
pub(crate) use cipherlane_record::units::{bytes, rate, significant};

/// A number of bytes, as the command line takes it: `16`, `16k`, `1MiB`, `4kB`.
///
/// `k`, `M`, `G` and `T` alone count in 1024, as block sizes do (`16k` is a TLS record of 16384 bytes), and so do `KiB`,
/// `MiB`, `GiB` and `TiB`; `kB`, `MB`, `GB` and `TB` count in 1000. Any case will do: nobody means bits.
pub(crate) fn parse_bytes(text: &str) -> Result<usize, String> {
    let remedy =
        || format!("`{text}` is no size; write 16, 16k or 1MiB, which count in 1024, or 4kB, in 1000");
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let too_large = || format!("`{text}` is more than this machine can address");
    let number = text[..digits].parse::<u64>();
    let unit: u64 = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(remedy()),
    };
    match number {
        Ok(number) => {
            number.checked_mul(unit).and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(too_large)
        }
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(too_large()),
        Err(_) => Err(remedy()),
    }
}

/// One size of messages, or all from one to another: `16k`, `16-512`.
pub(crate) fn parse_lengths(text: &str) -> Result<Lengths, String> {
    let Some((least, most)) = text.split_once('-') else { return parse_bytes(text).map(Lengths::of) };
    let refused =
        || format!("`{text}` is no range of sizes; write the smaller one first, as 16-512 or 1k-16k");
    let ends = parse_bytes(least).and_then(|least| Ok((least, parse_bytes(most)?)));
    let (least, most) = ends.map_err(|error| format!("{}: {error}", refused()))?;
    Lengths::between(least, most).ok_or_else(refused)
}

/// One size, of at least 1.
pub(crate) fn parse_some_bytes(text: &str) -> Result<usize, String> {
    match parse_bytes(text)? {
        0 => Err(format!("`{text}` is nothing to run; write a size from 1")),
        bytes => Ok(bytes),
    }
}

/// Decimal gigabytes per second (1e9 bytes) with three significant digits, without the unit.
pub(crate) fn gigabytes(bytes_per_second: f64) -> String {
    significant(bytes_per_second / 1e9)
}

/// The time of one message where it is long, the rate of messages where it is short: both readable at a glance.
pub(crate) fn message_rate(per_second: f64) -> String {
    match per_second {
        rate if rate >= 1e6 => format!("{} M/s", significant(rate / 1e6)),
        rate if rate >= 1e3 => format!("{} k/s", significant(rate / 1e3)),
        rate => format!("{} /s", significant(rate)),
    }
}

/// What stands behind an algorithm's name where each message has a key of its own.
pub(crate) const fn keys(each: bool) -> &'static str {
    if each { ", a key each" } else { "" }
}

/// A count with its thousands apart: `47 250`.
pub(crate) fn count(number: usize) -> String {
    grouped(number as u64, ' ')
}

/// Whole seconds, or minutes and seconds.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, size) in [("16", 16), ("16k", 16384), ("1MiB", 1 << 20), ("4kB", 4000), ("1350 B", 1350)] {
            assert_eq!(parse_bytes(text), Ok(size), "{text}");
        }
        for text in ["", "k", "16q", "-1", "1.5k", "99999999999G"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn units_are_read_in_any_case() {
        for text in ["16k", "16K", "16KiB", "16kib", "16KIB"] {
            assert_eq!(parse_bytes(text), Ok(16 << 10), "{text}");
        }
        for text in ["16kB", "16KB", "16kb"] {
            assert_eq!(parse_bytes(text), Ok(16_000), "{text}");
        }
        assert_eq!((parse_bytes("1TiB"), parse_bytes("2tb")), (Ok(1 << 40), Ok(2_000_000_000_000)));
        assert_eq!(parse_some_bytes("1k"), Ok(1024));
        assert!(parse_some_bytes("0k").unwrap_err().contains("from 1"));
    }

    #[test]
    fn sizes_are_one_or_all_of_a_range() {
        assert_eq!(parse_lengths("16k"), Ok(Lengths::of(16 << 10)));
        assert_eq!(parse_lengths("16-1k"), Ok(Lengths::between(16, 1 << 10).unwrap()));
        assert_eq!(parse_lengths("5-5"), Ok(Lengths::of(5)));
        for text in ["16-", "-16", "512-16", "1-2-3", "a-b"] {
            assert!(parse_lengths(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_written_exactly() {
        assert_eq!(bytes(16384), "16 KiB");
        assert_eq!(bytes(1350), "1350 B");
        assert_eq!(bytes(256 << 20), "256 MiB");
        assert_eq!(bytes(0), "0 B");
    }

    #[test]
    fn rates_have_three_digits() {
        assert_eq!(gigabytes(31.417e9), "31.4");
        assert_eq!(gigabytes(0.01234e9), "0.0123");
        assert_eq!(gigabytes(0.001_234e9), "0.00123");
        assert_eq!(message_rate(2_345_678.0), "2.35 M/s");
        assert_eq!(message_rate(45_678.0), "45.7 k/s");
        assert_eq!(count(47_250), "47 250");
        assert_eq!(count(999), "999");
    }
}
