//! What the manifest says that a kernel takes is what its text says: shared memory, rows of the workspace, threads of an item.
//!
//! Runtimes go by the manifest. No compiler holds it against the text, and one word of shared memory too few shows, if at
//! all, as a wrong tag.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests fail as tests do

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use cipherlane_core::{Algorithm, Shape};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::{Program, SIZES, Target, programs};

/// Where a block has few threads, and most are no number that a kernel is written for.
const FEW_THREADS: Target =
    Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 384 + 16, banked: true };

/// What of a kernel's form depends on its target: tensor cores, room for tables, registers, threads.
const TARGETS: [Target; 5] = [
    FEW_THREADS,
    Target::CPU,
    Target { compute: Some((8, 6)), shared_bytes: 99 << 10, threads: 1024, banked: true },
    Target { compute: Some((9, 0)), shared_bytes: 227 << 10, threads: 1024, banked: true },
    Target { compute: Some((12, 0)), shared_bytes: 99 << 10, threads: 1024, banked: true },
];

/// A size as the text spells it, and as the manifest says.
type Size = (String, u64);

/// The bytes that entry point `entry` of `text` asks for, 0 if it asks for none.
fn shared<'a>(text: &'a str, entry: &str) -> &'a str {
    let (_, body) = text.split_once(&format!(" ENTRY({entry})(ARGUMENTS) {{\n")).unwrap();
    let first = body.lines().next().unwrap_or_default().trim();
    first.strip_prefix("SHARED(shared, ").and_then(|rest| rest.strip_suffix(");")).unwrap_or("0")
}

fn sizes(program: &Program, text: &str) -> Vec<Size> {
    let mut sizes = Vec::new();
    for stage in &program.stages {
        sizes.push((shared(text, stage.entry).to_owned(), stage.shared_bytes.into()));
        if 1 < stage.threads_per_item && stage.threads_per_item < stage.threads {
            let name = if program.source.contains("quad") { "QUAD" } else { "LANES" };
            sizes.push((name.to_owned(), stage.threads_per_item.into()));
        }
    }
    let rows = program.workspace;
    let hash = if program.source == "entry/gcm_message.c" { "BLOCK_BYTES" } else { "4 * GHASH_ROW" };
    let state = if program.source == "entry/xts.c" { "BLOCK_BYTES" } else { "4 * STATE_ROW" };
    let schedule = "4 * SCHEDULE_ROW * KEYS_IN_ONE";
    let rows =
        [(schedule, rows.schedule), (hash, rows.hash), (state, rows.state), ("BLOCK_BYTES", rows.chain)];
    // Rows that a program has no use for its text need not name.
    sizes.extend(
        rows.into_iter().filter(|(_, bytes)| *bytes > 0).map(|(name, bytes)| (name.to_owned(), bytes)),
    );
    sizes
}

/// `text` with a line for each of `sizes` by which it does not compile unless they are so.
fn asserting(program: &Program, text: &str, sizes: &[Size]) -> String {
    // Of what OpenCL and host C need in place of a shuffle, CUDA needs nothing.
    let mut text = format!("{text}\n#undef GROUP_SCRATCH\n#define GROUP_SCRATCH(threads) 0\n");
    if program.defines.contains(&("TABLES", "0".to_owned())) {
        // OpenCL has no empty arrays.
        text += "_Static_assert(CIPHER_SHARED == 16, \"no tables\");\n#undef CIPHER_SHARED\n#define CIPHER_SHARED 0\n";
    }
    for (name, bytes) in sizes {
        text += &format!("_Static_assert(({name}) == {bytes}, \"{name} is not {bytes}\");\n");
    }
    text
}

/// What the system's C compiler, `$CC` or else `cc`, says of `text`.
fn compile(text: &str) -> Result<String, std::io::Error> {
    let name = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut child = Command::new(name)
        .args(["-std=gnu11", "-w", "-fsyntax-only", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(if output.status.success() {
        String::new()
    } else {
        said.lines().take(8).collect::<Vec<_>>().join("\n")
    })
}

/// Every algorithm each way, under one key and with a key each, of all sizes of the manifest.
fn shapes() -> impl Iterator<Item = Shape> {
    Algorithm::all().flat_map(|algorithm| {
        let operations =
            algorithm.operations().iter().flat_map(|&operation| [(operation, true), (operation, false)]);
        operations.flat_map(move |(operation, shared)| {
            SIZES.map(|(messages, bytes)| Shape::uniform(algorithm, operation, messages, bytes, shared))
        })
    })
}

/// Every program whose sizes may be its own, once.
fn asserted() -> Vec<Program> {
    let mut seen = BTreeSet::new();
    let mut all: Vec<Program> =
        shapes().flat_map(|shape| TARGETS.map(|target| programs(&shape, &target))).flatten().collect();
    all.retain(|program: &Program| {
        let mut defines = program.defines.clone();
        // No size depends on these: what of them goes into shared memory is `MOST_TILE`.
        defines.retain(|(name, _)| !["PROGRAM", "TILE", "INVERSE", "INVERSE_CIPHER"].contains(name));
        let sizes = sizes(program, &flatten::text(program));
        seen.insert(format!("{} {defines:?} {sizes:?}", program.source))
    });
    all
}

/// What is wrong with the sizes of `program`, if anything is.
fn fault(program: &Program) -> Option<String> {
    let text = flatten::text(program);
    let said = compile(&asserting(program, &text, &sizes(program, &text))).unwrap();
    (!said.is_empty()).then(|| format!("{} {}: {said}", program.kernel, program.operation))
}

#[test]
fn blocks_have_whole_steps_of_threads_where_a_target_has_few() {
    let mut seen = BTreeSet::new();
    let targets = [200, 384, FEW_THREADS.threads].map(|threads| Target { threads, ..FEW_THREADS });
    for shape in shapes() {
        for program in targets.iter().flat_map(|target| programs(&shape, target)) {
            for stage in &program.stages {
                assert!(program.threads.take(stage.threads), "{}: {} threads", program.kernel, stage.threads);
            }
            let threads = program.threads.most.to_string();
            assert!(program.defines.contains(&("THREADS", threads)), "{}", program.kernel);
            seen.insert((program.variant, program.threads.most));
        }
    }
    // In units of 256 threads, in pairs of 32, and by 32.
    for (variant, threads) in
        [("banked4-mma", 256), ("banked4-split", 256), ("banked4-mma-records", 384), ("banked4", 384)]
    {
        assert!(seen.contains(&(variant.to_owned(), threads)), "{variant}: {seen:?}");
    }
}

#[test]
fn the_manifest_has_the_sizes_of_the_text() {
    if let Err(reason) = compile("") {
        assert!(std::env::var_os("CIPHERLANE_CI").is_none(), "no C compiler: {reason}");
        return println!("NOT CHECKED: sizes of kernels: {reason}");
    }
    let programs = asserted();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let faults: Vec<String> = thread::scope(|scope| {
        let share = |first| programs.iter().skip(first).step_by(threads).filter_map(fault);
        let shares: Vec<_> =
            (0..threads).map(|first| scope.spawn(move || share(first).collect::<Vec<_>>())).collect();
        shares.into_iter().flat_map(|share| share.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
