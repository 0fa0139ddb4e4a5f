//! `cipherlane lab`, as users call it: experiments that make observations.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed

mod support;

use std::fs;

use cipherlane_record::{Record, read};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use support::{Sandbox, stdout};

/// Where results go to stdout, so that whoever reads these finds nothing else there.
#[test]
fn a_plan_stands_beside_results() {
    let sandbox = Sandbox::new();
    for experiment in ["rivals", "thermal"] {
        let run = ["lab", "run", experiment, "--quick", "--dry-run", "--device", "cpu", "--json", "-"];
        let plan = contains("; nothing was run");
        sandbox.cipherlane(&run).assert().success().stdout("").stderr(plan);
    }
}

/// The experiment's question is by how much a GPU is faster than the best library on all CPUs.
#[test]
fn a_gpu_is_put_beside_all_cpus_first_unless_threads_are_named() {
    let all = cipherlane_lab::host::detect().logical_cores;
    let threads_of_first_row = |more: &[&str]| -> usize {
        let run = [&["lab", "run", "gpu-rivals", "--device", "cpu", "--dry-run"], more].concat();
        let text = stdout(&mut Sandbox::new().cipherlane(&run));
        let row = text.lines().find(|line| line.contains("aes-128-gcm seal")).unwrap();
        row.split_whitespace().last().unwrap().parse().unwrap()
    };
    assert_eq!(threads_of_first_row(&[]), all);
    assert_eq!(threads_of_first_row(&["--threads", "1"]), 1);
}

#[test]
fn who_has_no_gpu_is_told_that_rows_are_of_the_cpu() {
    for (experiment, is_about_gpus) in [("gpu-speeds", true), ("gpu-load", true), ("cpu-load", false)] {
        let run = ["lab", "run", experiment, "--device", "cpu", "--dry-run"];
        let told = contains(format!("no GPU: {experiment} asks about GPUs"));
        let assert = Sandbox::new().cipherlane(&run).assert().success();
        if is_about_gpus {
            assert.stderr(told)
        } else {
            assert.stderr(told.not())
        };
    }
}

#[test]
fn a_dry_run_says_what_it_would_do_and_does_nothing() {
    let sandbox = Sandbox::new();
    sandbox
        .cipherlane(&["lab", "run", "energy", "thermal", "--device", "cpu", "--dry-run"])
        .assert()
        .success()
        .stdout(contains("energy: 5 trials of aes-128-ctr on cpu"))
        .stdout(contains("nothing was run"));
}

/// As their runs do, which `the_cpu_takes_nothing_off_itself`.
#[test]
fn a_dry_run_of_what_cannot_run_here_says_so_and_ends_alike() {
    for (experiment, reason) in [("offload", "name a GPU with --device"), ("generations", "name files of")] {
        let run = ["lab", "run", experiment, "--device", "cpu", "--dry-run"];
        let told = contains(format!("nothing to run: {experiment}: ")).and(contains(reason));
        Sandbox::new().cipherlane(&run).assert().code(6).stderr(told);
    }
    // Others that can be run are what counts.
    let both = ["lab", "run", "offload", "thermal", "--device", "cpu", "--dry-run"];
    Sandbox::new().cipherlane(&both).assert().success().stderr(contains("nothing to run: offload"));
}

#[test]
fn sensors_are_read_as_often_as_is_asked_for() {
    let readings = |hertz: &str| {
        let sandbox = Sandbox::new();
        let run =
            ["lab", "run", "thermal", "--smoke", "--device", "cpu", "--json", "rows.jsonl", "--sensors"];
        sandbox.cipherlane(&[&run[..], &[hertz]].concat()).assert().success();
        let rows = read(&sandbox.folder.path().join("rows.jsonl")).unwrap();
        let Record::Observation(row) = &rows[0] else { panic!("an observation") };
        row.timeline.as_ref().unwrap().seconds.len()
    };
    // A fifth of a second of idleness: its ends alone, and no reading between them.
    assert_eq!(readings("0.1"), 2);
}

#[test]
fn records_that_no_experiment_reads_are_not_passed_over_in_silence() {
    let sandbox = Sandbox::new();
    sandbox.write("rows.jsonl", "");
    let dry = |experiments: &[&str]| {
        let arguments =
            [&["lab", "run"], experiments, &["rows.jsonl", "--device", "cpu", "--dry-run"]].concat();
        sandbox.cipherlane(&arguments).assert().success()
    };
    let passed_over = || contains("passed over: rows.jsonl: no experiment here").and(contains("findings"));
    dry(&["energy"]).stderr(passed_over());
    dry(&["rivals", "thermal"]).stderr(passed_over());
    // One that reads them is enough.
    dry(&["findings", "energy"]).stderr(contains("passed over").not());
}

#[test]
fn a_smoke_run_is_verified_and_kept_and_not_repeated() {
    let sandbox = Sandbox::new();
    let path = sandbox.folder.path().join("rows.jsonl");
    let file = path.display().to_string();
    let run = |how: [&str; 2]| {
        let mut arguments = vec!["lab", "run", "thermal", "--smoke", "--device", "cpu"];
        arguments.extend(how);
        sandbox.cipherlane(&arguments).assert()
    };
    // What the experiment decides itself is not taken in silence.
    let passed_over = "passed over: --size, --tier: thermal says itself what it runs";
    let mut arguments = vec!["lab", "run", "thermal", "--dry-run", "--size", "64", "--tier", "sse"];
    arguments.extend(["--device", "cpu"]);
    sandbox.cipherlane(&arguments).assert().success().stderr(contains(passed_over));
    run(["--json", &file]).success().stdout(contains("before")).stdout(contains("steady"));
    let rows = read(&path).unwrap();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        let Record::Observation(row) = row else { panic!("an observation") };
        assert_eq!((row.verified, row.subject.as_str()), (Some(true), "cpu"));
        assert!(!row.timeline.as_ref().unwrap().seconds.is_empty());
        for value in &row.values {
            assert_eq!(value.value.is_none(), value.reason.is_some(), "{}", value.name);
        }
    }
    // All of it is there: nothing is left to run, and the file stays as it is.
    run(["--resume", &file]).success();
    assert_eq!(read(&path).unwrap().len(), 4);
}

#[test]
fn energy_without_a_meter_says_why() {
    let sandbox = Sandbox::new();
    let path = sandbox.folder.path().join("rows.jsonl");
    let file = path.display().to_string();
    let mut arguments =
        vec!["lab", "run", "energy", "--smoke", "--device", "cpu", "--sensors", "0", "--json", &file];
    arguments.extend(["--csv", "values.csv"]);
    sandbox.cipherlane(&arguments).assert().success().stdout(contains("no meter of energy for cpu"));
    // Lines end as RFC 4180 has it, in files of observations as in those of measurements.
    let csv = sandbox.read("values.csv");
    assert!(csv.starts_with("experiment,subject,axes,") && csv.split("\r\n").count() > 2, "{csv}");
    assert!(fs::read_to_string(&path).unwrap().contains("\"throughput\""));
}

#[test]
fn the_cpu_takes_nothing_off_itself() {
    let sandbox = Sandbox::new();
    let arguments = ["lab", "run", "offload", "--smoke", "--device", "cpu"];
    sandbox.cipherlane(&arguments).assert().code(6).stdout(contains("name a GPU with --device"));
}

#[test]
fn threads_are_swept_and_verified_and_what_cannot_be_switched_is_named() {
    let sandbox = Sandbox::new();
    let path = sandbox.folder.path().join("rows.jsonl");
    let file = path.display().to_string();
    let arguments = ["lab", "run", "cpu-threads", "simd-grid", "--smoke", "--json", &file];
    let said = sandbox.cipherlane(&arguments).assert().success();
    said.stdout(contains("Amdahl sigma")).stdout(contains("only the present state is run"));
    let rows = read(&path).unwrap();
    assert!(rows.iter().any(|row| row.experiment() == "simd-grid"));
    // Half of the rows that are measured together: the others come back, and none twice.
    let lines = fs::read_to_string(&path).unwrap();
    let half: String = lines.lines().step_by(2).map(|line| format!("{line}\n")).collect();
    let cut = sandbox.folder.path().join("half.jsonl");
    fs::write(&cut, half).unwrap();
    let rest = cut.display().to_string();
    sandbox
        .cipherlane(&["lab", "run", "cpu-threads", "simd-grid", "--smoke", "--resume", &rest])
        .assert()
        .success();
    assert_eq!(read(&cut).unwrap().len(), rows.len());
    for row in rows {
        let Record::Observation(row) = row else { panic!("an observation") };
        assert_eq!(row.verified, row.axes.contains_key("threads").then_some(true), "{:?}", row.axes);
    }
}

#[test]
fn records_of_machines_are_put_side_by_side_and_conclusions_held_against_them() {
    let sandbox = Sandbox::new();
    let rows = sandbox.folder.path().join("rows.jsonl").display().to_string();
    let smoke = ["lab", "run", "cpu-threads", "generations", "--smoke", "--json", &rows];
    // With no records handed in, generations has nothing to run, which is no failure of the other.
    sandbox.cipherlane(&smoke).assert().success().stdout(contains("name files of"));
    let out = sandbox.folder.path().join("derived.jsonl").display().to_string();
    let arguments = ["lab", "run", "generations", "findings", &rows, "--json", &out];
    sandbox
        .cipherlane(&arguments)
        .assert()
        .success()
        .stdout(contains("all CPUs, special"))
        .stdout(contains("records are of --smoke runs"))
        .stdout(contains("NOT MEASURED"))
        .stdout(contains("run `cipherlane lab run languages` there"));
    sandbox.cipherlane(&["lab", "run", &rows]).assert().code(2);
}

#[test]
fn experiments_are_chosen_by_study_or_row() {
    let sandbox = Sandbox::new();
    let dry = |study: &str| sandbox.cipherlane(&["lab", "run", "--study", study, "--dry-run"]).assert();
    dry("003").success().stdout(contains("simd-grid:").and(contains("cpu-threads:").not()));
    dry("000.4").success().stdout(contains("cpu-threads:"));
    dry("000.8").success().stdout(contains("cavp-mix").and(contains("meter-128")));
    // What another verb does is answered with it.
    dry("000.11").code(2).stderr(contains("`cipherlane dashboard` does it"));
    dry("001").stderr(contains("left out: 001.13: no experiment"));
    dry("017").code(2).stderr(contains("unknown study `017`; known: 000, 001"));
}

#[test]
fn experiments_of_one_command_share_their_tables() {
    let sandbox = Sandbox::new();
    let smoke = ["--smoke", "--device", "cpu", "--json", "rows.jsonl", "--csv", "two.csv", "--md", "two.md"];
    let run =
        |experiments: [&str; 2]| sandbox.cipherlane(&[&["lab", "run"], &experiments[..], &smoke].concat());
    run(["rivals", "thermal"]).assert().code(2).stderr(contains("rivals has others than thermal"));
    assert!(!sandbox.folder.path().join("rows.jsonl").exists());
    run(["energy", "thermal"]).assert().success();
    let csv = sandbox.read("two.csv");
    let headers = csv.lines().filter(|line| line.starts_with("experiment,subject")).count();
    assert!(headers == 1 && csv.contains("\nenergy,") && csv.contains("\nthermal,"), "{csv}");
    let tables = sandbox.read("two.md");
    assert_eq!(tables.split("\n\n").filter(|table| table.starts_with("| experiment")).count(), 2, "{tables}");
}
