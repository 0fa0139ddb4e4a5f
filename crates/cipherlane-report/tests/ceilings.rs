//! What is said of numbers beside what the machine allows: a bound that was passed is no praise.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

mod support;

use std::collections::BTreeMap;

use cipherlane_record::{Axis, Measurement, Record};
use cipherlane_report::Report;
use support::{experiment, measurement, on_gpu, row};

fn report(records: &[Record]) -> (String, String) {
    let report = Report::new(records, &BTreeMap::new());
    (report.html().unwrap(), report.markdown())
}

/// A row that reaches this part of its ceiling.
fn reaching(share: f64, bytes: u64) -> Record {
    let mut row = measurement(10.0, bytes);
    let ceiling = row.ceiling.as_mut().unwrap();
    (ceiling.share, ceiling.bytes_per_second) = (share, row.bytes_per_second / share);
    experiment("bench", row)
}

#[test]
fn a_row_above_its_bound_is_not_the_closest_to_it() {
    let (page, text) = report(&[reaching(0.9, 1024), reaching(1.04, 16384), reaching(1.25, 65536)]);
    let finding = "Closest to what the machine allows: aes-128-ctr encrypt, 1 KiB, cpu avx512, 1 thread · vaesenc at 512 \
        bits with 90 %. 2 rows exceed their bounds, which are too low.";
    assert!(text.contains(finding), "{text}");
    assert!(page.contains("<td>104 % (bound too low)<td>"), "no word in the table");
    assert!(page.contains("125 % (bound too low)"), "no word beside the bar");
    let (_, text) = report(&[reaching(1.04, 1024)]);
    assert!(text.contains("- Beside the ceiling: 1 row exceeds its bound, which is too low.\n"), "{text}");
    let (_, text) = report(&[reaching(0.9, 1024)]);
    assert!(text.contains("with 90 %.\n") && !text.contains("too low.\n"), "{text}");
}

#[test]
fn a_number_above_its_bound_says_so_on_the_first_screen() {
    let said = "More than this bound allows, which is too low; the bar ends at 100 %.";
    let (page, text) = report(&[reaching(1.04, 16384)]);
    assert!(page.contains("<b>104 %</b> of 9.62 GB/s") && page.contains(said), "{page}");
    assert!(text.contains("; 104 % (bound too low) of 9.62 GB/s: vaesenc at 512 bits"), "{text}");
    assert!(!report(&[reaching(0.96, 16384)]).0.contains(said));
}

/// A forecast of this rate, in GB/s, for the GPU's kernel, by a build of this commit.
fn foretold(gigabytes: f64, commit: &str) -> Record {
    let axes = [("algorithm", Axis::from("aes-128-ctr")), ("kernel", Axis::from("aes-ctr/banked4/x1"))];
    let measured = [("measured", "GB/s", Some(1.1 * gigabytes)), ("foretold", "GB/s", Some(gigabytes))];
    let mut record = row("mix", "cuda:0", &axes, &measured);
    if let Record::Observation(row) = &mut record {
        commit.clone_into(&mut row.host.tool.git_hash);
    }
    record
}

#[test]
fn what_was_foretold_for_another_build_is_no_ceiling() {
    let mut row = on_gpu(50.0, 16384);
    row.scope.transfer = cipherlane_record::Transfer::Excluded;
    let (own, other) = (row.host.tool.git_hash.clone(), "f".repeat(40));
    let said = |forecasts: &[Record]| {
        let row = experiment("bench", Measurement { ceiling: None, ..row.clone() });
        report(&[&[row], forecasts].concat()).1
    };
    let (own, other) = (foretold(100.0, &own), foretold(60.0, &other));
    let by_own = "; 50 % of 100 GB/s: its instructions (mix)";
    assert!(said(std::slice::from_ref(&own)).contains(by_own));
    assert!(said(&[other.clone(), own]).contains(by_own));
    let text = said(&[other]);
    assert!(
        text.contains("no ceiling in the records but what mix foretold for another build; lab run mix"),
        "{text}"
    );
}

#[test]
fn values_above_the_roof_are_counted() {
    let (_, text) = report(&[foretold(100.0, "a")]);
    let chart = text.lines().find(|line| line.starts_with("- Measured below the roof")).unwrap();
    assert!(chart.contains(" 1 stands above the roof, which is too low there."), "{chart}");
}
