//! Puts every OpenCL device to the exam: `cargo run --release -p cipherlane-opencl --example
//! check-opencl [-- NAME ..]`
//!
//! A name is a part of an algorithm's (`aes-128`, `gcm`), or `kernel=PART` a part of a kernel's, `device=N`,
//! `threads=N`, `long=no` leaves out messages of 17 MiB. Exit code 1 if anything is wrong.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)] // a tool for developers

#[path = "../../cipherlane-offload/tests/exam/mod.rs"]
mod exam;

use std::process::ExitCode;

use cipherlane_core::Device;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name));
    let names: Vec<String> = arguments.iter().filter(|argument| !argument.contains('=')).cloned().collect();
    let devices = match cipherlane_opencl::devices() {
        Ok(devices) => devices,
        Err(reason) => {
            eprintln!("no OpenCL device: {reason}");
            return ExitCode::FAILURE;
        }
    };
    let mut failed = 0;
    for device in &devices {
        let info = device.info();
        if option("device=").is_some_and(|id| !info.id.ends_with(id)) {
            continue;
        }
        println!("{}: {}", info.id, info.name);
        for (name, value) in &info.details {
            println!("    {name}: {value}");
        }
        let threads = option("threads=").and_then(|number| number.parse().ok()).unwrap_or(2);
        let kernels = option("kernel=").unwrap_or_default();
        failed += exam::tell(device, &names, kernels, threads);
        if option("long=") != Some("no") {
            failed += exam::tell_long(device, &names, kernels);
        }
    }
    println!("{}", if failed == 0 { "all right".to_owned() } else { format!("{failed} algorithms WRONG") });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
