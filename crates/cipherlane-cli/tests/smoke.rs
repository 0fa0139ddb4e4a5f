//! `cipherlane lab run --smoke`: every experiment, as small as it gets, on whatever this machine has.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed

mod support;

use std::collections::BTreeSet;

use cipherlane_lab::Experiment;
use cipherlane_record::{Record, read};
use support::Sandbox;

/// What needs no more than a CPU.
const ON_ANY_MACHINE: [&str; 8] = [
    "block-ciphers",
    "cpu-ceilings",
    "cpu-threads",
    "energy",
    "gpu-speeds",
    "rivals",
    "thermal",
    "workloads",
];

// Two parts, since an experiment waits a good deal, and mostly keeps one processor busy.

#[test]
fn every_experiment_runs_and_is_verified_or_says_why_not() {
    smoke(0);
}

#[test]
fn every_other_experiment_does_so_beside_it() {
    smoke(1);
}

/// Runs every second experiment from `first` on.
fn smoke(first: usize) {
    let sandbox = Sandbox::new();
    let path = sandbox.folder.path().join("rows.jsonl");
    let file = path.display().to_string();
    let names: Vec<String> =
        Experiment::all().into_iter().map(|experiment| experiment.name).skip(first).step_by(2).collect();
    let mut arguments = vec!["lab", "run", "--smoke", "--sensors", "1", "--json", &file];
    arguments.extend(names.iter().map(String::as_str));
    let output = sandbox.cipherlane(&arguments).assert().success();
    let output = output.get_output();
    let said = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    let rows = read(&path).unwrap();
    let wrong = |row: &&Record| match row {
        Record::Measurement(row) => !row.verified,
        Record::Observation(row) => row.verified == Some(false),
    };
    assert!(rows.iter().find(wrong).is_none(), "{said}");
    let ran: BTreeSet<&str> = rows.iter().map(Record::experiment).collect();
    for name in &names {
        let has_run = ran.contains(&**name);
        let left_out = said.contains(&format!("not measured: {name} "));
        let may_be_left_out = !ON_ANY_MACHINE.contains(&&**name);
        assert!(has_run || left_out && may_be_left_out, "{name} has not run: {said}");
    }
}
