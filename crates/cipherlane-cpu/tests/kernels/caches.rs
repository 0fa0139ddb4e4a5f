//! What is stored past the caches, or with lines asked for ahead, is what is stored otherwise: all modes, tiers, alignments,
//! whole and in segments.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Device, Messages, Mode, Operation, Output, Session, Source,
};
use cipherlane_cpu::{Cpu, Tier};

use super::{plan, tiers};

/// Cuts the longest messages, each at its own places.
const CHUNK: usize = 20 << 10;
/// Some too short to be stored so, some of many groups, ragged ends; whole blocks where a mode asks for them.
const LENGTHS: [usize; 6] = [48, 16 << 10, 100, 17_003, 40_961, 16_399];
/// Room for every alignment.
const MARGIN: usize = 128;

/// A batch of one algorithm and operation.
struct Material {
    algorithm: Algorithm,
    operation: Operation,
    offsets: Vec<u64>,
    text: Vec<u8>,
    tags: Vec<u8>,
}

/// What a session makes of it.
#[derive(PartialEq)]
struct Made {
    bytes: Vec<u8>,
    tags: Vec<u8>,
    accepted: Vec<bool>,
}

impl Material {
    fn new(algorithm: Algorithm, operation: Operation) -> Self {
        let whole = |length: usize| match algorithm.mode() {
            Some(Mode::Ecb | Mode::Cbc) => length / BLOCK * BLOCK,
            _ => length,
        };
        let mut offsets = vec![0];
        offsets.extend(LENGTHS.iter().scan(0, |end, &length| {
            *end += whole(length) as u64;
            Some(*end)
        }));
        let text = (0..offsets[LENGTHS.len()]).map(|i| (i * 7 + i / 251) as u8).collect();
        Self { algorithm, operation, offsets, text, tags: vec![0; LENGTHS.len() * BLOCK] }
    }

    /// Runs it with output `shift` bytes beyond an aligned address.
    fn run(&self, session: &mut dyn Session, shift: usize) -> Made {
        let key: Vec<u8> = (0..self.algorithm.key_bytes() as u8).collect();
        let width = match self.algorithm.mode() {
            Some(Mode::Ecb) => 0,
            Some(Mode::Gcm) => 12,
            _ => BLOCK,
        };
        // Counters whose last 32 bits wrap within each long message, at an odd block.
        let mut nonces = vec![0xff; LENGTHS.len() * width];
        for (i, last) in nonces.iter_mut().skip(BLOCK - 1).step_by(BLOCK).enumerate() {
            *last = 0x55 + 10 * i as u8;
        }
        let nonces = if width == 0 { Column::EMPTY } else { Column::Each { bytes: &nonces, width } };
        let messages = Messages { source: Source::Apart(&self.text), offsets: &self.offsets };
        let (keys, aad) = (Column::Shared(&key), Column::Shared(b"header"));
        let mut room = vec![0xa5; self.text.len() + MARGIN];
        let start = room.as_ptr().align_offset(64) + shift;
        let bytes = &mut room[start..start + self.text.len()];
        let (mut tags, mut accepted) = (self.tags.clone(), vec![false; LENGTHS.len()]);
        let (batch, mut output) = match self.operation {
            Operation::Seal => {
                (Batch::seal(self.algorithm, keys, nonces, aad, messages), Output::sealed(bytes, &mut tags))
            }
            Operation::Open => (
                Batch::open(self.algorithm, keys, nonces, aad, messages, &self.tags),
                Output::opened(bytes, &mut accepted),
            ),
            operation => {
                (Batch::cipher(self.algorithm, operation, keys, nonces, messages), Output::text(bytes))
            }
        };
        session.run(&batch, &mut output).unwrap();
        let (before, after) = (&room[..start], &room[start + self.text.len()..]);
        assert!([before, after].concat() == [0xa5; MARGIN], "bytes beside the output were touched");
        let bytes = room[start..start + self.text.len()].to_vec();
        Made { bytes, tags, accepted }
    }
}

/// A session of `what` on `tier`.
fn session(cpu: &Cpu, tier: Tier, what: (Algorithm, Operation), threads: usize) -> Box<dyn Session> {
    cpu.open(&plan(cpu, tier, what, (threads, CHUNK))).unwrap()
}

/// Compares what `other` stores at each of `shifts` with what `usual` does.
fn assert_same(
    [usual, other]: [&Cpu; 2],
    shifts: &[usize],
    tier: Tier,
    algorithm: Algorithm,
    operation: Operation,
) {
    let what = (algorithm, operation);
    let mut material = Material::new(algorithm, operation);
    if operation == Operation::Open {
        // Good tags but for two, of which one is of a long message.
        let mut sealing = session(usual, tier, (algorithm, Operation::Seal), 1);
        let sealed = Material::new(algorithm, Operation::Seal).run(&mut *sealing, 0);
        (material.text, material.tags) = (sealed.bytes, sealed.tags);
        material.tags[0] ^= 1;
        material.tags[4 * BLOCK] ^= 0x80;
    }
    let expected = material.run(&mut *session(usual, tier, what, 1), 0);
    let rejected = expected.accepted.iter().filter(|accepted| !**accepted).count();
    assert!(operation != Operation::Open || rejected == 2, "{rejected} rejected");
    for threads in [1, 2] {
        let mut session = session(other, tier, what, threads);
        for &shift in shifts {
            let made = material.run(&mut *session, shift);
            assert!(
                made == expected,
                "{algorithm} {operation} on {tier}, {threads} threads, output at {shift}"
            );
        }
    }
}

/// The same for all tiers and modes.
fn assert_all_same(other: &Cpu, shifts: &[usize]) {
    let usual = usual();
    for tier in tiers() {
        for algorithm in Algorithm::ciphers() {
            for &operation in algorithm.operations() {
                assert_same([&usual, other], shifts, tier, algorithm, operation);
            }
        }
    }
}

/// Caches that nothing overflows.
fn usual() -> Cpu {
    Cpu::new().with_second_caches(usize::MAX).with_last_cache(usize::MAX)
}

#[test]
fn stores_past_the_caches_change_no_byte() {
    assert_all_same(&usual().with_last_cache(0), &[0, 16, 48, 7]);
}

#[test]
fn prefetches_change_no_byte() {
    assert_all_same(&usual().with_second_caches(0), &[7]);
}
