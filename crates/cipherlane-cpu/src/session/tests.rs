//! Sessions with a toy kernel whose results depend on every byte, its order, its key and the block before it.

#![allow(unsafe_code)] // a kernel reads and writes through pointers

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cipherlane_core::{
    Algorithm, BLOCK, Batch, BatchError, Cipher, Column, DeviceError, Messages, Mode, Operation, Output,
    Plan, Session, Source,
};
use cipherlane_threads::{Pool, Topology};

use super::{Caches, CpuSession};
use crate::job::{Job, Message};
use crate::table::Entry;
use crate::worker::{Kernel, Partial, Segment, Segments, Worker};

const ALGORITHM: Algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);
const CHUNK: usize = 4096;
const NO_CACHES: Caches = Caches { second: None, last: None };

/// Seals by `output[i] = input[i] ^ key[i % 16] ^ input[i - 16]`, with a polynomial of the input for a tag.
#[derive(Clone, Default)]
struct Toy {
    cuts_messages: bool,
    /// Keys expanded so far, and segments run.
    keys: Arc<AtomicUsize>,
    segments: Arc<AtomicUsize>,
}

struct ToyWorker {
    key: Option<Vec<u8>>,
    toy: Toy,
}

impl Kernel for Toy {
    fn worker(&self, key: Option<&[u8]>) -> Box<dyn Worker> {
        self.keys.fetch_add(usize::from(key.is_some()), Ordering::Relaxed);
        Box::new(ToyWorker { key: key.map(<[u8]>::to_vec), toy: self.clone() })
    }
}

/// The polynomial of `bytes` at an odd point, continued from `hash`: the order of bytes matters.
fn hash(hash: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(hash, |hash, &byte| hash.wrapping_mul(0x100_0000_01b3).wrapping_add(u64::from(byte) + 1))
}

/// The hash of the first part, as it counts before `bytes` more bytes.
fn shift(hash: u64, bytes: usize) -> u64 {
    (0..bytes).fold(hash, |hash, _| hash.wrapping_mul(0x100_0000_01b3))
}

fn seal(text: &[u8], key: &[u8], before: &[u8; BLOCK]) -> Vec<u8> {
    let earlier = before.iter().chain(text);
    text.iter()
        .zip(key.iter().cycle())
        .zip(earlier)
        .map(|((text, key), earlier)| text ^ key ^ earlier)
        .collect()
}

fn tag(hash: u64) -> [u8; BLOCK] {
    let mut tag = [0xaa; BLOCK];
    tag[..8].copy_from_slice(&hash.to_le_bytes());
    tag
}

impl ToyWorker {
    fn run(&self, message: Message, key: &[u8], before: &[u8; BLOCK]) -> u64 {
        // SAFETY: a message of a checked batch, which this thread alone has.
        let text = unsafe { std::slice::from_raw_parts(message.input, message.bytes) }.to_vec();
        let sealed = seal(&text, key, before);
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(sealed.as_ptr(), message.output, sealed.len()) }
        hash(0, &text)
    }
}

impl Worker for ToyWorker {
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        for index in range {
            let key = self.key.as_deref().unwrap_or_else(|| job.batch().keys.row(index));
            job.put_tag(index, u128::from_le_bytes(tag(self.run(job.message(index), key, &[0; BLOCK]))));
        }
    }

    fn segments(&self) -> Option<&dyn Segments> {
        (self.toy.cuts_messages && self.key.is_some()).then_some(self)
    }
}

impl Segments for ToyWorker {
    fn segment(&self, job: &Job<'_>, segment: &Segment) -> Partial {
        self.toy.segments.fetch_add(1, Ordering::Relaxed);
        // SAFETY: segments lie within their message.
        let message = unsafe { job.message(segment.message).skip(segment.bytes.start) };
        let hash = self.run(message.take(segment.bytes.len()), self.key.as_ref().unwrap(), &segment.before);
        let mut partial = [0; BLOCK];
        partial[..8].copy_from_slice(&hash.to_le_bytes());
        partial
    }

    fn finish(&self, job: &Job<'_>, message: usize, segments: &[(Segment, Partial)]) {
        let (mut end, mut hash) = (0, 0_u64);
        for (segment, partial) in segments {
            assert_eq!((segment.message, segment.bytes.start), (message, end), "segments out of order");
            end = segment.bytes.end;
            let own = u64::from_le_bytes(partial[..8].try_into().unwrap());
            hash = shift(hash, segment.bytes.len()).wrapping_add(own);
        }
        assert_eq!(end, job.message(message).bytes, "segments are missing");
        job.put_tag(message, u128::from_le_bytes(tag(hash)));
    }
}

/// Accepts tags of zeros, and panics in its second task.
#[derive(Clone, Default)]
struct Failing {
    tasks: Arc<AtomicUsize>,
    /// Messages that it has done.
    done: Arc<Mutex<Vec<usize>>>,
}

impl Kernel for Failing {
    fn worker(&self, _: Option<&[u8]>) -> Box<dyn Worker> {
        Box::new(self.clone())
    }
}

impl Worker for Failing {
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        assert_ne!(self.tasks.fetch_add(1, Ordering::Relaxed), 1, "the second task fails, as it should");
        range.clone().for_each(|index| job.check_tag(index, 0));
        self.done.lock().unwrap().extend(range);
    }

    fn segments(&self) -> Option<&dyn Segments> {
        None
    }
}

fn session(toy: &Toy, threads: usize) -> CpuSession {
    session_of(Box::new(toy.clone()), Operation::Seal, threads)
}

fn session_of(kernel: Box<dyn Kernel>, operation: Operation, threads: usize) -> CpuSession {
    let plan = Plan {
        device: "cpu".to_owned(),
        algorithm: ALGORITHM,
        operation,
        kernel: "toy".to_owned(),
        tier: "portable".to_owned(),
        lanes: 4,
        threads,
        chunk: CHUNK,
        geometry: None,
        constant_time: true,
    };
    let entry = Entry { lanes: 4, kernel };
    CpuSession::new(&plan, entry, Arc::new(Pool::start(threads, &Topology::detect()).unwrap()), NO_CACHES)
}

/// Runs messages of `lengths` in place or not and compares every byte and tag.
fn assert_seals(session: &mut CpuSession, lengths: &[usize], keys: Column<'_>, in_place: bool) {
    let mut offsets = vec![0];
    offsets.extend(lengths.iter().scan(0, |end, length| {
        *end += *length as u64;
        Some(*end)
    }));
    let total = lengths.iter().sum::<usize>();
    let text: Vec<u8> = (0..total).map(|i| (i * 7 + i / 251) as u8).collect();
    let (mut bytes, mut tags) = (vec![0; total], vec![0; lengths.len() * BLOCK]);
    let mut source = Source::Apart(&text);
    if in_place {
        bytes.copy_from_slice(&text);
        source = Source::InPlace;
    }
    let messages = Messages { source, offsets: &offsets };
    let batch = Batch::seal(ALGORITHM, keys, Column::Shared(&[0; 12]), Column::EMPTY, messages);
    let spans = session.run(&batch, &mut Output::sealed(&mut bytes, &mut tags)).unwrap();
    assert!(spans.wall >= spans.execute);
    for (index, pair) in offsets.windows(2).enumerate() {
        let range = pair[0] as usize..pair[1] as usize;
        let expected = seal(&text[range.clone()], keys.row(index), &[0; BLOCK]);
        assert!(bytes[range.clone()] == expected, "message {index} of {} bytes is wrong", range.len());
        assert_eq!(tags[index * BLOCK..][..BLOCK], tag(hash(0, &text[range])), "tag {index}");
    }
}

/// Batches that are split in different ways.
fn batches() -> Vec<Vec<usize>> {
    vec![
        vec![],
        vec![0],
        vec![1],
        vec![16; 15],
        vec![0; 1000],
        vec![100_000],
        vec![CHUNK, CHUNK + 1, CHUNK - 1, 2 * CHUNK + 1024, 0, 2 * CHUNK + 1023],
        (0..300).collect(),
        vec![3, 50_001, 0, 0, 20_000, 77, 4_097, 5, 70_000],
        [vec![1; 500], vec![123_456], vec![2; 500]].concat(),
    ]
}

#[test]
fn every_byte_is_sealed_once_on_any_number_of_threads() {
    for cuts_messages in [true, false] {
        let toy = Toy { cuts_messages, ..Toy::default() };
        for threads in 1..=7 {
            let mut session = session(&toy, threads);
            for lengths in batches() {
                for in_place in [false, true] {
                    assert_seals(&mut session, &lengths, Column::Shared(&[0x5c; 16]), in_place);
                    let keys: Vec<u8> = (0..lengths.len() * 16).map(|i| (i * 3) as u8).collect();
                    let keys = Column::Each { bytes: &keys, width: 16 };
                    assert_seals(&mut session, &lengths, keys, in_place);
                }
            }
        }
    }
}

#[test]
fn long_messages_are_cut_only_for_several_threads() {
    for (threads, key_is_shared, segments) in [(1, true, 0), (2, true, 25), (2, false, 25)] {
        let toy = Toy { cuts_messages: true, ..Toy::default() };
        let keys = if key_is_shared {
            Column::Shared(&[1; 16])
        } else {
            Column::Each { bytes: &[1; 16], width: 16 }
        };
        assert_seals(&mut session(&toy, threads), &[25 * CHUNK], keys, true);
        assert_eq!(toy.segments.load(Ordering::Relaxed), segments);
    }
}

#[test]
fn a_key_is_expanded_once_while_it_stays() {
    let toy = Toy::default();
    let mut session = session(&toy, 1);
    for (key, expanded) in [(1, 1), (1, 1), (2, 2), (2, 2), (1, 3)] {
        assert_seals(&mut session, &[20, 30], Column::Shared(&[key; 16]), false);
        assert_eq!(toy.keys.load(Ordering::Relaxed), expanded);
    }
}

#[test]
fn the_clock_makes_no_difference() {
    let (mut session, offsets, text) = (session(&Toy::default(), 2), [0, 20, 50_000], vec![7; 50_000]);
    let messages = Messages { source: Source::Apart(&text), offsets: &offsets };
    let nonce = Column::Shared(&[0; 12]);
    let batch = Batch::seal(ALGORITHM, Column::Shared(&[1; 16]), nonce, Column::EMPTY, messages);
    let mut outputs = [(); 2].map(|()| (vec![0; 50_000], vec![0; 2 * BLOCK]));
    let [(bytes, tags), (others, other_tags)] = &mut outputs;
    session.run(&batch, &mut Output::sealed(bytes, tags)).unwrap();
    session.run_untimed(&batch, &mut Output::sealed(others, other_tags)).unwrap();
    assert!(outputs[0] == outputs[1] && outputs[0].0[..20] == seal(&text[..20], &[1; 16], &[0; BLOCK]));
}

#[test]
fn a_batch_for_another_session_is_refused() {
    let offsets = [0];
    let messages = Messages { source: Source::InPlace, offsets: &offsets };
    let batch = Batch::open(ALGORITHM, Column::EMPTY, Column::EMPTY, Column::EMPTY, messages, &[]);
    let mut session = session(&Toy::default(), 1);
    let timed = session.run(&batch, &mut Output::opened(&mut [], &mut [])).unwrap_err();
    let untimed = session.run_untimed(&batch, &mut Output::opened(&mut [], &mut [])).unwrap_err();
    for error in [timed, untimed] {
        assert!(matches!(error, DeviceError::Batch(BatchError::OtherSession { .. })), "{error}");
        assert!(error.to_string().contains("runs aes-128-gcm seal"), "{error}");
    }
}

#[test]
fn a_kernel_that_panics_leaves_no_verdict_of_before() {
    const COUNT: usize = 64;
    let kernel = Failing::default();
    let mut session = session_of(Box::new(kernel.clone()), Operation::Open, 2);
    let offsets: Vec<u64> = (0..=COUNT as u64).map(|message| message * CHUNK as u64).collect();
    let (mut text, mut accepted) = (vec![0; COUNT * CHUNK], [true; COUNT]);
    let messages = Messages { source: Source::InPlace, offsets: &offsets };
    let (keys, nonces) = (Column::Shared(&[1; 16]), Column::Shared(&[0; 12]));
    let batch = Batch::open(ALGORITHM, keys, nonces, Column::EMPTY, messages, &[0; COUNT * BLOCK]);
    let mut output = Output::opened(&mut text, &mut accepted);
    catch_unwind(AssertUnwindSafe(|| session.run(&batch, &mut output))).unwrap_err();
    let done = kernel.done.lock().unwrap();
    assert!((1..COUNT).contains(&done.len()), "{done:?}");
    for (message, accepted) in accepted.into_iter().enumerate() {
        assert_eq!(accepted, done.contains(&message), "message {message}");
    }
}
