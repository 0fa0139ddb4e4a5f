//! Puts every OpenCL device to the exam: `cargo run --release -p cipherlane-opencl --example
//! check-opencl [-- NAME ..]`
//!
//! A name is a part of an algorithm's (`aes-128`, `gcm`), or `kernel=PART` a part of a kernel's, `device=N`,
//! `threads=N`, `exam=no` and `long=no` (messages of 17 MiB) leave a part out, `speed=yes` measures as the example
//! check-cuda does, with its options. Exit code 1 if anything is wrong.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)] // a tool for developers

#[path = "../../cipherlane-offload/tests/exam/mod.rs"]
mod exam;
#[path = "../../cipherlane-offload/tests/exam/options.rs"]
mod options;
#[path = "../../cipherlane-offload/tests/exam/speed.rs"]
mod speed;

use std::process::ExitCode;

use cipherlane_core::Device;
use options::Options;

fn main() -> ExitCode {
    let options = Options::of_program();
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
        if options.get("device=").is_some_and(|id| !info.id.ends_with(id)) {
            continue;
        }
        println!("{}: {}", info.id, info.name);
        for (name, value) in &info.details {
            println!("    {name}: {value}");
        }
        let (names, kernels) = (options.names(), options.get("kernel=").unwrap_or_default());
        if options.get("exam=") != Some("no") {
            failed += exam::tell(device, &names, kernels, options.number("threads=", 2));
        }
        if options.get("long=") != Some("no") {
            failed += exam::tell_long(device, &names, kernels, exam::LONG);
        }
        if options.get("speed=") == Some("yes") {
            let bytes = options.number("mib=", 1024) << 20;
            failed += speed::measure(device, &options, &mut vec![0; bytes], &mut vec![0; bytes]);
        }
    }
    println!("{}", if failed == 0 { "all right".to_owned() } else { format!("{failed} algorithms WRONG") });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
