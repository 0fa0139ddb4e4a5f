//! The tests of the package in `python/`, run by Python with the library that cargo has just built.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // tests

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tempfile::TempDir;

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with the package in it, as Python imports it.
fn package() -> TempDir {
    let library = env::current_exe().unwrap().parent().unwrap().join("lib_native.so");
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("cipherlane");
    fs::create_dir(&here).unwrap();
    for file in fs::read_dir(root().join("python/cipherlane")).unwrap() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_file() {
            fs::copy(file.path(), here.join(file.file_name())).unwrap();
        }
    }
    fs::copy(&library, here.join("_native.abi3.so"))
        .unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    folder
}

/// Runs those tests of `python/tests` that `arguments` of Python name, of which `known` is one, with `variables` and the
/// packages in the folder `packages`.
fn run(arguments: &str, known: &str, packages: Option<&Path>, variables: &[(&str, &Path)]) {
    let package = package();
    let path = env::join_paths([package.path()].into_iter().chain(packages)).unwrap();
    let tests = Command::new("python3")
        .args(arguments.split(' '))
        .current_dir(root().join("python/tests"))
        .env("PYTHONPATH", path)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(variables.iter().copied())
        .output()
        .expect("python3, from 3.11 on, runs them; install it");
    let said = String::from_utf8_lossy(&tests.stderr);
    assert!(tests.status.success(), "{said}");
    // A run that found no test passes as well.
    assert!(said.contains(known), "{said}");
}

#[test]
fn the_tests_of_the_package_pass() {
    run("-W error -m unittest discover --verbose", "test_known_answers", None, &[]);
}

/// The driver that makes a GPU of the CPU is that of the tests of `cipherlane-cuda`.
#[test]
fn texts_in_the_memory_of_a_gpu_are_run_there() {
    let folder = tempfile::tempdir().unwrap();
    let driver = folder.path().join("libfake.so");
    let made = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-o"])
        .arg(&driver)
        .arg(root().join("crates/cipherlane-cuda/tests/fake/cuda.c"))
        .args(["-ldl", "-pthread"])
        .status()
        .expect("cc compiles it; install a C compiler");
    assert!(made.success());
    let variables = [
        ("CIPHERLANE_LIBCUDA", driver.as_path()),
        ("CIPHERLANE_NVRTC", driver.as_path()),
        ("CIPHERLANE_CACHE", &folder.path().join("cache")),
        ("FAKE_FOLDER", folder.path()),
    ];
    let arguments = "-W error -m unittest discover --verbose -s gpu --pattern test_device_memory.py";
    run(arguments, "test_seals_and_opens_in_place", None, &variables);
}

/// `cargo xtask test` brings PyArrow and Ray.
#[test]
fn columns_and_datasets_are_run() {
    let Some(packages) = env::var_os("CIPHERLANE_PYTHON_PACKAGES") else {
        assert!(env::var_os("CIPHERLANE_CI").is_none(), "CI leaves nothing out");
        eprintln!("NOT CHECKED: Arrow and Ray, of which CIPHERLANE_PYTHON_PACKAGES would name the folder");
        return;
    };
    let arguments = "-m unittest discover --verbose -s cluster";
    let variables = [
        ("RAY_DISABLE_IMPORT_WARNING", Path::new("1")),
        // Its workers would stand back behind other tests, until Ray gives them up.
        ("RAY_worker_niceness", Path::new("0")),
    ];
    run(arguments, "test_there_and_back", Some(Path::new(&packages)), &variables);
}
