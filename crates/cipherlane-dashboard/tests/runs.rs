//! Runs on this CPU from request to record, over real HTTP.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cipherlane::verify::Reference;
use cipherlane::{Engine, Operation, Sealed};
use cipherlane_lab::Totals;
use cipherlane_record::Measurement;
use serde_json::{Value, json};
use support::launcher::launcher;
use support::liar::HONEST;
use support::{Served, small};

/// The counters of a run beside those of its row.
fn assert_counters(view: &Value, row: &Measurement) {
    let figures = &view["figures"];
    assert_eq!(figures["totals"], json!(Totals::of_row(row).unwrap()));
    assert_eq!(figures["checks"], json!(row.checks));
    assert_eq!(view["result"]["bytes_per_second"], json!(row.bytes_per_second));
    assert_eq!(view["result"]["interval"], json!(row.interval()));
    assert_eq!(view["result"]["verified"], json!(row.verified));
    assert_eq!(view["fault"], json!(row.fault()));
}

#[test]
fn a_finished_run_is_a_record_with_the_same_numbers() {
    let served = Served::start();
    let id = served.run(&small(Some(0.3)));
    let view = served.wait_for_state(id, "finished");
    let rows = served.rows();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_counters(&view, row);
    assert!(row.verified && row.checks.messages > 0 && row.checks.unexpected == 0);
    assert_eq!((row.experiment.as_str(), row.workload.as_str()), ("dashboard", "custom"));
    assert_eq!((row.algorithm.as_str(), row.threads, row.messages), ("aes-128-gcm", 1, 50));
    let totals = Totals::of_row(row).unwrap();
    assert_eq!(totals.sealed, row.samples.len() as u64 * row.passes_per_sample * 50);
    assert_eq!(totals.bytes, 64 * totals.sealed);
    assert_eq!(
        served.get(&format!("/runs/{id}/records")).body,
        std::fs::read_to_string(&served.records).unwrap()
    );
}

#[test]
fn every_kind_of_message_is_counted_apart() {
    let served = Served::start();
    let id = served.run(&json!({"workload": "meter-128", "device": "cpu", "threads": 1, "seconds": 0.3}));
    let view = served.wait_for_state(id, "finished");
    let rows = served.rows();
    assert_counters(&view, &rows[0]);
    let totals = &view["figures"]["totals"];
    let count = |name: &str| totals[name].as_u64().unwrap();
    // Half are sealed, a quarter is opened, a quarter is to be rejected; a third each has keys of a length.
    assert!(count("opened") > 0);
    assert_eq!(count("sealed"), 2 * count("opened"));
    assert_eq!(count("planned_rejects"), count("opened"));
    assert_eq!(totals["by_key_bits"]["128"], totals["by_key_bits"]["256"]);
    assert_eq!(view["figures"]["checks"]["unexpected"], json!(0));
}

#[test]
fn a_paused_run_rests_and_a_stopped_one_is_kept() {
    let served = Served::start();
    let id = served.run(&small(None));
    served.wait_for_samples(id);
    assert_eq!(served.command(id, "pause"), 204);
    let before = served.wait_for_state(id, "paused");
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(served.view(id)["figures"], before["figures"], "nothing happens meanwhile");
    assert_eq!(served.command(id, "resume"), 204);
    let sealed = before["figures"]["totals"]["sealed"].as_u64();
    served.wait(id, "going on", |view| view["figures"]["totals"]["sealed"].as_u64() > sealed);
    assert_eq!(served.command(id, "stop"), 204);
    let view = served.wait_for_state(id, "finished");
    let rows = served.rows();
    assert_counters(&view, &rows[0]);
    assert!(rows[0].warnings.iter().any(|text| text.contains("paused once")), "{:?}", rows[0].warnings);
    let chart = served.first_event()["chart"].clone();
    assert_eq!(chart["run"], json!(id));
    assert!(chart["points"].as_array().unwrap().iter().any(|point| point[1].is_null()), "a gap: {chart}");
    for command in ["pause", "resume", "stop"] {
        assert_eq!(served.command(id, command), 409, "{command} of a run that is over");
    }
    assert_eq!(served.command(99, "stop"), 404);
}

#[test]
fn a_paused_run_can_be_stopped() {
    let served = Served::start();
    let id = served.run(&small(None));
    served.wait_for_samples(id);
    served.command(id, "pause");
    served.wait_for_state(id, "paused");
    served.command(id, "stop");
    let view = served.wait_for_state(id, "finished");
    assert_counters(&view, &served.rows()[0]);
}

#[test]
fn runs_wait_for_their_turn() {
    let served = Served::start();
    let first = served.run(&small(None));
    let (second, third) = (served.run(&small(Some(0.3))), served.run(&small(Some(0.3))));
    served.wait_for_samples(first);
    assert_eq!(served.view(second)["state"], json!("queued"));
    assert_eq!(served.command(second, "pause"), 409, "what does not measure cannot rest");
    assert_eq!(served.command(third, "stop"), 204);
    assert_eq!(served.view(third)["state"], json!("cancelled"));
    served.command(first, "stop");
    served.wait_for_state(first, "finished");
    served.wait_for_state(second, "finished");
    let rows = served.rows();
    assert_eq!(rows.len(), 2, "in the order in which they ran, without the one that was taken out");
    assert_counters(&served.view(first), &rows[0]);
    assert_counters(&served.view(second), &rows[1]);
}

#[test]
fn a_wrong_output_is_counted_and_its_row_is_not_verified() {
    let served = Served::start();
    let mut request = small(Some(0.3));
    request["device"] = json!("liar");
    request["messages"] = json!(HONEST + 1);
    let id = served.run(&request);
    let view = served.wait_for_state(id, "finished");
    let rows = served.rows();
    assert_counters(&view, &rows[0]);
    assert!(!rows[0].verified);
    // One message of each batch that was looked at.
    assert_eq!(rows[0].checks.unexpected, rows[0].checks.messages / rows[0].messages);
    assert!(view["fault"].as_str().unwrap().starts_with("WRONG: "), "{view}");
}

#[test]
fn few_samples_have_no_interval() {
    let served = Served::start();
    let id = served.run(&small(Some(0.1)));
    let view = served.wait_for_state(id, "finished");
    let rows = served.rows();
    assert!(rows[0].is_short(), "a sample takes 20 ms or more");
    assert_counters(&view, &rows[0]);
    assert!(view["result"]["interval"].is_null(), "{view}");
}

/// A kernel for each kind of batch among the known answers would be compiled for minutes.
#[test]
fn a_device_that_launches_kernels_opens_what_it_measures_alone() {
    let opened = Arc::new(Mutex::new(Vec::new()));
    let served = Served::beside(launcher(Arc::clone(&opened)));
    let mut request = small(Some(0.3));
    (request["device"], request["threads"]) = (json!("launcher"), Value::Null);
    let id = served.run(&request);
    served.wait_for_state(id, "finished");
    assert!(served.rows()[0].verified);
    assert_eq!(*opened.lock().unwrap(), [Operation::Seal]);
}

/// An hour of samples is not lost to a device that fails in its last minute.
#[test]
fn a_run_that_fails_late_keeps_its_samples() {
    let served = Served::start();
    let mut request = small(None);
    request["device"] = json!("liar");
    let id = served.run(&request);
    served.wait_for_samples(id);
    served.is_broken.store(true, Ordering::Relaxed);
    let view = served.wait_for_state(id, "finished");
    let rows = served.rows();
    assert_counters(&view, &rows[0]);
    assert!(rows[0].verified);
    let warnings = rows[0].warnings.join("; ");
    assert!(warnings.contains("ended before its time") && warnings.contains("it broke"), "{warnings}");
    // What came out of the pass that failed is nothing to show.
    assert!(view["words"].as_str().unwrap().contains("it broke") && view["log"].is_null(), "{view}");
}

/// Nor to a file of records that can be written no more.
#[test]
fn a_row_that_cannot_be_kept_can_be_saved() {
    let mut served = Served::start();
    let id = served.run(&small(None));
    served.wait_for_samples(id);
    std::fs::remove_dir(served.records.parent().unwrap()).unwrap();
    served.command(id, "stop");
    let view = served.wait_for_state(id, "failed");
    assert!(view["words"].as_str().unwrap().contains("not in the file of records"), "{view}");
    let row: Measurement = serde_json::from_str(&served.get(&format!("/runs/{id}/records")).body).unwrap();
    assert_counters(&view, &row);
    assert_eq!(served.get(&format!("/runs/{id}/report")).status, 200);
    let told = served.end().unwrap_err().to_string();
    assert!(told.starts_with("run 1: its row is not in the file of records: "), "{told}");
}

/// Each of the batches of such a workload must be one that the device can run.
#[test]
fn workloads_of_several_batches_are_refused_as_others_are() {
    let served = Served::start();
    for (name, value, remedy) in [
        ("tier", json!("avx9000"), "portable"),
        ("kernel", json!("aes-gcm/abacus/x1"), "aes-gcm/"),
        ("blocks", json!(4), "launches no kernels"),
    ] {
        let mut request = json!({"workload": "meter-128", "device": "cpu", "threads": 1, "seconds": 0.3});
        request[name] = value;
        let answer = served.post("/api/runs", &request);
        assert_eq!(answer.status, 422, "{name}: {answer:?}");
        assert!(answer.json()["error"].as_str().unwrap().contains(remedy), "{name}: {answer:?}");
    }
    let request = json!({"workload": "cavp-mix", "device": "cpu", "threads": 1, "seconds": 0.3});
    let plan = served.post("/api/plan", &request).json();
    let words = plan["would"]["plan"].as_str().unwrap();
    assert!(words.contains("aes-128-gcm seal: ") && words.contains("aes-256-gcm open: "), "{words}");
    assert!(!plan["kernels"].as_array().unwrap().is_empty(), "{plan}");
}

#[test]
fn what_cannot_be_run_is_refused_with_a_remedy() {
    let served = Served::start();
    let with = |name: &str, value: Value| {
        let mut request = small(Some(0.3));
        request[name] = value;
        served.post("/api/runs", &request)
    };
    for (name, value, remedy) in [
        ("device", json!("abacus"), "known: cpu"),
        ("algorithm", json!("rot13"), "aes-128"),
        ("operation", json!("hash"), "it can seal and open"),
        ("tier", json!("avx9000"), "portable"),
        ("workload", json!("tls-16k"), "leave them out"),
        ("threads", json!(0), "1 to"),
        ("blocks", json!(4), "launches no kernels"),
        ("cpu_load", json!(1.5), "from 0 to 1"),
        ("seconds", json!(1e6), "3600"),
        ("messages", json!(0), "at least 1"),
        ("resident", json!(true), "leave"),
    ] {
        let answer = with(name, value);
        assert_eq!(answer.status, 422, "{name}: {answer:?}");
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(remedy), "{name}: {error}");
    }
    let answer = with("surprise", json!(1));
    assert_eq!(answer.status, 422, "{answer:?}");
    assert_eq!(served.get("/api/runs").json(), json!([]));
}

#[test]
fn a_plan_is_told_before_it_is_run() {
    let served = Served::start();
    let mut request = small(Some(1.0));
    request["tier"] = json!("portable");
    let answer = served.post("/api/plan", &request).json();
    assert!(answer["would"]["plan"].as_str().unwrap().contains("aes-gcm/portable/"), "{answer}");
    let kernels = answer["kernels"].as_array().unwrap();
    assert!(kernels.iter().any(|kernel| kernel["constant_time"] == json!(true)), "{answer}");
    let named = kernels[0]["name"].as_str().unwrap();
    request["tier"] = Value::Null;
    request["kernel"] = json!(named);
    let id = served.run(&request);
    served.wait(id, "planned", |view| !view["plans"].as_array().unwrap().is_empty());
    assert!(served.view(id)["plans"][0].as_str().unwrap().contains(named));
}

#[test]
fn loads_reach_the_record() {
    let served = Served::start();
    let mut request = small(Some(0.5));
    request["cpu_load"] = json!(0.4);
    let id = served.run(&request);
    served.wait_for_state(id, "finished");
    let load = served.rows()[0].load.unwrap();
    let cpu = load.cpu.unwrap();
    assert!((cpu.requested - 0.4).abs() < 1e-9 && (0.0..=1.0).contains(&cpu.achieved), "{cpu:?}");
    assert!(load.gpu.is_none());
}

/// Fields of one message of a log.
fn fields(message: &str) -> BTreeMap<&str, &str> {
    message.lines().filter_map(|line| line.split_once(": ")).collect()
}

fn hex(text: &str) -> Vec<u8> {
    text.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// What a log shows must be what another implementation would compute: the readable reference opens what it says was sealed.
#[test]
fn the_log_can_be_saved_and_is_right() {
    let served = Served::start();
    let id = served.run(&small(Some(0.3)));
    let view = served.wait_for_state(id, "finished");
    let answer = served.get(&format!("/runs/{id}/log"));
    assert!(
        answer.headers.contains("content-disposition: attachment; filename=\"runs-1.log\""),
        "{answer:?}"
    );
    assert_eq!(answer.body, std::fs::read_to_string(view["log"].as_str().unwrap()).unwrap());
    let (head, messages) = answer.body.split_once("\n\nOperation: ").unwrap();
    let totals = Totals::of_row(&served.rows()[0]).unwrap();
    let of_head = fields(head);
    assert_eq!(of_head["Algorithm"], "aes-128-gcm");
    assert_eq!(of_head["Total Decryptions"], "0");
    let exact = |text: &str| {
        let digits = text.split(['(', ')']).nth(1).unwrap_or(text);
        digits.replace('\'', "").parse::<u64>().unwrap()
    };
    assert_eq!(exact(of_head["Total Encryptions"]), totals.sealed);
    assert_eq!(exact(of_head["Operations with 128-bit Keys"]), totals.sealed);
    assert!(head.contains("generated from seed 1"), "{head}");
    let messages: Vec<_> = messages.split("\n\nOperation: ").collect();
    assert_eq!(messages.len(), 50);
    let reference = Engine::with_devices(Arc::new(Reference::new()), []);
    for (place, message) in messages.iter().enumerate() {
        let fields = fields(message);
        assert!(message.starts_with("seal\n"));
        assert_eq!(fields["Sequence No"], format!("{place:#010X}").replace("0X", "0x"));
        assert_eq!(fields["Encrypted (Reference)"], fields["Encrypted (Calculated)"]);
        assert_eq!(fields["Tag (Reference)"], fields["Tag (Calculated)"]);
        let (text, tag) = (hex(fields["Encrypted (Calculated)"]), hex(fields["Tag (Calculated)"]));
        let sealed = Sealed::new(&[text], &[tag.try_into().unwrap()]);
        let (key, nonces) = (hex(fields["Key"]), [hex(fields["Initial Vector"])]);
        let algorithm = of_head["Algorithm"].parse().unwrap();
        let opened = reference.open(algorithm, &key, &nonces, b"", &sealed).unwrap();
        assert_eq!(opened.text(0), Some(&hex(fields["Plain Text"])[..]), "message {place}");
    }
}

#[test]
fn reports_are_linked_pages() {
    let served = Served::start();
    assert_eq!(served.get("/report").status, 404, "nothing is finished");
    let id = served.run(&small(Some(0.3)));
    assert_eq!(served.get(&format!("/runs/{id}/report")).status, 404);
    served.wait_for_state(id, "finished");
    for path in [format!("/runs/{id}/report"), "/report".to_owned()] {
        let answer = served.get(&path);
        assert_eq!(answer.status, 200);
        assert!(answer.body.starts_with("<!DOCTYPE html>") && answer.body.contains("aes-128-gcm"), "{path}");
        assert!(answer.headers.contains("style-src 'unsafe-inline'"), "{}", answer.headers);
        assert!(!answer.headers.contains("script-src"), "a report runs no script: {}", answer.headers);
    }
}

#[test]
fn sensors_that_cannot_be_read_say_why() {
    let served = Served::start();
    let event = served.first_event();
    let sensors = event["sensors"].as_array().unwrap();
    let missing = event["missing"].as_object().unwrap();
    let named = |channel: &str| {
        sensors.iter().any(|sensor| sensor["name"] == json!(channel))
            || missing.iter().any(|(reason, names)| {
                !reason.is_empty() && names.as_array().unwrap().contains(&json!(channel))
            })
    };
    for channel in ["cpu.frequency", "cpu.temperature", "cpu.power", "cpu.load"] {
        assert!(named(channel), "{channel} in {event}");
    }
}

#[test]
fn the_end_keeps_what_was_measured() {
    let mut served = Served::start();
    let id = served.run(&small(None));
    served.run(&small(None));
    served.wait_for_samples(id);
    served.end().unwrap();
    let rows = served.rows();
    assert_eq!(rows.len(), 1, "the run that waited was not begun");
    assert!(rows[0].verified);
}

#[test]
fn the_page_can_end_it() {
    let mut served = Served::start();
    assert_eq!(served.post("/api/quit", &json!({})).status, 204);
    served.wait_for_end().unwrap();
    assert!(!served.records.exists(), "nothing was measured");
}
