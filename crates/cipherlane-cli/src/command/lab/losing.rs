//! Where a library that one can depend on is faster than we are.

use std::fmt::Write as _;

use cipherlane_record::{Keys, Measurement, Transfer};

use crate::render::units;

/// Rivals that are Rust crates, bundled C included: what a Rust program could use in our place.
const CRATES: [&str; 5] =
    ["rival:aws-lc", "rival:graviola", "rival:openssl", "rival:ring", "rival:rustcrypto"];
/// How much faster counts: less is a tie.
const TIE: f64 = 0.97;

/// The rows in which the best crate is faster by more than 3 %, or that there is none. What is counted is said: libraries
/// of the system and programs are not.
pub(super) fn of(rows: &[Measurement]) -> String {
    let ours = || rows.iter().filter(|row| !row.is_of_a_rival() && row.verified);
    let compared = ours().filter_map(|row| Some((row, best(rows, row)?)));
    let mut text = String::new();
    let (mut met, mut slower) = (0, 0);
    for (row, rival) in compared {
        met += 1;
        let ratio = row.bytes_per_second / rival.bytes_per_second;
        if ratio < TIE {
            slower += 1;
            let _ = writeln!(text, "slower: {}: {ratio:.2} of {}", what(row), rival.device_name);
        }
    }
    match (met, text.is_empty()) {
        (0, _) => "no library that is a Rust crate ran beside these rows\n".to_owned(),
        (_, true) => {
            format!("no library that is a Rust crate is faster by more than 3 % in any of {met} rows\n")
        }
        (_, false) => {
            let names = CRATES.map(|id| id.trim_start_matches("rival:")).join(", ");
            format!(
                "{text}slower by more than 3 % than a library that is a Rust crate ({names}): {slower} of {met} rows; \
                 other libraries do not count here\n"
            )
        }
    }
}

/// A row in a line, its device and tier included: `aes-128-gcm seal, 16 KiB, on cpu avx512, threads 1`.
fn what(row: &Measurement) -> String {
    let Measurement { algorithm, operation, device, tier, threads, .. } = row;
    let size = units::bytes(row.message_bytes);
    let keys = units::keys(row.keys == Keys::Distinct);
    let there = if row.scope.transfer == Transfer::Excluded { ", data there" } else { "" };
    format!("{algorithm} {operation}, {size}{keys}, on {device} {tier}{there}, threads {threads}")
}

/// The fastest crate that was right in the same point.
fn best<'a>(rows: &'a [Measurement], ours: &Measurement) -> Option<&'a Measurement> {
    let point = |row: &Measurement| {
        (row.workload.clone(), row.algorithm.clone(), row.operation.clone(), row.threads, row.keys)
    };
    rows.iter()
        .filter(|row| CRATES.contains(&row.device.as_str()) && row.verified)
        .filter(|row| point(row) == point(ours))
        .filter(|row| (row.message_bytes, row.messages) == (ours.message_bytes, ours.messages))
        .max_by(|a, b| a.bytes_per_second.total_cmp(&b.bytes_per_second))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cipherlane_record::{measurements, read};

    use super::*;

    #[test]
    fn what_is_slower_says_on_which_device_and_what_is_counted() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/granite-rapids-vm/bench.jsonl");
        let rows = measurements(read(&path).unwrap());
        let ours = rows.into_iter().find(|row| row.device == "cpu" && row.verified).unwrap();
        let rival = |device: &str, factor| Measurement {
            device: device.to_owned(),
            device_name: "another library".to_owned(),
            bytes_per_second: factor * ours.bytes_per_second,
            ..ours.clone()
        };
        let text = of(&[ours.clone(), rival("rival:aws-lc", 2.0)]);
        let on = format!(", on cpu {}, threads {}: 0.50 of another library\n", ours.tier, ours.threads);
        assert!(text.starts_with("slower: ") && text.contains(&on), "{text}");
        assert!(
            text.contains("a library that is a Rust crate (aws-lc, ") && text.contains(": 1 of 1 rows"),
            "{text}"
        );
        let text = of(&[ours.clone(), rival("rival:aws-lc", 1.0)]);
        assert_eq!(text, "no library that is a Rust crate is faster by more than 3 % in any of 1 rows\n");
        // One of the system is none.
        let text = of(&[ours.clone(), rival("rival:libcrypto", 2.0)]);
        assert_eq!(text, "no library that is a Rust crate ran beside these rows\n");
    }
}
