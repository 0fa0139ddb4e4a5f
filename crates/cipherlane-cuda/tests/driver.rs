//! Machines without CUDA are told what is missing; each in a process of its own, since a process looks once.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use std::process::Command;

/// Set in the processes that the tests start.
const ROLE: &str = "CIPHERLANE_TEST_ROLE";

/// Not a test of its own: says what [`cipherlane_cuda::devices`] says.
#[test]
fn say_devices() {
    if std::env::var_os(ROLE).is_some() {
        match cipherlane_cuda::devices() {
            Ok(devices) => panic!("{} devices", devices.len()),
            Err(reason) => panic!("reason: {reason}"),
        }
    }
}

/// What a process with this driver library says.
fn reason(library: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "say_devices", "--nocapture"])
        .env(ROLE, "yes")
        .env(cipherlane_cuda::driver::VARIABLE, library)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

#[test]
fn a_missing_driver_is_a_reason_with_a_remedy() {
    let reason = reason("/nowhere/libcuda.so.1");
    assert!(reason.contains("reason: no CUDA driver (/nowhere/libcuda.so.1"), "{reason}");
    assert!(reason.contains("install NVIDIA's driver") && reason.contains("CIPHERLANE_LIBCUDA"), "{reason}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_that_is_no_driver_is_told_from_one() {
    let reason = reason("libc.so.6");
    assert!(
        reason.contains("the CUDA driver has no cuInit; install a driver of CUDA 11.0 or newer"),
        "{reason}"
    );
}
