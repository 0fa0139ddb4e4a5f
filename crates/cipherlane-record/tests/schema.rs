//! The published schema against what is written, and against what must not be.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

mod support;

use std::path::Path;

use cipherlane_record::{
    Checks, Host, Measurement, OBSERVATION_SCHEMA, Record, SCHEMA, Summary, Tool, Writer, csv, markdown,
    read_from,
};
use serde_json::{Value, json};
use support::{host, observation, row};

fn validator() -> jsonschema::Validator {
    compiled(SCHEMA)
}

fn compiled(schema: &str) -> jsonschema::Validator {
    let mut schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("the schema is a schema");
    close(&mut schema);
    jsonschema::validator_for(&schema).expect("the schema compiles")
}

/// Has all objects of `schema` take no fields but those that it names: later writers may have more, this one has not.
fn close(schema: &mut Value) {
    if let Value::Object(map) = &mut *schema
        && map.get("type") == Some(&json!("object"))
        && map.contains_key("properties")
    {
        map.insert("additionalProperties".to_owned(), json!(false));
    }
    match schema {
        Value::Object(map) => map.values_mut().for_each(close),
        Value::Array(list) => list.iter_mut().for_each(close),
        _ => {}
    }
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
    for place in ["", "/scope", "/checks", "/samples/0", "/host", "/host/tool", "/timeline/channels/0"] {
        let mut more = good.clone();
        more.pointer_mut(place).unwrap()["speed"] = json!("high");
        assert!(!validator.is_valid(&more), "more in {place:?}");
    }
}

/// Of the version that they say: it does not rise when a field is added.
#[test]
fn rows_of_later_writers_fit_the_published_schemas() {
    for (schema, row) in [
        (SCHEMA, serde_json::to_value(row()).unwrap()),
        (OBSERVATION_SCHEMA, serde_json::to_value(observation()).unwrap()),
    ] {
        let published = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        let mut later = row;
        later["speed"] = json!("high");
        later["host"]["tool"]["colour"] = json!({"of": "paint"});
        assert!(published.is_valid(&later));
        assert!(!compiled(schema).is_valid(&later));
    }
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
    // Slow devices have their digits, too.
    assert!(lines[2].contains("| 0.00102 (7.68e-4 to 0.00154) |"), "{}", lines[2]);
    assert!(lines[3].contains("WRONG: 3 of 24 outputs") && !lines[3].contains("0.00102"), "{}", lines[3]);
    assert!(lines[4].contains("2.00 FASTER"), "two rounds have no interval: {}", lines[4]);
}
