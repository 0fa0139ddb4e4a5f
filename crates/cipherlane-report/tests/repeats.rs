//! Of what was observed repeatedly the newest is drawn, and what is not drawn is counted.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be drawn has failed

mod support;

use std::collections::BTreeMap;

use cipherlane_record::{Axis, Record};
use cipherlane_report::Report;
use support::row;

/// The first figure of the page.
fn figure(records: &[Record]) -> String {
    let page = Report::new(records, &BTreeMap::new()).html().unwrap();
    page.split("<figure").nth(1).unwrap().split("</figure>").next().unwrap().to_owned()
}

/// The same, so many seconds later.
fn later(seconds: u64, record: Record) -> Record {
    let Record::Observation(mut row) = record else { return record };
    row.unix_seconds += seconds;
    Record::Observation(row)
}

/// A run at these places, with a value for each: the newer the larger.
fn run(experiment: &str, places: &[&[(&str, Axis)]], number: u32) -> Vec<Record> {
    let value = 100.0 * f64::from(number);
    let one = |axes: &&[(&str, Axis)]| {
        let record =
            row(experiment, "cpu", axes, &[("rate", "GB/s", Some(value)), ("share", "%", Some(value))]);
        later(u64::from(number), record)
    };
    places.iter().map(one).collect()
}

/// Whether the newest of three runs is drawn, whatever order their files have.
fn assert_newest(experiment: &str, places: &[&[(&str, Axis)]], cells: usize) {
    let of = |numbers: &[u32]| -> Vec<Record> {
        numbers.iter().flat_map(|&number| run(experiment, places, number)).collect()
    };
    for order in [[1, 2, 3], [3, 1, 2]] {
        let figure = figure(&of(&order));
        let (_, table) = figure.split_once("</svg>").unwrap();
        assert_eq!(table.matches("<td>300").count(), cells, "{table}");
        assert!(!table.contains("<td>100") && !table.contains("<td>200"), "{table}");
        let repeats = 2 * places.len();
        assert!(table.contains(&format!("The newest are drawn: {repeats} repeats are in the table only.")));
    }
    assert!(!figure(&of(&[1])).contains("repeat"), "one run repeats nothing");
}

#[test]
fn bars_are_of_the_newest() {
    let places = ["gcc", "rustc"].map(|name| [("compiler", Axis::from(name))]);
    assert_newest("own", &[&places[0], &places[1]], 2);
}

#[test]
fn curves_are_of_the_newest() {
    let places = [1.0, 2.0, 4.0].map(|threads| [("threads", Axis::from(threads))]);
    assert_newest("own", &[&places[0], &places[1], &places[2]], 3);
}

#[test]
fn fields_are_of_the_newest() {
    let places = (0..36).map(|place| {
        let number = |value: i32| Axis::from(f64::from(value));
        vec![("cpu load", number(place % 6)), ("gpu load", number(place / 6))]
    });
    let places: Vec<_> = places.collect();
    assert_newest("own", &places.iter().map(Vec::as_slice).collect::<Vec<_>>(), 36);
}

/// The pictures of a study go the same way.
#[test]
fn known_experiments_draw_the_newest() {
    let bars = |value: f64| {
        let axes = [("algorithm", Axis::from("aes-128-ctr"))];
        row("block-ciphers", "cpu", &axes, &[("mean", "Gbit/s", Some(value))])
    };
    let figure = figure(&[later(60, bars(7.0)), bars(5.0)]);
    assert!(figure.contains("<td>7.00 (") && !figure.contains("<td>5.00"), "{figure}");
    assert!(figure.contains(" The newest is drawn: 1 repeat is in the table only."), "{figure}");
}

/// Several values at one place of an axis are all in the table of the picture.
#[test]
fn tables_of_pictures_have_all_values_of_a_place() {
    let mix = |algorithm: &str, measured: f64| {
        let axes = [("algorithm", Axis::from(algorithm)), ("tier", Axis::from("avx512"))];
        row("mix", "cpu", &axes, &[("measured", "GB/s", Some(measured)), ("foretold", "GB/s", Some(10.0))])
    };
    let figure = figure(&[mix("aes-128-ctr", 9.0), mix("aes-192-ctr", 8.0)]);
    assert!(figure.contains("<td>8.00 (7.92–8.08); 9.00 (8.91–9.09)"), "{figure}");
}
