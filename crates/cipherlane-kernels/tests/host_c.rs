//! Every kernel as host C, under the address and undefined-behaviour sanitizers, against the reference.
//!
//! A block is 32 to 64 POSIX threads, so barriers, groups and races are real. `HOST_KERNELS=aes-128-gcm` picks algorithms by
//! a part of their name, `EVERY=1` takes every mode of every key length.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // helpers of tests fail as tests do

#[path = "host/build.rs"]
mod build;
#[path = "host/job.rs"]
mod job;

use build::{Compiler, run};
use cipherlane_core::{
    Algorithm, Batch, Cipher, Column, Device, Messages, Mode, Operation, Output, Ragged, Shape, Source,
    TagLengths, Wish,
};
use cipherlane_kernels::flatten;
use cipherlane_kernels::manifest::{Program, Target, programs};
use cipherlane_reference::Reference;
use job::{Job, Layout};

/// Small tiles, so that short messages have several.
const TILE: u64 = 256;

/// Lengths around blocks, lanes, tiles, and what a thread has in flight.
const LENGTHS: [usize; 26] = [
    0,
    1,
    16,
    15,
    17,
    0,
    31,
    32,
    48,
    100,
    511,
    512,
    513,
    1023,
    1024,
    1025,
    1040,
    2048,
    2100,
    16,
    4111,
    16 * 65,
    33,
    64,
    160,
    16 * 600 + 5,
];

struct Random(u64);

impl Random {
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count)
            .map(|_| {
                self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                self.0.to_be_bytes()[0]
            })
            .collect()
    }
}

/// A batch's columns, and how they are laid out.
struct Case {
    algorithm: Algorithm,
    operation: Operation,
    offsets: Vec<u64>,
    text: Vec<u8>,
    keys: Vec<u8>,
    nonces: Vec<u8>,
    nonce_offsets: Vec<u64>,
    aad: Vec<u8>,
    aad_offsets: Vec<u64>,
    tag_lengths: Vec<u8>,
    tags: Vec<u8>,
    shared_key: bool,
    digest_bytes: usize,
}

/// Where messages lie: one after another from byte `start`.
struct Texts {
    start: usize,
    lengths: Vec<usize>,
}

/// Those of the short case that the mode takes. Neither words nor blocks are aligned unless lengths are.
fn short(algorithm: Algorithm) -> Texts {
    let fit = |&length: &usize| match algorithm.mode() {
        Some(Mode::Ecb | Mode::Cbc) => Some(length / 16 * 16),
        Some(Mode::Xts) if length < 16 => None,
        _ => Some(length),
    };
    let start = if matches!(algorithm.mode(), Some(Mode::Ecb)) { 16 } else { 3 };
    Texts { start, lengths: LENGTHS.iter().filter_map(fit).collect() }
}

fn prefix(lengths: &[usize], start: usize) -> Vec<u64> {
    let mut sum = start as u64;
    let mut offsets = vec![sum];
    for length in lengths {
        sum += *length as u64;
        offsets.push(sum);
    }
    offsets
}

impl Case {
    fn new(
        algorithm: Algorithm,
        operation: Operation,
        shared_key: bool,
        texts: &Texts,
        random: &mut Random,
    ) -> Self {
        let count = texts.lengths.len();
        let offsets = prefix(&texts.lengths, texts.start);
        let nonce_lengths: Vec<usize> =
            (0..count).map(|i| algorithm.nonce_bytes().unwrap_or([12, 12, 16, 1, 17, 60][i % 6])).collect();
        let aad_lengths: Vec<usize> =
            (0..count).map(|i| if algorithm.is_aead() { [0, 17, 33, 5, 16, 0][i % 6] } else { 0 }).collect();
        let nonce_offsets = prefix(&nonce_lengths, 0);
        let aad_offsets = prefix(&aad_lengths, 0);
        let mut nonces = random.bytes(nonce_lengths.iter().sum());
        // A counter about to wrap: all of it, and its last word.
        if algorithm.mode() == Some(Mode::Ctr) && count > 24 {
            nonces[16 * 20..16 * 21].fill(0xff);
            nonces[16 * 24 + 12..16 * 25].fill(0xff);
        }
        Self {
            algorithm,
            operation,
            text: random.bytes(usize::try_from(*offsets.last().unwrap()).unwrap() + 5),
            keys: random.bytes(algorithm.key_bytes() * if shared_key { 1 } else { count }),
            nonces,
            nonce_offsets,
            aad: random.bytes(aad_lengths.iter().sum()),
            aad_offsets,
            tag_lengths: (0..count).map(|i| [16, 12, 4, 8, 13, 14, 15][i % 7]).collect(),
            tags: vec![0; if operation == Operation::Open { 16 * count } else { 0 }],
            offsets,
            shared_key,
            digest_bytes: algorithm.hash().map_or(0, cipherlane_core::Hash::usual_digest_bytes),
        }
    }

    fn batch<'a>(&'a self, source: Source<'a>) -> Batch<'a> {
        let key = self.algorithm.key_bytes();
        let keys = if self.shared_key {
            Column::Shared(&self.keys)
        } else {
            Column::Each { bytes: &self.keys, width: key }
        };
        let nonces = match self.algorithm.nonce_bytes() {
            Some(0) => Column::EMPTY,
            Some(width) => Column::Each { bytes: &self.nonces, width },
            None => Column::Ragged(Ragged { bytes: &self.nonces, offsets: &self.nonce_offsets }),
        };
        let aead = self.algorithm.is_aead();
        let aad = if aead {
            Column::Ragged(Ragged { bytes: &self.aad, offsets: &self.aad_offsets })
        } else {
            Column::EMPTY
        };
        let tag_lengths =
            if aead { TagLengths::Each(&self.tag_lengths) } else { TagLengths::Same(self.digest_bytes) };
        let messages = Messages { source, offsets: &self.offsets };
        let (algorithm, operation, tags) = (self.algorithm, self.operation, &self.tags[..]);
        Batch { algorithm, operation, keys, nonces, aad, messages, tag_lengths, tags }
    }

    fn shape(&self) -> Shape {
        let longest = self.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let messages = self.offsets.len() - 1;
        Shape {
            bytes: *self.offsets.last().unwrap(),
            ..Shape::uniform(self.algorithm, self.operation, messages, longest, self.shared_key)
        }
    }

    /// Tags that are right but for one bit in every third.
    fn forge(&mut self, sealed: &Results) {
        self.text.clone_from(&sealed.text);
        self.tags.clone_from(&sealed.tags);
        for index in (1..self.offsets.len() - 1).step_by(3) {
            self.tags[16 * index + 3] ^= 0x10;
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Results {
    text: Vec<u8>,
    tags: Vec<u8>,
    accepted: Vec<bool>,
}

impl Results {
    /// Room for what `case` gives; texts start as `text`.
    fn room(case: &Case, text: Vec<u8>) -> Self {
        let count = case.offsets.len() - 1;
        let tag_bytes = match case.operation {
            Operation::Seal => 16 * count,
            Operation::Hash => case.digest_bytes * count,
            _ => 0,
        };
        let verdicts = if case.operation == Operation::Open { count } else { 0 };
        Self { text, tags: vec![0xcc; tag_bytes], accepted: vec![false; verdicts] }
    }

    fn output(&mut self) -> Output<'_> {
        Output { bytes: &mut self.text, tags: &mut self.tags, accepted: &mut self.accepted }
    }
}

fn expected(case: &Case) -> Results {
    let text = if case.operation == Operation::Hash { Vec::new() } else { vec![0x33; case.text.len()] };
    let mut results = Results::room(case, text);
    let device = Reference::new();
    let batch = case.batch(Source::Apart(&case.text));
    let plan = device.plan(&case.shape(), &Wish::default()).unwrap();
    device.open(&plan).unwrap().run(&batch, &mut results.output()).unwrap();
    results
}

/// Runs `case` on `program` and compares everything, bytes between and around messages included.
fn check(compiler: &Compiler, program: &Program, case: &Case, wanted: &Results) {
    let path = compiler.build(program);
    let layouts =
        [Layout { blocks: 1, cuts: 1, ordered: false }, Layout { blocks: 3, cuts: 3, ordered: true }];
    for (layout, in_place) in layouts.into_iter().zip([false, case.operation != Operation::Hash]) {
        let mut results = Results::room(case, if in_place { case.text.clone() } else { wanted_room(case) });
        let source = if in_place { Source::InPlace } else { Source::Apart(&case.text) };
        let batch = case.batch(source);
        let job = Job::new(program, &batch, &results.output(), layout);
        let what = format!("{} {} {layout:?} in place: {in_place}", program.kernel, case.operation);
        let written = run(&path, job.bytes()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(job.finish(&written, &mut results.output()), "{what}: output of another length");
        compare(case, wanted, &results, in_place, &what);
    }
}

fn wanted_room(case: &Case) -> Vec<u8> {
    if case.operation == Operation::Hash { Vec::new() } else { vec![0x33; case.text.len()] }
}

fn compare(case: &Case, wanted: &Results, results: &Results, in_place: bool, what: &str) {
    assert_eq!(results.accepted, wanted.accepted, "{what}: verdicts");
    for (index, (ours, theirs)) in results.tags.chunks(16).zip(wanted.tags.chunks(16)).enumerate() {
        assert_eq!(ours, theirs, "{what}: tag or digest at {}", 16 * index);
    }
    if case.operation == Operation::Hash {
        return;
    }
    for (index, pair) in case.offsets.windows(2).enumerate() {
        let range = usize::try_from(pair[0]).unwrap()..usize::try_from(pair[1]).unwrap();
        let (ours, theirs) = (&results.text[range.clone()], &wanted.text[range]);
        let first = ours.iter().zip(theirs).position(|(a, b)| a != b);
        assert_eq!(first, None, "{what}: message {index} of {} bytes, first wrong byte", theirs.len());
    }
    let start = usize::try_from(case.offsets[0]).unwrap();
    let end = usize::try_from(*case.offsets.last().unwrap()).unwrap();
    let around = if in_place { &case.text } else { &wanted.text };
    assert_eq!(results.text[..start], around[..start], "{what}: bytes before");
    assert_eq!(results.text[end..], around[end..], "{what}: bytes after");
}

/// The case, and what the reference makes of it; `open` gets what `seal` made, some of it damaged.
fn drawn(algorithm: Algorithm, operation: Operation, shared_key: bool, texts: &Texts) -> (Case, Results) {
    let random = || Random(0x1234_5678 + u64::from(shared_key));
    let mut case = Case::new(algorithm, operation, shared_key, texts, &mut random());
    if operation == Operation::Open {
        let sealed = expected(&Case::new(algorithm, Operation::Seal, shared_key, texts, &mut random()));
        case.forge(&sealed);
    }
    let wanted = expected(&case);
    (case, wanted)
}

/// Every program that some size of messages brings up, with small tiles, and with few threads where it can.
fn every_program(shape: &Shape) -> Vec<Program> {
    let mut all: Vec<Program> = Vec::new();
    for longest in [64, 16 << 10, 1 << 30] {
        let target = Target { compute: Some((8, 0)), ..Target::CPU };
        for program in programs(&Shape { longest, ..*shape }, &target) {
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

/// What is run unless everything is: modes are written once and ciphers are written once, so all modes of one cipher
/// and one mode of all ciphers meet every line; and each family's other modes in one direction, for what a mode asks
/// of a cipher.
fn chosen(algorithm: Algorithm, operation: Operation, shared_key: bool) -> bool {
    let Some(cipher) = algorithm.cipher() else { return true };
    let every = std::env::var_os("EVERY").is_some();
    let other = cipher.key_bytes() == 16 && operation != algorithm.forward() && !shared_key;
    every || cipher == Cipher::Aes128 || algorithm.mode() == Some(Mode::Ecb) || other
}

#[test]
fn kernels_agree_with_the_reference() {
    let Some(compiler) = Compiler::find() else { return };
    let filter = std::env::var("HOST_KERNELS").unwrap_or_default();
    let mut count = 0;
    for algorithm in Algorithm::all().filter(|algorithm| algorithm.to_string().contains(&filter)) {
        for &operation in algorithm.operations() {
            for shared_key in [true, false] {
                if !chosen(algorithm, operation, shared_key) {
                    continue;
                }
                let (case, wanted) = drawn(algorithm, operation, shared_key, &short(algorithm));
                for program in every_program(&case.shape()) {
                    check(&compiler, &program, &case, &wanted);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 0, "no kernel was checked: HOST_KERNELS={filter} names none");
    println!("{count} programs checked as host C");
}

/// Kernels for long messages have work for several units of their inner loops only where messages are longer than
/// those of the other test.
#[test]
fn long_messages_agree_with_the_reference() {
    let Some(compiler) = Compiler::find() else { return };
    let filter = std::env::var("HOST_KERNELS").unwrap_or_default();
    // The first two are aligned, as tensor cores want them; the others are not.
    let texts = Texts { start: 16, lengths: vec![16 * 9000, 16 * 777 + 5, 0, 16 * 4096, 16 * 13_000 + 1] };
    let target = Target { compute: Some((8, 0)), ..Target::CPU };
    let cases = [("aes-128-ctr", true), ("aes-256-gcm", true), ("aes-256-gcm", false)];
    for (name, shared_key) in cases.iter().filter(|(name, _)| name.contains(&filter)) {
        let algorithm: Algorithm = name.parse().unwrap();
        let operation = algorithm.forward();
        let (case, wanted) = drawn(algorithm, operation, *shared_key, &texts);
        let mut programs = programs(&Shape { longest: 1 << 30, ..case.shape() }, &target);
        programs.retain(|program| program.threads.step > 32 || program.variant.contains("mma"));
        assert!(!programs.is_empty(), "{name} has no kernel for long messages");
        for program in programs {
            let threads = if program.threads.step > 32 { 512 } else { 64 };
            check(&compiler, &program.with_threads(threads), &case, &wanted);
        }
    }
}
