//! The published schema against what is written, and against what must not be.

use std::collections::BTreeMap;
use std::path::Path;

use cipherlane_record::{
    Axis, Cache, Calibration, Ceiling, Channel, Checks, Comparison, CrossCheck, Energy, Geometry, Host,
    Interval, KeySetup, Keys, Kind, Load, Measurement, Meter, OBSERVATION_SCHEMA, Observation, Part,
    Published, ReadError, Record, SCHEMA, SCHEMA_VERSION, Sample, Scope, Share, StreamTimes, Summary, Tag,
    Timeline, Times, Tool, Transfer, Value as Observed, Verdict, Writer, csv, markdown, measurements, read,
    read_from,
};
use serde_json::{Value, json};

fn host() -> Host {
    Host {
        cpu_model: Some("A CPU".to_owned()),
        cpu_signature: Some("family 25 model 1 stepping 1".to_owned()),
        gpus: None,
        features: vec!["aes".to_owned()],
        logical_cores: 2,
        physical_cores: Some(2),
        smt: Some(false),
        l2_bytes: Some(1 << 20),
        last_level_cache_bytes: Some(1 << 25),
        frequency_governor: None,
        kernel: Some("Linux 6.1.0".to_owned()),
        hypervisor: Some("KVM".to_owned()),
        tool: Tool {
            name: "cipherlane".to_owned(),
            version: "0.1.0".to_owned(),
            git_hash: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            git_dirty: Some(true),
        },
        missing: BTreeMap::from([
            ("gpus".to_owned(), "no driver".to_owned()),
            ("frequency_governor".to_owned(), "no such file".to_owned()),
        ]),
    }
}

fn summary() -> Summary {
    Summary {
        n: 2,
        median_seconds: 0.0015,
        median_ci95_seconds: Interval { low: 0.001, high: 0.002 },
        mad_seconds: 0.0005,
        p5_seconds: 0.001,
        p95_seconds: 0.002,
        min_seconds: 0.001,
        max_seconds: 0.002,
        outliers_mild: 0,
        outliers_severe: 0,
        preempted: 0,
        median_cpu_seconds: Some(0.0015),
    }
}

fn timeline() -> Timeline {
    let channel =
        |name: &str, unit: &str, values| Channel { name: name.to_owned(), unit: unit.to_owned(), values };
    Timeline {
        unix_seconds: 1_800_000_000.5,
        seconds: vec![0.0, 0.1],
        channels: vec![
            channel("cpu.frequency", "Hz", vec![Some(3.7e9), None]),
            channel("cuda:0.power", "W", vec![Some(300.0), Some(310.5)]),
        ],
        missing: BTreeMap::from([("cpu.power".to_owned(), "no RAPL in this virtual machine".to_owned())]),
    }
}

fn observation() -> Observation {
    let published = Published { value: 31.3, on: "GTX 680".to_owned(), source: "001.8".to_owned() };
    Observation {
        schema_version: SCHEMA_VERSION,
        record: Kind::Observation,
        experiment: "instructions".to_owned(),
        subject: "cuda:0".to_owned(),
        subject_name: "A GPU".to_owned(),
        axes: BTreeMap::from([
            ("operation".to_owned(), Axis::from("shl")),
            ("warps".to_owned(), Axis::from(16.0)),
        ]),
        values: vec![
            Observed {
                name: "operations".to_owned(),
                unit: "1/clk".to_owned(),
                value: Some(63.9),
                reason: None,
                ci95: Some(Interval { low: 63.8, high: 64.0 }),
                published: vec![published],
            },
            Observed {
                name: "power".to_owned(),
                unit: "W".to_owned(),
                value: None,
                reason: Some("no sensor".to_owned()),
                ci95: None,
                published: Vec::new(),
            },
        ],
        samples: vec![63.9, 63.8, 64.0],
        verified: Some(true),
        timeline: Some(timeline()),
        notes: vec!["the study counted per SMX".to_owned()],
        unix_seconds: 1_800_000_000,
        argv: vec!["cipherlane".to_owned(), "lab".to_owned()],
        host: host(),
    }
}

const TIMES: Times = Times { to_device_seconds: 1e-4, kernel_seconds: 2e-4, to_host_seconds: 1e-4 };

fn row() -> Measurement {
    let sample = Sample {
        round: 0,
        wall_seconds: 0.001,
        cpu_seconds: Some(0.001),
        preempted: false,
        superseded: false,
        throttled: Some(true),
    };
    Measurement {
        schema_version: SCHEMA_VERSION,
        experiment: "bench".to_owned(),
        workload: "meter-128".to_owned(),
        algorithm: "aes-mixed-gcm".to_owned(),
        operation: "mixed".to_owned(),
        device: "cpu".to_owned(),
        device_name: "A CPU, \"quoted\"".to_owned(),
        kernel: "aes-gcm/avx512/x16".to_owned(),
        tier: "avx512".to_owned(),
        threads: 1,
        message_bytes: 128,
        messages: 12,
        bytes: 1536,
        keys: Keys::Distinct,
        bytes_per_second: 1.024e6,
        bytes_per_second_ci95: Interval { low: 7.68e5, high: 1.536e6 },
        messages_per_second: 8000.0,
        cycles_per_byte: Some(2.5),
        core_clock_hertz: Some(2.5e9),
        verified: true,
        checks: Checks { messages: 24, planned_rejects: 6, unexpected: 0 },
        scope: Scope {
            key_setup: KeySetup::Inside,
            tag: Tag::Both,
            transfer: Transfer::None,
            cache: Cache::Hot,
            working_set_bytes: 4000,
            code_path: "aes-gcm/avx512/x16".to_owned(),
        },
        ceiling: Some(Ceiling {
            bytes_per_second: 2.048e6,
            share: 0.5,
            bound: "vaesenc at 512 bits".to_owned(),
        }),
        best_rival: Some(Comparison {
            rival: "rival:openssl".to_owned(),
            rival_name: "OpenSSL 3.6.3".to_owned(),
            rival_bytes_per_second: 5e5,
            ratio: 2.0,
            ratio_ci95: Interval { low: 1.9, high: 2.1 },
            verdict: Verdict::Faster,
        }),
        geometry: Some(Geometry { blocks: 528, threads_per_block: 512, streams: 3 }),
        times: Some(TIMES),
        streams: vec![
            StreamTimes { device: "cuda:0".to_owned(), stream: 0, chunks: 3, times: TIMES },
            StreamTimes { device: "cuda:1".to_owned(), stream: 5, chunks: 0, times: TIMES },
        ],
        load: Some(Load { cpu: Some(Share { requested: 0.4, achieved: 0.41 }), gpu: None }),
        energy: Some(Energy {
            meter: Meter::NvmlCounter,
            seconds: 20.0,
            joules: 12_000.0,
            bytes: 1 << 40,
            idle_watts: Some(75.0),
            sigma_watts: Some(1.5),
            cross_check: Some(CrossCheck { meter: Meter::NvmlInstant, joules: 11_900.0 }),
        }),
        timeline: Some(timeline()),
        calibration: Some(Calibration {
            timer_step_seconds: 1e-9,
            timer_call_seconds: 2e-8,
            empty_pass_seconds: 3e-8,
        }),
        summary: summary(),
        passes_per_sample: 3,
        samples: vec![
            sample,
            Sample { round: 1, wall_seconds: 0.002, cpu_seconds: None, throttled: None, ..sample },
        ],
        parts: vec![Part {
            algorithm: "aes-128-gcm".to_owned(),
            operation: "open".to_owned(),
            messages: 12,
            bytes: 1536,
            planned_rejects: 3,
            kernel: "aes-gcm/avx512/x16".to_owned(),
            lanes: 16,
            chunk_bytes: u64::MAX,
            constant_time: true,
            median_seconds: 0.0015,
        }],
        seed: 7,
        unix_seconds: 1_800_000_000,
        argv: vec!["cipherlane".to_owned(), "bench".to_owned()],
        warnings: Vec::new(),
        host: host(),
    }
}

fn validator() -> jsonschema::Validator {
    compiled(SCHEMA)
}

fn compiled(schema: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("the schema is a schema");
    jsonschema::validator_for(&schema).expect("the schema compiles")
}

#[test]
fn what_is_written_fits_the_schema() {
    let validator = validator();
    let rival = Measurement {
        device: "rival:aws-lc".to_owned(),
        best_rival: None,
        cycles_per_byte: None,
        core_clock_hertz: None,
        tier: "library".to_owned(),
        ..row()
    };
    let wrong = Measurement { verified: false, checks: Checks { unexpected: 3, ..row().checks }, ..row() };
    let outside = Tool { git_hash: "unknown".to_owned(), git_dirty: None, ..host().tool };
    let packed = Measurement { host: Host { tool: outside, ..host() }, ..row() };
    for row in [row(), rival, wrong, packed] {
        let mut line = Vec::new();
        Writer::new(&mut line).append(&row).unwrap();
        let value: Value = serde_json::from_slice(&line).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn names_of_all_families_fit_the_schema() {
    let validator = validator();
    let fits = |pointer: &str, name: &str| {
        let mut value = serde_json::to_value(row()).unwrap();
        *value.pointer_mut(pointer).unwrap() = json!(name);
        validator.is_valid(&value)
    };
    for algorithm in
        ["aes-128-gcm", "camellia-256-xts", "sc2000-128-ecb", "sm4-ctr", "sha3-256", "keccak-512", "mixed"]
    {
        assert!(fits("/algorithm", algorithm), "{algorithm}");
    }
    for device in ["cpu", "cuda:0", "opencl:0", "rival:aws-lc"] {
        assert!(fits("/device", device), "{device}");
    }
    assert!(!fits("/algorithm", "AES-128-GCM") && !fits("/device", "GPU 0"));
}

#[test]
fn observations_fit_their_schema_and_wrong_ones_do_not() {
    let validator = compiled(OBSERVATION_SCHEMA);
    let good = serde_json::to_value(observation()).unwrap();
    assert!(
        validator.is_valid(&good),
        "{:?}",
        validator.iter_errors(&good).map(|e| e.to_string()).collect::<Vec<_>>()
    );
    assert!(!validator.is_valid(&serde_json::to_value(row()).unwrap()));
    for (pointer, wrong) in [
        ("/record", json!("measurement")),
        ("/values", json!([])),
        ("/values/0/value", Value::Null), // without a reason
        ("/axes/operation", json!([1])),
        ("/verified", json!("yes")),
        ("/timeline/channels/0/name", json!("power")),
    ] {
        let mut value = good.clone();
        *value.pointer_mut(pointer).unwrap() = wrong.clone();
        assert!(!validator.is_valid(&value), "{pointer} = {wrong}");
    }
}

/// Each change makes a good row wrong; the schema must see every one.
#[test]
fn what_is_wrong_does_not_fit_the_schema() {
    let validator = validator();
    let good = serde_json::to_value(row()).unwrap();
    let changes: [(&str, Value); 21] = [
        ("/schema_version", json!(2)),
        ("/operation", json!("encipher")),
        ("/threads", json!(0)),
        ("/messages", json!("12")),
        ("/keys", json!("some")),
        ("/bytes_per_second", json!(-1.0)),
        ("/bytes_per_second", Value::Null),
        ("/scope/key_setup", json!("maybe")),
        ("/scope", json!({})),
        ("/best_rival/verdict", json!("BETTER")),
        ("/streams", json!([])),
        ("/streams/0/stream", json!(-1)),
        ("/streams/1/times/kernel_seconds", Value::Null),
        ("/samples", json!([])),
        ("/samples/0/wall_seconds", json!(0)),
        ("/samples/0/throttled", json!("yes")),
        ("/calibration/timer_step_seconds", json!(0)),
        ("/checks/unexpected", json!(1)), // in a row that says it is verified
        ("/verified", json!(false)),      // in a row without a wrong output
        ("/host/smt", Value::Null),       // without a reason
        ("/host/tool/git_hash", json!("v1")),
    ];
    for (pointer, wrong) in changes {
        let mut value = good.clone();
        *value.pointer_mut(pointer).unwrap() = wrong.clone();
        assert!(!validator.is_valid(&value), "{pointer} = {wrong}");
    }
    // Fields that came later, and those of conditions that not every row has.
    let optional = ["ceiling", "geometry", "times", "streams", "load", "energy", "timeline", "calibration"];
    for field in good.as_object().unwrap().keys().filter(|field| !optional.contains(&field.as_str())) {
        let mut value = good.clone();
        value.as_object_mut().unwrap().remove(field);
        assert!(!validator.is_valid(&value), "without {field}");
    }
    let mut more = good;
    more["speed"] = json!("high");
    assert!(!validator.is_valid(&more));
}

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

#[test]
fn cpus_of_one_name_are_told_apart_by_their_signatures() {
    let signed = |model: u8| Host { cpu_signature: Some(format!("family 25 model {model}")), ..host() };
    assert!(signed(1).is_machine_of(&signed(1)));
    assert!(!signed(1).is_machine_of(&signed(17)));
    // Records of before there were signatures are those of the machine of that name, and read back.
    let mut old = serde_json::to_value(host()).unwrap();
    old.as_object_mut().unwrap().remove("cpu_signature");
    let old: Host = serde_json::from_value(old).unwrap();
    assert!(old.is_machine_of(&signed(1)) && signed(17).is_machine_of(&old));
}

#[test]
fn cpus_of_one_name_are_told_apart_by_their_instruction_sets() {
    let with = |features: &[&str]| Host {
        cpu_signature: None,
        features: features.iter().map(|&name| name.to_owned()).collect(),
        ..host()
    };
    assert!(with(&["aes", "vaes"]).is_machine_of(&with(&["aes", "vaes"])));
    assert!(!with(&["aes", "vaes"]).is_machine_of(&with(&["aes", "vaes", "avx512f"])));
    // Some systems list none.
    assert!(with(&["aes"]).is_machine_of(&with(&[])) && with(&[]).is_machine_of(&with(&["aes"])));
}

/// Lines of writers that had no streams yet.
#[test]
fn rows_without_streams_read_back() {
    let without = Measurement { streams: Vec::new(), ..row() };
    let old = serde_json::to_value(&without).unwrap();
    assert!(validator().is_valid(&old) && old.get("streams").is_none());
    let read = read_from(old.to_string().as_bytes(), Path::new("rows.jsonl")).unwrap();
    assert_eq!(read, [Record::Measurement(Box::new(without))]);
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

#[test]
fn tables_have_a_line_for_each_row() {
    let sure = Measurement { summary: Summary { n: 6, ..row().summary }, ..row() };
    let mut table = Vec::new();
    csv::write(&mut table, &[row(), row()]).unwrap();
    let table = String::from_utf8(table).unwrap();
    let lines: Vec<&str> = table.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].contains("\"A CPU, \"\"quoted\"\"\"") && lines[1].contains("FASTER"), "{}", lines[1]);

    let mut table = Vec::new();
    let wrong = Measurement { verified: false, checks: Checks { unexpected: 3, ..row().checks }, ..row() };
    markdown::write(&mut table, &[sure, wrong, row()]).unwrap();
    let table = String::from_utf8(table).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 5);
    let columns = |line: &str| line.matches('|').count();
    assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{table}");
    assert!(lines[2].contains("2.00 (1.90 to 2.10) FASTER") && lines[2].contains("key set-up inside"));
    assert!(lines[3].contains("WRONG: 3 of 24 outputs") && !lines[3].contains("0.001 ("), "{}", lines[3]);
    assert!(lines[4].contains("2.00 FASTER"), "two rounds have no interval: {}", lines[4]);
}
