//! The tests of the package in `python/`, run by Python with the library that cargo has just built.

#![allow(clippy::unwrap_used)] // tests

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn the_tests_of_the_package_pass() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let library = env::current_exe().unwrap().parent().unwrap().join("lib_native.so");
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("cipherlane");
    fs::create_dir(&here).unwrap();
    for file in fs::read_dir(package.join("cipherlane")).unwrap() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_file() {
            fs::copy(file.path(), here.join(file.file_name())).unwrap();
        }
    }
    fs::copy(&library, here.join("_native.abi3.so"))
        .unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    let tests = Command::new("python3")
        .args(["-W", "error", "-m", "unittest", "discover", "--verbose", "--start-directory"])
        .arg(package.join("tests"))
        .env("PYTHONPATH", folder.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3, from 3.11 on, runs them; install it");
    let said = String::from_utf8_lossy(&tests.stderr);
    assert!(tests.status.success(), "{said}");
    // A run that found no test passes as well.
    assert!(said.contains("test_known_answers"), "{said}");
}
