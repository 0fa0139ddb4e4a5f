//! `verify` on a user's own files.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed

mod support;

use predicates::prelude::*;
use predicates::str::contains;
use support::{Sandbox, stdout};

/// Test case 2 of "The Galois/Counter Mode of Operation" (McGrew and Viega), in the form of CAVP.
const GCM: &str = "\
# CAVS 14.0
# GCM Encrypt with keysize 128 test information

[Keylen = 128]
[IVlen = 96]
[PTlen = 128]
[AADlen = 0]
[Taglen = 128]

Count = 0
Key = 00000000000000000000000000000000
IV = 000000000000000000000000
PT = 00000000000000000000000000000000
AAD =
CT = 0388dace60b6a392f328c2b971b2fe78
Tag = ab6e47d42cec13bdf53a67b21257bddf
";
const NAME: &str = "gcmEncryptExtIV128.rsp";

#[test]
fn a_right_file_passes_on_every_tier() {
    let sandbox = Sandbox::new();
    sandbox.write(NAME, GCM);
    let text = stdout(&mut sandbox.cipherlane(&["verify", "--quick", "--vectors", NAME]));
    let line = text.lines().find(|line| line.contains("NIST CAVP")).unwrap();
    let counts: Vec<&str> = line.split_whitespace().skip(3).collect();
    assert!(!counts.is_empty() && counts.iter().all(|count| *count == "1"), "{line}");
    assert!(text.contains("verified: all ") && text.contains("cpu portable"), "{text}");
}

#[test]
fn a_wrong_answer_exits_3() {
    let sandbox = Sandbox::new();
    sandbox.write(NAME, &GCM.replace("0388dace", "0388dacf"));
    let wrong = contains("MISMATCH").and(contains(format!("{NAME}:")).and(contains("1 of 1 WRONG")));
    let run = ["verify", "--quick", "--tier", "portable", "--vectors", NAME];
    sandbox.cipherlane(&run).assert().code(3).stdout(wrong);
    assert_eq!(sandbox.unread(&run).0, Some(3), "whoever reads it");
}

#[test]
fn a_folder_is_searched() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.folder.path().join("mine")).unwrap();
    sandbox.write("mine/notes.txt", "nothing of the kind\n");
    sandbox.write("mine/gcmEncryptExtIV128.rsp", &GCM.replace("bddf", "bdde"));
    let run = ["verify", "--quick", "--tier", "portable", "--vectors", "mine"];
    let assert = sandbox.cipherlane(&run).assert().code(3);
    assert.stderr(contains("notes.txt").and(contains("passed over")));
}

#[test]
fn no_file_of_a_folder_is_replaced() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.folder.path().join("mine")).unwrap();
    let files = [("mine/notes.txt", "nothing of the kind\n"), ("mine/gcmEncryptExtIV128.rsp", GCM)];
    for (name, text) in files {
        sandbox.write(name, text);
    }
    for (name, text) in files {
        let run = ["verify", "--quick", "--tier", "portable", "--vectors", "mine", "--json", name];
        sandbox.cipherlane(&run).assert().code(2).stderr(contains("is read by this command"));
        assert_eq!(sandbox.read(name), text);
    }
}

#[test]
fn the_users_cache_is_the_last_place() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.folder.path().join("cache/cipherlane/vectors")).unwrap();
    sandbox.write(&format!("cache/cipherlane/vectors/{NAME}"), GCM);
    let run = ["verify", "--quick", "--tier", "portable"];
    let text = stdout(&mut sandbox.cipherlane(&run));
    let not_run = text.lines().find(|line| line.starts_with("NOT RUN: ")).unwrap();
    assert!(!not_run.contains("NIST CAVP aes-gcm") && not_run.contains("NIST CAVP aes-ecb"), "{text}");
    sandbox
        .cipherlane(&run)
        .env("CIPHERLANE_VECTORS", "absent")
        .assert()
        .success()
        .stdout(contains("NIST CAVP aes-gcm"));
}

#[test]
fn a_file_of_no_known_form_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("prose.rsp", "To be or not to be\n");
    let known = contains("prose.rsp").and(contains("Wycheproof"));
    sandbox.cipherlane(&["verify", "--quick", "--vectors", "prose.rsp"]).assert().code(1).stderr(known);
    sandbox
        .cipherlane(&["verify", "--quick", "--vectors", "absent.rsp"])
        .assert()
        .code(1)
        .stderr(contains("absent.rsp"));
}

#[test]
fn a_file_without_cases_is_no_pass() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.folder.path().join("mine")).unwrap();
    let header = GCM.split("Count").next().unwrap();
    let wycheproof = "{\"algorithm\": \"AES-GCM\", \"numberOfTests\": 0, \"testGroups\": []}";
    sandbox.write("mine/gcmEncryptExtIV128.rsp", header);
    sandbox.write("none.json", wycheproof);
    for path in ["mine/gcmEncryptExtIV128.rsp", "mine", "none.json"] {
        let run = ["verify", "--quick", "--tier", "portable", "--vectors", path];
        sandbox.cipherlane(&run).assert().code(1).stdout("").stderr(contains("has no cases"));
    }
}

#[test]
fn sets_that_are_not_there_are_not_run_and_say_so() {
    let missing = contains("NOT RUN: NIST CAVP aes-ecb, ").and(contains(", Wycheproof aes-xts, "));
    let run = ["verify", "--quick", "--tier", "portable"];
    let assert = Sandbox::new().cipherlane(&run).assert().success();
    assert.stdout(missing.and(contains("cargo xtask vectors")).and(contains("as far as it went")));
}

#[test]
fn one_tier_is_examined_in_full_and_counted_in_json() {
    let run = ["verify", "--device", "all", "--tier", "portable", "--json", "-"];
    let sandbox = Sandbox::new();
    let assert = sandbox.cipherlane(&run).assert().success().stderr(contains("left out: rival:"));
    let report: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(report["verified"], true);
    let counts = report["counts"].as_array().unwrap();
    assert!(counts.iter().all(|row| row["tier"] == "portable" && row["failed"] == 0));
    for source in ["SP 800-38A", "batches against the reference"] {
        let passed = |row: &&serde_json::Value| row["source"] == source && row["passed"].as_u64() > Some(0);
        assert!(counts.iter().any(|row| passed(&row)), "{source}");
    }
}
