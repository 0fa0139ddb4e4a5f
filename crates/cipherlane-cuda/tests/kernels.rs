//! Every default kernel through NVRTC, for seven capabilities, with no GPU: it compiles, and neither spills registers nor
//! needs a stack.
//!
//! All of them take half an hour of a CPU. So `kernels/known.txt` names those that were compiled and found clean, by their
//! text and the compiler's version, and what it does not name is compiled here: a kernel that was changed always is.
//! `KERNELS=aes-128-gcm` picks algorithms by a part of their name, `EVERY=1` compiles what is known as well,
//! `KNOWN=write` takes down what is found clean.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

#[path = "../../cipherlane-kernels/tests/known/mod.rs"]
mod known;

use std::collections::BTreeMap;

use cipherlane_core::{Algorithm, Shape};
use cipherlane_cuda::compile::{Compiler, Target};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::{self, Program, Stage, programs};
use cipherlane_kernels::probe::{Kernel, Steps};
use known::{Known, Reader, Task};

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

/// Compiled even where they are known, so that every run sees each capability's compiler at work.
const ALWAYS: [&str; 2] = ["aes-128-ctr", "sha3-256"];

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/known.txt");
const ABOUT: &str = "\
# Made by `EVERY=1 KNOWN=write cargo test -p cipherlane-cuda --test kernels`: algorithms and capabilities for which the
# default programs need no local memory, and a hash of all their texts.
";

/// The default programs of an algorithm for a capability, with their texts.
struct Defaults {
    capability: u32,
    programs: Vec<(String, Program)>,
}

/// The first programs of all shapes. Those that differ in their name and in the size of tiles alone are one.
fn task(algorithm: Algorithm, capability: u32, shared_bytes: u32) -> Task<Defaults> {
    let compute = Some((capability / 10, capability % 10));
    let target = manifest::Target { compute, shared_bytes, threads: 1024, banked: true };
    let mut texts = BTreeMap::new();
    for &operation in algorithm.operations() {
        for shared_key in [true, false] {
            for (messages, bytes) in manifest::SIZES {
                let shape = Shape::uniform(algorithm, operation, messages, bytes, shared_key);
                let program = programs(&shape, &target).into_iter().next();
                let program = program.unwrap_or_else(|| panic!("no program for {algorithm} {operation}"));
                assert!(program.constant_time, "{}: the default depends on secrets", program.kernel);
                let text = flatten::text(&program);
                let read = Reader::NVRTC.read(&text);
                let counts =
                    |line: &&str| !line.starts_with("#define PROGRAM ") && !line.starts_with("#define TILE ");
                texts.entry(read.lines().filter(counts).collect::<String>()).or_insert((text, program));
            }
        }
    }
    let key = flatten::key(texts.keys().map(String::as_str).collect::<String>());
    let what = Defaults { capability, programs: texts.into_values().collect() };
    Task { name: format!("{algorithm} sm_{capability}"), key, what }
}

#[test]
fn the_default_kernels_compile_without_spills() {
    let Some(compiler) = compiler() else { return };
    let filter = std::env::var("KERNELS").unwrap_or_default();
    let mut tasks = Vec::new();
    for (capability, shared_bytes) in CAPABILITIES {
        if !compiler.architectures().contains(&capability) {
            assert!(
                std::env::var_os("CIPHERLANE_REQUIRE_NVRTC").is_none(),
                "NVRTC does not know sm_{capability}"
            );
            eprintln!("NOT CHECKED: kernels for sm_{capability}: NVRTC does not know it");
            continue;
        }
        let wanted = Algorithm::all().filter(|algorithm| algorithm.to_string().contains(&filter));
        tasks.extend(wanted.map(|algorithm| task(algorithm, capability, shared_bytes)));
    }
    assert!(!tasks.is_empty(), "no kernel was asked for: KERNELS={filter} names none");
    let (major, minor) = compiler.version();
    let faults =
        Known::read(LIST, ABOUT, format!("NVRTC {major}.{minor}")).check(&tasks, &ALWAYS, |defaults| {
            let programs = defaults.programs.iter();
            programs
                .flat_map(|(text, program)| check(&compiler, defaults.capability, text, program))
                .collect()
        });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
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

/// Every probe, as it fills a multiprocessor; products of matrices of bits came with capability 8.0.
#[test]
fn probes_compile_without_spills() {
    let Some(compiler) = compiler() else { return };
    let options = ["-std=c++17".to_owned()];
    let compile = |steps: Steps, target| {
        let text = Kernel::new(steps, false, 1024).text();
        compiler.compile(steps.name(), &text, target, &options)
    };
    for steps in Steps::ALL {
        let usage = compile(steps, Target::Cubin(90)).unwrap().usage();
        let [kernel] = &usage[..] else { panic!("{steps:?}: {usage:?}") };
        let beyond = kernel.spill_store_bytes + kernel.spill_load_bytes + kernel.stack_bytes;
        assert!(beyond == 0 && kernel.registers * 1024 <= REGISTERS, "{steps:?}: {kernel:?}");
    }
    assert!(compile(Steps::Xor, Target::Cubin(75)).is_ok());
    let refused = compile(Steps::MatrixBits, Target::Cubin(75)).unwrap_err();
    assert!(refused.to_string().contains("capability 8.0"), "{refused}");
}
