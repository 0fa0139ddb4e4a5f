//! Compiles every kernel, without a GPU: `cargo run --release -p cipherlane-cuda --example compile [-- NAME ..]`
//!
//! A name is a part of an algorithm's (`aes-128`, `gcm`); `sm=75,90` the capabilities (90), `threads=N` the threads,
//! `kernel=PART` a part of a kernel's name, `all` prints every entry point and not only those that need local memory.
//! Compiled kernels stay in the cache (CIPHERLANE_CACHE), so that a machine with the GPU need not compile them. Exit
//! code 1 if a default kernel is refused, spills registers or needs local memory.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)] // a tool for developers

use std::convert::Infallible;
use std::process::ExitCode;
use std::time::Instant;

use cipherlane_core::{Algorithm, Shape};
use cipherlane_cuda::compile::Compiler;
use cipherlane_cuda::kernels::Kernels;
use cipherlane_kernels::manifest::{self, Program, Target};
use cipherlane_offload::backend::Unit;
use cipherlane_offload::cache::Cache;
use cipherlane_offload::unit;
use cipherlane_reference::side_by_side;

/// A program for a capability.
struct Task {
    capability: u32,
    unit: Unit,
    /// Whether plans choose it where nobody wishes otherwise.
    default: bool,
    what: String,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name));
    let names: Vec<&String> = arguments.iter().filter(|a| !a.contains('=') && *a != "all").collect();
    let capabilities = option("sm=").unwrap_or("90").split(',').map(|number| number.parse().unwrap());
    let threads = option("threads=").map_or(2, |number| number.parse().unwrap());
    match Compiler::find(None) {
        Ok(compiler) => println!("NVRTC {:?} at {}", compiler.version(), compiler.file().display()),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    let kernel = option("kernel=").unwrap_or_default();
    let wanted = |task: &Task| {
        task.unit.name.contains(kernel)
            && (names.is_empty() || names.iter().any(|name| task.what.contains(*name)))
    };
    let tasks: Vec<Task> = capabilities.flat_map(tasks).filter(wanted).collect();
    let all = arguments.iter().any(|argument| argument == "all");
    let Ok(right) = side_by_side::try_map(threads, &tasks, |task| Ok::<_, Infallible>(run(task, all)));
    let failures = right.into_iter().filter(|is_right| !is_right).count();
    println!("{} programs, {failures} default ones not as they should be", tasks.len());
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Every program for GPUs of `capability`, each once: some shapes share one.
fn tasks(capability: u32) -> Vec<Task> {
    let target = Target {
        compute: Some((capability / 10, capability % 10)),
        shared_bytes: shared_bytes(capability),
        threads: 1024,
        banked: true,
    };
    let mut tasks: Vec<Task> = Vec::new();
    for algorithm in Algorithm::all() {
        for &operation in algorithm.operations() {
            for (shared, bytes) in [(true, 0), (false, 0), (true, 1 << 30), (false, 1 << 30)] {
                let shape = Shape::uniform(algorithm, operation, 1, bytes, shared);
                for (place, program) in manifest::programs(&shape, &target).iter().enumerate() {
                    let unit = unit(program);
                    if tasks.iter().all(|task| task.unit != unit) {
                        tasks.push(Task { capability, default: place == 0, what: describe(program), unit });
                    }
                }
            }
        }
    }
    tasks
}

fn describe(program: &Program) -> String {
    let keys = if program.shared_key { "one key" } else { "a key each" };
    format!("{} {}, {keys}, {:?}", program.algorithm, program.operation, program.tiling)
}

/// Most shared memory of a block (CUDA C++ Programming Guide, table of technical specifications).
const fn shared_bytes(capability: u32) -> u32 {
    1024 * match capability {
        75 => 64,
        80 | 87 => 163,
        86 | 89 | 120 | 121 => 99,
        90.. => 227,
        _ => 48,
    }
}

/// Compiles, keeps, and tells what is to be told. False if a default kernel is not as it should be.
fn run(task: &Task, all: bool) -> bool {
    let (start, Task { capability, unit, default, what }) = (Instant::now(), task);
    let kernels = Kernels::new(*capability, None, Cache::of_user());
    let compiled = match kernels.compile(unit) {
        Ok(compiled) => compiled,
        Err(error) => {
            println!("sm_{capability} {what}: {}: {error}", unit.name);
            return false;
        }
    };
    let mut clean = true;
    for usage in compiled.usage() {
        let local = usage.stack_bytes + usage.spill_store_bytes + usage.spill_load_bytes;
        clean &= local == 0;
        if all || local > 0 {
            println!(
                "sm_{capability} {what}: {} {}: {} registers, {} bytes of stack, {} stored and {} loaded by spills, \
                 {} of shared memory{} ({:.1} s)",
                unit.name,
                usage.name,
                usage.registers,
                usage.stack_bytes,
                usage.spill_store_bytes,
                usage.spill_load_bytes,
                usage.shared_bytes,
                if *default { "" } else { ", not default" },
                start.elapsed().as_secs_f64(),
            );
        }
    }
    clean || !default
}
