//! Where a library that one can depend on is faster than we are.

use std::fmt::Write as _;

use cipherlane_record::Measurement;

use crate::render::units;

/// Rivals that are crates, bundled C included: what a program could use in our place.
const CRATES: [&str; 5] =
    ["rival:aws-lc", "rival:graviola", "rival:openssl", "rival:ring", "rival:rustcrypto"];
/// How much faster counts: less is a tie.
const TIE: f64 = 0.97;

/// The rows in which the best crate is faster by more than 3 %, or that there is none.
pub(super) fn of(rows: &[Measurement]) -> String {
    let ours = || rows.iter().filter(|row| !row.device.starts_with("rival:") && row.verified);
    let compared = ours().filter_map(|row| Some((row, best(rows, row)?)));
    let mut text = String::new();
    let mut met = 0;
    for (row, rival) in compared {
        met += 1;
        let ratio = row.bytes_per_second / rival.bytes_per_second;
        if ratio < TIE {
            let size = units::bytes(row.message_bytes);
            let _ = writeln!(
                text,
                "slower: {} {} {size}, threads {}: {ratio:.2} of {}",
                row.algorithm, row.operation, row.threads, rival.device_name
            );
        }
    }
    match (met, text.is_empty()) {
        (0, _) => "no library that is a crate ran beside these rows\n".to_owned(),
        (_, true) => format!("no crate is faster by more than 3 % in any of {met} rows\n"),
        (_, false) => text,
    }
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
