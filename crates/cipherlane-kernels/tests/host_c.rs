//! Every kernel as host C, in all modes and key lengths, under the address and undefined-behaviour sanitizers, against the
//! reference.
//!
//! A block is 64 POSIX threads or more, so barriers, groups and races are real. All kernels take many minutes, so
//! `host/known.txt` names those that were found right, and what it does not name is checked here: a kernel that was
//! changed always is. The list holds for texts and what they are given, whatever the compiler: another one finds no other
//! faults in them as a rule, and the algorithms of `ALWAYS` meet it. `HOST_KERNELS=aes-128-gcm` picks algorithms by a part of
//! their name, `EVERY=1` checks what is known as well, `KNOWN=write` takes down what is found right.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)] // helpers of tests fail as tests do

#[path = "host/build.rs"]
mod build;
#[path = "host/case.rs"]
mod case;
#[path = "host/check.rs"]
mod check;
#[path = "host/job.rs"]
mod job;
mod known;
#[path = "host/steps.rs"]
mod steps;

use std::sync::Arc;

use build::Compiler;
use case::{Case, Results, Texts, drawn, short};
use check::{check, harness, key};
use cipherlane_core::{Algorithm, Shape, Source};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::{Program, Target, programs};
use job::{Job, Layout};
use known::{Known, Reader, Task};
use steps::Traced;

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/host/known.txt");
const ABOUT: &str = "\
# Made by `EVERY=1 KNOWN=write cargo test -p cipherlane-kernels --test host_c`: programs that came out right as host C under
# sanitizers. A hash of the text of the check, then hashes of programs with what they were given.
";

/// Checked even where they are known, so that every run sees the compiler and its sanitizers at work.
const ALWAYS: [&str; 2] = ["aes-128-ecb", "sha3-256"];

/// Threads of a block where kernels are not written for more: host C runs each by itself.
const FEW_THREADS: u32 = 64;

/// Small tiles, so that short messages have several.
const TILE: u64 = 256;

/// GPUs with room for four tables beside a matrix, and for two (capability 8.6).
const TARGETS: [Target; 2] = [
    Target { compute: Some((8, 0)), ..Target::CPU },
    Target { compute: Some((8, 6)), shared_bytes: 99 << 10, ..Target::CPU },
];

/// A program, and what is run on it.
struct Trial {
    program: Program,
    drawn: Arc<(Case, Results)>,
}

/// Every program that some size of messages brings up, with small tiles, and with few threads where it can.
fn every_program(shape: &Shape) -> Vec<Program> {
    let mut all: Vec<Program> = Vec::new();
    let sizes =
        [64, 16 << 10, 1 << 30].into_iter().flat_map(|longest| TARGETS.map(|target| (longest, target)));
    for (longest, target) in sizes {
        for program in programs(&Shape { longest, messages: 0, ..*shape }, &target) {
            let threads =
                if program.stages.iter().any(|stage| stage.threads_per_item > 32) { 256 } else { 64 };
            let program = program.with_threads(threads).with_tile(TILE);
            if !all.iter().any(|other| flatten::text(other) == flatten::text(&program)) {
                all.push(program);
            }
        }
    }
    all
}

/// The algorithms that were asked for.
fn wanted() -> impl Iterator<Item = Algorithm> {
    let filter = std::env::var("HOST_KERNELS").unwrap_or_default();
    Algorithm::all().filter(move |algorithm| algorithm.to_string().contains(&filter))
}

fn task(program: Program, drawn: &Arc<(Case, Results)>, texts: &str) -> Task<Trial> {
    let keys = if program.shared_key { "one key" } else { "a key each" };
    Task {
        name: format!("{} {} of {texts}, {keys}", program.algorithm, program.operation),
        key: key(&program, &drawn.0, &drawn.1),
        what: Trial { program, drawn: Arc::clone(drawn) },
    }
}

/// Every program with messages of all lengths up to some kilobytes.
fn short_messages(algorithm: Algorithm) -> Vec<Task<Trial>> {
    let mut tasks = Vec::new();
    for &operation in algorithm.operations() {
        for shared_key in [true, false] {
            let drawn = Arc::new(drawn(algorithm, operation, shared_key, &short(algorithm)));
            let programs = every_program(&drawn.0.shape());
            tasks.extend(programs.into_iter().map(|program| task(program, &drawn, "short messages")));
        }
    }
    tasks
}

/// Kernels for long messages have work for several units of their inner loops only where messages are longer than
/// those above.
fn long_messages(algorithm: Algorithm) -> Vec<Task<Trial>> {
    // All but the last are aligned, as tensor cores want them. In GCM nonces have 12 bytes, 12, 16, 1, 17, 60, and so on.
    let lengths = [16 * 9000, 16 * 777, 16 * 4096, 16 * 1300, 0, 16 * 300, 16 * 777 + 5, 16 * 13_000 + 1];
    let texts = Texts { start: 16, lengths: lengths.to_vec() };
    let cases =
        [("aes-128-ctr", true), ("aes-128-ctr", false), ("aes-256-gcm", true), ("aes-256-gcm", false)];
    let mut tasks = Vec::new();
    for (_, shared_key) in cases.into_iter().filter(|(name, _)| *name == algorithm.to_string()) {
        let drawn = Arc::new(drawn(algorithm, algorithm.forward(), shared_key, &texts));
        let shape = Shape { longest: 1 << 30, messages: 0, ..drawn.0.shape() };
        let mut programs: Vec<Program> = TARGETS.iter().flat_map(|target| programs(&shape, target)).collect();
        let is_counted = |program: &Program| program.variant.ends_with("-counted");
        programs.retain(|program| {
            program.threads.step > FEW_THREADS || program.variant.contains("mma") || is_counted(program)
        });
        assert!(!programs.is_empty(), "{algorithm} has no kernel for long messages");
        for program in programs {
            let threads = if program.threads.step > FEW_THREADS { 512 } else { FEW_THREADS };
            // As batches of more have them: with several blocks for each lowest byte of a counter.
            let most = program.most_tile();
            let program = if is_counted(&program) { program.with_tile(most) } else { program };
            tasks.push(task(program.with_threads(threads), &drawn, "long messages"));
        }
    }
    tasks
}

#[test]
fn kernels_agree_with_the_reference() {
    let Some(compiler) = Compiler::find() else { return };
    let of = |algorithm| short_messages(algorithm).into_iter().chain(long_messages(algorithm));
    let tasks: Vec<Task<Trial>> = wanted().flat_map(of).collect();
    assert!(!tasks.is_empty(), "no kernel was asked for: HOST_KERNELS names none");
    let faults = Known::read(LIST, ABOUT, harness()).check(&tasks, &ALWAYS, |trial| {
        let (case, wanted) = &*trial.drawn;
        let fault = check(&compiler, &trial.program, case, wanted).err();
        fault.map(|fault| format!("{}: {fault}", trial.program.algorithm)).into_iter().collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// J0 is a secret where it is hashed from the nonce: what a kernel of GCM runs is the same wherever its counters carry.
#[test]
fn no_step_depends_on_a_secret_counter() {
    if Compiler::find().is_none() {
        return;
    }
    // Aligned, as tensor cores want them. The nonces of the third and the ninth have 16 bytes.
    let texts = Texts { start: 16, lengths: vec![16, 32, 16 * 600, 0, 16, 16, 112, 96, 16 * 40 + 5] };
    let mut faults = Vec::new();
    for (name, shared_key) in [("aes-128-gcm", true), ("aes-128-gcm", false), ("sm4-gcm", true)] {
        let algorithm: Algorithm = name.parse().unwrap();
        let (mut case, _) = drawn(algorithm, algorithm.forward(), shared_key, &texts);
        for program in every_program(&case.shape()) {
            let traced = Traced::build(&program).unwrap();
            // Far from any carry; then with one of the low byte, of the low half, and of the whole word.
            let steps = [0xab_cd00, 0xab_cdf0, 0xab_fff0, u32::MAX - 3].map(|counter| {
                case.count_from(&[counter]);
                traced.steps(job(&program, &case).bytes()).unwrap()
            });
            if steps.iter().any(|other| *other != steps[0]) {
                faults.push(format!("{}, {} threads", program.kernel, program.stages[0].threads));
            }
        }
    }
    assert!(faults.is_empty(), "what they run depends on J0: {}", faults.join("; "));
}

/// The whole case in one launch of each stage.
fn job(program: &Program, case: &Case) -> Job {
    let mut results = Results::room(case, case.untouched());
    let layout = Layout { blocks: 1, cuts: 1, ordered: false };
    Job::new(program, &case.batch(Source::Apart(&case.text)), &results.output(), layout)
}

/// What the check rests on: faults that kernels could have end a program, and its message names them.
#[test]
fn sanitizers_find_faults() {
    let Some(compiler) = Compiler::find() else { return };
    // The first is found by whichever comes first: the address sanitizer, or from GCC 13 on the check of objects' sizes.
    let faults: [(&str, &[&str]); 4] = [
        ("char *p = malloc(argc); return p[argc];", &["heap-buffer-overflow", "insufficient space"]),
        ("static int a[16]; return a[argc + 15];", &["out of bounds"]),
        ("return 1 << (argc + 31);", &["shift exponent"]),
        ("int *p = (int *)((char *)malloc(16) + argc); return *p;", &["misaligned"]),
    ];
    for (fault, names) in faults {
        let text = format!("#include <stdlib.h>\nint main(int argc, char **argv) {{ {fault} }}\n");
        let said = compiler.build_text(&text).unwrap().run(&[]).unwrap_err();
        assert!(names.iter().any(|name| said.contains(name)), "{fault}: {said}");
    }
}

/// What lists rest on: only what came out right is taken down, and a list made under something else has nothing.
#[test]
fn lists_hold_what_came_out_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    std::fs::write(&path, "# about\nhere\nkernel: 1 2\nanother: 3\n").unwrap();
    let task = |name: &str, key: &str, what: bool| Task { name: name.to_owned(), key: key.to_owned(), what };
    let tasks = [task("kernel", "1", true), task("kernel", "4", true), task("another", "5", false)];
    let mut known = Known::read(&path, "# about\n", "here".to_owned());
    assert_eq!(tasks.each_ref().map(|task| known.has(task)), [true, false, false]);
    let faults = known.check(&tasks, &[], |&right| if right { Vec::new() } else { vec!["wrong".to_owned()] });
    assert_eq!(faults, ["wrong"]);
    assert_eq!(tasks.each_ref().map(|task| known.has(task)), [true, true, false]);
    // Neither is asked for any more.
    assert!(!known.has(&task("kernel", "2", true)) && !known.has(&task("another", "3", true)));
    // Checked again where it always is; what then turns out wrong is struck off.
    let again = known.check(&[task("kernel", "1", false)], &["ker"], |_| vec!["wrong".to_owned()]);
    assert_eq!((again.len(), known.has(&tasks[0])), (1, false));
    let elsewhere = Known::read(&path, "# about\n", "elsewhere".to_owned());
    assert!(!elsewhere.has(&task("kernel", "1", true)));
    assert_eq!(elsewhere.elsewhere.as_deref(), Some("here"));
    // What no time is left for is a fault.
    let late = elsewhere.within(std::time::Duration::ZERO).check(&tasks[..1], &[], |_| Vec::new());
    assert!(late[0].contains("no time was left"), "{late:?}");
}

/// What keys are made of: what a compiler does not read is none of what it was seen to do.
#[test]
fn a_compiler_reads_its_own_branches() {
    let text = "\
one
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
two
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
three
#endif
#elif defined(__OPENCL_VERSION__)
four
#ifdef __clang__
five
#else
six
#endif
#else
seven
#endif
#ifndef EIGHT
eight
#endif
";
    let end = "#ifndef EIGHT\neight\n#endif\n";
    let cuda = "two\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\nthree\n#endif\n";
    for (reader, own) in [(Reader::NVRTC, cuda), (Reader::POCL, "four\nfive\n"), (Reader::HOST, "seven\n")] {
        assert_eq!(reader.read(text), format!("one\n{own}{end}"));
    }
}
