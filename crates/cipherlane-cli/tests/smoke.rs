//! `cipherlane lab run all --smoke`: every experiment, as small as it gets, on whatever this machine has.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed

mod support;

use std::collections::BTreeSet;

use cipherlane_lab::Experiment;
use cipherlane_record::{Record, read};
use support::Sandbox;

#[test]
fn every_experiment_runs_and_is_verified_or_says_why_not() {
    let sandbox = Sandbox::new();
    let path = sandbox.folder.path().join("rows.jsonl");
    let file = path.display().to_string();
    let arguments = ["lab", "run", "all", "--smoke", "--sensors", "1", "--json", &file];
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
    for experiment in Experiment::all() {
        let name = experiment.name;
        let left_out = said.contains(&format!("not measured: {name} "));
        assert!(ran.contains(&*name) || left_out, "{name} is neither run nor left out: {said}");
    }
    // What needs no more than a CPU has run.
    for name in ["block-ciphers", "cpu-ceilings", "cpu-threads", "energy", "gpu-speeds", "rivals", "thermal"]
    {
        assert!(ran.contains(name), "{name}: {said}");
    }
}
