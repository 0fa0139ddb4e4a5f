//! Every mode on every register of this CPU against the readable reference and the examples of the standards.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Cipher, Column, Device, Messages, Mode, Operation, Output, Shape, Source, Wish,
};
use cipherlane_reference::Reference;
use cipherlane_reference::vectors::{Expectation, known};

use super::cbc::{CbcDecrypt, CbcEncrypt};
use super::ctr::Ctr;
use super::ecb::Ecb;
use super::xts::{Decrypt, Encrypt, Xts};
use crate::cipher::aes_rounds::{AesDecrypt, AesEncrypt};
use crate::cipher::{KeyPerLane, Meanwhile, Permutation, V};
use crate::job::Job;
use crate::lanes::{avx2::Avx2, sse::Sse, vaes512::Vaes512};
use crate::table;
use crate::tier::Tier;
use crate::worker::{Kernel, Segment, cut};

/// A cipher that pads the rest of a message to a whole group.
struct Padding<P>(P);

impl<P: Permutation> Permutation for Padding<P> {
    type Isa = P::Isa;
    type Source = P::Source;
    const WHOLE_GROUPS: bool = true;

    fn new(source: P::Source, key: &[u8]) -> Self {
        Self(P::new(source, key))
    }

    fn rekey(&mut self, key: &[u8]) {
        self.0.rekey(key);
    }

    fn isa(&self) -> P::Isa {
        self.0.isa()
    }

    fn apply_while<const N: usize>(&self, blocks: [V<P>; N], meanwhile: &mut impl Meanwhile) -> [V<P>; N] {
        self.0.apply_while(blocks, meanwhile)
    }
}

impl<P: KeyPerLane> KeyPerLane for Padding<P> {
    fn per_lane<'k>(source: P::Source, key: impl Fn(usize) -> &'k [u8]) -> Self {
        Self(P::per_lane(source, key))
    }

    fn rekey_lanes<'k>(&mut self, key: impl Fn(usize) -> &'k [u8]) {
        self.0.rekey_lanes(key);
    }

    fn apply_each<const N: usize>(each: [&Self; N], blocks: [V<P>; N]) -> [V<P>; N] {
        let mut output = blocks;
        for (block, cipher) in output.iter_mut().zip(each) {
            [*block] = cipher.0.apply([*block]);
        }
        output
    }
}

/// A kernel under test.
struct Tested {
    algorithm: Algorithm,
    operation: Operation,
    kernel: Box<dyn Kernel>,
}

/// The kernels of a cipher with encryption E and decryption D.
fn add<
    E: KeyPerLane<Source = <E as Permutation>::Isa>,
    D: Permutation<Isa = E::Isa, Source = E::Isa>,
    const N: usize,
>(
    isa: E::Isa,
    cipher: Cipher,
    all: &mut Vec<Tested>,
) {
    let mut push = |mode, operation, kernel| {
        all.push(Tested { algorithm: Algorithm::new(cipher, mode), operation, kernel });
    };
    push(Mode::Ecb, Operation::Encrypt, Box::new(Ecb::<E, N>::new(isa)));
    push(Mode::Ecb, Operation::Decrypt, Box::new(Ecb::<D, N>::new(isa)));
    push(Mode::Cbc, Operation::Encrypt, Box::new(CbcEncrypt::<E, N>::new(isa)));
    push(Mode::Cbc, Operation::Decrypt, Box::new(CbcDecrypt::<D, N>::new(isa)));
    push(Mode::Ctr, Operation::Encrypt, Box::new(Ctr::<E, N>::new(isa)));
    push(Mode::Ctr, Operation::Decrypt, Box::new(Ctr::<E, N>::new(isa)));
    push(Mode::Xts, Operation::Encrypt, Box::new(Xts::<E, E, Encrypt, N>::new(isa, isa)));
    push(Mode::Xts, Operation::Decrypt, Box::new(Xts::<D, E, Decrypt, N>::new(isa, isa)));
}

/// Every kernel that the table has for this CPU, and some that it does not choose: other groups, AES-NI in pairs
/// where there is VAES, and whole groups of a cipher that has no need of them.
fn all() -> Vec<Tested> {
    let mut all = Vec::new();
    let algorithms: Vec<_> =
        Algorithm::ciphers().filter(|algorithm| algorithm.mode() != Some(Mode::Gcm)).collect();
    for tier in Tier::ALL {
        for &algorithm in &algorithms {
            for &operation in algorithm.operations() {
                if let Some(entry) = table::kernel(tier, algorithm, operation) {
                    all.push(Tested { algorithm, operation, kernel: entry.kernel });
                }
            }
        }
    }
    if let Some(isa) = Sse::detect() {
        add::<Padding<AesEncrypt<_, 10>>, Padding<AesDecrypt<_, 10>>, 8>(isa, Cipher::Aes128, &mut all);
    }
    if let Some(isa) = Avx2::detect() {
        add::<AesEncrypt<_, 12>, AesDecrypt<_, 12>, 4>(isa, Cipher::Aes192, &mut all);
    }
    if let Some(isa) = Vaes512::detect() {
        add::<AesEncrypt<_, 14>, AesDecrypt<_, 14>, 2>(isa, Cipher::Aes256, &mut all);
    }
    all
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
        (0..count).map(|_| self.next() as u8).collect()
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
            let mut session = reference.open(&plan).unwrap();
            session.run(batch, &mut Output::text(&mut bytes)).unwrap();
        });
        bytes
    }

    /// Checks the kernel in place and apart, in messages and in segments of `chunk` bytes.
    fn check(&self, tested: &Tested, chunk: usize) {
        let expected = self.expected(tested);
        for chunk in [None, Some(chunk)] {
            let mut bytes = self.text.clone();
            self.with_batch(tested, Source::InPlace, |batch| run(tested, batch, &mut bytes, chunk));
            self.compare(tested, &bytes, &expected, "in place", chunk);

            let mut bytes = self.text.clone();
            bytes[MARGIN..expected.len() - MARGIN].fill(0xa5);
            self.with_batch(tested, Source::Apart(&self.text), |batch| run(tested, batch, &mut bytes, chunk));
            self.compare(tested, &bytes, &expected, "apart", chunk);
        }
    }

    fn compare(&self, tested: &Tested, found: &[u8], expected: &[u8], place: &str, chunk: Option<usize>) {
        let Some(at) = found.iter().zip(expected).position(|(a, b)| a != b) else { return };
        let message = self.offsets.partition_point(|&offset| offset as usize <= at);
        let lengths: Vec<_> = self.offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        panic!(
            "{} {} {place}, segments {chunk:?}, one key {}: byte {at}, message {message} (from 1) of {lengths:?}",
            tested.algorithm, tested.operation, self.shared
        );
    }
}

/// Runs a batch as a session does: in ranges of messages, or each message in segments where the kernel can.
fn run(tested: &Tested, batch: &Batch<'_>, bytes: &mut [u8], chunk: Option<usize>) {
    let mut output = Output::text(bytes);
    let key = match batch.keys {
        Column::Shared(key) => Some(key),
        _ => None,
    };
    let worker = tested.kernel.worker(key);
    let job = Job::new(batch, &mut output).unwrap();
    match (chunk, worker.segments()) {
        (Some(chunk), Some(segments)) => {
            for message in 0..batch.len() {
                let text = job.message(message);
                let parts: Vec<_> = cut(text.bytes, chunk)
                    .map(|bytes| {
                        let mut before = [0; BLOCK];
                        if bytes.start > 0 {
                            // SAFETY: the block before a later segment is part of the message.
                            before =
                                unsafe { text.input.add(bytes.start - BLOCK).cast::<[u8; BLOCK]>().read() };
                        }
                        Segment { message, bytes, before }
                    })
                    .collect();
                // Out of order, as threads take them.
                let mut done: Vec<_> =
                    parts.iter().rev().map(|part| (part.clone(), segments.segment(&job, part))).collect();
                done.reverse();
                segments.finish(&job, message, &done);
            }
        }
        _ => {
            let middle = batch.len() / 3;
            worker.messages(&job, middle..batch.len());
            worker.messages(&job, 0..middle);
        }
    }
}

/// A length that the mode takes, near `length`.
fn allowed(mode: Mode, length: usize) -> usize {
    match mode {
        Mode::Ecb | Mode::Cbc => length / BLOCK * BLOCK,
        Mode::Ctr | Mode::Gcm => length,
        Mode::Xts => length.max(BLOCK),
    }
}

#[test]
fn ragged_batches_match_the_reference() {
    let mut random = Random(1);
    for tested in all() {
        for shared in [true, false] {
            for (messages, longest) in [(1, 700), (3, 200), (41, 300), (150, 90), (5, 9000)] {
                let lengths: Vec<_> = (0..messages)
                    .map(|_| allowed(tested.algorithm.mode().unwrap(), random.below(longest)))
                    .collect();
                let material = Material::new(&mut random, tested.algorithm, &lengths, shared);
                material.check(&tested, 16 * (1 + random.below(12)));
            }
        }
    }
}

#[test]
fn every_length_up_to_two_groups_matches_the_reference() {
    let mut random = Random(2);
    let lengths: Vec<_> = (0..1100).collect();
    for tested in all().iter().filter(|tested| tested.algorithm.cipher() == Some(Cipher::Aes128)) {
        let lengths: Vec<_> =
            lengths.iter().map(|&length| allowed(tested.algorithm.mode().unwrap(), length)).collect();
        Material::new(&mut random, tested.algorithm, &lengths, true).check(tested, 512);
    }
}

#[test]
fn counters_carry_through_all_128_bits() {
    let mut random = Random(3);
    for tested in all().iter().filter(|tested| tested.algorithm.mode() == Some(Mode::Ctr)) {
        let mut material = Material::new(&mut random, tested.algorithm, &[1500; 60], true);
        for (i, nonce) in material.nonces.chunks_mut(BLOCK).enumerate() {
            // From 4 to 16 bytes of ones, with the wrap 1 to 60 blocks away.
            nonce[12 - i % 13..].fill(0xff);
            nonce[BLOCK - 1] = 255 - i as u8;
        }
        material.check(tested, 160);
    }
}

#[test]
fn segments_of_a_long_unit_find_their_tweak() {
    let mut random = Random(4);
    for tested in all().iter().filter(|tested| tested.algorithm.mode() == Some(Mode::Xts)) {
        Material::new(&mut random, tested.algorithm, &[300_007, 65_536, 17], true).check(tested, 4096);
    }
}

#[test]
fn the_examples_of_the_standards_come_out() {
    let cases = known();
    let mut run_cases = 0;
    for tested in all() {
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
            run(&tested, &batch, &mut bytes, None);
            assert_eq!(
                bytes, case.output,
                "{} {} {} {}",
                case.algorithm, case.operation, case.source, case.id
            );
            run_cases += 1;
        }
    }
    assert!(all().is_empty() || run_cases > 100, "{run_cases}");
}
