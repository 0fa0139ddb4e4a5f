//! The modes without tags against the readable reference and the examples of the standards: what is put to every
//! kernel, those of the table and those that only the crate's own tests make.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Cipher, Column, Device, Messages, Mode, Operation, Output, Session, Shape,
    Source, Wish,
};
use cipherlane_reference::Reference;
use cipherlane_reference::vectors::{Expectation, known};

/// A kernel under test.
pub(crate) struct Tested {
    pub(crate) algorithm: Algorithm,
    pub(crate) operation: Operation,
    /// A session of it that runs messages in segments of so many bytes, or whole.
    pub(crate) open: Box<dyn Fn(Option<usize>) -> Box<dyn Session>>,
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes()[..part.len()]);
        }
        bytes
    }
}

/// What a batch is made of.
struct Material {
    keys: Vec<u8>,
    nonces: Vec<u8>,
    text: Vec<u8>,
    offsets: Vec<u64>,
    shared: bool,
}

/// Bytes before the first message and behind the last that nobody may touch.
const MARGIN: usize = 37;

impl Material {
    fn new(random: &mut Random, algorithm: Algorithm, lengths: &[usize], shared: bool) -> Self {
        let mut offsets = vec![MARGIN as u64];
        for &length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length as u64);
        }
        let text = random.bytes(*offsets.last().unwrap() as usize + MARGIN);
        let keys = random.bytes(algorithm.key_bytes() * if shared { 1 } else { lengths.len() });
        let nonces = random.bytes(algorithm.nonce_bytes().unwrap() * lengths.len());
        Self { keys, nonces, text, offsets, shared }
    }

    fn with_batch(&self, tested: &Tested, source: Source<'_>, run: impl FnOnce(&Batch<'_>)) {
        let (algorithm, operation) = (tested.algorithm, tested.operation);
        let keys = if self.shared {
            Column::Shared(&self.keys)
        } else {
            Column::Each { bytes: &self.keys, width: algorithm.key_bytes() }
        };
        let nonces = Column::Each { bytes: &self.nonces, width: algorithm.nonce_bytes().unwrap() };
        run(&Batch::cipher(algorithm, operation, keys, nonces, Messages { source, offsets: &self.offsets }));
    }

    /// What the reference makes of it, margins included.
    fn expected(&self, tested: &Tested) -> Vec<u8> {
        let shape = Shape::uniform(tested.algorithm, tested.operation, 1, 16, true);
        let reference = Reference::new();
        let plan = reference.plan(&shape, &Wish::default()).unwrap();
        let mut bytes = self.text.clone();
        self.with_batch(tested, Source::InPlace, |batch| {
            run(&mut *reference.open(&plan).unwrap(), batch, &mut bytes);
        });
        bytes
    }

    /// Checks the kernel in place and apart, in messages and in segments of `chunk` bytes.
    fn check(&self, tested: &Tested, chunk: usize) {
        let expected = self.expected(tested);
        for chunk in [None, Some(chunk)] {
            let mut session = (tested.open)(chunk);
            let mut bytes = self.text.clone();
            self.with_batch(tested, Source::InPlace, |batch| run(&mut *session, batch, &mut bytes));
            self.compare(tested, &bytes, &expected, "in place", chunk);

            let mut bytes = self.text.clone();
            bytes[MARGIN..expected.len() - MARGIN].fill(0xa5);
            self.with_batch(tested, Source::Apart(&self.text), |batch| run(&mut *session, batch, &mut bytes));
            self.compare(tested, &bytes, &expected, "apart", chunk);
        }
    }

    fn compare(&self, tested: &Tested, found: &[u8], expected: &[u8], place: &str, chunk: Option<usize>) {
        if found == expected {
            return;
        }
        let at = found.iter().zip(expected).position(|(a, b)| a != b);
        let message = self.offsets.partition_point(|&offset| Some(offset as usize) <= at);
        let lengths: Vec<_> = self.offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        panic!(
            "{} {} {place}, segments {chunk:?}, one key {}: byte {at:?}, message {message} (from 1) of {lengths:?}",
            tested.algorithm, tested.operation, self.shared
        );
    }
}

fn run(session: &mut dyn Session, batch: &Batch<'_>, bytes: &mut [u8]) {
    session.run(batch, &mut Output::text(bytes)).unwrap();
}

/// A length that the mode takes, near `length`.
fn allowed(mode: Mode, length: usize) -> usize {
    match mode {
        Mode::Ecb | Mode::Cbc => length / BLOCK * BLOCK,
        Mode::Ctr | Mode::Gcm => length,
        Mode::Xts => length.max(BLOCK),
    }
}

pub(crate) fn ragged_batches_match_the_reference(all: &[Tested]) {
    let mut random = Random(1);
    for tested in all {
        for shared in [true, false] {
            for (messages, longest) in [(1, 700), (3, 200), (41, 300), (150, 90), (5, 9000)] {
                // Whole blocks run with their neighbours.
                let unit = if messages == 150 { BLOCK } else { 1 };
                let lengths: Vec<_> = (0..messages)
                    .map(|_| random.below(longest) / unit * unit)
                    .map(|length| allowed(tested.algorithm.mode().unwrap(), length))
                    .collect();
                let material = Material::new(&mut random, tested.algorithm, &lengths, shared);
                material.check(tested, 16 * (1 + random.below(12)));
            }
        }
    }
}

pub(crate) fn every_length_up_to_two_groups_matches_the_reference(all: &[Tested]) {
    let mut random = Random(2);
    let lengths: Vec<_> = (0..1100).collect();
    for tested in all.iter().filter(|tested| tested.algorithm.cipher() == Some(Cipher::Aes128)) {
        let lengths: Vec<_> =
            lengths.iter().map(|&length| allowed(tested.algorithm.mode().unwrap(), length)).collect();
        Material::new(&mut random, tested.algorithm, &lengths, true).check(tested, 512);
    }
}

pub(crate) fn counters_carry_through_all_128_bits(all: &[Tested]) {
    let mut random = Random(3);
    for tested in all.iter().filter(|tested| tested.algorithm.mode() == Some(Mode::Ctr)) {
        let mut material = Material::new(&mut random, tested.algorithm, &[1500; 60], true);
        for (i, nonce) in material.nonces.chunks_mut(BLOCK).enumerate() {
            // From 4 to 16 bytes of ones, with the wrap 1 to 60 blocks away.
            nonce[12 - i % 13..].fill(0xff);
            nonce[BLOCK - 1] = 255 - i as u8;
        }
        material.check(tested, 160);
        // The last 16 bits wrap within long messages, and in the end the counter does.
        let mut material = Material::new(&mut random, tested.algorithm, &[6000; 8], true);
        for (i, nonce) in material.nonces.chunks_mut(BLOCK).enumerate() {
            nonce[14 - i % 2 * 14..14].fill(0xff);
            nonce[14..].copy_from_slice(&(u16::MAX - 37 * i as u16).to_be_bytes());
        }
        material.check(tested, 3072);
    }
}

pub(crate) fn segments_of_a_long_unit_find_their_tweak(all: &[Tested]) {
    let mut random = Random(4);
    for tested in all.iter().filter(|tested| tested.algorithm.mode() == Some(Mode::Xts)) {
        Material::new(&mut random, tested.algorithm, &[300_007, 65_536, 17], true).check(tested, 4096);
    }
}

/// Returns how many there were.
pub(crate) fn the_examples_of_the_standards_come_out(all: &[Tested]) -> usize {
    let cases = known();
    let mut run_cases = 0;
    for tested in all {
        let mine = |algorithm, operation| (algorithm, operation) == (tested.algorithm, tested.operation);
        for case in cases.iter().filter(|case| mine(case.algorithm, case.operation)) {
            assert_eq!(case.expectation, Expectation::Output);
            let offsets = [0, case.input.len() as u64];
            let batch = Batch::cipher(
                case.algorithm,
                case.operation,
                Column::Shared(&case.key),
                Column::Shared(&case.nonce),
                Messages { source: Source::Apart(&case.input), offsets: &offsets },
            );
            let mut bytes = vec![0; case.input.len()];
            run(&mut *(tested.open)(None), &batch, &mut bytes);
            assert_eq!(
                bytes, case.output,
                "{} {} {} {}",
                case.algorithm, case.operation, case.source, case.id
            );
            run_cases += 1;
        }
    }
    run_cases
}
