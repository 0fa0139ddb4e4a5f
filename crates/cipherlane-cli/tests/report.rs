//! `report`: files in, a page, Markdown and CSV out; the browser, and what is said where there is none.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed

mod support;

use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;
use support::{Sandbox, stdout};

/// A sandbox with a file of records in it.
fn with_records() -> Sandbox {
    let sandbox = Sandbox::new();
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records/granite-rapids-vm/bench.jsonl");
    let text = std::fs::read_to_string(records).unwrap();
    // A few rows are enough: the page has its own tests.
    let few: Vec<&str> = text.lines().take(6).collect();
    sandbox.write("bench.jsonl", &few.join("\n"));
    sandbox
}

#[test]
fn the_page_lies_beside_the_records() {
    let sandbox = with_records();
    let text = stdout(&mut sandbox.cipherlane(&["report", "bench.jsonl"]));
    assert!(text.contains("report: bench.html (records: 6)"), "{text}");
    let page = sandbox.read("bench.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"), "{page}");
    assert!(page.contains("How fast is this machine"), "bench has a question");
}

#[test]
fn every_form_goes_where_it_is_told() {
    let sandbox = with_records();
    sandbox.write("other.jsonl", &sandbox.read("bench.jsonl"));
    // What is named twice counts once.
    let files = ["bench.jsonl", "other.jsonl", "./bench.jsonl"];
    let run = [&["report"], &files[..], &["-o", "two.html", "--md", "two.md", "--csv", "-"]].concat();
    let assert =
        sandbox.cipherlane(&run).assert().success().stderr(contains("report: two.html (records: 12)"));
    let csv = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(csv.starts_with("record,experiment,machine,"), "{csv}");
    assert!(sandbox.read("two.md").starts_with("# cipherlane report"));
    assert!(sandbox.read("two.html").contains("12 records"));
    let text = stdout(&mut sandbox.cipherlane(&["report", "bench.jsonl", "--md", "-"]));
    assert!(text.starts_with("# cipherlane report"));
    assert!(!sandbox.folder.path().join("bench.html").exists(), "Markdown alone was asked for");
}

#[test]
fn a_reader_who_leaves_takes_no_file_along() {
    let sandbox = with_records();
    let (code, said) =
        sandbox.unread(&["report", "bench.jsonl", "--csv", "-", "-o", "x.html", "--md", "x.md"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        sandbox.read("x.html").contains("<svg") && sandbox.read("x.md").starts_with("# cipherlane report")
    );
}

#[test]
fn a_page_that_cannot_be_shown_is_not_passed_over_in_silence() {
    let sandbox = Sandbox::new();
    sandbox.write("full", "");
    let run = [
        "bench",
        "-a",
        "aes-128-gcm",
        "-o",
        "seal",
        "-s",
        "256",
        "-t",
        "1",
        "--time",
        "1",
        "--no-rivals",
        "--open",
    ];
    let said =
        contains("records are not kept").and(contains("passed over: --open: the page is made of a file"));
    // No folder can be made in a file.
    let mut command = sandbox.cipherlane(&run);
    command.env("XDG_DATA_HOME", sandbox.folder.path().join("full")).assert().success().stderr(said);
}

#[test]
fn what_is_read_is_never_replaced() {
    let sandbox = with_records();
    let records = sandbox.read("bench.jsonl");
    sandbox.write("page.html", &records);
    std::os::unix::fs::symlink("bench.jsonl", sandbox.folder.path().join("link.md")).unwrap();
    std::fs::hard_link(sandbox.folder.path().join("bench.jsonl"), sandbox.folder.path().join("hard.csv"))
        .unwrap();
    for arguments in [
        &["report", "bench.jsonl", "-o", "bench.jsonl"][..],
        &["report", "bench.jsonl", "--csv", "hard.csv"],
        &["lab", "run", "rivals", "findings", "bench.jsonl", "--smoke", "--json", "bench.jsonl"],
        &["report", "bench.jsonl", "--csv", "./bench.jsonl"],
        &["report", "bench.jsonl", "--md", "link.md"],
        &["report", "page.html"],
        &["compare", "page.html", "bench.jsonl", "--json", "bench.jsonl"],
        &["bench", "--quick", "--input", "bench.jsonl", "--csv", "bench.jsonl"],
        &["lab", "run", "rivals", "--resume", "bench.jsonl", "--csv", "bench.jsonl"],
    ] {
        sandbox.cipherlane(arguments).assert().code(2).stderr(contains("is read by this command"));
        assert_eq!(sandbox.read("bench.jsonl"), records, "{arguments:?}");
        assert_eq!(sandbox.read("page.html"), records, "{arguments:?}");
    }
    sandbox
        .cipherlane(&["report", "bench.jsonl", "--csv", "one", "--md", "one"])
        .assert()
        .code(2)
        .stderr(contains("--md and --csv would both write one"));
}

#[test]
fn the_page_and_a_table_are_two_files() {
    let sandbox = with_records();
    for (arguments, said) in [
        (&["report", "bench.jsonl", "--open", "--md", "bench.html"][..], "the page (--output) and --md"),
        (&["report", "bench.jsonl", "--open", "--csv", "./bench.html"], "the page (--output) and --csv"),
        (
            &["bench", "--quick", "--json", "op.jsonl", "--csv", "op.html", "--open"],
            "--csv and the page of --open",
        ),
        (&["bench", "--quick", "--json", "op.html", "--open"], "--json and the page of --open"),
        (
            &["bench", "--quick", "--json", "op.jsonl", "--log", "op.html", "--open"],
            "the page of --open and --log",
        ),
        (
            &["lab", "run", "rivals", "--resume", "bench.jsonl", "--md", "bench.html", "--open"],
            "--md and the page",
        ),
    ] {
        sandbox
            .cipherlane(arguments)
            .assert()
            .code(2)
            .stderr(contains(said).and(contains("would both write")));
        assert!(!sandbox.folder.path().join("bench.html").exists(), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")] // which has a disk that is always full
#[test]
fn a_file_that_cannot_be_written_to_its_end_is_named() {
    let said = contains("/dev/full cannot be written to its end: ");
    with_records().cipherlane(&["report", "bench.jsonl", "--csv", "/dev/full"]).assert().code(1).stderr(said);
}

#[test]
fn what_cannot_be_reported_says_why() {
    let sandbox = with_records();
    sandbox.write("empty.jsonl", "\n");
    sandbox.write("table.csv", "experiment,workload\r\nbench,bulk\r\n");
    sandbox.write("wrong.jsonl", "{\"speed\": \"high\"}\n");
    for (arguments, code, reason) in [
        (&["report"][..], 2, "RECORDS"),
        (&["report", "none.jsonl"], 1, "none.jsonl"),
        (&["report", "empty.jsonl"], 6, "no record in empty.jsonl"),
        (&["report", "wrong.jsonl"], 1, "wrong.jsonl:1: not a record"),
        (&["report", "table.csv"], 1, "table.csv:1: this is a table, not records; name the file of records"),
        (&["report", "bench.jsonl", "-o", "-", "--open"], 2, "--open shows a file"),
        (&["report", "bench.jsonl", "-o", "-", "--md", "-"], 2, "would mix on stdout"),
        (&["bench", "--quick", "--open", "--json", "-"], 2, "give --json a file"),
    ] {
        sandbox.cipherlane(arguments).assert().code(code).stderr(contains(reason));
    }
}

#[cfg(unix)]
#[test]
fn the_browser_is_shown_the_page() {
    let sandbox = with_records();
    let browser = sandbox.browser();
    let run = ["report", "bench.jsonl", "--open"];
    sandbox.cipherlane(&run).env("BROWSER", &browser).assert().success().stderr("");
    let url = sandbox.shown();
    assert!(url.starts_with("file:///") && url.ends_with("/bench.html"), "{url}");
}

#[cfg(unix)]
#[test]
fn a_bench_says_how_to_see_it_and_shows_it_if_told() {
    let sandbox = Sandbox::new();
    let browser = sandbox.browser();
    let run =
        ["bench", "-a", "aes-128-gcm", "-o", "seal", "-s", "256", "-t", "1", "--time", "1", "--no-rivals"];
    let open = [&run[..], &["--json", "rows.jsonl", "--open"]].concat();
    let see =
        contains("see: cipherlane report rows.jsonl --open").and(contains("report: rows.html (records: 1)"));
    sandbox.cipherlane(&open).env("BROWSER", &browser).assert().success().stdout(see);
    assert!(sandbox.shown().ends_with("/rows.html"));
    assert!(sandbox.read("rows.html").contains("aes-128-gcm seal"));
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_browser_it_is_said_how_to_see_the_page() {
    let sandbox = with_records();
    let mut command = sandbox.cipherlane(&["report", "bench.jsonl", "--open"]);
    command.env_remove("BROWSER").env("PATH", sandbox.folder.path());
    let warning = contains("warning: no browser shows bench.html").and(contains("complete by itself"));
    command.assert().success().stderr(warning);
    assert!(sandbox.folder.path().join("bench.html").exists());
}
