//! `compare`: verdicts, tables and exit codes. The records are measured ones, of `records/`.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed

mod support;

use std::path::Path;

use cipherlane_lab::statistics::FEWEST_ROUNDS;
use cipherlane_record::{Cache, Measurement, Writer, measurements, read};
use predicates::prelude::*;
use predicates::str::contains;
use support::{Sandbox, stdout};

/// The engine's rows that have enough samples for a verdict.
fn measured() -> Vec<Measurement> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/granite-rapids-vm/bench.jsonl");
    let rows = measurements(read(&path).unwrap());
    let counts = |row: &Measurement| row.samples.iter().filter(|sample| !sample.superseded).count();
    rows.into_iter().filter(|row| row.device == "cpu" && counts(row) >= FEWEST_ROUNDS).collect()
}

/// `base.jsonl` and `new.jsonl`, in which every time is `factor` times as long.
fn files(factor: f64) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut rows = measured();
    write(&sandbox, "base.jsonl", &rows);
    for row in &mut rows {
        row.unix_seconds += 600;
        row.bytes_per_second /= factor;
        for sample in &mut row.samples {
            sample.wall_seconds *= factor;
        }
    }
    write(&sandbox, "new.jsonl", &rows);
    sandbox
}

fn write(sandbox: &Sandbox, name: &str, rows: &[Measurement]) {
    let mut writer = Writer::open(&sandbox.folder.path().join(name)).unwrap();
    rows.iter().for_each(|row| writer.append(row).unwrap());
}

#[test]
fn records_against_themselves_are_ambiguous() {
    let sandbox = files(1.0);
    let text =
        stdout(&mut sandbox.cipherlane(&["compare", "base.jsonl", "base.jsonl", "--fail-on", "slower"]));
    assert!(text.contains(" 0 faster, 0 slower, ") && text.contains("AMBIGUOUS"), "{text}");
    assert!(text.contains("B is 1.000 times as fast as A"), "{text}");
}

#[test]
fn what_is_wrong_or_missing_is_no_success() {
    let sandbox = files(1.0);
    let mut rows = measured();
    rows[0].verified = false;
    write(&sandbox, "wrong.jsonl", &rows);
    write(&sandbox, "fewer.jsonl", &rows[1..]);
    let compare = |new, more: &[&str]| sandbox.cipherlane(&[&["compare", "base.jsonl", new], more].concat());
    compare("wrong.jsonl", &[]).assert().code(3).stdout(contains("outputs of the new row are wrong"));
    compare("fewer.jsonl", &[]).assert().success();
    compare("fewer.jsonl", &["--fail-on", "slower"]).assert().code(4).stderr(contains("rows of A are not"));
}

/// Whether outputs are right takes no row of A to tell.
#[test]
fn wrong_outputs_of_a_row_that_only_b_has_exit_3() {
    let sandbox = files(1.0);
    let mut rows = measured();
    let mut wrong = rows[0].clone();
    wrong.workload = "new".to_owned();
    wrong.verified = false;
    wrong.checks.unexpected = 3;
    rows.push(wrong.clone());
    write(&sandbox, "wrong.jsonl", &rows);
    wrong.device = "rival:aws-lc".to_owned();
    *rows.last_mut().unwrap() = wrong;
    write(&sandbox, "rival.jsonl", &rows);
    let compare = |base, new, more: &[&str]| sandbox.cipherlane(&[&["compare", base, new], more].concat());
    let said = contains("only in wrong.jsonl: new ").and(contains(": WRONG: 3 of "));
    let tables = ["--csv", "c.csv", "--md", "c.md"];
    compare("base.jsonl", "wrong.jsonl", &tables).assert().code(3).stdout(said);
    for name in ["c.csv", "c.md"] {
        let table = sandbox.read(name);
        assert!(table.contains("ONLY IN B") && table.contains("WRONG: 3 of "), "{table}");
    }
    compare("base.jsonl", "wrong.jsonl", &["--fail-on", "slower"]).assert().code(3);
    // Those of A are no news of B's, and those of rivals not ours, unless that is asked for.
    compare("wrong.jsonl", "base.jsonl", &[]).assert().success().stdout(contains("WRONG: 3 of "));
    compare("base.jsonl", "rival.jsonl", &[]).assert().success().stdout(contains("WRONG: 3 of "));
    compare("base.jsonl", "rival.jsonl", &["--with-rivals"]).assert().code(3);
}

#[test]
fn a_regression_exits_4_if_that_was_asked_for() {
    let sandbox = files(2.0);
    let compare =
        |more: &[&str]| sandbox.cipherlane(&[&["compare", "base.jsonl", "new.jsonl"], more].concat());
    compare(&[]).assert().success().stdout(contains("SLOWER").and(contains("B is 0.500 times")));
    compare(&["--fail-on", "slower"]).assert().code(4).stderr(contains("regression: "));
    compare(&["--fail-on", "slower:20"]).assert().code(4).stderr(contains("more than 20 %"));
    compare(&["--fail-on", "slower:60"]).assert().success();
    compare(&["--fail-on", "faster"]).assert().code(2).stderr(contains("write slower"));
    sandbox.cipherlane(&["compare", "new.jsonl", "base.jsonl", "--fail-on", "slower"]).assert().success();
}

#[test]
fn too_few_rounds_are_told_and_are_no_success() {
    let sandbox = files(2.0);
    for name in ["base.jsonl", "new.jsonl"] {
        let mut rows = measurements(read(&sandbox.folder.path().join(name)).unwrap());
        rows[0].samples.retain(|sample| !sample.superseded);
        rows[0].samples.truncate(4);
        write(&sandbox, &format!("few-{name}"), &rows[..1]);
    }
    let compare = |base: &str, new: &str, more: &[&str]| {
        sandbox.cipherlane(&[&["compare", base, new], more].concat()).assert()
    };
    let (base, new) = ("few-base.jsonl", "few-new.jsonl");
    let said = contains("AMBIGUOUS: 4 samples, 6 are needed").and(contains("1 of them have too few rounds"));
    compare(base, new, &["--csv", "few.csv", "--json", "few.json"]).success().stdout(said);
    let json: serde_json::Value = serde_json::from_str(&sandbox.read("few.json")).unwrap();
    assert_eq!(json["compared"][0]["samples"], 4);
    let csv = sandbox.read("few.csv");
    assert!(csv.contains(",AMBIGUOUS,\"4 samples, 6 are needed\""), "{csv}");
    // Rounds of one run.
    compare(base, base, &[]).success().stdout(contains("AMBIGUOUS: 4 rounds, 6 are needed"));
    let failed = contains("regression: 1 rows have too few rounds or samples to tell");
    compare(base, new, &["--fail-on", "slower:5"]).code(4).stderr(failed);
}

#[test]
fn tables_have_every_row() {
    let sandbox = files(2.0);
    let run = ["compare", "base.jsonl", "new.jsonl", "--json", "-", "--csv", "c.csv", "--md", "c.md"];
    let comparison: serde_json::Value = serde_json::from_str(&stdout(&mut sandbox.cipherlane(&run))).unwrap();
    let rows = measured().len();
    assert_eq!(comparison["compared"].as_array().unwrap().len(), rows);
    assert!((comparison["geometric_mean"].as_f64().unwrap() - 0.5).abs() < 1e-9);
    let csv = sandbox.read("c.csv");
    assert!(csv.starts_with("experiment,workload,algorithm"), "{csv}");
    assert_eq!(csv.lines().count(), rows + 1);
    assert!(csv.lines().filter(|line| line.contains(",SLOWER,")).count() > rows / 2, "{csv}");
    let md = sandbox.read("c.md");
    assert!(md.starts_with("| row | A GB/s | B GB/s | ratio (95 %) |"), "{md}");
    assert_eq!(md.lines().count(), rows + 2);
}

#[test]
fn what_is_not_compared_is_said() {
    let sandbox = files(1.0);
    let mut rows = measured();
    rows[0].scope.cache = if rows[0].scope.cache == Cache::Hot { Cache::Cold } else { Cache::Hot };
    rows[1].threads = 77;
    write(&sandbox, "other.jsonl", &rows);
    let compare = ["compare", "base.jsonl", "other.jsonl"];
    let said = contains("not compared: ").and(contains("scopes differ: cache"));
    let said = said.and(contains("only in base.jsonl: ")).and(contains("threads 77"));
    sandbox.cipherlane(&compare).assert().success().stdout(said);
    let across = sandbox.cipherlane(&[&compare[..], &["--across-scopes"]].concat()).assert().success();
    across.stdout(contains("scopes differ").not().and(contains("cache ")));
}

#[test]
fn nothing_in_common_exits_6_and_no_records_exit_1() {
    let sandbox = files(1.0);
    sandbox.write("empty.jsonl", "");
    sandbox.cipherlane(&["compare", "base.jsonl", "empty.jsonl"]).assert().code(6);
    // Rows of A that have none to be compared with fail, even if that is all of them.
    let fail = ["compare", "base.jsonl", "empty.jsonl", "--fail-on", "slower"];
    sandbox.cipherlane(&fail).assert().code(4).stderr(contains("rows of A are not"));
    let neither = ["compare", "empty.jsonl", "base.jsonl", "--fail-on", "slower"];
    sandbox.cipherlane(&neither).assert().code(6);
    sandbox.cipherlane(&["compare", "base.jsonl", "absent"]).assert().code(1).stderr(contains("absent"));
}

#[test]
fn the_verdict_does_not_depend_on_who_reads_it() {
    let sandbox = files(2.0);
    let mut rows = measured();
    rows[0].verified = false;
    write(&sandbox, "wrong.jsonl", &rows);
    let unread = |new, more: &[&str]| sandbox.unread(&[&["compare", "base.jsonl", new], more].concat());
    for more in [&[][..], &["--json", "-", "--md", "c.md"], &["--csv", "-"]] {
        let (code, said) = unread("new.jsonl", &[&["--fail-on", "slower:5"], more].concat());
        assert!(code == Some(4) && said.contains("regression: "), "{code:?} {said}");
        assert_eq!(unread("wrong.jsonl", more).0, Some(3));
        assert_eq!(unread("base.jsonl", more).0, Some(0));
    }
    assert!(sandbox.folder.path().join("c.md").exists(), "written, although nobody read what came before");
}

#[test]
fn a_slower_row_is_seen_beside_another_of_the_like() {
    let sandbox = files(2.0);
    sandbox.write("both.jsonl", &(sandbox.read("base.jsonl") + &sandbox.read("new.jsonl")));
    let run = ["compare", "base.jsonl", "both.jsonl", "--fail-on", "slower:5"];
    let said = contains("only in").not().and(contains(format!("{} rows compared", 2 * measured().len())));
    sandbox
        .cipherlane(&run)
        .assert()
        .code(4)
        .stdout(said)
        .stderr(contains("rows are slower by more than 5 %"));
}

#[test]
fn rows_of_rivals_fail_nothing_unless_that_is_asked_for() {
    let sandbox = files(2.0);
    for name in ["base.jsonl", "new.jsonl"] {
        let mut rows = measurements(read(&sandbox.folder.path().join(name)).unwrap());
        rows.truncate(1);
        rows[0].device = "rival:aws-lc".to_owned();
        write(&sandbox, &format!("rival-{name}"), &rows);
        // Ours is as fast as it was.
        rows.push(measured().remove(1));
        write(&sandbox, &format!("with-{name}"), &rows);
    }
    let run = |base: &str, new: &str, more: &[&str]| {
        let gate = ["compare", base, new, "--fail-on", "slower:5"];
        sandbox.cipherlane(&[&gate[..], more].concat()).assert()
    };
    let (base, new) = ("with-base.jsonl", "with-new.jsonl");
    run(base, new, &[]).success().stdout(contains("1 slower")).stderr("");
    run(base, new, &["--with-rivals"]).code(4).stderr(contains("regression: 1 rows are slower"));
    // A gate without a row of ours is none.
    run("rival-base.jsonl", "rival-new.jsonl", &[]).code(6);
    run("rival-base.jsonl", "rival-new.jsonl", &["--with-rivals"]).code(4);
    run(base, "base.jsonl", &[]).success();
}

#[test]
fn impossible_times_pass_no_gate() {
    let sandbox = files(1.0);
    let mut rows = measured();
    for row in &mut rows {
        row.unix_seconds += 600;
        row.samples.iter_mut().for_each(|sample| sample.wall_seconds = 0.0);
    }
    write(&sandbox, "none.jsonl", &rows);
    let run = ["compare", "base.jsonl", "none.jsonl", "--fail-on", "slower:5"];
    let said = contains("not compared: ").and(contains("the new row has samples that took no time"));
    sandbox
        .cipherlane(&run)
        .assert()
        .code(4)
        .stdout(said.and(contains("NaN").not()))
        .stderr(contains("nobody can tell"));
    sandbox.cipherlane(&["compare", "none.jsonl", "base.jsonl"]).assert().code(6);
}
