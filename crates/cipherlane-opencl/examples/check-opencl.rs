//! Puts every OpenCL device to the exam: `cargo run --release -p cipherlane-opencl --example
//! check-opencl [-- NAME ..]`
//!
//! A name is a part of an algorithm's (`aes-128`, `gcm`), or `kernel=PART` a part of a kernel's, `device=N`,
//! `threads=N`, `exam=no` and `long=no` (messages of 17 MiB) leave a part out, `together=yes` takes the GPUs that are alike
//! as one, `memory=MIB` looks whether so much memory is zeros when it is lent again, `speed=yes` measures as the example
//! check-cuda does, with its options. Exit code 1 if anything is wrong.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a tool for developers

#[path = "../../cipherlane-offload/tests/exam/devices.rs"]
mod devices;
#[path = "../../cipherlane-offload/tests/exam/mod.rs"]
mod exam;
#[path = "../../cipherlane-offload/tests/exam/memory.rs"]
mod memory;
#[path = "../../cipherlane-offload/tests/exam/options.rs"]
mod options;
#[path = "../../cipherlane-offload/tests/exam/speed.rs"]
mod speed;

use std::process::ExitCode;
use std::sync::Arc;

use cipherlane_core::Device;
use cipherlane_opencl::{Fleet, Member, OpenClDevice};
use options::Options;

fn main() -> ExitCode {
    let options = Options::of_program();
    let found = match cipherlane_opencl::devices() {
        Ok(found) => found,
        Err(reason) => return devices::none("OpenCL device", reason),
    };
    let found: Vec<Arc<OpenClDevice>> = found.into_iter().map(Arc::new).collect();
    let wanted: Vec<Arc<dyn Device>> = if options.get("together=") == Some("yes") {
        let alike = cipherlane_opencl::alike(&found);
        if alike.is_empty() {
            return devices::none("OpenCL GPU", "the devices are others");
        }
        let members = alike.into_iter().map(|device| -> Arc<dyn Member> { device });
        vec![Arc::new(Fleet::new("opencl:all", members.collect()))]
    } else {
        found.into_iter().map(|device| -> Arc<dyn Device> { device }).collect()
    };
    devices::check(&wanted, &options, |device| {
        let (names, kernels) = (options.names(), options.get("kernel=").unwrap_or_default());
        let mut failed = 0;
        if let mib @ 1.. = options.number("memory=", 0) {
            failed += memory::tell(device, mib << 20);
        }
        if options.get("exam=") != Some("no") {
            failed += exam::tell(device, &names, kernels, options.number("threads=", 2));
        }
        if options.get("long=") != Some("no") {
            failed += exam::tell_long(device, &names, kernels, exam::LONG);
        }
        if options.get("speed=") == Some("yes") {
            let bytes = options.text_bytes(1024);
            failed += speed::measure(device, &options, &mut vec![0; bytes], &mut vec![0; bytes]);
        }
        failed
    })
}
