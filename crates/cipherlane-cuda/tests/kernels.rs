//! Every default kernel through NVRTC, with no GPU: it compiles, and neither spills registers nor needs a stack.
//!
//! `KERNELS=aes-128-gcm` picks algorithms by a part of their name, `EVERY=1` takes all of them for every
//! capability.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

use std::collections::BTreeMap;

use cipherlane_core::{Algorithm, Cipher, Mode, Shape};
use cipherlane_cuda::compile::{Compiler, Target};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::{self, Program, Stage, programs};
use cipherlane_kernels::probe::{Kernel, Steps};

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

/// Whether `algorithm` is compiled for `capability` unless everything is: sm_90 has every mode of AES-128, the modes of
/// least and most registers of the other ciphers, and each core of a hash; the others what fills registers most.
fn chosen(algorithm: Algorithm, capability: u32) -> bool {
    const CORES: [&str; 3] = ["sha-256", "sha-512", "sha3-256"];
    const MOST: [&str; 3] = ["aes-256-gcm", "sm4-ecb", "sha3-256"];
    let name = algorithm.to_string();
    if capability != 90 {
        return MOST.contains(&name.as_str());
    }
    let Algorithm::Cipher(cipher, mode) = algorithm else { return CORES.contains(&name.as_str()) };
    cipher == Cipher::Aes128 || (cipher.key_bytes() == 16 && matches!(mode, Mode::Ecb | Mode::Gcm))
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
