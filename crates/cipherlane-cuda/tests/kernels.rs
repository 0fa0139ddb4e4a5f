//! Every kernel of the manifest through NVRTC, for seven capabilities, with no GPU. Defaults neither spill registers nor
//! need a stack; of the others, which a wish has to name, it is said if they do.
//!
//! All of them take hours of a CPU. So `kernels/known.txt` names those that were compiled and found right, by their text
//! and the compiler's version, and what it does not name is compiled here: a kernel that was changed always is.
//! `KERNELS=aes-128-gcm` picks algorithms by a part of their name, `EVERY=1` compiles what is known as well,
//! `KNOWN=write` takes down what is found right, and keeps what the list has and still holds.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

#[path = "../../cipherlane-kernels/tests/known/mod.rs"]
mod known;

use std::collections::BTreeMap;

use cipherlane_core::{Algorithm, Shape};
use cipherlane_cuda::compile::{CompileError, Compiled, Compiler, KernelUsage, Target};
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
# Made by `KNOWN=write cargo test -p cipherlane-cuda --test kernels`: algorithms and capabilities, and hashes of the texts of
# programs that compile for them; of defaults, that need no local memory besides.
";

/// A program for a capability.
struct Candidate {
    capability: u32,
    program: Program,
    text: String,
    /// Whether a plan has it where nobody wishes otherwise.
    is_default: bool,
}

/// The programs of all shapes for a capability. Those that differ in their name and in the size of tiles alone are one.
fn tasks_of(algorithm: Algorithm, capability: u32, shared_bytes: u32) -> Vec<Task<Candidate>> {
    let compute = Some((capability / 10, capability % 10));
    let target = manifest::Target { compute, shared_bytes, threads: 1024, banked: true };
    let mut candidates: BTreeMap<String, Candidate> = BTreeMap::new();
    for &operation in algorithm.operations() {
        for shared_key in [true, false] {
            for (messages, bytes) in manifest::SIZES {
                let shape = Shape::uniform(algorithm, operation, messages, bytes, shared_key);
                let programs = programs(&shape, &target);
                assert!(!programs.is_empty(), "no program for {algorithm} {operation}");
                for (place, program) in programs.into_iter().enumerate() {
                    let text = flatten::text(&program);
                    let is_default = place == 0;
                    assert!(program.constant_time || !is_default, "{}: depends on secrets", program.kernel);
                    let found = candidates.entry(essence(&text)).or_insert_with(|| Candidate {
                        capability,
                        program,
                        text,
                        is_default,
                    });
                    found.is_default |= is_default;
                }
            }
        }
    }
    let task = |(essence, what): (String, Candidate)| {
        let others = if what.is_default { "" } else { "others of " };
        Task { name: format!("{others}{algorithm} sm_{capability}"), key: flatten::key(essence), what }
    };
    candidates.into_iter().map(task).collect()
}

/// What the compiler makes different code of: not names, not tiles, and not what is defined and never used.
fn essence(text: &str) -> String {
    let read = Reader::NVRTC.read(text);
    let words: Vec<&str> = read.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let counts = |line: &&str| {
        let name = line.strip_prefix("#define ").and_then(|rest| rest.split_whitespace().next());
        name.is_none_or(|name| {
            !["PROGRAM", "TILE"].contains(&name) && words.iter().filter(|word| **word == name).count() > 1
        })
    };
    // The program's own defines stand on top; all others are of its files.
    let is_own = |line: &&str| line.starts_with("#define ");
    let own = read.lines().take_while(is_own).filter(counts);
    own.chain(read.lines().skip_while(is_own)).collect()
}

#[test]
fn every_kernel_compiles_and_defaults_without_spills() {
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
        tasks.extend(wanted.flat_map(|algorithm| tasks_of(algorithm, capability, shared_bytes)));
    }
    assert!(!tasks.is_empty(), "no kernel was asked for: KERNELS={filter} names none");
    let mut known = Known::read(LIST, ABOUT, under(&compiler));
    let faults = known.check(&tasks, &ALWAYS, |candidate| check(&compiler, candidate));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Under what lists hold.
fn under(compiler: &Compiler) -> String {
    let (major, minor) = compiler.version();
    format!("NVRTC {major}.{minor}")
}

/// Bytes that a kernel has in local memory, or moves there: what registers had no room for.
const fn local_bytes(kernel: &KernelUsage) -> usize {
    kernel.spill_store_bytes + kernel.spill_load_bytes + kernel.stack_bytes
}

/// What is wrong with each stage of the program.
fn check(compiler: &Compiler, candidate: &Candidate) -> Vec<String> {
    let Candidate { capability, program, text, is_default } = candidate;
    let what = format!("{} {} for sm_{capability}", program.kernel, program.operation);
    let options = ["-std=c++17".to_owned()];
    let compiled = match compiler.compile(&program.kernel, text, Target::Cubin(*capability), &options) {
        Ok(compiled) => compiled,
        Err(error) => return vec![format!("{what}: {error}")],
    };
    let usage = compiled.usage();
    let fault = |stage: &Stage| {
        let entry = program.entry(stage);
        let Some(kernel) = usage.iter().find(|kernel| kernel.name == entry) else {
            return Some(format!("{what}: no entry point {entry}"));
        };
        let fits = kernel.registers * stage.threads as usize <= REGISTERS;
        let beyond = local_bytes(kernel);
        if beyond > 0 && !is_default {
            known::say(&format!("{what}, no default: {} threads of {kernel:?}", stage.threads));
        }
        (!fits || beyond > 0 && *is_default)
            .then(|| format!("{what}: {} threads of {kernel:?}", stage.threads))
    };
    program.stages.iter().filter_map(fault).collect()
}

const PROBES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/probes.txt");
const ABOUT_PROBES: &str = "\
# Made by `KNOWN=write cargo test -p cipherlane-cuda --test kernels`: probes, and hashes of their texts, that compile for sm_90
# and need no local memory besides.
";

/// Every probe, as it fills a multiprocessor.
#[test]
fn probes_compile_without_spills() {
    let Some(compiler) = compiler() else { return };
    let task = |what: Steps| Task { name: what.name().to_owned(), key: flatten::key(probe(what)), what };
    let tasks = Steps::ALL.map(task);
    let mut known = Known::read(PROBES, ABOUT_PROBES, under(&compiler));
    let faults = known.check(&tasks, &[Steps::Xor.name()], |&steps| {
        let usage = match compile_probe(&compiler, steps, 90) {
            Ok(compiled) => compiled.usage(),
            Err(error) => return vec![format!("{steps:?}: {error}")],
        };
        let [kernel] = &usage[..] else { return vec![format!("{steps:?}: {usage:?}")] };
        let fits = local_bytes(kernel) == 0 && kernel.registers * 1024 <= REGISTERS;
        if fits { Vec::new() } else { vec![format!("{steps:?}: {kernel:?}")] }
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Products of matrices of bits came with capability 8.0.
#[test]
fn probes_are_refused_where_they_cannot_run() {
    let Some(compiler) = compiler() else { return };
    assert!(compile_probe(&compiler, Steps::Xor, 75).is_ok());
    let refused = compile_probe(&compiler, Steps::MatrixBits, 75).unwrap_err();
    assert!(refused.to_string().contains("capability 8.0"), "{refused}");
}

fn probe(steps: Steps) -> String {
    Kernel::new(steps, false, 1024).text()
}

fn compile_probe(compiler: &Compiler, steps: Steps, capability: u32) -> Result<Compiled, CompileError> {
    compiler.compile(steps.name(), &probe(steps), Target::Cubin(capability), &["-std=c++17".to_owned()])
}
