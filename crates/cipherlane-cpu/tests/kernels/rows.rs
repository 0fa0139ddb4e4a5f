//! AES-GCM of equal messages that follow one another, which share more than others do, and of messages of all lengths, of
//! which those wait for one another that have as many registers: of lengths around blocks and registers up to what is no
//! longer short, with AAD of all kinds and tags of many lengths, under one key and a key each, in place as apart, in one
//! task and cut into tasks of several threads.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Cipher, Column, Device, Messages, Mode, Operation, Output, Ragged, Session,
    Source, TagLengths,
};
use cipherlane_cpu::Cpu;

use super::{by_reference, bytes, plan, tiers};

/// What a batch has beside its texts.
#[derive(Clone, Copy, Debug)]
struct Kind {
    aad: Aad,
    tags: Tags,
    keys_each: bool,
}

#[derive(Clone, Copy, Debug)]
enum Aad {
    /// The same for all, of so many bytes.
    Shared(usize),
    /// Of so many bytes each.
    Each(usize),
    /// Of another length in each row. Nonces come in rows of their own lengths, too, which are all 12.
    Ragged,
}

#[derive(Clone, Copy, Debug)]
enum Tags {
    Same(usize),
    Each,
}

/// A batch, and all that it borrows.
struct Material {
    algorithm: Algorithm,
    kind: Kind,
    offsets: Vec<u64>,
    text: Vec<u8>,
    keys: Vec<u8>,
    nonces: Vec<u8>,
    nonce_offsets: Vec<u64>,
    aad: Vec<u8>,
    aad_offsets: Vec<u64>,
    tag_lengths: Vec<u8>,
}

/// Bytes before the first message.
const MARGIN: usize = 11;

impl Material {
    /// Messages of so many bytes, and of so many bytes of AAD where those differ.
    fn new(algorithm: Algorithm, kind: Kind, messages: &[(usize, usize)]) -> Self {
        let (mut offsets, mut aad_offsets) = (vec![MARGIN as u64], vec![0]);
        for &(length, ragged) in messages {
            offsets.push(offsets[offsets.len() - 1] + length as u64);
            let aad = match kind.aad {
                Aad::Shared(_) => 0,
                Aad::Each(bytes) => bytes,
                Aad::Ragged => ragged,
            };
            aad_offsets.push(aad_offsets[aad_offsets.len() - 1] + aad as u64);
        }
        let count = offsets.len() - 1;
        let aad = match kind.aad {
            Aad::Shared(bytes) => bytes,
            _ => aad_offsets[count] as usize,
        };
        Self {
            algorithm,
            kind,
            text: bytes(offsets[count] as usize, 7),
            keys: bytes(algorithm.key_bytes() * if kind.keys_each { count } else { 1 }, 11),
            nonces: bytes(12 * count, 13),
            nonce_offsets: (0..=count as u64).map(|index| 12 * index).collect(),
            aad: bytes(aad, 5),
            tag_lengths: (0..count).map(|index| [16, 12, 4, 13][index / 7 % 4]).collect(),
            offsets,
            aad_offsets,
        }
    }

    fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    fn batch<'a>(&'a self, operation: Operation, source: Source<'a>, tags: &'a [u8]) -> Batch<'a> {
        let keys = if self.kind.keys_each {
            Column::Each { bytes: &self.keys, width: self.algorithm.key_bytes() }
        } else {
            Column::Shared(&self.keys)
        };
        let aad = match self.kind.aad {
            Aad::Shared(_) => Column::Shared(&self.aad),
            Aad::Each(width) => Column::Each { bytes: &self.aad, width },
            Aad::Ragged => Column::Ragged(Ragged { bytes: &self.aad, offsets: &self.aad_offsets }),
        };
        let nonces = match self.kind.aad {
            Aad::Ragged => Column::Ragged(Ragged { bytes: &self.nonces, offsets: &self.nonce_offsets }),
            _ => Column::Each { bytes: &self.nonces, width: 12 },
        };
        let tag_lengths = match self.kind.tags {
            Tags::Same(bytes) => TagLengths::Same(bytes),
            Tags::Each => TagLengths::Each(&self.tag_lengths),
        };
        Batch {
            algorithm: self.algorithm,
            operation,
            keys,
            nonces,
            aad,
            messages: Messages { source, offsets: &self.offsets },
            tag_lengths,
            tags,
        }
    }

    /// Texts and tags of `session`, or of the reference.
    fn sealed(&self, session: Option<&mut dyn Session>, in_place: bool) -> (Vec<u8>, Vec<u8>) {
        let source = if in_place { Source::InPlace } else { Source::Apart(&self.text) };
        let batch = self.batch(Operation::Seal, source, &[]);
        let mut tags = vec![0; batch.tag_lengths.stride() * self.count()];
        let mut text = self.text.clone();
        if !in_place {
            text[MARGIN..].fill(0xa5);
        }
        let output = &mut Output::sealed(&mut text, &mut tags);
        match session {
            Some(session) => _ = session.run(&batch, output).unwrap(),
            None => by_reference(&batch, output),
        }
        (text, tags)
    }

    /// Opens `sealed` with some wrong tags and compares texts and verdicts.
    fn check_opened(&self, session: &mut dyn Session, in_place: bool, (sealed, tags): &(Vec<u8>, Vec<u8>)) {
        let mut tags = tags.clone();
        let stride = tags.len() / self.count();
        let is_wrong = |index: usize| index % 11 == 3;
        for index in (0..self.count()).filter(|&index| is_wrong(index)) {
            let bytes = if stride == BLOCK && matches!(self.kind.tags, Tags::Each) { 4 } else { stride };
            tags[index * stride + index % bytes] ^= 0x40;
        }
        let source = if in_place { Source::InPlace } else { Source::Apart(sealed) };
        let (mut text, mut accepted) = (sealed.clone(), vec![false; self.count()]);
        let batch = self.batch(Operation::Open, source, &tags);
        session.run(&batch, &mut Output::opened(&mut text, &mut accepted)).unwrap();
        for (index, &accepted) in accepted.iter().enumerate() {
            let place = self.offsets[index] as usize..self.offsets[index + 1] as usize;
            let bytes = place.len();
            assert_eq!(accepted, !is_wrong(index), "message {index}, {bytes} bytes, {:?}", self.kind);
            let zeros = vec![0; bytes];
            let expected = if accepted { &self.text[place.clone()] } else { &zeros };
            assert!(text[place] == *expected, "message {index}, {bytes} bytes, {:?}", self.kind);
        }
        assert_eq!(text[..MARGIN], sealed[..MARGIN]);
    }
}

/// Rows of lengths around whole blocks and registers, of four to seventeen messages.
fn rows() -> Vec<(usize, usize)> {
    const COUNTS: [usize; 7] = [4, 5, 8, 9, 12, 13, 17];
    let short = (1..290_usize).filter(|bytes| bytes % 16 < 2 || bytes % 16 == 15 || bytes % 23 == 5);
    let whole = (320..=1024).step_by(64);
    let lengths = short
        .chain(whole)
        .chain((300..1100).step_by(53))
        .chain((1175..1700).step_by(151))
        .chain([1536, 3840, 3841, 4064, 4065]);
    let mut messages = Vec::new();
    for (row, length) in lengths.enumerate() {
        let count = if length % 64 == 0 { 17 } else { COUNTS[row % COUNTS.len()] };
        messages.extend(vec![(length, row % 9 * 9); count]);
    }
    messages
}

/// Messages no two of which that follow one another are equally long: of every length up to more than a table of powers
/// has powers for but every seventh, so that of most numbers of registers there are fewer than wait at a time; and of one
/// number more.
fn mixed() -> Vec<(usize, usize)> {
    let all = (0..1640).map(|index| index * 701 % 1640).filter(|length| length % 7 != 3);
    let alike = (0..150).map(|index| 257 + index * 37 % 64);
    all.chain(alike).enumerate().map(|(index, length)| (length, index % 10 * 9)).collect()
}

/// Seals and opens `messages` on every tier, by one thread and by three.
fn are_those_of_the_reference(cpu: &Cpu, algorithm: Algorithm, kind: Kind, messages: &[(usize, usize)]) {
    let material = Material::new(algorithm, kind, messages);
    let expected = material.sealed(None, true);
    for (tier, threads) in tiers().into_iter().flat_map(|tier| [(tier, (1, 1 << 22)), (tier, (3, 1 << 12))]) {
        let open = |operation| cpu.open(&plan(cpu, tier, (algorithm, operation), threads)).unwrap();
        let (mut sealing, mut opening) = (open(Operation::Seal), open(Operation::Open));
        for in_place in [true, false] {
            let sealed = material.sealed(Some(&mut *sealing), in_place);
            assert!(sealed == expected, "{algorithm} on {tier}, in place {in_place}: {kind:?}");
            material.check_opened(&mut *opening, in_place, &expected);
        }
    }
}

#[test]
fn messages_of_all_lengths_are_sealed_and_opened() {
    const KINDS: [(Aad, Tags); 6] = [
        (Aad::Shared(0), Tags::Same(16)),
        (Aad::Shared(13), Tags::Same(12)),
        (Aad::Each(8), Tags::Same(16)),
        (Aad::Each(16), Tags::Each),
        (Aad::Each(17), Tags::Same(16)),
        (Aad::Ragged, Tags::Each),
    ];
    let (cpu, messages) = (Cpu::new(), mixed());
    for cipher in Cipher::AES {
        let algorithm = Algorithm::new(cipher, Mode::Gcm);
        for (aad, tags) in KINDS {
            are_those_of_the_reference(&cpu, algorithm, Kind { aad, tags, keys_each: false }, &messages);
        }
    }
}

/// Short messages no two of which that follow one another are equally long, with some rows of equal ones among them, and
/// empty ones: more of each number of passes than are listed at a time, and less than a set in the end.
fn short() -> Vec<(usize, usize)> {
    let mut messages: Vec<_> = (0..701).map(|index| index * 227 % 530).collect();
    for (row, length) in [128, 64, 100, 16, 33, 256, 1].into_iter().enumerate() {
        messages.splice(row * 90..row * 90, vec![length; 7 + row]);
    }
    messages.into_iter().enumerate().map(|(index, length)| (length, index % 10 * 9)).collect()
}

#[test]
fn short_messages_with_a_key_each_are_sealed_and_opened() {
    const KINDS: [(Aad, Tags); 6] = [
        (Aad::Shared(0), Tags::Same(16)),
        (Aad::Shared(13), Tags::Same(12)),
        (Aad::Each(17), Tags::Each),
        (Aad::Each(64), Tags::Same(16)),
        (Aad::Each(200), Tags::Same(16)),
        (Aad::Ragged, Tags::Each),
    ];
    let (cpu, messages) = (Cpu::new(), short());
    for cipher in Cipher::AES {
        let algorithm = Algorithm::new(cipher, Mode::Gcm);
        for (aad, tags) in KINDS {
            are_those_of_the_reference(&cpu, algorithm, Kind { aad, tags, keys_each: true }, &messages);
        }
    }
}

/// Batches of so few messages that none or hardly any are alike: of every number of registers, alone, with one or two others,
/// and with as many as some packets have that are taken at once.
fn few() -> Vec<Vec<(usize, usize)>> {
    const COUNTS: [usize; 6] = [1, 2, 3, 5, 16, 40];
    let mut messages = mixed().into_iter().filter(|(length, _)| *length < 300 || length % 64 < 3);
    let batches = COUNTS.into_iter().cycle().map(|count| messages.by_ref().take(count).collect());
    batches.take_while(|batch: &Vec<_>| !batch.is_empty()).collect()
}

#[test]
fn few_messages_are_sealed_and_opened() {
    let (cpu, batches) = (Cpu::new(), few());
    for cipher in Cipher::AES {
        let algorithm = Algorithm::new(cipher, Mode::Gcm);
        for (aad, tags) in [(Aad::Each(8), Tags::Same(16)), (Aad::Ragged, Tags::Each)] {
            for messages in &batches {
                are_those_of_the_reference(&cpu, algorithm, Kind { aad, tags, keys_each: false }, messages);
            }
        }
    }
}

/// Equal messages that follow one another, among them such whose counters carry out of their last byte, and others of which
/// some know their first rounds, and some follow those that do.
fn long() -> Vec<(usize, usize)> {
    let lengths = [3840, 4048, 4063, 4064, 4065, 4080, 4096, 4111, 6143, 6144, 6145, 7168];
    let equal = lengths.into_iter().flat_map(|bytes| [(bytes, 5); 9]);
    let others =
        [5990, 5999, 6000, 5985, 20_000, 1024, 20_016, 5001, 24_000, 2000, 4001].map(|bytes| (bytes, 5));
    equal.chain(others).collect()
}

#[test]
fn long_messages_with_a_key_each_are_sealed_and_opened() {
    let (cpu, messages) = (Cpu::new(), long());
    for cipher in Cipher::AES {
        let algorithm = Algorithm::new(cipher, Mode::Gcm);
        for (aad, tags) in [(Aad::Each(17), Tags::Same(16)), (Aad::Shared(0), Tags::Each)] {
            are_those_of_the_reference(&cpu, algorithm, Kind { aad, tags, keys_each: true }, &messages);
        }
    }
}

#[test]
fn single_messages_with_a_key_of_their_own_are_sealed_and_opened() {
    let cpu = Cpu::new();
    let kind = Kind { aad: Aad::Each(17), tags: Tags::Same(16), keys_each: true };
    for length in [1, 512, 513, 528, 529, 1024, 1025, 16_384, 20_464, 20_480, 20_500] {
        let algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);
        are_those_of_the_reference(&cpu, algorithm, kind, &[(length, 9)]);
    }
}

#[test]
fn equal_messages_are_sealed_and_opened() {
    const KINDS: [(Aad, Tags); 9] = [
        (Aad::Shared(0), Tags::Same(16)),
        (Aad::Shared(13), Tags::Same(12)),
        (Aad::Shared(64), Tags::Same(13)),
        (Aad::Each(0), Tags::Same(15)),
        (Aad::Each(17), Tags::Same(12)),
        (Aad::Each(32), Tags::Same(16)),
        (Aad::Each(70), Tags::Same(4)),
        (Aad::Ragged, Tags::Each),
        (Aad::Each(1), Tags::Each),
    ];
    let (cpu, messages) = (Cpu::new(), rows());
    for cipher in Cipher::AES {
        let algorithm = Algorithm::new(cipher, Mode::Gcm);
        let kinds = KINDS
            .into_iter()
            .flat_map(|(aad, tags)| [true, false].map(|keys_each| Kind { aad, tags, keys_each }));
        for kind in kinds {
            are_those_of_the_reference(&cpu, algorithm, kind, &messages);
        }
    }
}
