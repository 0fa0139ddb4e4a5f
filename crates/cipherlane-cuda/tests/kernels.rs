//! Every default kernel through NVRTC, with no GPU: it compiles, and neither spills registers nor needs a stack.
//!
//! sm_90 compiles the defaults of one key length of each family; the other capabilities the kernels that have the most
//! in registers. `KERNELS=aes-128-gcm` picks algorithms by a part of their name, `EVERY=1` takes every capability and
//! key length.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

use std::collections::BTreeMap;

use cipherlane_core::{Algorithm, Shape};
use cipherlane_cuda::compile::{Compiler, Target};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::{self, Program, Stage, programs};

/// Capabilities, and the shared memory that a block can have there: CUDA C++ Programming Guide, table of technical
/// specifications.
const CAPABILITIES: [(u32, u32); 7] = [
    (75, 64 << 10),
    (80, 163 << 10),
    (86, 99 << 10),
    (89, 99 << 10),
    (90, 227 << 10),
    (100, 227 << 10),
    (120, 99 << 10),
];

/// Registers of a multiprocessor, on all of these.
const REGISTERS: usize = 65536;

/// The compiler, or `None` with a line that says so.
fn compiler() -> Option<Compiler> {
    match Compiler::find(None) {
        Ok(compiler) => Some(compiler),
        Err(error) if std::env::var_os("CIPHERLANE_REQUIRE_NVRTC").is_some() => panic!("{error}"),
        Err(error) => {
            eprintln!("NOT CHECKED: kernels by NVRTC: {error}");
            None
        }
    }
}

/// Whether `algorithm` is compiled for `capability` unless everything is.
fn chosen(algorithm: Algorithm, capability: u32) -> bool {
    let name = algorithm.to_string();
    if capability == 90 {
        return algorithm.hash().is_some()
            || algorithm.cipher().is_some_and(|cipher| cipher.key_bytes() == 16);
    }
    ["aes-256-gcm", "camellia-256-ctr", "sc2000-256-ecb", "sm4-ecb", "sha-512", "sha3-256"]
        .contains(&name.as_str())
}

/// The texts of the first programs of all shapes: one long message, records, short messages.
fn defaults(algorithm: Algorithm, target: &manifest::Target) -> BTreeMap<String, Program> {
    let mut texts = BTreeMap::new();
    for &operation in algorithm.operations() {
        for shared_key in [true, false] {
            for (messages, bytes) in [(1, 1 << 30), (1 << 16, 16 << 10), (1 << 20, 128)] {
                let shape = Shape::uniform(algorithm, operation, messages, bytes, shared_key);
                let program = programs(&shape, target).into_iter().next();
                let program = program.unwrap_or_else(|| panic!("no program for {algorithm} {operation}"));
                assert!(program.constant_time, "{}: the default depends on secrets", program.kernel);
                texts.insert(flatten::text(&program), program);
            }
        }
    }
    texts
}

#[test]
fn the_default_kernels_compile_without_spills() {
    let Some(compiler) = compiler() else { return };
    let filter = std::env::var("KERNELS").unwrap_or_default();
    let every = std::env::var_os("EVERY").is_some();
    let (mut count, mut faults) = (0, Vec::new());
    for (capability, shared_bytes) in CAPABILITIES {
        if !compiler.architectures().contains(&capability) {
            assert!(
                std::env::var_os("CIPHERLANE_REQUIRE_NVRTC").is_none(),
                "NVRTC does not know sm_{capability}"
            );
            eprintln!("NOT CHECKED: kernels for sm_{capability}: NVRTC does not know it");
            continue;
        }
        let compute = Some((capability / 10, capability % 10));
        let target = manifest::Target { compute, shared_bytes, threads: 1024, banked: true };
        let wanted = |algorithm: &Algorithm| algorithm.to_string().contains(&filter);
        for algorithm in Algorithm::all().filter(wanted).filter(|&a| every || chosen(a, capability)) {
            for (text, program) in defaults(algorithm, &target) {
                faults.extend(check(&compiler, capability, &text, &program));
                count += 1;
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 0, "no kernel was compiled: KERNELS={filter} names none");
    eprintln!("{count} programs compiled");
}

/// What is wrong with each stage of the program.
fn check(compiler: &Compiler, capability: u32, text: &str, program: &Program) -> Vec<String> {
    let what = format!("{} {} for sm_{capability}", program.kernel, program.operation);
    let options = ["-std=c++17".to_owned()];
    let compiled = match compiler.compile(&program.kernel, text, Target::Cubin(capability), &options) {
        Ok(compiled) => compiled,
        Err(error) => return vec![format!("{what}: {error}")],
    };
    let usage = compiled.usage();
    let fault = |stage: &Stage| {
        let entry = program.entry(stage);
        let Some(kernel) = usage.iter().find(|kernel| kernel.name == entry) else {
            return Some(format!("{what}: no entry point {entry}"));
        };
        let beyond = kernel.spill_store_bytes + kernel.spill_load_bytes + kernel.stack_bytes;
        let fits = kernel.registers * stage.threads as usize <= REGISTERS;
        (beyond > 0 || !fits).then(|| format!("{what}: {} threads of {kernel:?}", stage.threads))
    };
    program.stages.iter().filter_map(fault).collect()
}
