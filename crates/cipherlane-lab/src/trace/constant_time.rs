//! What nobody may know decides neither where kernels pass nor where they look: SECURITY.md promises no branch and no
//! address of it on CPUs. Kernels are run by single steps under keys and on texts that differ, and take the same ones.
//!
//! A step is a signal, and all cases on all kernels take many minutes of them. Each case is followed on one tier, and the
//! next case on another but never on the portable one, and keys in lanes are expanded for one of the sliced ciphers.
//! `EVERY=1` follows all, on every tier.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::cast_possible_truncation)] // a test
use std::collections::HashMap;
use std::fs;
use std::ops::Range;

use cipherlane::{
    Algorithm, BLOCK, Batch, Column, Cpu, Device, Messages, Operation, Output, Session, Shape, Source,
    TagLengths, Wish,
};

use super::program::Program;
use super::step;
use crate::random::Random;

/// Steps of a run at most.
const MOST: usize = 2_000_000;
/// Runs on the same secrets, until one meets an allocator as another did.
const TRIES: usize = 6;
/// Runs of a kernel, each on secrets of its own.
const RUNS: u64 = 2;
/// Runs where counters are hashed: of each eighth or so the last byte overflows within a group.
const RUNS_OF_COUNTERS: u64 = 16;
/// The tier that takes most steps: it is left out without `EVERY=1`.
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

impl Case {
    fn shape(&self) -> Shape {
        let algorithm = self.algorithm.parse().unwrap();
        let longest = self.lengths.iter().max().copied().unwrap_or(0) as u64;
        let shape = Shape::uniform(algorithm, self.operation, self.lengths.len(), longest, self.one_key);
        Shape { bytes: self.lengths.iter().sum::<usize>() as u64, ..shape }
    }
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

/// Whether `kernel` takes the same path under all secrets, or from which step on it does not. An allocator that hands out
/// again what was given back may make two paths of one, so that each is looked for among several.
fn parts(cpu: &Cpu, kernel: &str, case: Case, runs: u64) -> Result<(), String> {
    let mut buffers = Buffers::new(case);
    let wish = Wish { kernel: Some(kernel.to_owned()), threads: Some(1), ..Wish::default() };
    let plan = cpu.plan(&case.shape(), &wish).unwrap();
    let mut session = cpu.open(&plan).unwrap();
    let code = code();
    let mut one = vec![path(&mut buffers, &mut *session, 1, &code)];
    assert!(one[0].len() > 500, "{kernel} took {} steps", one[0].len());
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
            return Err(format!("{kernel} {case:?}: {}", parting(&one[0], &last, code.start)));
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

/// Whether all is to be followed.
fn every() -> bool {
    std::env::var_os("EVERY").is_some()
}

/// Asserts that kernels that are constant-time take one path: of the first case that of one tier, of the next that of
/// another, or all.
fn kernels_take_one_path(cases: &[Case], runs: u64) {
    let (cpu, every) = (Cpu::new(), every());
    if !every {
        println!("on one tier a case, {SLOW} left out; on all of them with EVERY=1");
    }
    for (index, &case) in cases.iter().enumerate() {
        let mut kernels = cpu.kernels(&case.shape());
        kernels.retain(|kernel| kernel.constant_time && (every || kernel.tier != SLOW));
        if !every && !kernels.is_empty() {
            kernels = vec![kernels.swap_remove(index % kernels.len())];
        }
        for kernel in kernels {
            println!("{}: {case:?}", kernel.name);
            if let Err(parting) = parts(&cpu, &kernel.name, case, runs) {
                panic!("{parting}");
            }
        }
    }
}

/// Messages of less than a block and of some, which go together, sealed with one key.
const SEAL: Case = Case {
    algorithm: "aes-256-gcm",
    operation: Operation::Seal,
    nonce: 12,
    lengths: &[5, 96, 96, 96, 300],
    one_key: true,
};

/// A cipher of each kind that runs in groups.
const SLICED: [&str; 3] = ["camellia-128-gcm", "sm4-gcm", "sc2000-128-gcm"];

/// Messages with a key each of such a cipher, enough for a team on every tier.
const OF_A_TEAM: &[usize] = &[32; 13];

#[test]
fn counters_that_are_hashed_decide_nothing() {
    // Of single messages, those that fill several groups count by themselves.
    let case = Case { algorithm: "aes-128-gcm", nonce: 16, ..SEAL };
    let lengths: [&[usize]; 3] = [&[100], &[1000], &[3000]];
    kernels_take_one_path(&lengths.map(|lengths| Case { lengths, ..case }), RUNS_OF_COUNTERS);
    // Of a cipher that makes counters of groups.
    kernels_take_one_path(&[Case { algorithm: "camellia-128-gcm", lengths: &[2100], ..case }], RUNS);
}

#[test]
fn gcm_takes_one_path() {
    let few = Case { lengths: &[5, 96], ..SEAL };
    // Of equal messages and of others those that go together: three teams, and series of fewer and of more registers.
    let others = &[90, 91, 92, 93, 94, 95, 97, 98, 99, 100, 101, 102, 30, 31, 300, 270, 290, 310, 265];
    // A long message, which goes alone, and a train of equal ones.
    let lengths = [few.lengths, &[96; 4], others, &[3000], &[1024; 4]];
    let mut cases = vec![SEAL, Case { one_key: false, ..few }];
    cases.extend(lengths.iter().flat_map(|lengths| both_ways(Case { lengths, ..SEAL })));
    cases.extend(SLICED.map(|algorithm| Case { algorithm, ..few }));
    kernels_take_one_path(&cases, RUNS);
}

#[test]
fn gcm_with_a_key_each_takes_one_path() {
    // Equal ones in a pipeline, of one pass and of two; others in lanes, and a long one alone; long ones, whose keys are
    // expanded in lanes ahead.
    let lengths = [&[96; 8][..], &[128; 8], &[5, 40, 40, 96, 17, 300, 1100], &[1100, 1200, 1300, 1040]];
    let each = Case { one_key: false, ..SEAL };
    let mut cases: Vec<_> = lengths.iter().flat_map(|lengths| both_ways(Case { lengths, ..each })).collect();
    cases.extend(teams(SLICED.map(|algorithm| Case { algorithm, ..SEAL })));
    kernels_take_one_path(&cases, RUNS);
}

/// Sliced ciphers with keys in lanes. Those of the first expand in the fewest steps.
fn teams(sliced: [Case; SLICED.len()]) -> Vec<Case> {
    let count = if every() { sliced.len() } else { 1 };
    sliced[..count].iter().map(|&case| Case { lengths: OF_A_TEAM, one_key: false, ..case }).collect()
}

/// A case that seals, and the one that opens.
fn both_ways(seal: Case) -> [Case; 2] {
    [seal, Case { operation: Operation::Open, ..seal }]
}

/// Messages of one block, of two, and so on.
const RISING: [usize; 34] = {
    let mut lengths = [0; 34];
    let mut i = 0;
    while i < lengths.len() {
        lengths[i] = BLOCK * (i + 1);
        i += 1;
    }
    lengths
};

#[test]
fn other_modes_take_one_path() {
    let of = |algorithm, operation, nonce| Case { algorithm, operation, nonce, lengths: &[96, 304], ..SEAL };
    let alone = [
        of("aes-128-ecb", Operation::Encrypt, 0),
        of("aes-192-ctr", Operation::Encrypt, 16),
        of("aes-128-cbc", Operation::Encrypt, 16),
        of("aes-256-cbc", Operation::Decrypt, 16),
        of("aes-128-xts", Operation::Decrypt, 16),
    ];
    let sliced = [
        of("camellia-128-ctr", Operation::Encrypt, 16),
        of("sm4-cbc", Operation::Encrypt, 16),
        of("sc2000-128-xts", Operation::Decrypt, 16),
    ];
    let sliced = sliced.map(|case| Case { lengths: &[32, 144], ..case });
    let each = [alone[1], alone[2], alone[4]].map(|case| Case { one_key: false, ..case });
    // Whole groups that are turned beside rounds, and streams whose blocks come and go beside them.
    let long = |case, lengths| Case { lengths, ..case };
    let turned = [
        long(of("camellia-128-ctr", Operation::Encrypt, 16), &[2048][..]),
        long(of("camellia-128-cbc", Operation::Decrypt, 16), &[3072]),
        long(of("sm4-ecb", Operation::Encrypt, 0), &[6144]),
        long(of("sm4-ctr", Operation::Encrypt, 16), &[4096]),
        long(of("aes-128-cbc", Operation::Encrypt, 16), &[1024; 17]),
        long(of("sc2000-128-cbc", Operation::Decrypt, 16), &[4096]),
        long(of("sc2000-256-ecb", Operation::Encrypt, 0), &[4096]),
        long(of("sc2000-128-ctr", Operation::Encrypt, 16), &[4096]),
    ];
    // Key stream that is made for several messages together, and streams that begin where others end.
    let ragged = [
        long(of("camellia-128-ctr", Operation::Encrypt, 16), &[7, 20, 100, 2100][..]),
        long(of("aes-128-cbc", Operation::Encrypt, 16), &RISING),
    ];
    kernels_take_one_path(&[&alone[..], &sliced, &turned, &each, &teams(sliced), &ragged].concat(), RUNS);
}

#[test]
fn hashes_take_one_path() {
    let of = |algorithm| Case { algorithm, operation: Operation::Hash, nonce: 0, lengths: &[5, 96], ..SEAL };
    kernels_take_one_path(&["sha-256", "sha-512", "sha3-256"].map(of), RUNS);
}

/// Tables are read at secret places, so that these tests would tell them.
#[test]
fn tables_are_told() {
    let case =
        Case { algorithm: "aes-128-ecb", operation: Operation::Encrypt, nonce: 0, lengths: &[96], ..SEAL };
    let cpu = Cpu::new();
    let kernels = cpu.kernels(&case.shape());
    let table = kernels.iter().find(|kernel| !kernel.constant_time).expect("a variant for the laboratory");
    parts(&cpu, &table.name, case, RUNS).unwrap_err();
}
