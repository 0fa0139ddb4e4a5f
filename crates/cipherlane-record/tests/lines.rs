//! Rows into files and back, and what is said of lines that are none.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

mod support;

use std::path::Path;

use cipherlane_record::{Measurement, ReadError, Record, Writer, measurements, read, read_from};
use serde_json::{Value, json};
use support::{observation, row};

#[test]
fn rows_read_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    for experiment in ["one", "two"] {
        // Opened twice: what is there is kept.
        let row = Measurement { experiment: experiment.to_owned(), ..row() };
        Writer::open(&path).unwrap().append(&row).unwrap();
    }
    let rows = read(&path).unwrap();
    assert_eq!(rows.len(), 2);
    let one = Measurement { experiment: "one".to_owned(), ..row() };
    assert_eq!(rows[0], Record::Measurement(Box::new(one)));
    Writer::open(&path).unwrap().observe(&observation()).unwrap();
    let rows = read(&path).unwrap();
    assert_eq!(rows[2], Record::Observation(Box::new(observation())));
    assert_eq!(measurements(rows).len(), 2);
}

#[test]
fn a_line_that_was_cut_is_ended_before_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    Writer::open(&path).unwrap().append(&row()).unwrap();
    let line = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &line[..line.len() / 2]).unwrap();
    Writer::open(&path).unwrap().append(&row()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("{}\n{line}", &line[..line.len() / 2]));
    assert!(
        read(&path).unwrap_err().to_string().contains("rows.jsonl:1"),
        "the cut line is told, the next is whole"
    );
}

/// It would be written as `null`, which no reader takes for a number.
#[test]
fn a_number_that_is_none_makes_no_line() {
    let mut lines = Vec::new();
    let mut writer = Writer::new(&mut lines);
    for rate in [f64::NAN, f64::INFINITY] {
        let error = writer.append(&Measurement { bytes_per_second: rate, ..row() }).unwrap_err();
        assert!(error.to_string().starts_with("bytes_per_second: "), "{error}");
    }
    let mut wrong = observation();
    wrong.values[0].value = Some(f64::NAN);
    assert!(writer.observe(&wrong).unwrap_err().to_string().starts_with("values: value: NaN"));
    writer.append(&row()).unwrap();
    writer.observe(&observation()).unwrap();
    assert_eq!(read_from(&*lines, Path::new("rows.jsonl")).unwrap().len(), 2);
}

#[test]
fn a_wrong_line_is_named_by_its_number() {
    let good = serde_json::to_string(&row()).unwrap();
    let at = |text: String| read_from(text.as_bytes(), Path::new("rows.jsonl")).unwrap_err();
    let error = at(format!("{good}\n\n{}\n", &good[..good.len() / 2]));
    assert!(matches!(error, ReadError::Line { line: 3, .. }), "{error}");
    assert!(error.to_string().starts_with("rows.jsonl:3: "), "{error}");
    let error = at(format!("{good}\n{{\"schema_version\": 99, \"new\": 1}}\n"));
    assert!(matches!(error, ReadError::Version { line: 2, found: 99, .. }), "{error}");
    let missing = read(Path::new("/nowhere/rows.jsonl")).unwrap_err();
    assert!(missing.to_string().contains("/nowhere/rows.jsonl"), "{missing}");
}

#[test]
fn a_line_that_was_cut_anywhere_says_so() {
    let good = serde_json::to_string(&row()).unwrap();
    let error = |text: &str| read_from(text.as_bytes(), Path::new("rows.jsonl")).unwrap_err().to_string();
    for end in (1..good.len()).filter(|&end| good.is_char_boundary(end)) {
        assert!(
            error(&good[..end]).contains("cut short: remove it"),
            "{}: {}",
            &good[..end],
            error(&good[..end])
        );
    }
    assert!(!error("rain").contains("cut short") && !error(&good.replace(':', ".")).contains("cut short"));
}

/// As it was when a disk that had been full took the next row.
#[test]
fn a_row_behind_a_cut_one_can_be_saved() {
    let good = serde_json::to_string(&row()).unwrap();
    let error = |text: &str| read_from(text.as_bytes(), Path::new("rows.jsonl")).unwrap_err().to_string();
    for end in (1..good.len()).filter(|&end| good.is_char_boundary(end)) {
        let glued = format!("{good}\n{}{good}\n", &good[..end]);
        let error = error(&glued);
        assert!(
            error.starts_with("rows.jsonl:2: not a") && error.contains("to keep that row"),
            "{end}: {error}"
        );
    }
}

#[test]
fn every_wrong_line_has_a_remedy_and_is_called_what_it_begins_as() {
    let error = |text: &str| read_from(text.as_bytes(), Path::new("rows.jsonl")).unwrap_err().to_string();
    let with = |row: &Value, pointer: &str, value: Value| {
        let mut row = row.clone();
        *row.pointer_mut(pointer).unwrap() = value;
        error(&row.to_string())
    };
    let (measured, observed) =
        (serde_json::to_value(row()).unwrap(), serde_json::to_value(observation()).unwrap());
    for (error, what, remedy) in [
        (error("rain"), "not a record of", "name a file of records, or remove the line"),
        (with(&measured, "/threads", json!("two")), "not a measurement of", "remove the line to keep"),
        (
            with(&measured, "/scope/cache", json!("tepid")),
            "not a measurement of",
            "if a newer program wrote it",
        ),
        (with(&observed, "/samples", json!(3)), "not an observation of", "remove the line to keep"),
        (
            with(&observed, "/record", json!("song")),
            "a record of the kind \"song\"",
            "use the program that wrote it",
        ),
    ] {
        assert!(error.starts_with(&format!("rows.jsonl:1: {what}")) && error.contains(remedy), "{error}");
    }
}

/// The version of the layout does not rise when a field is added.
#[test]
fn fields_of_later_writers_are_passed_over() {
    let mut later = serde_json::to_value(row()).unwrap();
    for place in ["", "/scope", "/checks", "/samples/0", "/parts/0", "/host", "/host/tool", "/timeline"] {
        later.pointer_mut(place).unwrap()["speed"] = json!("high");
    }
    let mut observed = serde_json::to_value(observation()).unwrap();
    for place in ["", "/values/0", "/values/0/published/0", "/host"] {
        observed.pointer_mut(place).unwrap()["speed"] = json!({"high": 1});
    }
    let read = read_from(format!("{later}\n{observed}\n").as_bytes(), Path::new("rows.jsonl")).unwrap();
    let known = [Record::Measurement(Box::new(row())), Record::Observation(Box::new(observation()))];
    assert_eq!(read, known);
}
