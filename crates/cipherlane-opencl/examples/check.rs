//! Puts every OpenCL device to the exam: `cargo run --release -p cipherlane-opencl --example check [-- NAME ..]`
//!
//! A name is a part of an algorithm's (`aes-128`, `gcm`), or `kernel=PART` a part of a kernel's, `device=N`,
//! `threads=N`, `long=no` leaves out messages of 17 MiB. Exit code 1 if anything is wrong.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)] // a tool for developers

#[path = "../../cipherlane-offload/tests/exam/mod.rs"]
mod exam;

use std::process::ExitCode;

use cipherlane_core::{Algorithm, Device};

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
        let outcomes = exam::sit(device, &names, kernels, threads, tell);
        if option("long=") != Some("no") {
            failed += examine_long(device, &names, kernels);
        }
        failed += outcomes.iter().filter(|outcome| matches!(outcome.result, Some(Err(_)))).count();
    }
    println!("{}", if failed == 0 { "all right".to_owned() } else { format!("{failed} algorithms WRONG") });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Messages longer than those of the exam. Returns how many algorithms came out wrong.
fn examine_long(device: &dyn Device, names: &[String], kernel: &str) -> usize {
    let mut wrong = 0;
    for algorithm in Algorithm::all() {
        let name = algorithm.to_string();
        if !names.is_empty() && names.iter().all(|part| !name.contains(part.as_str())) {
            continue;
        }
        match exam::long(device, algorithm, kernel) {
            None => {}
            Some(Ok(kernels)) => println!("{algorithm:18} long messages right: {}", kernels.join(" ")),
            Some(Err(reason)) => {
                wrong += 1;
                println!("{algorithm:18} long messages WRONG: {reason}");
            }
        }
    }
    wrong
}

fn tell(outcome: &exam::Outcome) {
    let (algorithm, seconds) = (outcome.algorithm, outcome.time.as_secs_f64());
    match &outcome.result {
        None => println!("{algorithm:18} no kernel"),
        Some(Ok((checks, kernels))) => {
            println!("{algorithm:18} {checks} batches right in {seconds:.1} s: {}", kernels.join(" "));
        }
        Some(Err(failure)) => println!("{algorithm:18} WRONG after {seconds:.1} s: {failure}"),
    }
}
