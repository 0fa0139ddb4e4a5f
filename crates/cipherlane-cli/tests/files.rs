//! Files there and back, and what is left where that fails.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed

mod support;

use std::fs;

use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use support::Sandbox;

/// A sandbox with a keyset and a text of several segments.
fn ready() -> (Sandbox, Vec<u8>) {
    let sandbox = Sandbox::new();
    sandbox.cipherlane(&["keyset", "-o", "k.json"]).assert().success();
    let text: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
    fs::write(sandbox.folder.path().join("text"), &text).unwrap();
    (sandbox, text)
}

fn names(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.folder.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "cache" && name != "data");
    names.sort();
    names
}

#[test]
fn a_file_goes_there_and_back() {
    let (sandbox, text) = ready();
    let path = |name: &str| sandbox.folder.path().join(name);
    let seal = ["encrypt", "-k", "k.json", "--aad", "of today", "text", "-o", "sealed"];
    sandbox.cipherlane(&seal).assert().success().stdout("").stderr(contains("encrypted: text: "));
    // A header of 40 bytes, and a tag for each of three segments.
    assert_eq!(fs::metadata(path("sealed")).unwrap().len(), 3_000_000 + 40 + 3 * 16);
    let open = ["decrypt", "-k", "k.json", "--aad", "of today", "sealed", "-o", "opened", "--threads", "1"];
    sandbox.cipherlane(&open).assert().success();
    assert!(fs::read(path("opened")).unwrap() == text);
    assert_eq!(names(&sandbox), ["k.json", "opened", "sealed", "text"]);
}

#[test]
fn a_rate_is_told_however_small_the_file_is() {
    let (sandbox, _) = ready();
    sandbox.write("word", "rain");
    // Its name on the disk alone takes longer than a tenth of a millisecond.
    let rate = contains("encrypted: word: 4 B in ").and(contains(" kB/s")).and(contains(" 0.00 kB/s").not());
    sandbox.cipherlane(&["encrypt", "-k", "k.json", "word", "-o", "sealed"]).assert().success().stderr(rate);
}

#[test]
fn an_error_names_the_file_that_it_is_about_and_no_other() {
    let (sandbox, _) = ready();
    let kernel = ["encrypt", "-k", "k.json", "text", "-o", "sealed", "--kernel", "aes-gcm/abacus/x1"];
    let said = starts_with("error: cpu does not offer aes-256-gcm seal by aes-gcm/abacus/x1; it offers ");
    sandbox.cipherlane(&kernel).assert().code(2).stderr(said);
    let nowhere = contains("cannot write nowhere/k.json; give the path of a file in a folder");
    sandbox.cipherlane(&["keyset", "-o", "nowhere/k.json"]).assert().code(1).stderr(nowhere);
    assert_eq!(names(&sandbox), ["k.json", "text"]);
}

#[test]
fn a_file_that_may_not_grow_so_large_leaves_nothing() {
    let (sandbox, _) = ready();
    // In units of 512 bytes, or of 1024 by some shells: less than the text in either.
    let (code, said) = sandbox.by_shell("ulimit -f 1000", "encrypt -k k.json text -o sealed", "");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("sealed") && said.contains("too large"), "{said}");
    assert_eq!(names(&sandbox), ["k.json", "text"]);
}

#[test]
fn associated_data_may_be_any_bytes() {
    let (sandbox, text) = ready();
    let path = |name: &str| sandbox.folder.path().join(name);
    fs::write(path("aad"), b"\xff\0 as it is\n").unwrap();
    sandbox.write("of-text", "of today");
    let run = |verb, aad: [&str; 2], input, output| {
        let words = [verb, "-k", "k.json", aad[0], aad[1], input, "-o", output, "--force"];
        sandbox.cipherlane(&words).assert()
    };
    run("encrypt", ["--aad-file", "aad"], "text", "sealed").success();
    run("decrypt", ["--aad-file", "of-text"], "sealed", "opened").code(1);
    run("decrypt", ["--aad-file", "aad"], "sealed", "opened").success();
    assert!(fs::read(path("opened")).unwrap() == text);
    // Both are the same bytes.
    run("encrypt", ["--aad", "of today"], "text", "sealed").success();
    run("decrypt", ["--aad-file", "of-text"], "sealed", "opened").success();
    run("encrypt", ["--aad-file", "aad"], "text", "aad").code(2).stderr(contains("is read by this command"));
    let both = ["encrypt", "-k", "k.json", "--aad", "x", "--aad-file", "aad", "text", "-o", "sealed"];
    sandbox.cipherlane(&both).assert().code(2).stderr(contains("cannot be used with"));
}

#[cfg(target_os = "linux")] // which tells how standard output was opened
#[test]
fn a_closed_standard_output_is_not_written_to() {
    let (sandbox, _) = ready();
    sandbox.cipherlane(&["encrypt", "-k", "k.json", "text", "-o", "sealed"]).assert().success();
    for (verb, input) in [("encrypt", "text"), ("decrypt", "sealed")] {
        let run = |where_to| sandbox.by_shell("true", &format!("{verb} -k k.json {input} -o -"), where_to);
        let (code, said) = run(">&-");
        assert!(code == Some(2) && said.contains("standard output is closed, or the null device"), "{said}");
        // As Python opens it by `subprocess.DEVNULL`, which cannot be told from a closed one.
        let (code, said) = run("1<> /dev/null");
        assert!(
            code == Some(2) && said.contains("or the null device") && said.contains("/dev/null if"),
            "{said}"
        );
        // This is lost because somebody wants it so.
        let (code, said) = run("> /dev/null");
        assert!(code == Some(0) && said.contains(&format!("{verb}ed")), "{said}");
    }
}

#[cfg(target_os = "linux")] // which tells how standard input was opened
#[test]
fn a_closed_standard_input_is_no_empty_file() {
    let (sandbox, _) = ready();
    for verb in ["encrypt", "decrypt"] {
        let run = format!("{verb} -k k.json - -o out");
        for redirected in ["<&-", "<> /dev/null"] {
            let (code, said) = sandbox.by_shell("true", &run, redirected);
            assert!(
                code == Some(2) && said.contains("standard input is closed, or the null device"),
                "{said}"
            );
        }
        assert!(!sandbox.folder.path().join("out").exists());
    }
    let (code, said) = sandbox.by_shell("true", "encrypt -k k.json - -o out", "< /dev/null");
    assert!(code == Some(0) && said.contains("encrypted: standard input: 0 B"), "{said}");
}

#[test]
fn pipes_serve_as_well() {
    let (sandbox, text) = ready();
    let mut seal = sandbox.cipherlane(&["encrypt", "-k", "k.json", "-", "-o", "-"]);
    let sealed = seal.write_stdin(text.clone()).assert().success().get_output().stdout.clone();
    let mut open = sandbox.cipherlane(&["decrypt", "-k", "k.json", "-", "-o", "-"]);
    let opened = open.write_stdin(sealed).assert().success().get_output().stdout.clone();
    assert!(opened == text);
    sandbox.cipherlane(&["encrypt", "-k", "k.json", "text", "-o", "/dev/null"]).assert().success();
}

/// Whoever makes a pipe where a file is to be would read what is decrypted.
#[test]
#[cfg(target_os = "linux")] // where pipes are made
fn pipes_of_others_are_written_to_by_force_alone() {
    use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
    use std::io::Read;

    let (sandbox, text) = ready();
    sandbox.cipherlane(&["encrypt", "-k", "k.json", "text", "-o", "sealed"]).assert().success();
    let pipe = sandbox.folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let open_to_pipe = ["decrypt", "-k", "k.json", "sealed", "-o", "pipe"];
    let read_by_somebody = |arguments: &[&str]| {
        let path = pipe.clone();
        let reader = std::thread::spawn(move || fs::read(path).unwrap());
        sandbox.cipherlane(&open_to_pipe).args(arguments).assert().success();
        assert!(reader.join().unwrap() == text);
    };
    read_by_somebody(&[]);
    // Root alone can give it away.
    if let Err(error) = std::os::unix::fs::chown(&pipe, Some(12345), None) {
        return eprintln!("NOT CHECKED: pipes of others: {error}");
    }
    let reader = open(&pipe, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
    let told = contains("pipe is a pipe that belongs to user 12345").and(contains("--force writes to it"));
    sandbox.cipherlane(&open_to_pipe).assert().code(2).stderr(told);
    assert_eq!(fs::File::from(reader).read(&mut [0]).unwrap(), 0, "nobody has written to it");
    read_by_somebody(&["--force"]);
}

#[test]
fn a_name_that_is_taken_meanwhile_stays_with_who_took_it() {
    let (sandbox, text) = ready();
    let path = |name: &str| sandbox.folder.path().join(name);
    let told = taken_meanwhile(&sandbox, "encrypt", &text);
    // What was sealed came by a pipe, and may be nowhere else.
    let left = names(&sandbox).into_iter().find(|name| name.starts_with(".cipherlane-")).unwrap();
    assert!(told.contains(&format!("{left}, which has all of it")), "{told}");
    let open = ["decrypt", "-k", "k.json", left.as_str(), "-o", "opened"];
    sandbox.cipherlane(&open).assert().success();
    assert!(fs::read(path("opened")).unwrap() == text);
    let sealed = fs::read(path(&left)).unwrap();
    fs::remove_file(path(&left)).unwrap();
    taken_meanwhile(&sandbox, "decrypt", &sealed);
    assert_eq!(names(&sandbox), ["k.json", "opened", "out", "text"]);
}

/// Runs `verb` on `input`, and makes its output before it ends: what it says.
fn taken_meanwhile(sandbox: &Sandbox, verb: &str, input: &[u8]) -> String {
    use std::io::Write;
    use std::process::Stdio;

    let output = sandbox.folder.path().join("out");
    drop(fs::remove_file(&output));
    let mut program = sandbox.bare();
    program.args([verb, "-k", "k.json", "-", "-o", "out"]);
    let mut running = program.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = running.stdin.take().unwrap();
    pipe.write_all(&input[..100_000]).unwrap();
    wait_for_a_file(sandbox);
    sandbox.write("out", "mine");
    pipe.write_all(&input[100_000..]).unwrap();
    drop(pipe);
    let ended = running.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.code() == Some(2) && said.contains("out: somebody made it meanwhile"), "{said}");
    assert!(said.contains("--force replaces it"), "{said}");
    assert_eq!(sandbox.read("out"), "mine");
    said
}

/// Waits until a program has begun its output.
fn wait_for_a_file(sandbox: &Sandbox) {
    use std::time::{Duration, Instant};

    let start = Instant::now();
    while !names(sandbox).iter().any(|name| name.starts_with(".cipherlane-")) {
        assert!(start.elapsed() < Duration::from_secs(60), "it does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_fails_leaves_nothing() {
    let (sandbox, _) = ready();
    let path = |name: &str| sandbox.folder.path().join(name);
    sandbox.cipherlane(&["encrypt", "-k", "k.json", "text", "-o", "sealed"]).assert().success();
    let mut sealed = fs::read(path("sealed")).unwrap();
    sealed[2_500_000] ^= 1;
    fs::write(path("changed"), &sealed).unwrap();
    sandbox.write("not-k.json", "{}");
    let before = names(&sandbox);
    for (arguments, words) in [
        (&["decrypt", "-k", "k.json", "changed", "-o", "opened"][..], "segment 2 is not what was sealed"),
        (&["decrypt", "-k", "k.json", "text", "-o", "opened"], "no key of the keyset opens it"),
        (&["decrypt", "-k", "k.json", "--aad", "x", "sealed", "-o", "opened"], "associated data"),
        (&["decrypt", "-k", "text", "sealed", "-o", "opened"], "no keyset in JSON"),
        (&["decrypt", "-k", "not-k.json", "sealed", "-o", "opened"], "not-k.json: the keyset cannot be used"),
        (&["encrypt", "-k", "k.json", "nowhere", "-o", "opened"], "nowhere: "),
        (&["decrypt", "-k", "k.json", "--aad-file", "none", "sealed", "-o", "opened"], "none: "),
        (
            &["encrypt", "-k", "k.json", "text", "-o", "no/folder/sealed"],
            "cannot write no/folder/sealed; give the path of a file in a folder that you may write to: No such file",
        ),
    ] {
        let words = contains(words).and(contains(".cipherlane-").not());
        sandbox.cipherlane(arguments).assert().code(1).stdout("").stderr(words);
        assert_eq!(names(&sandbox), before, "{arguments:?}");
    }
}

#[test]
fn text_that_was_written_before_a_fault_showed_is_removed() {
    let (sandbox, _) = ready();
    let path = |name: &str| sandbox.folder.path().join(name);
    fs::write(path("long"), vec![7; 120 << 20]).unwrap();
    sandbox.cipherlane(&["encrypt", "-k", "k.json", "long", "-o", "sealed"]).assert().success();
    let mut sealed = fs::read(path("sealed")).unwrap();
    sealed[119 << 20] ^= 1;
    fs::write(path("sealed"), sealed).unwrap();
    let before = names(&sandbox);
    let mut open = sandbox.cipherlane(&["decrypt", "-k", "k.json", "sealed", "-o", "opened"]);
    open.assert().code(1).stderr(contains("segment 119 is not what was sealed"));
    assert_eq!(names(&sandbox), before);
}

#[test]
fn nothing_is_replaced_unless_it_is_asked_for() {
    let (sandbox, _) = ready();
    let key = sandbox.read("k.json");
    sandbox.cipherlane(&["keyset", "-o", "k.json"]).assert().code(2).stderr(contains("k.json is there"));
    assert_eq!(sandbox.read("k.json"), key);
    sandbox.write("sealed", "mine");
    let seal = ["encrypt", "-k", "k.json", "text", "-o", "sealed"];
    sandbox.cipherlane(&seal).assert().code(2).stderr(contains("--force"));
    assert_eq!(sandbox.read("sealed"), "mine");
    sandbox.cipherlane(&seal).arg("--force").assert().success();
    for read in ["k.json", "text"] {
        let mut over = sandbox.cipherlane(&["encrypt", "-k", "k.json", "text", "--force", "-o", read]);
        over.assert().code(2).stderr(contains("is read by this command"));
    }
    let mut folder = sandbox.cipherlane(&["encrypt", "-k", "k.json", "text", "--force", "-o", "."]);
    folder.assert().code(2).stderr(contains("is a folder"));
    assert!(fs::metadata(sandbox.folder.path().join("sealed")).unwrap().len() > 3_000_000);
}

#[test]
#[cfg(unix)]
fn a_link_to_nothing_is_not_replaced() {
    use std::os::unix::fs::symlink;

    let (sandbox, _) = ready();
    let link = sandbox.folder.path().join("link");
    symlink("nothing", &link).unwrap();
    let seal = ["encrypt", "-k", "k.json", "text", "-o", "link"];
    for force in [&[][..], &["--force"]] {
        let told = contains("link is a link to nothing; name its target");
        sandbox.cipherlane(&seal).args(force).assert().code(2).stderr(told);
    }
    assert_eq!(fs::read_link(link).unwrap().to_str(), Some("nothing"));
    assert_eq!(names(&sandbox), ["k.json", "link", "text"]);
}

/// As scripts have it of a variable that was not set.
#[test]
fn an_empty_name_is_refused_before_anything_is_read() {
    let (sandbox, _) = ready();
    for (arguments, remedy) in [
        (&["encrypt", "-k", "k.json", "", "-o", "out"][..], "give its path, or - for stdin"),
        (&["decrypt", "-k", "", "text", "-o", "out"], "give its path"),
        (&["encrypt", "-k", "k.json", "--aad-file", "", "text", "-o", "out"], "give its path"),
    ] {
        let told = contains("no file has an empty name").and(contains(remedy));
        sandbox.cipherlane(arguments).assert().code(2).stderr(told);
    }
    let mut seal = sandbox.cipherlane(&["encrypt", "text", "-o", "out"]);
    let told = contains("no file has an empty name").and(contains("CIPHERLANE_KEYSET"));
    seal.env("CIPHERLANE_KEYSET", "").assert().code(2).stderr(told);
}

#[cfg(target_os = "linux")] // where a file system can be made to do less
#[test]
fn a_file_system_without_links_takes_new_files_and_replaces_none() {
    let (sandbox, _) = ready();
    let seal = |output| {
        let arguments = ["encrypt", "-k", "k.json", "text", "-o", output];
        sandbox.on_lesser_files(("NO_NEW_NAMES", "1"), &arguments)
    };
    let Some(output) = seal("sealed") else { return };
    assert!(output.status.success(), "{output:?}");
    assert!(fs::metadata(sandbox.folder.path().join("sealed")).unwrap().len() > 3_000_000);
    sandbox.write("mine", "mine");
    assert_eq!(seal("mine").unwrap().status.code(), Some(2));
    assert_eq!(sandbox.read("mine"), "mine");
    assert_eq!(names(&sandbox), ["k.json", "mine", "sealed", "text"]);
}

#[cfg(all(target_os = "linux", target_env = "gnu"))] // whose programs call a C library that can be stood in for
#[test]
fn names_are_synchronised_where_that_is_possible() {
    const EIO: &str = "5";
    let (sandbox, _) = ready();
    let seal = ["encrypt", "-k", "k.json", "text", "--force", "-o", "sealed"];
    let keyset = ["keyset", "-o", "new.json"];
    let Some(failed) = sandbox.on_lesser_files(("FOLDERS", EIO), &seal) else { return };
    let said = String::from_utf8_lossy(&failed.stderr);
    assert!(failed.status.code() == Some(1) && said.contains("sealed is complete, but"), "{said}");
    let failed = sandbox.on_lesser_files(("FOLDERS", EIO), &keyset).unwrap();
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(names(&sandbox), ["k.json", "sealed", "text"]);
    // EBADF, EACCES, EINVAL and EOPNOTSUPP.
    for refusal in ["9", "13", "22", "95"] {
        for arguments in [&seal[..], &keyset] {
            let output = sandbox.on_lesser_files(("FOLDERS", refusal), arguments).unwrap();
            assert!(output.status.success(), "{refusal}: {output:?}");
        }
        fs::remove_file(sandbox.folder.path().join("new.json")).unwrap();
    }
}

#[test]
#[cfg(unix)]
fn a_keyset_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let (sandbox, _) = ready();
    let mode = fs::metadata(sandbox.folder.path().join("k.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn unknown_names_list_the_known_ones() {
    let (sandbox, _) = ready();
    let templates = contains("AES256_GCM_HKDF_1MB").and(contains("AES128_GCM_HKDF_4KB"));
    sandbox.cipherlane(&["keyset", "--template", "DES", "-o", "d.json"]).assert().code(2).stderr(templates);
    let seal = ["encrypt", "-k", "k.json", "text", "-o", "sealed", "--device", "abacus"];
    sandbox.cipherlane(&seal).assert().code(2).stderr(contains("known: cpu"));
    let mut seal = sandbox.cipherlane(&seal[..6]);
    let told = contains("unknown device `all`").and(contains("CIPHERLANE_DEVICE=all"));
    seal.env("CIPHERLANE_DEVICE", "all").assert().code(2).stderr(told);
}

#[test]
#[cfg(unix)]
fn what_is_interrupted_leaves_nothing() {
    let (sandbox, _) = ready();
    let mut program = sandbox.bare();
    program.args(["encrypt", "-k", "k.json", "-", "-o", "sealed"]);
    interrupt(&sandbox, program, &[rustix::process::Signal::TERM]);
}

/// `nohup` ignores hangups, and a script SIGINT for what it starts with `&`.
#[test]
#[cfg(target_os = "linux")] // which tells what is ignored
fn signals_that_were_ignored_stay_so_and_another_leaves_nothing() {
    use rustix::process::Signal;

    for (name, ignored, last) in [
        ("HUP", Signal::HUP, Signal::TERM),
        ("INT", Signal::INT, Signal::TERM),
        ("TERM", Signal::TERM, Signal::INT),
    ] {
        if support::is_ignored(last) {
            eprintln!("NOT CHECKED: SIG{name} that is ignored: {last:?} is ignored as well");
            continue;
        }
        let (sandbox, _) = ready();
        let program = sandbox.bare();
        let mut shell = std::process::Command::new("sh");
        let line = format!("trap '' {name}; exec \"$0\" encrypt -k k.json - -o sealed");
        shell.args(["-c", &line]).arg(program.get_program()).current_dir(sandbox.folder.path());
        interrupt(&sandbox, shell, &[ignored, last]);
    }
}

/// Starts `program`, which encrypts standard input, and sends it `signals`: it must end at the last of them, and not before.
#[cfg(unix)]
fn interrupt(sandbox: &Sandbox, mut program: std::process::Command, signals: &[rustix::process::Signal]) {
    use std::io::Write;
    use std::process::Stdio;
    use std::time::Duration;

    let before = names(sandbox);
    let mut running = program.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    input.write_all(&[7; 100_000]).unwrap();
    wait_for_a_file(sandbox);
    let pid = rustix::process::Pid::from_child(&running);
    for &signal in signals {
        assert!(running.try_wait().unwrap().is_none(), "it has ended before {signal:?}");
        rustix::process::kill_process(pid, signal).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert_eq!(names(sandbox), before);
}

#[test]
#[cfg(unix)]
fn a_reader_that_goes_away_is_an_error() {
    use std::process::Stdio;

    let (sandbox, _) = ready();
    let mut program = sandbox.bare();
    program.args(["encrypt", "-k", "k.json", "text", "-o", "-"]);
    let mut running = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(running.stdout.take());
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be written"));
}

/// A program of somebody's that runs as its owner is not made of whatever was in an archive, nor read by another group.
#[test]
#[cfg(unix)]
fn what_is_replaced_keeps_its_owners_and_runs_as_none_of_them() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    let (sandbox, _) = ready();
    let old = sandbox.folder.path().join("old");
    sandbox.write("old", "mine");
    // Root alone can give a file away.
    if let Err(error) = chown(&old, Some(12345), Some(12346)) {
        eprintln!("NOT CHECKED: files of others: {error}");
    }
    let before = fs::metadata(&old).unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o6750)).unwrap();
    sandbox.cipherlane(&["encrypt", "-k", "k.json", "text", "--force", "-o", "old"]).assert().success();
    let now = fs::metadata(&old).unwrap();
    assert!(now.len() > 3_000_000);
    assert_eq!((now.uid(), now.gid(), now.mode() & 0o7777), (before.uid(), before.gid(), 0o750));
}

/// Whose group the file gets may be one that was not to read it.
#[test]
#[cfg(unix)]
fn a_group_that_cannot_be_kept_gets_nothing() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;

    let (sandbox, _) = ready();
    let path = |name: &str| sandbox.folder.path().join(name);
    sandbox.write("old", "of others");
    let given = chown(path("old"), Some(12345), Some(12346));
    // Root alone can give a file away, and be somebody else.
    if let Err(error) = given.and_then(|()| chown(path("k.json"), Some(54321), None)) {
        return eprintln!("NOT CHECKED: files of other groups: {error}");
    }
    fs::set_permissions(path("old"), fs::Permissions::from_mode(0o664)).unwrap();
    fs::set_permissions(sandbox.folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let mut program = sandbox.bare();
    program.args(["encrypt", "-k", "k.json", "text", "--force", "-o", "old"]).uid(54321).gid(54321);
    let output = match program.output() {
        Ok(output) => output,
        Err(error) => {
            return eprintln!("NOT CHECKED: files of other groups: no other user may run it: {error}");
        }
    };
    assert!(output.status.success(), "{output:?}");
    let now = fs::metadata(path("old")).unwrap();
    assert!(now.len() > 3_000_000);
    assert_eq!((now.uid(), now.gid(), now.mode() & 0o7777), (54321, 54321, 0o604));
}

#[test]
#[cfg(unix)]
fn what_is_replaced_keeps_its_mode_and_its_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let (sandbox, _) = ready();
    let path = |name: &str| sandbox.folder.path().join(name);
    sandbox.write("old", "mine");
    fs::set_permissions(path("old"), fs::Permissions::from_mode(0o660)).unwrap();
    symlink("old", path("link")).unwrap();
    let seal = ["encrypt", "-k", "k.json", "text", "--force", "-o", "link"];
    sandbox.cipherlane(&seal).assert().success();
    assert_eq!(fs::read_link(path("link")).unwrap().to_str(), Some("old"));
    let old = fs::metadata(path("old")).unwrap();
    assert_eq!((old.len() > 3_000_000, old.permissions().mode() & 0o777), (true, 0o660));
}
