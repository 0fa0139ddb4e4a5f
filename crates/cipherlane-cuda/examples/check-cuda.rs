//! Puts every NVIDIA GPU to the exam and takes a look at its speed:
//! `cargo run --release -p cipherlane-cuda --example check-cuda [-- NAME ..]`
//!
//! A name is a part of an algorithm's (`aes-128`, `gcm`), `kernel=PART` a part of a kernel's for the exam, the whole of it
//! for speeds, where `kernel=each` is each that there is, on messages of several lengths; `device=N` one GPU,
//! `threads=N` the threads that the exam takes (all CPUs), `mib=N` the text of the speeds in MiB (4096) or `kib=N` in
//! KiB, `last=N` the last of several messages in KiB, `blocks=N` and `runs=N` the blocks of a launch and the runs of each (7), `exam=no` and `speed=no` leave a part
//! out, `exam=long` takes messages of `long=N` bytes alone, `tune=yes` tunes each kernel first, `transfers=no` leaves out
//! the columns with them, `text=zeros` is the worst case for caches and banks, `together=yes` takes all GPUs as one,
//! `pinned=yes` compares sessions with the link by chunks and streams, from pinned and from ordinary memory, `memory=MIB`
//! looks whether so much memory is zeros when it is lent again. Exit code 1 if anything is wrong.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a tool for developers

#[path = "../../cipherlane-offload/tests/exam/devices.rs"]
mod devices;
#[path = "../../cipherlane-offload/tests/exam/mod.rs"]
mod exam;
#[path = "../../cipherlane-offload/tests/exam/memory.rs"]
mod memory;
#[path = "../../cipherlane-offload/tests/exam/options.rs"]
mod options;
#[path = "../../cipherlane-offload/tests/exam/pinned.rs"]
mod pinned;
#[path = "../../cipherlane-offload/tests/exam/speed.rs"]
mod speed;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use cipherlane_core::Device;
use cipherlane_cuda::{CudaDevice, Fleet, Member};
use cipherlane_offload::Provider;
use options::Options;

fn main() -> ExitCode {
    let options = Options::of_program();
    let found = match cipherlane_cuda::devices() {
        Ok(found) => found,
        Err(reason) => return devices::none("NVIDIA GPU", reason),
    };
    let found: Vec<Arc<CudaDevice>> = found.into_iter().map(Arc::new).collect();
    let each = found.iter().map(|device| -> Arc<dyn Member> { Arc::<CudaDevice>::clone(device) });
    let together = options.get("together=") == Some("yes");
    let wanted: Vec<Arc<dyn Device>> = if together {
        vec![Arc::new(Fleet::new("cuda:all", each.collect()))]
    } else {
        each.map(|device| -> Arc<dyn Device> { device }).collect()
    };
    devices::check(&wanted, &options, |device| {
        let mut failed = 0;
        if let mib @ 1.. = options.number("memory=", 0) {
            failed += memory::tell(device, mib << 20);
        }
        if options.get("exam=") != Some("no") {
            failed += examine(device, &options);
        }
        if options.get("speed=") != Some("no") {
            failed += measure(device, &found[0], &options);
        }
        failed
    })
}

/// The speeds, from memory that the GPUs reach by themselves. Returns how many came out wrong.
fn measure(device: &dyn Device, gpu: &CudaDevice, options: &Options) -> usize {
    let bytes = options.text_bytes(4096);
    match (device.host_memory(bytes), device.host_memory(bytes)) {
        (Ok(mut input), Ok(mut output)) if options.get("pinned=") == Some("yes") => {
            let backend = gpu.provider().backend().unwrap();
            pinned::measure(device, &mut input, &mut output, |input, output, piece| {
                cipherlane_offload::link::both_ways(&*backend, input, output, piece).unwrap()
            })
        }
        (Ok(mut input), Ok(mut output)) => speed::measure(device, options, &mut input, &mut output),
        (Err(reason), _) | (_, Err(reason)) => {
            println!("no speeds: {reason}");
            1
        }
    }
}

/// The exam, and messages longer than its. Returns how many algorithms came out wrong.
fn examine(device: &dyn Device, options: &Options) -> usize {
    let start = Instant::now();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let (threads, kernel) = (options.number("threads=", cpus), options.get("kernel=").unwrap_or_default());
    let mut wrong = 0;
    if options.get("exam=") != Some("long") {
        wrong = exam::tell(device, &options.names(), kernel, threads);
        println!("exam: {:.1} s", start.elapsed().as_secs_f64());
    }
    wrong + exam::tell_long(device, &options.names(), kernel, options.number("long=", exam::LONG))
}
