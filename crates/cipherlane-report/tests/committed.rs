//! The page of the records that are committed: what the experiments found out is drawn as their studies drew it.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be read has failed

mod support;

use std::collections::{BTreeMap, BTreeSet};

use cipherlane_record::Record;
use cipherlane_report::Report;
#[cfg(unix)]
use support::cpu_seconds;
use support::{all_committed, committed, of_build_of};

fn page(records: &[Record]) -> String {
    Report::new(records, &BTreeMap::new()).html().unwrap()
}

/// The part of the page that is about an experiment.
fn section<'p>(page: &'p str, experiment: &str) -> &'p str {
    let heading = format!("<h2>{experiment}</h2>");
    let mut sections = page.split("<section class=\"experiment\"").skip(1);
    sections.find(|section| section.contains(&heading)).unwrap()
}

#[test]
fn every_experiment_has_its_section_and_its_pictures() {
    let records = all_committed();
    let page = page(&records);
    let names: BTreeSet<&str> = records.iter().map(Record::experiment).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let section = section(&page, name);
        assert!(section.contains("<figure>"), "{name} has no picture");
        assert!(section.contains("<details class=\"rows\""), "{name} has no table");
    }
}

#[test]
fn experiments_are_drawn_as_their_studies_drew_them() {
    let page = page(&all_committed());
    for (experiment, shown) in [
        ("languages", "Speed by language"),
        ("compilers", "Speed by compiler and level"),
        ("datatypes", "What a conversion to double costs"),
        ("cpu-threads", "Amdahl, serial part"),
        ("cpu-threads", "cores, one logical CPU each"),
        ("gpu-grid", "132 units"),
        ("gpu-grid", "threads per block ↓"),
        ("core-vs-core", "RTX 4070 [000.7]"),
        ("block-ciphers", "mean (Gbit/s)"),
        ("energy", "power beyond idle"),
        ("instructions", "groups of 32 on a unit"),
        ("mix", "the roof"),
        ("offload", "NVIDIA H200 faster from"),
        ("cpu-load", "t_total longer by (%)"),
        ("gpu-load", "t_total longer by (%)"),
        ("both-loads", "device load (%) ↓"),
        ("simd-grid", "Efficiency of a thread"),
        ("simd-grid", "What a thread loses to sharing"),
        ("streams", "a Tesla C2075 [004.1]"),
        ("breakdown", "a Tesla C2075 [004.3]: 84.9 + 7.85 + 7.23 %"),
        ("thermal", "Temperature (°C)"),
        ("gpu-speeds", "there and back"),
        ("rivals", "Machines side by side"),
        ("bench", "Message size (bytes)"),
    ] {
        assert!(section(&page, experiment).contains(shown), "{experiment} does not show {shown}");
    }
    // Of rows that no curve shows already, as all of the sweeps' are.
    let quick = self::page(&committed("zen4-vm/rivals-quick.jsonl"));
    assert!(section(&quick, "rivals").contains("Beside the best rival"));
}

/// Of two rows of this record, ratios above 1 may be chance.
#[test]
fn the_chart_counts_as_the_recommendation_does() {
    let page = page(&committed("granite-rapids-vm/bench.jsonl"));
    let tally = "faster than the best rival in 16 of 18 rows, undecided in 2 (2 of them for fewer than six rounds), slower \
        in none.";
    assert!(page.contains(&format!("cipherlane is {tally}")));
    assert!(section(&page, "bench").contains(&format!("Ours is {tally}")));
}

#[test]
fn the_first_screen_says_what_the_records_of_the_h200_say() {
    let mut records = committed("h200/table.jsonl");
    let is_rival =
        |record: &Record| matches!(record, Record::Measurement(row) if row.device.starts_with("rival:"));
    records.retain(|record| !is_rival(record));
    let page_alone = page(&records);
    assert!(page_alone.contains("no ceiling in the records; lab run mix --device cuda:0"));
    assert!(page_alone.contains("no library was measured on its host; lab run gpu-rivals"));
    let mix = committed("h200/mix.jsonl");
    let of_another = of_build_of(&committed("h200/streams.jsonl")[0], mix.clone());
    let elsewhere: Vec<Record> = records.iter().cloned().chain(of_another).collect();
    let page_elsewhere = page(&elsewhere);
    assert!(page_elsewhere.contains("but what mix foretold for another build; lab run mix --device cuda:0"));
    assert!(!page_elsewhere.contains(": its instructions (mix)"));
    records.extend(mix);
    for file in
        ["offload", "simd-grid", "cpu-threads", "gpu-grid", "gpu-rivals", "streams", "core-vs-core", "energy"]
    {
        records.extend(committed(&format!("h200/{file}.jsonl")));
    }
    let page = page(&records);
    let (first, _) = page.split_once("<nav").unwrap();
    for said in [
        "data in its memory",
        "with the way there and back",
        "its instructions (mix)",
        "× our own on the CPU beside it (",
        // The CPU beside the libraries, on the same messages.
        "GB/s, gpu-rivals)",
        "is faster than a CPU thread from",
        "16 threads, one per core, are the fastest",
        "is full with",
        "messages in",
        "does most for a watt",
        "Take 16 threads with portable, sse, avx2, avx512 (3 of 3 algorithms).",
    ] {
        assert!(first.contains(said), "the first screen does not say: {said}");
    }
    let numbers: Vec<&str> = first.split("<article>").skip(1).collect();
    assert_eq!(numbers.len(), 5);
    for number in numbers {
        let library = number.contains("× the best library on its host: ");
        assert!(library && number.contains(", 16 threads ("), "no rival on all CPUs: {number}");
        assert!(number.contains(": its instructions (mix)"), "no ceiling: {number}");
    }
}

/// With a key each, what instructions allow a long message under one key is no ceiling.
#[test]
fn the_ceiling_of_short_messages_knows_their_keys() {
    let mut records = committed("zen4-vm/rivals-aes-128.jsonl");
    let said = |records: &[Record]| {
        let page = page(records);
        let number = page.split("<article>").find(|number| number.contains("Short messages, a key each"));
        number.unwrap().to_owned()
    };
    let mix = committed("zen4-vm/mix.jsonl");
    let (short, long): (Vec<_>, Vec<_>) = mix
        .into_iter()
        .partition(|record| matches!(record, Record::Observation(row) if row.axes.contains_key("keys")));
    let long = of_build_of(&records[0], long);
    records.extend(long);
    assert!(said(&records).contains("no ceiling in the records; lab run mix --device cpu may foretell one"));
    let short = of_build_of(&records[0], short);
    records.extend(short);
    assert!(said(&records).contains(": its instructions (mix)"));
}

/// The GPU ran at its limit of power: each of its time lines marks from when to when its clock was held back.
#[test]
fn time_lines_mark_where_the_h200_was_throttled() {
    let mut records = committed("h200/energy.jsonl");
    records.retain(|record| {
        matches!(record, Record::Observation(row) if row.axes["algorithm"].to_string() == "aes-128-ctr")
    });
    let [Record::Observation(row)] = records.as_slice() else { panic!("one observation of AES-128-CTR") };
    let timeline = row.timeline.as_ref().unwrap();
    let states = &timeline.channel("cuda:0.throttle").unwrap().values;
    let held_back = states.iter().flatten().filter(|state| **state == 4.0).count();
    assert!(held_back > 100, "{held_back} readings");
    let said = format!("Throttled at {held_back} of {} readings, between ", states.len());
    let page = page(&records);
    let section = section(&page, "energy");
    assert!(section.contains("held itself back during NVIDIA H200, aes-128-ctr (cuda:0: power limit)"));
    for axis in ["Clock (GHz)", "Temperature (°C)", "Power (W)"] {
        let mut figures = section.split("<figure").skip(1);
        let figure = figures.find(|figure| figure.contains(axis) && figure.contains("Time since")).unwrap();
        let (picture, text) = figure.split_once("</svg>").unwrap();
        for label in ["throttled: power limit", "until here"] {
            assert!(picture.contains(label), "{axis} has no mark: {label}");
        }
        assert!(text.contains(&said) && text.contains(" s: power limit."), "{axis}: {text}");
    }
}

/// Ten thousand rows of every kind, of several machines.
#[cfg(unix)]
#[test]
fn ten_thousand_rows_of_every_kind_make_a_light_page_soon() {
    let mut records = Vec::new();
    while records.len() < 10_000 {
        let generation = format!(" of generation {}", records.len());
        records.extend(all_committed().into_iter().map(|mut record| {
            let host = match &mut record {
                Record::Measurement(row) => &mut row.host,
                Record::Observation(row) => &mut row.host,
            };
            host.cpu_model = host.cpu_model.take().map(|model| model + &generation);
            record
        }));
    }
    records.truncate(10_000);
    let timed = |records: &[Record]| {
        let start = cpu_seconds();
        (page(records), cpu_seconds() - start)
    };
    let (_, tenth) = timed(&records[..1000]);
    let (page, time) = timed(&records);
    // By the machine's own measure, which may be slow or busy; and within what anybody waits for, unoptimised.
    assert!(time < 40.0 * tenth, "{time} s, and {tenth} s for a tenth of the rows");
    assert!(time < 10.0, "{time} s");
    // Loads have a chart for each algorithm and quantity, on each machine.
    assert!(page.len() < 6_000_000, "{} bytes", page.len());
}
