//! Who counts as faster: nobody whose lead may be chance.

#![allow(clippy::unwrap_used)] // in helpers as well

mod support;

use std::collections::BTreeMap;

use cipherlane_record::{Axis, Interval, Measurement, Observation, Record, Value};
use cipherlane_report::Report;
use support::{experiment, measurement, observation, of_rounds, on_gpu};

/// Up and down, as a part of the value: beside 1.1 times as much nobody can tell.
const WIDE: f64 = 0.1;

fn around(value: f64) -> Interval {
    Interval { low: (1.0 - WIDE) * value, high: (1.0 + WIDE) * value }
}

fn wide(row: Measurement) -> Record {
    let bytes_per_second_ci95 = around(row.bytes_per_second);
    experiment("bench", Measurement { bytes_per_second_ci95, ..row })
}

fn observed(experiment: &str, device: &str, axes: &[(&str, Axis)], values: &[(&str, &str, f64)]) -> Record {
    let value = |&(name, unit, value): &(&str, &str, f64)| Value {
        name: name.to_owned(),
        unit: unit.to_owned(),
        value: Some(value),
        reason: None,
        ci95: Some(around(value)),
        published: Vec::new(),
    };
    let values = values.iter().map(value).collect();
    Record::Observation(Box::new(Observation { values, ..observation(experiment, device, axes, 0.0) }))
}

fn markdown(records: &[Record]) -> String {
    Report::new(records, &BTreeMap::new()).markdown()
}

fn assert_says(text: &str, all: &[&str]) {
    for said in all {
        assert!(text.contains(said), "{said} is not in {text}");
    }
}

const SIZES: [u64; 4] = [1 << 10, 1 << 12, 1 << 14, 1 << 16];

/// Sizes on both, with the GPU as many times as fast as the CPU.
fn on_both(times: [f64; 4]) -> Vec<Record> {
    let rows = SIZES.into_iter().zip(times);
    rows.flat_map(|(bytes, times)| [measurement(10.0, bytes), on_gpu(10.0 * times, bytes)].map(wide))
        .collect()
}

#[test]
fn a_device_is_faster_from_the_first_size_at_which_it_clearly_is() {
    let records = on_both([0.5, 1.1, 2.0, 4.0]);
    assert_says(&markdown(&records), &["transfers included: aes-128-ctr encrypt from 16 KiB."]);
    let page = Report::new(&records, &BTreeMap::new()).html().unwrap();
    assert!(page.contains("cuda:0 faster from 16 KiB"), "the mark is elsewhere");
}

#[test]
fn a_device_that_is_level_is_not_faster() {
    let text = markdown(&on_both([1.1; 4]));
    let rules = [
        "- Device: None of ours is clearly the fastest for any of 4 jobs that several did, by job and size, \
         transfers included: the fastest are level.\n",
        "- CPU or GPU: The GPU is level with the CPU at some sizes, and faster at none: aes-128-ctr encrypt. With \
         the way there and back, the GPU is the fastest for 0 of 4 jobs that both did, and level with the CPU for 4.\n",
        "| job | message | use | level with | threads |",
        "| 1 KiB | cuda:0 | cpu avx512 | 1 |",
    ];
    assert_says(&text, &rules);
    let text = markdown(&on_both([2.0, 2.0, 2.0, 1.1]));
    let rules = [
        "- Device: cuda:0: the fastest of ours for 3 of 4 jobs that several did, by job and size, transfers \
         included. In 1 of them the fastest ones are level.\n",
        "faster at some sizes, but not at the largest: aes-128-ctr encrypt. With",
        "the GPU is the fastest for 3 of 4 jobs that both did, and level with the CPU for 1.",
    ];
    assert_says(&text, &rules);
}

#[test]
fn tiers_that_are_level_win_nothing() {
    let rows = |times: [f64; 2]| -> Vec<Record> {
        let tiers = |(bytes, times)| [("avx512", 10.0 * times), ("avx2", 10.0)].map(|tier| (bytes, tier));
        let rows = SIZES.into_iter().zip(times).flat_map(tiers);
        rows.map(|(bytes, (tier, rate))| {
            wide(Measurement { tier: tier.to_owned(), ..measurement(rate, bytes) })
        })
        .collect()
    };
    assert_says(
        &markdown(&rows([1.1, 2.0])),
        &[
            "- Tier: avx512 is the fastest tier at 1 of 2 points where tiers were compared. In 1 of them the fastest \
           tiers are level.\n",
        ],
    );
    assert_says(
        &markdown(&rows([1.1; 2])),
        &[
            "- Tier: No tier is clearly the fastest at any of 2 points where tiers were compared: the fastest are \
           level.\n",
        ],
    );
}

#[test]
fn observed_tiers_that_are_level_win_nothing() {
    let row = |algorithm: &str, tier: &str, rate: f64| {
        let axes = [("algorithm", Axis::from(algorithm)), ("tier", Axis::from(tier))];
        observed("simd-grid", "cpu", &axes, &[("throughput", "Gbit/s", rate)])
    };
    let text = markdown(&[
        row("aes-128-ctr", "avx512", 11.0),
        row("aes-128-ctr", "avx2", 10.0),
        row("sha-256", "avx512", 10.0),
        row("sha-256", "avx2", 20.0),
    ]);
    let rule =
        "- Tier: avx2 is the fastest tier for 1 of 2 algorithms. In 1 of them the fastest tiers are level.\n";
    assert_says(&text, &[rule]);
}

/// Times with the device and without it, by size.
fn offload(algorithm: &str, times: [f64; 4]) -> Vec<Record> {
    let row = |(bytes, times): (u64, f64)| {
        let axes = [
            ("algorithm", Axis::from(algorithm)),
            ("bytes", Axis::from(f64::from(u32::try_from(bytes).unwrap()))),
        ];
        let saved = 100.0 * (1.0 - 1.0 / times);
        let values = [("t_saved", "%", saved), ("t_total", "µs", 50.0), ("t_no_gpu", "µs", 50.0 * times)];
        observed("offload", "cuda:0", &axes, &values)
    };
    SIZES.into_iter().zip(times).map(row).collect()
}

#[test]
fn times_that_overlap_are_level() {
    let records = offload("aes-128-ctr", [0.6, 1.1, 2.0, 4.0]);
    let text = markdown(&records);
    assert_says(
        &text,
        &[
            "cuda:0 is faster than a CPU thread from 16 KiB on for aes-128-ctr.\n",
            "cuda:0 is faster from 16 KiB on.",
        ],
    );
    let page = Report::new(&records, &BTreeMap::new()).html().unwrap();
    for mark in ["cuda:0 faster from 16 KiB", "1 of 1 from 16 KiB"] {
        assert!(page.contains(mark), "no mark: {mark}");
    }
    let text = markdown(&offload("aes-128-ctr", [0.6, 1.1, 1.1, 1.1]));
    assert_says(
        &text,
        &[
            "for aes-128-ctr the CPU is level with cuda:0 or faster up to 64 KiB.\n",
            "The CPU is level or faster at every size that both did.",
        ],
    );
}

/// The same row of so many samples.
fn with_samples(record: Record, samples: usize) -> Record {
    let Record::Observation(row) = record else { return record };
    Record::Observation(Box::new(Observation { samples: vec![1.0; samples], ..*row }))
}

#[test]
fn five_rounds_decide_nothing_and_six_do() {
    let rule = |rounds: usize| {
        let rows = SIZES.into_iter().flat_map(|bytes| [measurement(10.0, bytes), on_gpu(20.0, bytes)]);
        let rows: Vec<Record> = rows.map(|row| experiment("bench", of_rounds(rounds, row))).collect();
        markdown(&rows).lines().find(|line| line.starts_with("- Device: ")).unwrap().to_owned()
    };
    assert!(rule(6).contains("cuda:0: the fastest of ours for 4 of 4 jobs"), "{}", rule(6));
    let undecided = "None of ours is clearly the fastest for any of 4 jobs that several did, by job and size, \
        transfers included: undecided for fewer than six rounds.";
    assert!(rule(5).contains(undecided), "{}", rule(5));
}

/// Where one of two has rounds enough, nobody can tell either.
#[test]
fn rows_of_few_rounds_are_level_with_nothing() {
    let [first, rest @ ..] = SIZES;
    let pair = |bytes: u64, rounds: usize| {
        [measurement(10.0, bytes), of_rounds(rounds, on_gpu(20.0, bytes))].map(|row| experiment("bench", row))
    };
    let records = [&pair(first, 5)[..], &rest.map(|bytes| pair(bytes, 10)).concat()].concat();
    let rules = [
        "- Device: cuda:0: the fastest of ours for 3 of 4 jobs that several did, by job and size, transfers \
         included. 1 of them is undecided for fewer than six rounds.\n",
        "| job | message | use | undecided for few rounds | threads |",
        "| 1 KiB | cuda:0 | cpu avx512 | 1 |",
        "transfers included: aes-128-ctr encrypt from 4 KiB.",
    ];
    assert_says(&markdown(&records), &rules);
    let records = SIZES.map(|bytes| pair(bytes, 5)).concat();
    let rules = [
        "- CPU or GPU: Whether the GPU is faster is undecided for fewer than six rounds: aes-128-ctr encrypt. With \
         the way there and back, the GPU is the fastest for 0 of 4 jobs that both did, and 4 undecided for fewer than \
         six rounds.\n",
    ];
    assert_says(&markdown(&records), &rules);
    assert!(!markdown(&records).contains(" level"), "{}", markdown(&records));
}

/// Files of tiers apart from one another, of as few rounds as quick runs have.
#[test]
fn committed_rows_of_few_rounds_are_level_with_nothing() {
    let files = ["zen4-vm/rivals-quick.jsonl", "zen4-vm/rivals-sse.jsonl"];
    let short = |record: Record| match record {
        Record::Measurement(row) => Record::Measurement(Box::new(of_rounds(5, *row))),
        other => other,
    };
    let records: Vec<Record> = files.into_iter().flat_map(support::committed).map(short).collect();
    let text = markdown(&records);
    assert!(text.contains("undecided for fewer than six rounds") && !text.contains(" level"), "{text}");
}

#[test]
fn five_samples_of_an_experiment_decide_nothing_and_six_do() {
    let rule = |samples: usize| {
        let row = |tier: &str, rate: f64| {
            let axes = [("algorithm", Axis::from("sha-256")), ("tier", Axis::from(tier))];
            with_samples(observed("simd-grid", "cpu", &axes, &[("throughput", "Gbit/s", rate)]), samples)
        };
        markdown(&[row("avx512", 10.0), row("avx2", 20.0)])
    };
    let clear = "avx2 is the fastest tier for 1 of 1 algorithm.";
    let undecided =
        "No tier is clearly the fastest for any of 1 algorithm: undecided for fewer than six rounds.";
    assert!(rule(6).contains(clear) && rule(5).contains(undecided), "{}", rule(5));
    // Rows without samples keep the interval that their experiment wrote.
    assert!(rule(0).contains(clear));
    let saved = |samples: usize| {
        let rows = offload("aes-128-ctr", [0.6, 2.0, 2.0, 4.0]).into_iter();
        markdown(&rows.map(|row| with_samples(row, samples)).collect::<Vec<_>>())
    };
    assert!(saved(6).contains("faster than a CPU thread from 4 KiB on"), "{}", saved(6));
    let undecided =
        "whether cuda:0 is faster than a CPU thread is undecided for fewer than six rounds for aes-128-ctr.";
    assert!(saved(5).contains(undecided) && !saved(5).contains(" level"), "{}", saved(5));
    let who = "Who is faster, cuda:0 or the CPU, is undecided for fewer than six rounds.";
    assert!(saved(5).contains(who), "{}", saved(5));
}

#[test]
fn numbers_of_few_rounds_have_no_interval_and_say_why() {
    let shown = |rounds: usize| {
        let records = [
            experiment("bench", of_rounds(rounds, measurement(16.0, 16384))),
            with_samples(observed("own", "cpu", &[], &[("time", "s", 7317.0)]), rounds),
        ];
        let report = Report::new(&records, &BTreeMap::new());
        (report.html().unwrap(), report.markdown(), report.csv())
    };
    let (page, text, csv) = shown(6);
    assert!(page.contains("<td>16.0 (15.8–16.2)<td>") && page.contains("<td>7317 (6585–8049)<td>"), "{page}");
    assert!(!page.contains("few rounds") && text.contains("**16.0 GB/s** (95 %: 15.8–16.2 GB/s)"), "{text}");
    assert!(csv.contains(",throughput,B/s,16000000000,15840000000,16160000000,"), "{csv}");
    let (page, text, csv) = shown(5);
    assert!(page.contains("<td>16.0<td>") && page.contains("<td>7317<td>"), "{page}");
    assert!(
        page.contains("<td>1.25 AMBIGUOUS<td>") && !page.contains("15.8") && !page.contains("6585"),
        "{page}"
    );
    assert_says(
        &text,
        &[
            "**16.0 GB/s**, aes",
            "AMBIGUOUS: 1.25 × OpenSSL 3.6.3 (12.8 GB/s), undecided for fewer than six rounds",
            "> few rounds: fewer than six rounds or samples, so no interval and no verdict: aes-128-ctr encrypt",
            "> few rounds: fewer than six rounds or samples, so no interval and no verdict: cpu",
        ],
    );
    assert!(csv.contains(",throughput,B/s,16000000000,,,true,"), "{csv}");
    assert!(csv.contains(",time,s,7317,,,true,"), "{csv}");
}
