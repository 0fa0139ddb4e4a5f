//! What others published is drawn however many rows of ours stand beside it, and each figure at its own place.

#![allow(clippy::unwrap_used, clippy::panic)] // in helpers as well: what cannot be drawn has failed

mod support;

use std::collections::BTreeMap;

use cipherlane_record::{Axis, Record};
use cipherlane_report::Report;
use support::{beside, row};

/// The figure of this title on the page.
fn figure(records: &[Record], title: &str) -> String {
    let page = Report::new(records, &BTreeMap::new()).html().unwrap();
    let heading = format!("<h3>{title}</h3>");
    let mut figures = page.split("<figure").skip(1).map(|figure| figure.split("</figure>").next().unwrap());
    figures.find(|figure| figure.contains(&heading)).unwrap_or_else(|| panic!("no {title}")).to_owned()
}

/// Six curves and two laws leave no colour unused.
#[test]
fn curves_that_use_every_colour_leave_room_for_what_others_published() {
    let mut records = Vec::new();
    for (bytes, keys) in [(128.0, "distinct"), (16384.0, "same")] {
        for kernel in ["plain", "portable", "special"] {
            let axes = |threads: f64| {
                let mut axes = vec![
                    ("kernel", Axis::from(kernel)),
                    ("keys", Axis::from(keys)),
                    ("message bytes", Axis::from(bytes)),
                ];
                axes.extend((threads > 0.0).then(|| ("threads", Axis::from(threads))));
                axes
            };
            for threads in [1.0, 2.0, 4.0, 8.0] {
                let own = row(
                    "cpu-threads",
                    "cpu",
                    &axes(threads),
                    &[("throughput", "MB/s", Some(50.0 * threads))],
                );
                let models: &[_] = if threads == 1.0 {
                    &[(42.3, "i7-12700H", "000.7"), (34.8, "i7-11370H", "000.7")]
                } else {
                    &[]
                };
                records.push(beside(own, "throughput", models));
            }
            records.push(row("cpu-threads", "cpu", &axes(0.0), &[("Amdahl sigma", "1", Some(0.1))]));
        }
    }
    let figure = figure(&records, "Throughput by threads");
    for series in
        ["Amdahl", "plain, keys: distinct", "special, keys: same", "i7-12700H [000.7]", "i7-11370H [000.7]"]
    {
        assert!(figure.contains(series), "{series} is not in {figure}");
    }
    assert!(figure.contains("42.3") && figure.contains("34.8"), "{figure}");
}

/// More than are drawn are not passed over in silence.
#[test]
fn published_series_without_room_are_counted() {
    let names: Vec<String> = (0..15).map(|place| format!("CPU {place}")).collect();
    let figures: Vec<(f64, &str, &str)> = names.iter().map(|name| (40.0, name.as_str(), "000.7")).collect();
    let records = [1.0, 2.0, 3.0].map(|threads| {
        let axes = [("kernel", Axis::from("plain")), ("threads", Axis::from(threads))];
        beside(
            row("cpu-threads", "cpu", &axes, &[("throughput", "MB/s", Some(threads))]),
            "throughput",
            &figures,
        )
    });
    let figure = figure(&records, "Throughput by threads");
    assert!(figure.contains("CPU 11 [000.7]") && !figure.contains("CPU 12 [000.7]"), "{figure}");
    assert!(figure.contains("3 more are in the table only."), "{figure}");
}

/// An efficiency of a tier beside the study's.
fn efficiency(state: &str, threads: f64, tier: &str, figure: f64) -> Record {
    let axes = [
        ("algorithm", Axis::from("sm4-ctr")),
        ("hyper-threading", Axis::from("on")),
        ("threads", Axis::from(threads)),
        ("tier", Axis::from(tier)),
        ("turbo", Axis::from(state)),
    ];
    let own = row("simd-grid", "cpu", &axes, &[("efficiency", "%", Some(91.0))]);
    beside(own, "efficiency", &[(figure, "the study's cipher", "003.2")])
}

#[test]
fn figures_of_several_states_stand_beside_theirs() {
    let mut records = Vec::new();
    for (state, threads, figures) in
        [("on", 16.0, [89.5, 82.5]), ("on", 32.0, [75.8, 47.4]), ("off", 32.0, [84.0, 59.4])]
    {
        for (tier, figure) in ["portable", "avx512"].into_iter().zip(figures) {
            records.push(efficiency(state, threads, tier, figure));
        }
    }
    let on = figure(&records, "Efficiency of a thread: turbo: on, hyper-threading: on");
    for (label, figures) in [("threads 16", ["89.5", "82.5"]), ("threads 32", ["75.8", "47.4"])] {
        let label = format!("<td>beside {label}: the study's cipher [003.2]<td>");
        let (_, cells) = on.split_once(&label).unwrap_or_else(|| panic!("no {label} in {on}"));
        let cells = cells.split("<tr>").next().unwrap();
        assert!(figures.iter().all(|figure| cells.contains(&format!("{figure} published"))), "{cells}");
    }
    let off = figure(&records, "Efficiency of a thread: turbo: off, hyper-threading: on");
    // Where one state has all figures, they need no name of it.
    assert!(off.contains("<td>the study's cipher [003.2]<td>") && off.contains("59.4 published"), "{off}");
}

#[test]
fn bars_with_published_figures_are_kept() {
    let counts = (1..=16).chain([20, 30]).map(f64::from);
    let records: Vec<Record> = counts
        .map(|threads| {
            let axes = [
                ("compiler", Axis::from("gcc")),
                ("level", Axis::from("-Ofast native")),
                ("threads", Axis::from(threads)),
            ];
            let own = row("compilers", "cpu", &axes, &[("time", "s", Some(30.0 / threads))]);
            let known = [(1.0, 176.0), (10.0, 25.0), (20.0, 15.0), (30.0, 15.5)];
            let figure =
                known.iter().find(|(at, _)| *at == threads).map(|(_, figure)| (*figure, "g++", "000.2"));
            beside(own, "time", figure.as_slice())
        })
        .collect();
    let figure = figure(&records, "Time by compiler and level");
    for threads in [1, 10, 20, 30] {
        assert!(figure.contains(&format!("threads {threads}: time (s)")), "{threads}: {figure}");
    }
    assert!(figure.contains("176 published") && figure.contains("15.5 published"), "{figure}");
    assert!(figure.contains("10 more of threads are in the table only."), "{figure}");
}

/// All points of a load experiment: seven algorithms at six sizes, under these loads.
fn loads(experiment: &str, loads: &[(f64, f64)]) -> Vec<Record> {
    let mut records = Vec::new();
    let ciphers = ["aes-128-ctr", "aes-192-ctr", "aes-256-ctr"];
    for &(cpu, device) in loads {
        for algorithm in ciphers.into_iter().chain(["keccak-224", "keccak-256", "keccak-384", "keccak-512"]) {
            for bytes in [1024.0, 8192.0, 32_768.0, 131_072.0, 262_144.0, 1_048_576.0] {
                let axes = [
                    ("algorithm", Axis::from(algorithm)),
                    ("bytes", Axis::from(bytes)),
                    ("cpu load", Axis::from(cpu)),
                    ("device load", Axis::from(device)),
                ];
                let values = [
                    ("t_total longer by", "%", Some(cpu / 4.0 + device / 3.0)),
                    ("cpu load reached", "%", Some(0.99 * cpu)),
                    ("device load reached", "%", Some(0.5 * device)),
                ];
                let own = row(experiment, "cuda:0", &axes, &values);
                let known = algorithm.starts_with("aes-") && bytes > 1e6 && cpu > 0.0 && device == 0.0;
                let figure = known.then_some((cpu / 5.0, "AES above 1 MB", "002.4"));
                records.push(beside(own, "t_total longer by", figure.as_slice()));
            }
        }
    }
    records
}

#[test]
fn loads_are_drawn_by_size_for_each_algorithm() {
    let records = loads("cpu-load", &[(0.0, 0.0), (20.0, 0.0), (40.0, 0.0), (60.0, 0.0)]);
    for algorithm in ["aes-256-ctr", "keccak-512"] {
        let figure = figure(&records, &format!("All of it takes longer by: {algorithm}"));
        assert!(figure.contains("Message size (bytes)"), "{figure}");
        for curve in ["cpu load 20", "cpu load 40", "cpu load 60"] {
            assert!(figure.contains(&format!(" {curve}</li>")), "{curve} is not in {figure}");
        }
        assert!(!figure.contains("cpu load 0"), "{figure}");
        // Figures of three loads are three series.
        let published = figure.contains("beside cpu load 60: AES above 1 MB [002.4]</li>");
        assert_eq!(published, algorithm.starts_with("aes"), "{figure}");
    }
    let reached = figure(&records, "The load that was reached: keccak-512");
    assert!(reached.contains("From 19.8 (") && reached.contains("to 59.4 ("), "{reached}");
}

#[test]
fn both_loads_are_drawn_together_and_by_size() {
    let pairs = [0.0, 20.0, 40.0, 60.0].map(|cpu| [0.0, 25.0, 50.0, 75.0].map(|device| (cpu, device)));
    let records = loads("both-loads", &pairs.concat());
    let field = figure(&records, "All of it takes longer by: keccak-512, 1 MiB");
    assert!(field.contains("device load (%) ↓"), "{field}");
    let reached = figure(&records, "The load of the device that was reached: keccak-512, 1 MiB");
    assert!(reached.contains("to 37.5 ("), "{reached}");
    let sizes = figure(&records, "All of it takes longer by: keccak-512");
    for curve in ["cpu load 20, device load 50", "cpu load 60, device load 75"] {
        assert!(sizes.contains(&format!(" {curve}</li>")), "{curve} is not in {sizes}");
    }
}
