//! Puts every NVIDIA GPU to the exam and takes a look at its speed:
//! `cargo run --release -p cipherlane-cuda --example check [-- NAME ..]`
//!
//! A name is a part of an algorithm's (`aes-128`, `gcm`), `kernel=PART` a part of a kernel's, `device=N` one GPU,
//! `threads=N` the threads that the exam takes (all CPUs), `mib=N` the text of the speeds in MiB (4096), `exam=no` and
//! `speed=no` leave a part out, `tune=yes` tunes each kernel first. Exit code 1 if anything is wrong.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)] // a tool for developers

#[path = "../../../cipherlane-offload/tests/exam/mod.rs"]
mod exam;
mod speed;

use std::process::ExitCode;
use std::time::Instant;

use cipherlane_core::{Algorithm, Device};
use cipherlane_cuda::CudaDevice;

/// The command line.
struct Options(Vec<String>);

impl Options {
    /// What follows `name`.
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|argument| argument.strip_prefix(name))
    }

    fn number(&self, name: &str, otherwise: usize) -> usize {
        self.get(name).map_or(otherwise, |number| number.parse().unwrap())
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().filter(|argument| !argument.contains('=')).cloned().collect()
    }
}

fn main() -> ExitCode {
    let options = Options(std::env::args().skip(1).collect());
    let devices = match cipherlane_cuda::devices() {
        Ok(devices) => devices,
        Err(reason) => {
            eprintln!("no NVIDIA GPU: {reason}");
            return ExitCode::FAILURE;
        }
    };
    let mut failed = 0;
    for device in &devices {
        let info = device.info();
        println!("{}: {}", info.id, info.name);
        for (name, value) in &info.details {
            println!("    {name}: {value}");
        }
        let is_wanted = options.get("device=").is_none_or(|id| info.id.ends_with(id));
        if is_wanted && options.get("exam=") != Some("no") {
            failed += examine(device, &options)
                + examine_long(device, &options.names(), options.get("kernel=").unwrap_or_default());
        }
        if is_wanted && options.get("speed=") != Some("no") {
            failed += speed::measure(device, &options);
        }
    }
    println!("{}", if failed == 0 { "all right".to_owned() } else { format!("{failed} WRONG") });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The exam. Returns how many algorithms came out wrong.
fn examine(device: &CudaDevice, options: &Options) -> usize {
    let start = Instant::now();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let (threads, kernel) = (options.number("threads=", cpus), options.get("kernel=").unwrap_or_default());
    let outcomes = exam::sit(device, &options.names(), kernel, threads, tell);
    println!("exam: {:.1} s", start.elapsed().as_secs_f64());
    outcomes.iter().filter(|outcome| matches!(outcome.result, Some(Err(_)))).count()
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
