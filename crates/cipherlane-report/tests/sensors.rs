//! What the captions and axes of sensors say: how far readings went, and when somebody measured.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // in helpers as well; small numbers

mod support;

use std::collections::BTreeMap;

use cipherlane_record::{Channel, Measurement, Record, Timeline};
use cipherlane_report::Report;
use support::{experiment, on_gpu, timeline};

fn report(timelines: Vec<Timeline>) -> (String, String) {
    let rows = timelines.into_iter().map(|timeline| {
        experiment("energy", Measurement { timeline: Some(timeline), ..on_gpu(700.0, 1 << 30) })
    });
    let records: Vec<Record> = rows.collect();
    let report = Report::new(&records, &BTreeMap::new());
    (report.html().unwrap(), report.markdown())
}

fn line(text: &str, start: &str) -> String {
    text.lines().find(|line| line.starts_with(start)).unwrap().to_owned()
}

/// A time line of one channel.
fn of_one(name: &str, unit: &str, values: impl Iterator<Item = f64>) -> Timeline {
    let channel =
        Channel { name: name.to_owned(), unit: unit.to_owned(), values: values.map(Some).collect() };
    let seconds = (0..channel.values.len()).map(|place| 0.25 * place as f64).collect();
    Timeline { seconds, channels: vec![channel], ..timeline() }
}

#[test]
fn ranges_are_of_the_readings_not_of_their_means() {
    // Of 600 readings a point is the mean of five: the peak is lost in it.
    let spiky = of_one("cuda:0.power", "W", (0..600).map(|place| if place == 300 { 700.0 } else { 100.0 }));
    let said = line(&report(vec![spiky]).1, "- Power: ");
    assert!(said.contains("cuda:0 power 100 to 700 W. Points are means of up to 5 readings."), "{said}");
    let few = line(&report(vec![of_one("cuda:0.power", "W", (0..60).map(f64::from))]).1, "- Power: ");
    assert!(few.contains("0 to 59.0 W.") && !few.contains("means"), "{few}");
}

/// The same readings, days later.
fn later(days: f64) -> Timeline {
    let timeline = timeline();
    Timeline { unix_seconds: timeline.unix_seconds + 86_400.0 * days, ..timeline }
}

/// The lines of the first series in the picture of clocks.
fn lines_of_clocks(page: &str) -> usize {
    let mut figures = page.split("<figure").filter(|figure| figure.contains("Clock (GHz)"));
    let (picture, _) = figures.next().unwrap().split_once("</svg>").unwrap();
    picture
        .split("<polyline")
        .skip(1)
        .filter(|line| line.split('>').next().unwrap().contains("var(--s0)"))
        .count()
}

#[test]
fn runs_days_apart_share_no_line_and_no_empty_axis() {
    let (page, text) = report(vec![later(0.0), later(4.0)]);
    assert!(page.contains("Time of measuring (s), pauses left out: 1"), "no word on the axis");
    assert!(!page.contains("Time since the first reading"), "the axis has two titles");
    assert_eq!(lines_of_clocks(&page), 2);
    let said = line(&text, "- Clock: ");
    assert!(said.contains(" A pause of 4.00 days without readings is left out."), "{said}");
    let (page, text) = report(vec![later(0.0), later(0.0)]);
    assert_eq!((lines_of_clocks(&page), text.contains("without readings")), (1, false));
    assert!(page.contains("Time since the first reading (s)"));
}

#[test]
fn throttling_is_told_of_each_time_of_measuring() {
    let (_, text) = report(vec![later(0.0), later(4.0)]);
    let said = line(&text, "- Clock: ");
    let times =
        "Throttled at 4 of 240 readings, between 9.00 and 9.10 s, between 22.9 and 23.0 s: power limit.";
    assert!(said.contains(times), "{said}");
    // Rows of one run share its readings.
    let (_, text) = report(vec![later(0.0), later(0.0), later(0.0)]);
    let said = line(&text, "- Clock: ");
    assert!(said.contains("Throttled at 2 of 120 readings, between 9.00 and 9.10 s: power limit."), "{said}");
    let (_, text) = report((0..5).map(|day| later(f64::from(day))).collect());
    assert!(line(&text, "- Clock: ").contains("and 2 times more: power limit."), "{text}");
}

#[test]
fn sensors_without_room_are_counted() {
    let values: Vec<Option<f64>> = (0..120).map(|place| Some(40.0 + f64::from(place))).collect();
    let channel = |core: usize| Channel {
        name: format!("cpu.core_{core}"),
        unit: "°C".to_owned(),
        values: values.clone(),
    };
    let with = |cores: usize| Timeline { channels: (0..cores).map(channel).collect(), ..timeline() };
    let said = |cores: usize| line(&report(vec![with(cores)]).1, "- Temperature: ");
    assert!(said(10).contains("cpu core 7 40.0 to 159 °C. In the records only: 2 sensors."), "{}", said(10));
    assert!(!said(8).contains("In the records only"), "{}", said(8));
}
