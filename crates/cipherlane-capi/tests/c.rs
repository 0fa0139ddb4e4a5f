//! Programs in C that link the library, compiled with every warning as an error.

#![allow(clippy::unwrap_used)] // tests

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder where cargo has put the library: that of the program that runs.
fn library() -> PathBuf {
    let folder = env::current_exe().unwrap().parent().unwrap().to_owned();
    assert!(folder.join("libcipherlane_c.so").exists(), "no library in {}", folder.display());
    folder
}

/// `source` of this crate, compiled, linked and run.
fn run(source: &str) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let program = folder.path().join("program");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root.join("include"))
        .arg(root.join(source))
        .arg("-L")
        .arg(&library)
        .args(["-lcipherlane_c", "-o"])
        .arg(&program)
        .output()
        .expect("cc compiles them; install a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Command::new(program).env("LD_LIBRARY_PATH", library).output().unwrap()
}

fn assert_passed(output: &Output) {
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}{error}", output.status);
}

#[test]
fn answers_are_known_and_faults_are_named() {
    assert_passed(&run("tests/c/calls.c"));
}

#[test]
fn the_example_runs() {
    let output = run("examples/meters.c");
    assert_passed(&output);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("1000 readings, 1 rejected"), "{said}");
}
