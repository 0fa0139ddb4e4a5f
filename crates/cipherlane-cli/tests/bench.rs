//! `bench`: rows, files, tiers, and Ctrl-C.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed
#![allow(clippy::print_stderr)] // what cannot be checked is said

mod support;

use cipherlane_record::Measurement;
use predicates::prelude::*;
use predicates::str::contains;
use support::{Sandbox, stdout};

/// One's own workload that is measured in a moment.
const SMALL: [&str; 7] = ["bench", "-a", "aes-128-gcm", "-s", "256", "--time", "1"];

fn rows(text: &str) -> Vec<Measurement> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SMALL, more].concat()
}

#[test]
fn the_list_runs_nothing() {
    let sandbox = Sandbox::new();
    let text = stdout(&mut sandbox.cipherlane(&["bench", "--list"]));
    for name in ["meter-128", "meter-mixed", "cavp-mix", "packets", "tls-16k", "disk-4k", "bulk"] {
        assert!(text.contains(name), "{text}");
    }
    assert!(!sandbox.folder.path().join("data").exists());
}

#[test]
fn rows_are_verified_and_say_what_they_cover() {
    let sandbox = Sandbox::new();
    let assert = sandbox.cipherlane(&with(&["-o", "seal", "-t", "1"])).assert().success();
    let output = assert.stdout(contains("aes-128-gcm seal").and(contains("key set-up")).and(contains("yes")));
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let path = text.lines().find_map(|line| line.strip_prefix("records: ")).unwrap();
    let path = path.split(" (").next().unwrap();
    let rows = rows(&std::fs::read_to_string(path).unwrap());
    let own: Vec<_> = rows.iter().filter(|row| row.device == "cpu").collect();
    assert_eq!(own.len(), 1, "one row of the engine, the others of rivals");
    assert_eq!((own[0].algorithm.as_str(), own[0].operation.as_str()), ("aes-128-gcm", "seal"));
    assert_eq!((own[0].message_bytes, own[0].threads, own[0].verified), (256, 1, true));
}

#[test]
fn what_a_file_holds_is_not_measured_again() {
    let sandbox = Sandbox::new();
    let run = |more: &[&str]| {
        let own = ["-o", "seal", "-t", "1", "--tier", "portable", "--no-rivals"];
        sandbox.cipherlane(&with(&[&own, more].concat()))
    };
    run(&["--json", "rows.jsonl"]).assert().success();
    let text = sandbox.read("rows.jsonl");
    run(&["--resume", "rows.jsonl"]).assert().success().stderr(contains("1 points are in the file already"));
    assert_eq!(sandbox.read("rows.jsonl"), text);
    // Tiers are named in any case.
    let own = ["-o", "seal", "-t", "1", "--tier", "PORTABLE", "--no-rivals", "--resume", "rows.jsonl"];
    sandbox.cipherlane(&with(&own)).assert().success().stderr(contains("1 points are in the file already"));
    // Other contents are other rows. A line that was not ended is ended first.
    sandbox.write("rows.jsonl", text.trim_end());
    // A variable holds for every command, and gives way to what this one is told.
    let mut other = run(&["--resume", "rows.jsonl", "--seed", "2"]);
    let added = contains("records: rows.jsonl (1 rows added)\nsee: ");
    other.env("CIPHERLANE_JSON", "other.jsonl").assert().success().stdout(added);
    assert!(!sandbox.folder.path().join("other.jsonl").exists());
    let seeds: Vec<u64> = rows(&sandbox.read("rows.jsonl")).iter().map(|row| row.seed).collect();
    assert_eq!(seeds, [1, 2]);
    sandbox.write("diary.txt", "rain");
    run(&["--resume", "diary.txt"]).assert().code(1).stderr(contains("diary.txt:1"));
    assert_eq!(sandbox.read("diary.txt"), "rain");
    // A line that a full disk cut short is named, with what helps.
    let torn = &text[..text.len() / 2];
    sandbox.write("rows.jsonl", torn);
    run(&["--resume", "rows.jsonl"])
        .assert()
        .code(1)
        .stderr(contains("rows.jsonl:1").and(contains("remove it")));
    assert_eq!(sandbox.read("rows.jsonl"), torn);
}

#[test]
fn tables_of_a_file_that_holds_everything_are_written() {
    let sandbox = Sandbox::new();
    let run = |more: &[&str]| {
        let own = ["-o", "seal", "-t", "1", "--tier", "portable", "--no-rivals"];
        sandbox.cipherlane(&with(&[&own, more].concat())).assert().success()
    };
    run(&["--json", "rows.jsonl"]);
    let passed_over = contains("passed over: run.log: the log is of rows that are measured");
    run(&["--resume", "rows.jsonl", "--csv", "rows.csv", "--md", "rows.md", "--log", "run.log"])
        .stderr(passed_over);
    assert_eq!(sandbox.read("rows.csv").lines().count(), 2);
    assert!(sandbox.read("rows.md").contains("| aes-128-gcm | seal |"));
}

#[test]
fn results_are_replaced_by_results_alone() {
    let sandbox = Sandbox::new();
    let run = |input: &str| {
        let results = ["--json", "rows.jsonl", "--csv", "rows.csv", "--input", input];
        let own = ["-o", "seal", "-t", "1", "--tier", "portable", "--no-rivals"];
        sandbox.cipherlane(&with(&[&own[..], &results[..]].concat()))
    };
    let old = "of another run\n".repeat(10_000);
    for file in ["rows.jsonl", "rows.csv"] {
        sandbox.write(file, &old);
    }
    run("missing.txt").assert().failure().stderr(contains("missing.txt"));
    for file in ["rows.jsonl", "rows.csv"] {
        assert_eq!(sandbox.read(file), old, "{file}");
    }
    sandbox.write("text.txt", &"rain ".repeat(1000));
    run("text.txt").assert().success();
    assert!(sandbox.read("rows.jsonl").starts_with('{'));
    for file in ["rows.jsonl", "rows.csv"] {
        assert!(!sandbox.read(file).contains("of another run"), "{file}");
    }
}

#[test]
fn switches_are_set_by_variables_as_people_write_them() {
    let sandbox = Sandbox::new();
    for (value, is_set) in [("1", true), ("yes", true), ("true", true), ("0", false), ("", false)] {
        let mut command = sandbox.cipherlane(&["bench", "--list"]);
        command.env("CIPHERLANE_QUICK", value).assert().success();
        let mut command = sandbox.cipherlane(&["lab", "run", "energy", "--quick", "--device", "cpu"]);
        let assert = command.env("CIPHERLANE_SMOKE", value).args(["--dry-run"]).assert();
        // The two cannot be had together.
        assert_eq!(assert.get_output().status.code(), Some(if is_set { 2 } else { 0 }), "{value}");
    }
}

#[test]
fn a_quick_look_measures_each_workload_or_says_why_not() {
    let sandbox = Sandbox::new();
    let run = ["bench", "--quick", "--time", "1", "--no-rivals", "--json", "rows.jsonl"];
    let text = stdout(&mut sandbox.cipherlane(&run));
    assert!(text.contains("not measured: cavp-mix") && text.contains("cargo xtask vectors"), "{text}");
    assert!(text.contains("records: rows.jsonl"), "{text}");
    let rows = rows(&sandbox.read("rows.jsonl"));
    let workloads: Vec<&str> = rows.iter().map(|row| row.workload.as_str()).collect();
    assert_eq!(workloads, ["meter-128", "meter-mixed", "packets", "tls-16k", "disk-4k", "bulk"]);
    assert!(rows.iter().all(|row| row.verified && row.threads == 1));
    assert!(rows[0].checks.planned_rejects > 0 && rows[0].checks.unexpected == 0);
}

#[test]
fn one_result_goes_to_stdout_and_the_others_to_files() {
    let sandbox = Sandbox::new();
    let run =
        with(&["-o", "open", "-t", "1", "--no-rivals", "--json", "-", "--csv", "r.csv", "--md", "r.md"]);
    let assert = sandbox.cipherlane(&run).assert().success().stderr(contains("aes-128-gcm open"));
    let rows = rows(std::str::from_utf8(&assert.get_output().stdout).unwrap());
    assert_eq!(rows.len(), 1);
    assert!(rows[0].best_rival.is_none(), "the rivals were left out");
    let csv = sandbox.read("r.csv");
    assert!(csv.starts_with("experiment,workload,algorithm") && csv.lines().count() == 2, "{csv}");
    assert!(sandbox.read("r.md").contains("| aes-128-gcm | open |"));
    assert!(!sandbox.folder.path().join("data").exists(), "--json takes the place of the default file");
}

#[test]
fn tiers_are_forced_by_name() {
    let sandbox = Sandbox::new();
    // What is named twice is measured once.
    let twice = ["-a", "aes-128-gcm", "-s", "256", "-o", "seal,seal", "--tier", "portable,portable"];
    let run = with(&[&twice[..], &["-t", "1", "--no-rivals", "--json", "-"]].concat());
    let rows = rows(&stdout(&mut sandbox.cipherlane(&run)));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].tier, "portable");
    assert!(rows[0].kernel.starts_with("aes-gcm/portable/"), "{}", rows[0].kernel);
}

#[test]
fn a_switched_off_tier_gives_way_to_the_next() {
    let sandbox = Sandbox::new();
    let run = with(&["-o", "seal", "-t", "1", "--no-rivals", "--json", "-"]);
    let mut bench = sandbox.cipherlane(&run);
    for variable in ["CIPHERLANE_NO_AVX512", "CIPHERLANE_NO_AVX2", "CIPHERLANE_NO_SSE"] {
        bench.env(variable, "1");
    }
    let rows = rows(&stdout(&mut bench));
    assert!(rows[0].kernel.starts_with("aes-gcm/portable/"), "{}", rows[0].kernel);
}

#[test]
fn an_input_is_cut_into_messages() {
    let sandbox = Sandbox::new();
    sandbox.write("input", &"z".repeat(1000));
    let run = with(&["-o", "seal", "-t", "1", "--no-rivals", "--input", "input", "--json", "-"]);
    let rows = rows(&stdout(&mut sandbox.cipherlane(&run)));
    assert_eq!((rows[0].messages, rows[0].bytes), (4, 1000));
}

#[cfg(target_os = "linux")] // which has a disk that is always full
#[test]
fn a_full_disk_hides_no_result_and_is_named() {
    let sandbox = Sandbox::new();
    let own = ["-o", "seal", "-t", "1", "--no-rivals", "--json"];
    let run = |more: &[&str]| sandbox.cipherlane(&with(&[&own, more].concat())).assert().code(1);
    let shown = contains("aes-128-gcm seal").and(contains("records: rows.jsonl"));
    run(&["rows.jsonl", "--csv", "/dev/full"]).stdout(shown).stderr(contains("/dev/full cannot be written"));
    let unwritten = || contains("a finished row cannot be written: /dev/full: ");
    run(&["/dev/full"]).stderr(unwritten());
    run(&["rows.jsonl", "--log", "/dev/full"]).stderr(unwritten());
    let observe = ["lab", "run", "thermal", "--smoke", "--device", "cpu", "--json", "/dev/full"];
    sandbox.cipherlane(&observe).assert().code(1).stderr(contains("/dev/full: "));
}

#[cfg(target_os = "linux")] // which names standard input as a file
#[test]
fn a_pipe_is_the_input_of_one_row() {
    let sandbox = Sandbox::new();
    let piped = |more: &[&str]| {
        let own = ["-t", "1", "--no-rivals", "--input", "/dev/stdin", "--json", "-"];
        let mut command = sandbox.cipherlane(&with(&[&own, more].concat()));
        command.write_stdin("z".repeat(1000));
        command
    };
    piped(&[]).assert().code(2).stdout("").stderr(contains("is a pipe, which can be read once"));
    let rows = rows(&stdout(&mut piped(&["-o", "seal"])));
    assert_eq!((rows[0].messages, rows[0].bytes), (4, 1000));
}

#[test]
fn nothing_to_run_exits_6() {
    let sandbox = Sandbox::new();
    // Its vectors were not fetched.
    let absent = ["bench", "cavp-mix", "-t", "1", "--no-rivals"];
    let said =
        || contains("not measured").and(contains("cavp-mix")).and(contains("records: none; nothing was"));
    sandbox.cipherlane(&absent).assert().code(6).stdout(said());
    let kept = sandbox.folder.path().join("data/cipherlane/records");
    assert_eq!(std::fs::read_dir(kept).unwrap().count(), 0, "an empty file is left");
    // What was there before stays, empty or not.
    sandbox.write("empty.jsonl", "");
    for (file, is_left) in [("new.jsonl", false), ("empty.jsonl", true)] {
        let results = ["--json", file, "--csv", "new.csv", "--md", "new.md"];
        sandbox.cipherlane(&[&absent[..], &results].concat()).assert().code(6).stdout(said());
        assert_eq!(sandbox.folder.path().join(file).exists(), is_left, "{file}");
    }
    assert!(!["new.csv", "new.md"].iter().any(|file| sandbox.folder.path().join(file).exists()));
}

#[test]
fn a_hash_has_no_key_for_each_message() {
    let sandbox = Sandbox::new();
    let run = ["bench", "-a", "sha-256", "-s", "64", "-t", "1", "--keys", "distinct", "--time", "1"];
    let run = [&run[..], &["--tier", "portable", "--no-rivals", "--json", "-"]].concat();
    let assert = sandbox.cipherlane(&run).assert().success();
    let assert =
        assert.stderr(contains("passed over: --keys: sha-256 has none").and(contains("a key each").not()));
    let rows = rows(std::str::from_utf8(&assert.get_output().stdout).unwrap());
    assert_eq!(rows[0].keys, cipherlane_record::Keys::Same);
}

#[test]
#[cfg(unix)]
fn signals_to_end_keep_the_rows_that_are_finished() {
    use rustix::process::Signal;

    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        end_by(&[signal]);
    }
}

/// `timeout` signals a program, and at once the group of processes that it is in.
#[test]
#[cfg(unix)]
fn two_signals_at_once_end_it_as_one_does() {
    end_by(&[rustix::process::Signal::TERM; 2]);
}

#[test]
#[cfg(unix)]
fn a_reader_of_rows_who_leaves_ends_the_run_and_files_are_written() {
    let (sandbox, child, records, mut text) = begin();
    drop(records);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    text += &sandbox.read("rows.csv");
    assert!((3..100).contains(&text.lines().count()), "{text}");
}

/// A run of many points in more time than anyone waits, of which one row was read.
#[cfg(unix)]
fn begin() -> (Sandbox, std::process::Child, std::io::BufReader<std::process::ChildStdout>, String) {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let sandbox = Sandbox::new();
    let sizes = (1..=100).map(|size| (16 * size).to_string()).collect::<Vec<_>>().join(",");
    let run = ["bench", "--no-rivals", "-a", "aes-128-gcm", "-s", &sizes, "--time", "200", "--json", "-"];
    let mut command = sandbox.bare();
    command.args(run).args(["--csv", "rows.csv"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut records = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    records.read_line(&mut text).unwrap();
    (sandbox, child, records, text)
}

#[cfg(unix)]
fn end_by(signals: &[rustix::process::Signal]) {
    use std::io::Read;

    if signals.iter().any(|&signal| support::is_ignored(signal)) {
        eprintln!("NOT CHECKED: {signals:?}, which these tests ignore");
        return;
    }
    let (sandbox, mut child, mut records, mut text) = begin();
    let id = rustix::process::Pid::from_child(&child);
    for &signal in signals {
        rustix::process::kill_process(id, signal).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    records.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let rows = rows(&text);
    assert!(!rows.is_empty() && rows.len() < 400, "{} rows", rows.len());
    assert_eq!(sandbox.read("rows.csv").lines().count(), rows.len() + 1);
    assert!(rows.iter().all(|row| row.verified));
}

#[test]
fn a_log_shows_messages_and_never_those_of_a_file() {
    let sandbox = Sandbox::new();
    let run = with(&["-o", "open", "-t", "1", "--messages", "3", "--json", "rows.jsonl", "--log", "run.log"]);
    sandbox.cipherlane(&run).assert().success().stdout(contains("log: run.log"));
    let log = sandbox.read("run.log");
    let of = |field: &str| log.lines().filter(|line| line.starts_with(field)).count();
    // Rivals run beside, and are not logged.
    assert_eq!((of("cipherlane: log of"), of("Operation: open"), of("Key: ")), (1, 3, 3), "{log}");
    assert_eq!(of("Authentication (Calculated): succeeds"), 3, "{log}");
    assert!(log.contains("Keys here protect nothing"), "{log}");
    sandbox.write("input", "secret");
    let run = with(&["--no-rivals", "--input", "input", "--log", "other.log"]);
    sandbox.cipherlane(&run).assert().code(2).stderr(contains("--log").and(contains("--input")));
    assert!(!sandbox.folder.path().join("other.log").exists());
}
