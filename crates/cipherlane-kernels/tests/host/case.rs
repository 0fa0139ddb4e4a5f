//! Batches that are hard on kernels, and what the reference makes of them.

use cipherlane_core::{
    Algorithm, Batch, Column, Device, Messages, Mode, Operation, Output, Ragged, Shape, Source, TagLengths,
    Wish,
};
use cipherlane_reference::Reference;
use cipherlane_reference::cipher::keyed;
use cipherlane_reference::mode::gcm;

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

/// What rows of tags hold before a run.
const NOT_WRITTEN: u8 = 0xcc;

/// Last words of J0, in GCM, that carry into their upper bytes or wrap within a message, or right at its start.
const COUNTERS: [u32; 4] = [u32::MAX - 700, 0x12fe, u32::MAX, 0xab_ffff - 40];

/// In CTR, of long messages: how many of the counter's lowest bits are ones, all of them, after how many blocks. It carries
/// beyond them within a tile, at a message's end and start, before a part of a block, and right behind a tile.
const CARRIES: [(u32, u128); 8] =
    [(32, 5000), (64, 770), (128, 4096), (128, 1000), (32, 1), (64, 1), (128, 777), (32, 8192)];

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
pub(crate) struct Case {
    algorithm: Algorithm,
    pub(crate) operation: Operation,
    pub(crate) offsets: Vec<u64>,
    pub(crate) text: Vec<u8>,
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
pub(crate) struct Texts {
    pub(crate) start: usize,
    pub(crate) lengths: Vec<usize>,
}

/// Those of the short case that the mode takes. Neither words nor blocks are aligned unless lengths are.
pub(crate) fn short(algorithm: Algorithm) -> Texts {
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
        } else if algorithm.mode() == Some(Mode::Ctr) {
            for (nonce, (bits, blocks)) in nonces.chunks_exact_mut(16).zip(CARRIES) {
                let carries = u128::MAX >> (128 - bits);
                let counter = u128::from_be_bytes(nonce.try_into().unwrap()) & !carries;
                nonce.copy_from_slice(&(counter | (carries - (blocks - 1))).to_be_bytes());
            }
        }
        let mut case = Self {
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
        };
        if algorithm.mode() == Some(Mode::Gcm) {
            case.count_from(&COUNTERS);
        }
        case
    }

    /// In GCM: has the nonces of 16 bytes, which are hashed, lead to a J0 that ends with one of `counters` in turn.
    pub(crate) fn count_from(&mut self, counters: &[u32]) {
        let Some(cipher) = self.algorithm.cipher() else { return };
        let places = self.nonce_offsets.windows(2).enumerate().filter(|(_, pair)| pair[1] - pair[0] == 16);
        for ((index, pair), &counter) in places.zip(counters.iter().cycle()) {
            let at = if self.shared_key { 0 } else { index * cipher.key_bytes() };
            let key = keyed(cipher, &self.keys[at..at + cipher.key_bytes()]);
            let j0 = 0x0123_4567_89ab_cdef_0f1e_2d3c << 32 | u128::from(counter);
            let nonce = usize::try_from(pair[0]).unwrap();
            self.nonces[nonce..nonce + 16].copy_from_slice(&gcm::nonce_for(&*key, j0));
        }
    }

    pub(crate) fn batch<'a>(&'a self, source: Source<'a>) -> Batch<'a> {
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

    pub(crate) fn shape(&self) -> Shape {
        let longest = self.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let messages = self.offsets.len() - 1;
        Shape {
            bytes: *self.offsets.last().unwrap(),
            ..Shape::uniform(self.algorithm, self.operation, messages, longest, self.shared_key)
        }
    }

    /// The buffer of texts as it is before a run that is not in place.
    pub(crate) fn untouched(&self) -> Vec<u8> {
        if self.operation == Operation::Hash { Vec::new() } else { vec![0x33; self.text.len()] }
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
pub(crate) struct Results {
    pub(crate) text: Vec<u8>,
    pub(crate) tags: Vec<u8>,
    pub(crate) accepted: Vec<bool>,
}

impl Results {
    /// Room for what `case` gives; texts start as `text`.
    pub(crate) fn room(case: &Case, text: Vec<u8>) -> Self {
        let count = case.offsets.len() - 1;
        let tag_bytes = match case.operation {
            Operation::Seal => 16 * count,
            Operation::Hash => case.digest_bytes * count,
            _ => 0,
        };
        let verdicts = if case.operation == Operation::Open { count } else { 0 };
        Self { text, tags: vec![NOT_WRITTEN; tag_bytes], accepted: vec![false; verdicts] }
    }

    pub(crate) fn output(&mut self) -> Output<'_> {
        Output { bytes: &mut self.text, tags: &mut self.tags, accepted: &mut self.accepted }
    }
}

fn expected(case: &Case) -> Results {
    let mut results = Results::room(case, case.untouched());
    let device = Reference::new();
    let batch = case.batch(Source::Apart(&case.text));
    let plan = device.plan(&case.shape(), &Wish::default()).unwrap();
    device.open(&plan).unwrap().run(&batch, &mut results.output()).unwrap();
    if case.operation == Operation::Seal {
        // Kernels write tags, and who takes them back the zeros behind them.
        for (row, &bytes) in results.tags.chunks_exact_mut(16).zip(&case.tag_lengths) {
            row[usize::from(bytes)..].fill(NOT_WRITTEN);
        }
    }
    results
}

/// The case, and what the reference makes of it; `open` gets what `seal` made, some of it damaged.
pub(crate) fn drawn(
    algorithm: Algorithm,
    operation: Operation,
    shared_key: bool,
    texts: &Texts,
) -> (Case, Results) {
    let random = || Random(0x1234_5678 + u64::from(shared_key));
    let mut case = Case::new(algorithm, operation, shared_key, texts, &mut random());
    if operation == Operation::Open {
        let sealed = expected(&Case::new(algorithm, Operation::Seal, shared_key, texts, &mut random()));
        case.forge(&sealed);
    }
    let wanted = expected(&case);
    (case, wanted)
}
