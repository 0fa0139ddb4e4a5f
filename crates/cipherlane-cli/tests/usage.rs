//! Names, errors, and what each verb prints.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed

mod support;

use predicates::prelude::*;
use predicates::str::contains;
use support::{Sandbox, stdout};

#[test]
fn the_version_names_the_commit() {
    let version = Sandbox::new().cipherlane(&["--version"]).assert().success().get_output().stdout.clone();
    let version = String::from_utf8(version).unwrap();
    assert!(version.starts_with(&format!("cipherlane {} (commit ", env!("CARGO_PKG_VERSION"))), "{version}");
}

#[test]
fn every_verb_has_examples() {
    let sandbox = Sandbox::new();
    for verb in [
        "devices",
        "bench",
        "lab",
        "report",
        "compare",
        "tune",
        "verify",
        "plan",
        "keyset",
        "encrypt",
        "decrypt",
        "completions",
    ] {
        let example = contains("Examples:").and(contains(format!("cipherlane {verb}")));
        sandbox.cipherlane(&[verb, "--help"]).assert().success().stdout(example);
    }
}

#[test]
fn help_names_every_operation() {
    let sandbox = Sandbox::new();
    for verb in ["bench", "plan", "tune"] {
        let help = stdout(&mut sandbox.cipherlane(&[verb, "--help"]));
        let start = help.find("--operation").unwrap();
        let paragraph = help[start..].split("\n\n").next().unwrap();
        for operation in cipherlane::Operation::ALL {
            assert!(paragraph.contains(operation.name()), "{verb}: {operation} is not in\n{paragraph}");
        }
    }
}

#[test]
fn unknown_names_list_the_known_ones() {
    let sandbox = Sandbox::new();
    for (arguments, known) in [
        (&["bench", "metre"][..], "meter-128, meter-mixed, cavp-mix, packets, tls-16k, disk-4k, bulk"),
        (&["bench", "--algorithm", "aes-512-gcm"], "a cipher (aes-128, aes-192, aes-256"),
        (&["bench", "--operation", "encipher"], "seal, open, encrypt, decrypt"),
        (&["bench", "--device", "abacus", "tls-16k"], "cpu"),
        (&["lab", "run", "rivals", "--quick", "--dry-run", "--device", "abacus"], "cpu"),
        (&["lab", "run", "rivals", "--quick", "--dry-run", "--tier", "neon"], "portable"),
        (&["verify", "--device", "abacus"], "cpu"),
        (&["verify", "--tier", "neon"], "portable"),
        (&["plan", "--algorithm", "aes-128-ccm"], "with a mode (-ecb"),
        (&["plan", "--algorithm", "aes-128-gcm", "--device", "abacus"], "cpu"),
        (&["plan", "--algorithm", "aes-128-gcm", "--tier", "neon"], "portable"),
        (&["conjure"], "conjure"),
    ] {
        let assert = sandbox.cipherlane(arguments).assert().code(2);
        assert.stdout("").stderr(contains("error: ").and(contains(known)));
    }
}

#[test]
fn impossible_combinations_say_why() {
    let sandbox = Sandbox::new();
    for (arguments, reason) in [
        (&["plan", "-a", "aes-128-gcm", "-o", "encrypt"][..], "it can seal and open"),
        (&["plan", "-a", "aes-128-cbc", "-s", "17"], "whole blocks of 16 bytes"),
        (&["plan", "-a", "aes-128-xts", "-s", "15"], "16 bytes to 16 MiB"),
        (&["plan", "-a", "aes-128-gcm", "-t", "0"], "1 to 4096, phys or all"),
        (&["plan", "-a", "aes-128-gcm", "-s", "1q"], "write 16, 16k or 1MiB, which count in 1024, or 4kB"),
        (&["plan", "-a", "aes-128-gcm", "-s", "99999999999999999999"], "more than this machine can address"),
        (&["plan", "-a", "aes-128-gcm", "--blocks", "3"], "must be left out on cpu"),
        (&["verify", "--device", "cpu", "--blocks", "3"], "none of these devices launches kernels"),
        (&["bench", "--json", "a", "--log", "./a"], "--json and --log would both write ./a"),
        (&["bench", "--json", "a", "--csv", "./a"], "--json and --csv would both write ./a"),
        (&["bench", "--json", "a", "--resume", "b"], "--resume goes on with one: leave one of them out"),
        (&["bench", "-a", "aes-128-ctr", "-o", "seal,open"], "it can encrypt and decrypt"),
        (&["bench", "--log", "-"], "no result for stdout; name a file"),
        (&["bench", "--resume", "-"], "no result for stdout; name a file"),
        (&["dashboard", "--json", "-"], "no result for stdout; name a file"),
        (&["bench", "--json", ""], "no file has an empty name; give its path"),
        (&["bench", "--resume", ""], "no file has an empty name; give its path"),
        (&["plan", "-a", "aes-128-gcm", "--json", ""], "no file has an empty name; give its path"),
        (
            &["plan", "-a", "aes-128-gcm", "--blocks", "1k"],
            "write a whole number from 1, or leave it to the device",
        ),
        (&["bench", "--streams", "0"], "write a whole number from 1, or leave it to the device"),
        (&["compare", "a.jsonl", "-"], "name it, /dev/stdin for standard input, ./- for one of this name"),
        (&["report", "-"], "name it, /dev/stdin for standard input"),
        (&["bench", "--input", "-"], "name it, /dev/stdin for standard input"),
        (&["encrypt", "-k", "-", "text", "-o", "sealed"], "name it, /dev/stdin for standard input"),
        (&["compare", ".", "."], "error: . is a folder; name the files in it, as ./*.jsonl"),
        (
            &["report", "/dev/fd/0"],
            "/dev/fd/0 is no file with a folder for the page; name the page by --output",
        ),
        (
            &["report", "/dev/stdin"],
            "/dev/stdin is no file with a folder for the page; name the page by --output",
        ),
        (&["bench", "-a", "aes-256-xts", "-s", "16k,17MiB"], "16 bytes to 16 MiB"),
        (&["bench", "tls-16k", "--size", "16"], "the workload tls-16k has its own"),
        (&["bench", "--json", "-", "--csv", "-"], "--json and --csv would mix on stdout"),
        (&["bench", "-d", "rival:aws-lc", "--tier", "bogus"], "does not offer tier bogus; it offers library"),
        (&["bench", "--time", "0"], "number of seconds above 0"),
        (&["bench", "--sensors", "11"], "a number from 0 to 10"),
        (&["bench", "--messages", "0"], "a whole number from 1"),
        (&["bench", "--messages", "1k"], "a whole number from 1, without a unit: 1000000"),
        (&["plan", "-a", "aes-128-gcm", "--messages", "0"], "a whole number from 1"),
        (&["tune", "-a", "aes-128-gcm", "--text", "0"], "write a size from 1"),
        (&["bench", "--input", "nofile"], "error: nofile: No such file"),
        (&["bench", "--input", "."], "error: .: is a directory"),
        (&["bench", "--input", "/dev/zero"], "/dev/zero has no length, and may have no end"),
        (&["bench", "--size", "0", "--input", "/dev/null"], "at least 1 byte"),
        (&["bench", "--size", "1TiB", "--messages", "1000000"], "at most 2^36 - 32 bytes"),
    ] {
        sandbox.cipherlane(arguments).assert().code(2).stdout("").stderr(contains(reason));
    }
}

#[test]
fn a_negative_number_is_answered_by_what_is_taken() {
    let sandbox = Sandbox::new();
    for (arguments, taken) in [
        (["bench", "--time", "-1"], "number of seconds above 0"),
        (["bench", "--sensors", "-0.5"], "a number from 0 to 10"),
        (["bench", "--messages", "-3"], "a whole number from 1"),
        (["bench", "--size", "-1"], "write 16, 16k or 1MiB"),
        (["bench", "--threads", "-1"], "1 to 4096, phys or all"),
        (["dashboard", "--port", "-1"], "`-1` is no port; write a number from 0 to 65535"),
    ] {
        let said = contains(taken).and(contains("tip: ").not());
        sandbox.cipherlane(&arguments).assert().code(2).stdout("").stderr(said);
    }
}

#[test]
fn a_slip_is_answered_by_the_name_that_it_may_mean() {
    let sandbox = Sandbox::new();
    for (arguments, meant) in [
        (&["bench", "tls-16"][..], "did you mean tls-16k?"),
        (&["bench", "-a", "aes-128-gmc"], "did you mean aes-128-gcm?"),
        (&["plan", "-a", "aes128gcm"], "did you mean aes-128-gcm?"),
        (&["tune", "-a", "sha3256"], "did you mean sha3-256?"),
        (&["lab", "run", "rivls", "--dry-run"], "did you mean rivals?"),
        (&["plan", "-a", "aes-128-gcm", "--device", "cpi"], "did you mean cpu?"),
    ] {
        sandbox.cipherlane(arguments).assert().code(2).stderr(contains(meant));
    }
    sandbox.cipherlane(&["bench", "metre"]).assert().code(2).stderr(contains("did you mean").not());
}

#[test]
fn an_unwritable_result_file_is_found_before_the_run() {
    let run = ["bench", "tls-16k", "--csv", "nowhere/rows.csv"];
    let assert = Sandbox::new().cipherlane(&run).assert().code(1);
    assert.stderr(contains("cannot write nowhere/rows.csv"));
}

#[test]
fn devices_show_every_tier() {
    let text = stdout(&mut Sandbox::new().cipherlane(&["devices"]));
    for part in ["cpu: ", "avx512", "avx2", "sse", "portable", "rival:", "L2 cache of a core"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn devices_are_json_as_well() {
    let text = stdout(&mut Sandbox::new().cipherlane(&["devices", "--json", "-"]));
    let devices: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(devices["devices"][0]["id"], "cpu");
    assert_eq!(devices["tiers"].as_array().unwrap().len(), 4);
    assert_eq!(devices["tiers"][3]["available"], true, "portable is always there");
    assert!(devices["host"]["logical_cores"].as_u64().unwrap() >= 1);
}

#[test]
fn a_switched_off_tier_says_by_what() {
    let sandbox = Sandbox::new();
    let mut devices = sandbox.cipherlane(&["devices"]);
    let sse = contains("switched off by CIPHERLANE_NO_SSE").or(contains("this CPU lacks"));
    devices.env("CIPHERLANE_NO_SSE", "1").assert().success().stdout(sse);
    let mut plan = sandbox.cipherlane(&["plan", "-a", "aes-128-gcm", "--tier", "sse"]);
    let reason = contains("CIPHERLANE_NO_SSE").or(contains("lacks"));
    plan.env("CIPHERLANE_NO_SSE", "1").assert().code(6).stderr(reason);
}

#[test]
fn the_next_tier_takes_over() {
    let sandbox = Sandbox::new();
    let kernel = |variables: &[&str]| {
        let mut plan = sandbox.cipherlane(&["plan", "-a", "aes-256-gcm", "--json", "-"]);
        for variable in variables {
            plan.env(variable, "1");
        }
        let plan: serde_json::Value = serde_json::from_str(&stdout(&mut plan)).unwrap();
        plan["kernel"].as_str().unwrap().to_owned()
    };
    let tiers = ["CIPHERLANE_NO_AVX512", "CIPHERLANE_NO_AVX2", "CIPHERLANE_NO_SSE"];
    assert!(!kernel(&tiers[..1]).contains("avx512"));
    assert!(!kernel(&tiers[..2]).contains("avx"));
    assert!(kernel(&tiers).starts_with("aes-gcm/portable/"));
}

#[test]
fn options_may_come_from_the_environment() {
    let sandbox = Sandbox::new();
    let mut plan = sandbox.cipherlane(&["plan", "--tier", "portable", "--json", "-"]);
    plan.env("CIPHERLANE_ALGORITHM", "aes-192-xts").env("CIPHERLANE_TIER", "neon");
    let plan: serde_json::Value = serde_json::from_str(&stdout(&mut plan)).unwrap();
    assert_eq!(plan["algorithm"], "aes-192-xts");
    assert_eq!(plan["tier"], "portable", "the command line wins");
}

/// Verbs that take several share their variables with those that take one.
#[test]
fn a_variable_with_a_list_is_told_where_one_is_taken() {
    let sandbox = Sandbox::new();
    let plan = ["plan", "-a", "aes-128-gcm"];
    let seal = ["encrypt", "-k", "k.json", "text", "-o", "sealed"];
    let open = ["decrypt", "-k", "k.json", "sealed", "-o", "opened"];
    for (arguments, variable, list) in [
        (&plan[..1], "ALGORITHM", "aes-128-gcm,aes-128-ctr"),
        (&plan, "OPERATION", "seal,open"),
        (&plan, "SIZE", "64,1k"),
        (&plan, "DEVICE", "cpu,cuda:0"),
        (&plan, "TIER", "avx512,avx2"),
        (&plan, "THREADS", "1,phys"),
        (&seal, "DEVICE", "cpu,cuda:0"),
        (&seal, "THREADS", "1,phys"),
        (&open, "DEVICE", "cpu,cuda:0"),
        (&open, "THREADS", "1,phys"),
    ] {
        let mut command = sandbox.cipherlane(arguments);
        let option = format!("'--{} <", variable.to_lowercase());
        let told = contains(option).and(contains(format!(" of CIPHERLANE_{variable}'")));
        let told = told.and(contains("names several; give one with this option"));
        command.env(format!("CIPHERLANE_{variable}"), list).assert().code(2).stdout("").stderr(told);
    }
    let mut named = sandbox.cipherlane(&[&plan[..], &["--device", "cpu"]].concat());
    named.env("CIPHERLANE_DEVICE", "cpu,cuda:0").assert().success();
}

#[test]
fn a_value_of_the_command_line_is_not_said_to_be_a_variables() {
    let sandbox = Sandbox::new();
    let mut plan = sandbox.cipherlane(&["plan", "-a", "aes-128-gcm", "-s", "1q"]);
    let told = contains("'--size <SIZE>': ").and(contains("CIPHERLANE_SIZE").not());
    plan.env("CIPHERLANE_SIZE", "2q").assert().code(2).stderr(told);
    let mut plan = sandbox.cipherlane(&["plan", "-a", "aes-128-gcm"]);
    let told = contains("unknown device `abacus`").and(contains("variables: CIPHERLANE_DEVICE=abacus; "));
    plan.env("CIPHERLANE_DEVICE", "abacus").assert().code(2).stderr(told);
}

/// They hold for every command, and not all of them are for this one.
#[test]
fn variables_give_way_to_a_workload_that_is_named_and_are_told_where_none_is() {
    let sandbox = Sandbox::new();
    let bench = |more: &[&str]| {
        // Nothing is measured: it cannot be written.
        let run = [&["bench", "--csv", "nowhere/rows.csv", "--device", "cpu", "--no-rivals"], more].concat();
        let mut command = sandbox.cipherlane(&run);
        command.env("CIPHERLANE_SIZE", "64").env("CIPHERLANE_INPUT", "nothing");
        command.assert().stdout("").code(1)
    };
    let passed_over = "passed over: CIPHERLANE_SIZE, CIPHERLANE_INPUT: tls-16k has its own algorithm";
    sandbox.write("nothing", "rain");
    bench(&["tls-16k"]).stderr(contains(passed_over).and(contains("cannot write nowhere/rows.csv")));
    bench(&["tls-16k", "--log", "run.log"]).stderr(contains(passed_over));
    bench(&[])
        .stderr(contains("variables: CIPHERLANE_SIZE, CIPHERLANE_INPUT: your own workload is measured"));
    // Asked for in so many words, whatever variables add to it.
    bench(&["-a", "aes-128-ctr"]).stderr(contains("your own workload").not());
}

/// A variable that names a file of records holds for the verbs that write some.
#[test]
fn results_of_other_kinds_replace_no_records() {
    let sandbox = Sandbox::new();
    sandbox.write("rows.jsonl", "measured\n");
    for arguments in [&["devices"][..], &["plan", "-a", "aes-128-gcm"]] {
        let mut command = sandbox.cipherlane(arguments);
        command.env("CIPHERLANE_JSON", "rows.jsonl").assert().success();
        assert_eq!(sandbox.read("rows.jsonl"), "measured\n", "{arguments:?}");
    }
    for (verb, writes_records) in [
        ("bench", true),
        ("dashboard", true),
        ("devices", false),
        ("plan", false),
        ("tune", false),
        ("verify", false),
        ("compare", false),
    ] {
        let help = stdout(&mut sandbox.cipherlane(&[verb, "--help"]));
        assert_eq!(help.contains("env: CIPHERLANE_JSON"), writes_records, "{verb}");
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    let sandbox = Sandbox::new();
    let escapes =
        |variable: &str| stdout(sandbox.cipherlane(&["devices"]).env(variable, "1")).contains('\u{1b}');
    assert!(escapes("CLICOLOR_FORCE"));
    assert!(!escapes("NO_COLOR"));
    assert!(!escapes("TERM"), "a pipe is no terminal");
}

#[test]
#[cfg(target_os = "linux")] // where a device is full
fn what_cannot_be_shown_says_where_it_was_to_be() {
    let (code, said) = Sandbox::new().by_shell(":", "lab list", "> /dev/full");
    assert_eq!(code, Some(1));
    assert!(said.starts_with("error: standard output cannot be written to its end: "), "{said}");
}

#[test]
fn completions_name_the_verbs() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = stdout(&mut sandbox.cipherlane(&["completions", shell]));
        assert!(text.contains("verify") && text.contains("bench"), "{shell}");
    }
}

#[test]
#[cfg(unix)]
fn a_reader_that_leaves_is_no_error() {
    use std::io::Read;
    use std::process::Stdio;
    let mut child = Sandbox::new()
        .bare()
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((child.wait().unwrap().code(), errors.as_str()), (Some(0), ""));
}

#[test]
fn a_kernel_is_insisted_on_by_its_name() {
    let sandbox = Sandbox::new();
    let plan = |more: &[&str]| {
        let line = [&["plan", "-a", "aes-128-gcm", "--json", "-"], more].concat();
        let text = stdout(&mut sandbox.cipherlane(&line));
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let usual = plan(&[]);
    let other = usual["alternatives"][0].as_str().unwrap();
    assert_eq!(plan(&["--kernel", other])["kernel"], other);
    let mut unknown = sandbox.cipherlane(&["plan", "-a", "aes-128-gcm", "--kernel", "aes-gcm/abacus/x1"]);
    unknown.assert().code(2).stderr(contains("aes-gcm/abacus/x1").and(contains(other)));
}

#[test]
fn every_device_that_is_asked_for_has_its_plan() {
    let sandbox = Sandbox::new();
    let plan = ["plan", "-a", "aes-128-gcm", "--device", "all", "--json", "-"];
    let text = stdout(&mut sandbox.cipherlane(&plan));
    let plans: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has = |device: &str| plans.iter().any(|plan| plan["device"].as_str().unwrap().starts_with(device));
    assert!(has("cpu") && has("rival:"), "{text}");
}

#[cfg(unix)]
#[test]
fn names_of_files_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let sandbox = Sandbox::new();
    let name = OsStr::from_bytes(b"a\xff");
    let path = sandbox.folder.path().join(name);
    sandbox.cipherlane(&["devices", "--json"]).arg(name).assert().success();
    assert!(std::fs::read_to_string(&path).unwrap().starts_with('{'));
    std::fs::remove_file(&path).unwrap();
    // Nothing is measured, and the command line is looked at all the same.
    let run = ["bench", "cavp-mix", "-t", "1", "--no-rivals", "--json"];
    sandbox.cipherlane(&run).arg(name).assert().code(6).stdout(contains("records: none"));
    assert!(!path.exists());
    let lab = ["lab", "run", "--dry-run", "--device", "cpu"];
    sandbox.cipherlane(&lab).arg(name).assert().code(2).stderr(contains("unknown experiment `a\u{fffd}`"));
    let own = sandbox.folder.path().join(OsStr::from_bytes(b"a\xff.toml"));
    std::fs::write(&own, "name = \"mine\"\nquestion = \"?\"\nkind = \"energy\"").unwrap();
    sandbox.cipherlane(&lab).arg(&own).assert().code(1).stderr(contains("[energy.full]"));
}
