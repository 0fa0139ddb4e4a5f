//! The page as text: what it holds, what it must not, its weight and its time.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // in helpers as well; small numbers

mod support;

use std::collections::BTreeMap;

use cipherlane_record::{Axis, Interval, Keys, Load, Measurement, Observation, Record, Share, Transfer};
use cipherlane_report::Report;
#[cfg(unix)]
use support::cpu_seconds;
use support::{committed, every_chart, experiment, measurement, on_gpu, sizes, threads};

fn page(records: &[Record]) -> String {
    Report::new(records, &BTreeMap::new()).html().unwrap()
}

/// Every text of a record, changed by `change`.
fn with_texts(record: &Record, change: impl Fn(&str) -> String) -> Record {
    fn walk(value: &mut serde_json::Value, change: &impl Fn(&str) -> String) {
        match value {
            serde_json::Value::String(text) => *text = change(text),
            serde_json::Value::Array(items) => items.iter_mut().for_each(|item| walk(item, change)),
            serde_json::Value::Object(fields) => {
                let old = std::mem::take(fields);
                for (name, mut item) in old {
                    walk(&mut item, change);
                    fields.insert(name, item);
                }
            }
            _ => {}
        }
    }
    let fixed = ["keys", "key_setup", "tag", "transfer", "cache", "verdict", "meter", "record"];
    let (mut value, observation) = match record {
        Record::Measurement(row) => (serde_json::to_value(row).unwrap(), false),
        Record::Observation(row) => (serde_json::to_value(row).unwrap(), true),
    };
    let before = value.clone();
    walk(&mut value, &change);
    // Names of variants are not free texts.
    fn restore(value: &mut serde_json::Value, before: &serde_json::Value, fixed: &[&str]) {
        if let (Some(fields), Some(old)) = (value.as_object_mut(), before.as_object()) {
            for (name, item) in fields {
                if fixed.contains(&name.as_str()) && old[name].is_string() {
                    *item = old[name].clone();
                } else {
                    restore(item, &old[name], fixed);
                }
            }
        }
    }
    restore(&mut value, &before, &fixed);
    if observation {
        Record::Observation(serde_json::from_value(value).unwrap())
    } else {
        Record::Measurement(serde_json::from_value(value).unwrap())
    }
}

#[test]
fn texts_of_records_are_never_markup() {
    const ATTACK: &str = "\"><script>alert(1)</script><img src=x onerror='a'>&lt;![CDATA[";
    let records: Vec<Record> = every_chart()
        .iter()
        .map(|record| with_texts(record, |text| format!("{text}{ATTACK}")))
        .chain(
            every_chart().iter().map(|record| with_texts(record, |text| format!("</style>{text}</title>"))),
        )
        .collect();
    let questions = BTreeMap::from([(records[0].experiment().to_owned(), ATTACK.to_owned())]);
    let report = Report::new(&records, &questions);
    let page = report.html().unwrap();
    for markup in ["<script", "<img", "onerror='a'>", "<![CDATA["] {
        assert!(!page.contains(markup), "{markup} in the page");
    }
    assert_eq!(page.matches("</style>").count(), 1);
    assert_eq!(page.matches("</title>").count(), 1 + page.matches("role=\"img\"").count());
    assert!(page.contains("&lt;script&gt;"), "the text itself must still be shown");
    let text = report.markdown();
    assert!(!text.contains("<script") && !text.contains("<img"), "markup in the Markdown");
}

#[test]
fn the_same_records_make_the_same_bytes() {
    let records: Vec<Record> =
        committed("granite-rapids-vm/bench.jsonl").into_iter().chain(every_chart()).collect();
    let again: Vec<Record> = records.iter().map(|record| with_texts(record, str::to_owned)).collect();
    let questions = BTreeMap::new();
    let (one, other) = (Report::new(&records, &questions), Report::new(&again, &questions));
    assert_eq!(one.html().unwrap(), other.html().unwrap());
    assert_eq!(one.markdown(), other.markdown());
    assert_eq!(one.csv(), other.csv());
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let page = page(&every_chart());
    for reference in ["src=", "http://", "https://", "url(", "@import", "<script", "<link", "javascript:"] {
        assert!(!page.contains(reference), "{reference} in the page");
    }
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
}

/// Ten thousand rows of many jobs, sizes, threads and rivals.
#[cfg(unix)]
fn many() -> Vec<Record> {
    let mut records = Vec::new();
    for number in 0..10_000_usize {
        let bytes = 16_u64 << (2 * (number % 10));
        let row = measurement(1.0 + (number % 97) as f64, bytes);
        let algorithm =
            format!("aes-{}-{}", 128 + 64 * (number / 10 % 3), ["gcm", "ctr", "xts"][number / 30 % 3]);
        let rival = number / 90 % 5;
        let device = if rival == 0 { "cpu".to_owned() } else { format!("rival:library-{rival}") };
        let device_name = if rival == 0 { "A CPU".to_owned() } else { format!("Library {rival}.0.3") };
        let best_rival = row.best_rival.clone().filter(|_| rival == 0);
        let (threads, ceiling) = (1 + number / 450, row.ceiling.clone().filter(|_| rival == 0));
        let row = Measurement { algorithm, device, device_name, threads, best_rival, ceiling, ..row };
        records.push(experiment("rivals", row));
    }
    records
}

#[cfg(unix)]
#[test]
fn ten_thousand_rows_make_a_light_page_soon() {
    let records = many();
    let start = cpu_seconds();
    let page = page(&records);
    let time = cpu_seconds() - start;
    assert!(time < 2.0, "{time} s");
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert_eq!(rows_of_tables(&page), 10_000);
}

/// Lines of the tables of measurements and observations, which are those of the records.
fn rows_of_tables(page: &str) -> usize {
    let tables = page.split("<details class=\"rows\"").skip(1);
    tables.map(|rest| rest.split("</details>").next().unwrap_or_default().matches("<tr><td>").count()).sum()
}

#[test]
fn every_row_is_in_a_table() {
    let records = committed("granite-rapids-vm/bench.jsonl");
    let page = page(&records);
    assert_eq!(rows_of_tables(&page), records.len());
    for record in &records {
        let Record::Measurement(row) = record else { continue };
        let rate = row.bytes_per_second / 1e9;
        let digits = if rate >= 99.95 {
            0
        } else if rate >= 9.995 {
            1
        } else if rate >= 0.9995 {
            2
        } else if rate >= 0.0995 {
            3
        } else {
            4
        };
        let behind = if row.summary.n < 6 { "<td>" } else { " (" };
        assert!(page.contains(&format!("<td>{rate:.digits$}{behind}")), "{rate} of {}", row.device_name);
    }
}

#[test]
fn a_row_with_a_wrong_output_has_no_rate() {
    let row = measurement(777.0, 16384);
    let checks = cipherlane_record::Checks { unexpected: 3, ..row.checks };
    let records = [experiment("bench", Measurement { verified: false, checks, ..row })];
    let page = page(&records);
    assert!(page.contains("WRONG: 3 of 100 outputs") && page.contains("not verified"));
    assert!(!page.contains("777"), "its rate is shown");
    assert!(page.contains("hold no verified row"));
}

/// The observations of records, with this word on their results.
fn judged(records: &[Record], right: bool) -> Vec<Record> {
    let judged = |record: &Record| match record {
        Record::Observation(row) => {
            Record::Observation(Box::new(Observation { verified: Some(right), ..(**row).clone() }))
        }
        Record::Measurement(_) => record.clone(),
    };
    records.iter().map(judged).collect()
}

#[test]
fn an_observation_with_a_wrong_result_has_no_number() {
    let records = committed("h200/block-ciphers.jsonl");
    let right = page(&judged(&records, true));
    let drawn = "<h3>Throughput";
    assert!(right.contains("Gbit/s</small>") && right.contains(drawn), "nothing to lose");
    let wrong = page(&judged(&records, false));
    assert!(wrong.contains("<td>WRONG<td>") && wrong.contains("results were wrong"), "{wrong}");
    assert!(!wrong.contains(drawn) && !wrong.contains("Gbit/s</small>"), "its numbers are shown");
    assert!(wrong.contains("hold no verified row"));
    let of_one = judged(&records[..1], false);
    let Record::Observation(row) = &of_one[0] else { panic!("an observation") };
    let number = format!("{:.0}", row.values[0].value.unwrap());
    assert!(page(&judged(&of_one, true)).contains(&format!("<td>{number}")), "{number}");
    assert!(!page(&of_one).contains(&format!("<td>{number}")), "{number}");
}

/// A forecast and a rate of the CPU that are wrong stand beside no row.
#[test]
fn wrong_observations_stand_beside_nothing() {
    let mut row = on_gpu(50.0, 16384);
    row.scope.transfer = Transfer::Excluded;
    let axes = [("algorithm", Axis::from("aes-128-ctr")), ("kernel", Axis::from("aes-ctr/banked4/x1"))];
    let observed = [
        support::row("mix", "cuda:0", &axes, &[("foretold", "GB/s", Some(100.0))]),
        support::row("cpu-threads", "cpu", &axes[..1], &[("throughput", "GB/s", Some(10.0))]),
    ];
    let said = |right: bool| {
        let records = [&[experiment("bench", row.clone())], &judged(&observed, right)[..]].concat();
        Report::new(&records, &BTreeMap::new()).markdown()
    };
    for number in ["50 % of 100 GB/s: its instructions (mix)", "5.00 × our own on the CPU beside it"] {
        assert!(said(true).contains(number), "{}", said(true));
        assert!(!said(false).contains(number), "{}", said(false));
    }
}

#[test]
fn charts_follow_from_what_the_rows_have() {
    let records = every_chart();
    let page = page(&records);
    for (experiment, axis) in [
        ("sizes", "Message size (bytes)"),
        ("threads", "Threads"),
        ("grid", "Threads per block"),
        ("streams", "Messages per batch"),
        ("sizes", "Part of the time on the device (%)"),
        ("sizes", "Part of a pass (%)"),
        ("cpu-load", "Load of the CPU, as it was (%)"),
        ("energy", "Message text for a joule (Gbit/J = Gbit/s per W)"),
        ("energy", "Power (W)"),
        ("energy", "Clock (GHz)"),
        ("generations", "Throughput of the fastest row (GB/s)"),
        ("own-bars", "operations (1/clk)"),
        ("own-curves", "warps"),
        ("own-field", "gpu load (%)"),
        ("sizes", "Part of the ceiling (%)"),
    ] {
        let heading = format!("<h2>{experiment}</h2>");
        let mut sections = page.split("<section class=\"experiment\"").skip(1);
        let section = sections.find(|section| section.contains(&heading)).unwrap();
        assert!(section.contains(axis), "{experiment} has no chart of {axis}");
    }
    assert!(
        page.contains("power limit")
            && page.contains("Throttled at 2 of ")
            && page.contains("Amdahl")
            && page.contains("16 cores")
    );
    assert!(page.contains("GTX 680") && page.contains("the study counted per SMX"));
}

#[test]
fn the_crossover_is_found_and_recommended() {
    let page = page(&sizes());
    assert!(page.contains("cuda:0 faster from 64 KiB"), "no mark in the chart");
    assert!(page.contains("transfers included: aes-128-ctr encrypt from 64 KiB"), "no rule");
}

#[test]
fn threads_beyond_the_cores_are_not_recommended() {
    let page = page(&threads());
    assert!(
        page.contains(
            "16 threads, one per core, are enough in 1 of 1 job; more, up to 32, gain less than 3 %"
        )
    );
    assert!(page.contains("avx512 is the fastest tier"));
}

#[test]
fn one_thread_is_enough() {
    let of = |threads, rate| experiment("bench", Measurement { threads, ..measurement(rate, 16384) });
    let page = page(&[of(1, 10.0), of(2, 10.1), of(4, 10.0)]);
    assert!(page.contains("1 thread is enough in 1 of 1 job; more, up to 4, gain less than 3 %."), "{page}");
    assert!(!page.contains("They are 1.00 times"), "{page}");
}

#[test]
fn messages_without_a_byte_have_no_throughput_to_advise_on() {
    let of = |threads| {
        let row = Measurement { threads, messages_per_second: 1e6 / threads as f64, ..measurement(0.0, 0) };
        experiment("bench", row)
    };
    let page = page(&[of(1), of(2), of(4)]);
    assert!(!page.contains("NaN") && !page.contains("inf times"), "{page}");
    assert!(!page.contains("enough in") && !page.contains("fastest measured"), "{page}");
}

/// So many messages without a byte in a second, by a time that is known to a hundredth.
fn without_bytes(row: Measurement, messages_per_second: f64) -> Measurement {
    let seconds = row.messages as f64 / messages_per_second;
    let mut row = Measurement { keys: Keys::Distinct, messages_per_second, ..row };
    row.summary.median_ci95_seconds = Interval { low: seconds / 1.01, high: seconds / 0.99 };
    row
}

#[test]
fn messages_without_a_byte_are_counted_and_have_no_rate_of_bytes() {
    let cpu = without_bytes(measurement(0.0, 0), 2e6);
    let mut resident = without_bytes(on_gpu(0.0, 0), 4e6);
    resident.scope.transfer = Transfer::Excluded;
    let brought = without_bytes(on_gpu(0.0, 0), 3e6);
    let library = Measurement { device: "rival:openssl".to_owned(), ..cpu.clone() };
    let said = |rows: &[&Measurement]| {
        let records: Vec<Record> = rows.iter().map(|&row| experiment("bench", row.clone())).collect();
        let text = Report::new(&records, &BTreeMap::new()).markdown();
        let numbers: Vec<String> =
            text.lines().filter(|line| line.contains("**")).map(str::to_owned).collect();
        assert!(!numbers.concat().contains("NaN") && !numbers.concat().contains("inf"), "{numbers:?}");
        numbers
    };
    let [number] = &said(&[&cpu])[..] else { panic!("one number") };
    let told = "- Short messages, a key each: **2.00 M msg/s** (95 %: 1.98–2.02 M/s), ";
    assert!(number.starts_with(told) && number.contains("1.25 × OpenSSL 3.6.3"), "{number}");
    assert!(!number.contains("B/s"), "{number}");
    let [number] = &said(&[&resident, &brought, &library, &cpu])[..] else { panic!("one number") };
    assert!(number.contains("**4.00 M msg/s**") && number.contains("3.00 M msg/s with the way"), "{number}");
    assert!(!number.contains(" × "), "{number}");
}

/// On an axis of ratios nothing stands at zero: the row is in the table, and the others are where they were.
#[test]
fn messages_without_a_byte_leave_their_chart_to_the_others() {
    let mut records = sizes();
    let row = Measurement { messages_per_second: 1e6, ..measurement(0.0, 0) };
    records.push(experiment("sizes", row));
    let page = page(&records);
    let (figure, _) = page.split_once("</figure>").unwrap();
    let (_, figure) = figure.split_once("<figure").unwrap();
    let (picture, table) = figure.split_once("</svg>").unwrap();
    assert!(picture.contains("Message size (bytes)") && !picture.contains("NaN"), "{picture}");
    for tick in ["256", "4K", "64K", "1M"] {
        assert!(
            picture.contains(&format!(">\n{tick}\n<")) || picture.contains(&format!(">{tick}<")),
            "{tick}"
        );
    }
    assert!(table.contains("<td>0 B<"), "{table}");
    assert!(table.contains("Messages without a byte are in the table only."), "{table}");
}

/// Data that lies in the memory of the device and data that is brought there are no rows of one curve.
#[test]
fn curves_under_load_are_of_one_kind_of_row() {
    let row = |transfer, load: f64, rate| {
        let share = (load > 0.0).then_some(Share { requested: load, achieved: load });
        let mut row = on_gpu(rate, 1 << 20);
        row.scope.transfer = transfer;
        experiment("cpu-load", Measurement { load: Some(Load { cpu: share, gpu: None }), ..row })
    };
    let (there, brought) = (Transfer::Excluded, Transfer::Included);
    let records =
        [row(there, 0.0, 700.0), row(brought, 0.0, 50.0), row(there, 0.5, 693.0), row(brought, 0.5, 25.0)];
    let page = page(&records);
    for (transfer, left) in [("excluded", "99.0"), ("included", "50.0")] {
        let curve = format!("1 MiB on cuda:0, transfer {transfer}: Throughput (% of that without load)");
        assert!(page.contains(&curve), "no curve of data whose transfer is {transfer}");
        assert!(page.contains(&format!("<td>{left} (")), "{left}");
    }
}

#[test]
fn no_records_make_a_page_that_says_so() {
    let page = page(&[]);
    assert!(page.contains("no records") && page.contains("hold no verified row"));
}

#[test]
fn streams_are_parts_of_a_pass() {
    let mut row = on_gpu(50.0, 1 << 30);
    row.summary.median_seconds = 2e-3;
    let report = [experiment("bench", row.clone())];
    let shown = page(&report);
    assert!(
        shown.contains("the busiest of 3 streams works for 65 % of a pass, the least busy for 0 %."),
        "no finding"
    );
    assert!(shown.contains("stream 0, 2 chunks") && shown.contains("stream 2, 0 chunks"));
    let csv = Report::new(&report, &BTreeMap::new()).csv();
    assert!(
        csv.contains("stream 1 of cuda:0\",included,hot,outside,,chunks,1,1,")
            && csv.contains("time of kernel,s,0.0001,"),
        "{csv}"
    );
    // One that had it all shares nothing.
    row.streams[1].chunks = 0;
    assert!(!page(&[experiment("bench", row)]).contains("What each stream does"));
}

#[test]
fn the_csv_has_a_line_for_each_quantity_and_every_line_as_many_fields() {
    let records = every_chart();
    let text = Report::new(&records, &BTreeMap::new()).csv();
    let fields = |line: &str| {
        let mut quoted = false;
        line.chars()
            .filter(|&letter| {
                if letter == '"' {
                    quoted = !quoted;
                }
                letter == ',' && !quoted
            })
            .count()
    };
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    assert!(lines.len() > records.len());
    assert!(lines.iter().all(|line| fields(line) == fields(lines[0])));
    assert!(text.contains(",throughput,B/s,") && text.contains("16500000000"));
}

/// Fields of the lines of this quantity, by the names of the columns.
fn lines_of(csv: &str, quantity: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = csv.split_terminator("\r\n").map(fields_of);
    let names = lines.next().unwrap();
    let lines = lines.map(|fields| names.iter().cloned().zip(fields).collect::<BTreeMap<_, _>>());
    lines.filter(|line| line["quantity"] == quantity).collect()
}

fn fields_of(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(letter),
        }
    }
    fields
}

#[test]
fn numbers_of_the_csv_can_be_cited() {
    let mut changed = measurement(16.0, 16384);
    changed.host.tool.git_dirty = Some(true);
    let records = [experiment("bench", changed), experiment("bench", on_gpu(50.0, 1 << 20))];
    let csv = Report::new(&records, &BTreeMap::new()).csv();
    for quantity in ["best rival", "ratio to best rival"] {
        let [line] = &lines_of(&csv, quantity)[..] else { panic!("{csv}") };
        assert_eq!([&line["rival"], &line["verdict"]], ["OpenSSL 3.6.3", "FASTER"]);
    }
    let rates = lines_of(&csv, "throughput");
    assert_eq!(rates[0]["git_hash"], "0123456789abcdef0123456789abcdef01234567");
    assert_eq!([&rates[0]["samples"], &rates[0]["git_dirty"]], ["10", "true"]);
    assert_eq!([&rates[1]["rival"], &rates[1]["verdict"], &rates[1]["git_dirty"]], ["", "", "false"]);
    let observed = committed("h200/energy.jsonl");
    let csv = Report::new(&observed[..1], &BTreeMap::new()).csv();
    let [line] = &lines_of(&csv, "gross")[..] else { panic!("{csv}") };
    // Two trials, which make no interval.
    assert_eq!([&line["samples"], &line["low_95"], &line["high_95"]], ["2", "", ""]);
}

#[test]
fn numbers_of_the_markdown_can_be_cited() {
    let text = Report::new(&[experiment("bench", measurement(16.0, 16384))], &BTreeMap::new()).markdown();
    for said in [
        "**16.0 GB/s** (95 %: 15.8–16.2 GB/s), aes-128-ctr encrypt, 16 KiB, cpu avx512, 1 thread; 50 % of 32.0 GB/s: vaesenc \
         at 512 bits; FASTER: 1.25 × OpenSSL 3.6.3 (12.8 GB/s)\n",
        "32 threads · Linux 6.1.0 · 1 record, 2027-01-15\n",
        "\n## The machine\n\n- CPU: A CPU\n- CPU signature: family 6 model 143 stepping 8\n",
        "- Frequency governor: not known: no such file\n",
        "- Written by: cipherlane 0.1.0 (0123456789ab)\n",
        "\n## How to read this\n\nA rate is the median over one pass",
    ] {
        assert!(text.contains(said), "{said} is not in {text}");
    }
}

/// A row of a machine whose CPU tells this signature.
fn signed(signature: Option<&str>, argv: &str, gigabytes: f64) -> Record {
    let mut row = measurement(gigabytes, 16384);
    row.host.cpu_signature = signature.map(str::to_owned);
    row.argv = vec!["cipherlane".to_owned(), argv.to_owned()];
    // The faster, the newer.
    row.unix_seconds += gigabytes as u64;
    experiment("bench", row)
}

#[test]
fn the_csv_says_which_machine_and_what_numbers_cover() {
    let mut resident = on_gpu(700.0, 1 << 20);
    resident.scope.transfer = Transfer::Excluded;
    resident.scope.cache = cipherlane_record::Cache::Cold;
    resident.load = Some(Load { cpu: Some(Share { requested: 0.2, achieved: 0.21 }), gpu: None });
    let mut records = vec![experiment("bench", resident), experiment("bench", on_gpu(50.0, 1 << 20))];
    records.extend(committed("h200/thermal.jsonl").into_iter().take(1));
    records.push(signed(Some("family 6 model 1 stepping 0"), "bench", 10.0));
    let text = Report::new(&records, &BTreeMap::new()).csv();
    let header = "record,experiment,machine,machine_name,subject,subject_name,where,transfer,cache,key_setup,load,\
                  quantity,unit,value,low_95,high_95,verified,published,rival,verdict,samples,git_hash,git_dirty\r\n";
    assert!(text.starts_with(header), "{text}");
    for line in [
        "1,bench,A,A CPU + NVIDIA H200,cuda:0,",
        ",excluded,cold,outside,cpu=0.2,throughput,B/s,700000000000,",
        ",included,hot,outside,,throughput,B/s,50000000000,",
        "3,thermal,B,",
        ",,,,,temperature",
        "4,bench,C,A CPU + NVIDIA H200,cpu,",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[test]
fn files_that_may_be_of_several_machines_make_a_note() {
    let told = |records: &[Record]| {
        let report = Report::new(records, &BTreeMap::new());
        let (page, text) = (report.html().unwrap(), report.markdown());
        let start = "CPU signature not known: ";
        let said =
            |text: &str| text.split_once(start).map(|(_, rest)| rest.split_once('.').unwrap().0.to_owned());
        assert_eq!(said(&page), said(&text));
        (page.matches(start).count(), said(&text).unwrap_or_default())
    };
    let (new, old) = (Some("family 26 model 2 stepping 1"), Some("family 25 model 17 stepping 1"));
    // The runs of a machine that tells its signature, and one run of one that does not, are of one machine.
    assert_eq!(told(&[signed(new, "bench", 1.0), signed(new, "lab", 2.0)]).0, 0);
    assert_eq!(told(&[signed(None, "bench", 1.0), signed(None, "bench", 2.0)]).0, 0);
    let merged = told(&[signed(None, "bench", 1.0), signed(None, "lab", 2.0), signed(new, "lab", 2.0)]);
    assert_eq!(merged, (1, "2 of 3 runs".to_owned()));
    // One that does not tell stands between two that do, and makes them no machine.
    let records = [signed(new, "bench", 1.0), signed(None, "bench", 2.0), signed(old, "bench", 3.0)];
    assert_eq!(told(&records), (1, "1 of 2 runs".to_owned()));
    assert!(page(&records).contains("2 machines"));
    let records: Vec<Record> =
        ["zen4-vm/bench.jsonl", "zen4-vm/rivals-sse.jsonl"].into_iter().flat_map(committed).collect();
    assert_eq!(told(&records), (1, "2 of 2 runs".to_owned()));
}

#[test]
fn runs_of_one_command_are_told_apart_by_what_timing_costs() {
    let of = |seconds: f64| {
        let Record::Measurement(mut row) = signed(None, "bench", 1.0) else { panic!("a measurement") };
        row.calibration = Some(cipherlane_record::Calibration {
            timer_step_seconds: 1e-9,
            timer_call_seconds: seconds,
            empty_pass_seconds: seconds,
        });
        Record::Measurement(row)
    };
    let note = "CPU signature not known: 2 of 2 runs.";
    assert!(page(&[of(2e-8), of(3e-8)]).contains(note));
    assert!(!page(&[of(2e-8), of(2e-8)]).contains("CPU signature not known"));
}
