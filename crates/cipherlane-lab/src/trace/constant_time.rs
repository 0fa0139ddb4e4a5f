//! What nobody may know decides neither where kernels pass nor where they look: SECURITY.md promises no branch and no
//! address of it on CPUs. Each kernel is run by single steps under keys and on texts that differ, and takes the same ones.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation)] // a test
use std::collections::HashMap;
use std::fs;
use std::ops::Range;

use cipherlane::{
    Algorithm, Batch, Column, Cpu, Device, Messages, Operation, Output, Session, Shape, Source, TagLengths,
    Wish,
};

use super::program::Program;
use super::step;
use crate::random::Random;

/// Steps of a run at most.
const MOST: usize = 200_000;
/// Runs on the same secrets, until one meets an allocator as another did.
const TRIES: usize = 6;
/// Runs of each kernel.
const RUNS: u64 = 3;
/// Runs where counters are hashed: the last byte of each eighth or so overflows within a group.
const RUNS_OF_COUNTERS: u64 = 16;
/// Lengths of messages that go together: of part of a block, of equal ones, and of more than a group.
const LENGTHS: [usize; 5] = [5, 96, 96, 96, 640];
/// The tier that is left out: bitsliced, it takes millions of steps, which are branches on lengths alone.
const SLOW: &str = "portable";

/// What is done to messages of some lengths, and the bytes of its nonces.
#[derive(Clone, Copy, Debug)]
struct Case {
    algorithm: &'static str,
    operation: Operation,
    nonce: usize,
    lengths: &'static [usize],
    one_key: bool,
}

/// Instructions by their addresses, each with the place that it reads or writes: 16 bytes, by the order in which these are
/// first met, and the byte within. An allocator may put the same buffer elsewhere the next time.
type Path = Vec<(u64, Option<(usize, u64)>)>;

/// The code of this program: what the system's libraries do, the allocator and the clock for example, is left out.
fn code() -> Range<u64> {
    let program = std::env::current_exe().unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let of = |line: &str| {
        let is_code = line.ends_with(program.to_str()?) && line.split(' ').nth(1)?.contains('x');
        let (from, to) = line.split(' ').next()?.split_once('-').filter(|_| is_code)?;
        let number = |digits| u64::from_str_radix(digits, 16).ok();
        Some(number(from)?..number(to)?)
    };
    maps.lines().find_map(of).expect("the program is in memory")
}

/// Buffers that stay where they are from run to run.
struct Buffers {
    algorithm: Algorithm,
    case: Case,
    offsets: Vec<u64>,
    keys: Vec<u8>,
    nonces: Vec<u8>,
    text: Vec<u8>,
    tags: Vec<u8>,
    out: Vec<u8>,
    made: Vec<u8>,
    accepted: Vec<bool>,
}

impl Buffers {
    fn new(case: Case) -> Self {
        let algorithm: Algorithm = case.algorithm.parse().unwrap();
        let rows = case.lengths.len();
        let ends = case.lengths.iter().scan(0, |end, &length| {
            *end += length as u64;
            Some(*end)
        });
        let total = case.lengths.iter().sum();
        let tags = rows * Self::tag_bytes(algorithm);
        Self {
            algorithm,
            case,
            offsets: std::iter::once(0).chain(ends).collect(),
            keys: vec![0; if case.one_key { 1 } else { rows } * algorithm.key_bytes()],
            nonces: (0..rows * case.nonce).map(|i| i as u8).collect(),
            text: vec![0; total],
            tags: vec![0; tags],
            out: vec![0; if case.operation == Operation::Hash { 0 } else { total }],
            made: vec![0; tags],
            accepted: vec![false; rows],
        }
    }

    /// Of a tag or a digest.
    fn tag_bytes(algorithm: Algorithm) -> usize {
        match algorithm {
            Algorithm::Hash(hash) => hash.digest_bytes().unwrap_or(32),
            Algorithm::Cipher(..) if algorithm.is_aead() => 16,
            Algorithm::Cipher(..) => 0,
        }
    }

    /// Keys, texts and tags, which are wrong ones, anew.
    fn draw(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        for secret in [&mut self.keys, &mut self.text, &mut self.tags] {
            let drawn = random.bytes(secret.len());
            secret.copy_from_slice(&drawn);
        }
    }

    fn run(&mut self, session: &mut dyn Session) {
        let Case { operation, nonce, one_key, .. } = self.case;
        let tag_bytes = Self::tag_bytes(self.algorithm);
        let key_bytes = self.algorithm.key_bytes();
        let batch = Batch {
            algorithm: self.algorithm,
            operation,
            keys: match one_key {
                true => Column::Shared(&self.keys),
                false => Column::Each { bytes: &self.keys, width: key_bytes },
            },
            nonces: Column::Each { bytes: &self.nonces, width: nonce },
            aad: Column::EMPTY,
            messages: Messages { source: Source::Apart(&self.text), offsets: &self.offsets },
            tag_lengths: TagLengths::Same(tag_bytes),
            tags: if operation == Operation::Open { &self.tags } else { &[] },
        };
        let makes = matches!(operation, Operation::Seal | Operation::Hash);
        let mut output = Output {
            bytes: &mut self.out,
            tags: if makes { &mut self.made } else { &mut [] },
            accepted: if operation == Operation::Open { &mut self.accepted } else { &mut [] },
        };
        session.run(&batch, &mut output).unwrap();
    }
}

/// The path through `code` of a run on the secrets of `seed`.
fn path(buffers: &mut Buffers, session: &mut dyn Session, seed: u64, code: &Range<u64>) -> Path {
    buffers.draw(seed);
    buffers.run(session);
    let mut steps = step::steps(MOST, || buffers.run(session)).unwrap();
    steps.retain(|step| code.contains(&step.address));
    let program = Program::of(&steps).unwrap();
    let mut met = HashMap::new();
    let mut place = |address: u64| {
        let next = met.len();
        (*met.entry(address / 16).or_insert(next), address % 16)
    };
    let instruction = |index: u32| program.instructions[index as usize].ip();
    program.order.iter().map(|&(index, address)| (instruction(index), address.map(&mut place))).collect()
}

/// Whether the kernel of `tier` takes the same path under all secrets, or from which step on it does not. An allocator that
/// hands out again what was given back may make two paths of one, so that each is looked for among several.
fn parts(cpu: &Cpu, tier: &str, case: Case, runs: u64) -> Result<(), String> {
    let mut buffers = Buffers::new(case);
    let total = buffers.text.len() as u64;
    let longest = case.lengths.iter().max().copied().unwrap_or(0) as u64;
    let rows = case.lengths.len();
    let shape = Shape::uniform(buffers.algorithm, case.operation, rows, longest, case.one_key);
    let wish = Wish { tier: Some(tier.to_owned()), threads: Some(1), ..Wish::default() };
    let plan = cpu.plan(&Shape { bytes: total, ..shape }, &wish).unwrap();
    assert!(plan.constant_time, "{} is the default", plan.kernel);
    let mut session = cpu.open(&plan).unwrap();
    let code = code();
    let mut one = vec![path(&mut buffers, &mut *session, 1, &code)];
    assert!(one[0].len() > 500, "{} took {} steps", plan.kernel, one[0].len());
    for seed in 2..=runs {
        let mut last = Path::new();
        let is_same = (0..TRIES).any(|_| {
            last = path(&mut buffers, &mut *session, seed, &code);
            one.contains(&last) || {
                one.push(path(&mut buffers, &mut *session, 1, &code));
                one.contains(&last)
            }
        });
        if !is_same {
            return Err(format!("{tier} {case:?}: {}", parting(&one[0], &last, code.start)));
        }
    }
    Ok(())
}

/// Where two paths part, by the places of instructions behind `start`.
fn parting(one: &Path, other: &Path, start: u64) -> String {
    let at =
        one.iter().zip(other).position(|(one, other)| one != other).unwrap_or(one.len().min(other.len()));
    let of =
        |path: &Path| path.get(at).map(|(address, memory)| format!("{:#x} {memory:x?}", address - start));
    format!("step {at} of {} and {} is at {:?} and {:?}", one.len(), other.len(), of(one), of(other))
}

fn all_take_one_path(cases: &[Case], runs: u64) {
    let cpu = Cpu::new();
    for tier in cpu.info().tiers.iter().filter(|tier| *tier != SLOW) {
        for &case in cases {
            if let Err(parting) = parts(&cpu, tier, case, runs) {
                panic!("{parting}");
            }
        }
    }
}

const CASE: Case =
    Case { algorithm: "", operation: Operation::Seal, nonce: 12, lengths: &LENGTHS, one_key: true };

#[test]
fn counters_that_are_hashed_decide_nothing() {
    let long = Case { algorithm: "aes-128-gcm", nonce: 16, lengths: &[1500], ..CASE };
    all_take_one_path(&[long, Case { lengths: &[100], ..long }], RUNS_OF_COUNTERS);
}

#[test]
fn ciphers_take_the_same_steps_under_all_keys_and_on_all_texts() {
    let one_key = Case { algorithm: "aes-256-gcm", ..CASE };
    let opened = Case { operation: Operation::Open, ..one_key };
    all_take_one_path(&[one_key, Case { one_key: false, ..one_key }, opened], RUNS);
    let sliced =
        ["camellia-128-gcm", "sm4-gcm", "sc2000-128-gcm"].map(|algorithm| Case { algorithm, ..CASE });
    all_take_one_path(&sliced, RUNS);
}
