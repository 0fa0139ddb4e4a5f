//! What sessions say of their streams agrees with what they say of the whole run.

use std::sync::Arc;
use std::time::Duration;

use cipherlane_core::{
    Algorithm, Batch, Column, Device, Messages, Operation, Output, Session, Shape, Source, Spans,
    StreamSpans, Wish,
};
use cipherlane_offload::{Fleet, Member};

/// One of the times of a stream.
type Time = fn(&StreamSpans) -> Duration;

const STREAMS: usize = 4;
const CHUNK: usize = 1 << 20;
/// Messages of a batch, their bytes, and how many of them fill a chunk with what is beside their texts.
const MESSAGES: usize = 38;
const MESSAGE: usize = CHUNK / 4 - 256;

/// A batch over several streams, a long message, a short one, nothing; a long one on one stream; a fleet of two: under
/// AES-128-CTR, by the best kernel whose name contains `kernel`.
pub(crate) fn check(member: &Arc<dyn Member>, kernel: &str) {
    let mut session = open(&**member, kernel, CHUNK, Some(STREAMS));
    let all = |count: usize| (0..count as u64).collect::<Vec<_>>();
    // Chunks take turns: ten of four messages each, but for the last, and six pieces, of which one is the end.
    let batch: Vec<usize> = vec![MESSAGE; MESSAGES];
    for (lengths, wanted) in
        [(&batch[..], [3, 3, 2, 2]), (&[5 * CHUNK + 5], [2, 2, 1, 1]), (&[5], [1, 0, 0, 0]), (&[], [0; 4])]
    {
        let (spans, streams) = run(&mut *session, lengths);
        let what = format!("{} messages: {streams:?} of {spans:?}", lengths.len());
        let numbers: Vec<u64> = streams.iter().map(|one| one.stream as u64).collect();
        assert_eq!(numbers, all(STREAMS), "{what}");
        assert!(streams.iter().all(|one| one.device == member.info().id), "{what}");
        assert_eq!(streams.iter().map(|one| one.chunks).collect::<Vec<_>>(), wanted, "{what}");
        agree(&spans, &streams, 1);
    }
    // The key is expanded between two copies: times that overlap would be longer than the run.
    let (spans, streams) = run(&mut *open(&**member, kernel, 1 << 10, Some(1)), &[150_000]);
    assert!(streams.len() == 1 && streams[0].chunks > 1, "{streams:?} of {spans:?}");
    agree(&spans, &streams, 1);
    // Unless a plan insists, four take turns where texts go by stagings.
    let (_, streams) = run(&mut *open(&**member, kernel, CHUNK, None), &batch);
    assert_eq!(streams.iter().map(|one| one.chunks).collect::<Vec<_>>(), [3, 3, 2, 2], "{streams:?}");
    let fleet = Fleet::new("all", vec![Arc::clone(member), Arc::clone(member)]);
    let mut session = open(&fleet, kernel, CHUNK, Some(STREAMS));
    // A half for each, of three pieces; then a message that one of them has for itself.
    for (bytes, wanted) in [(6 * CHUNK, [1, 1, 1, 0, 1, 1, 1, 0]), (5, [1, 0, 0, 0, 0, 0, 0, 0])] {
        let (spans, streams) = run(&mut *session, &[bytes]);
        let found: Vec<usize> = streams.iter().map(|one| one.chunks).collect();
        assert_eq!(found, wanted, "{bytes} bytes: {streams:?} of {spans:?}");
        agree(&spans, &streams, 2);
    }
}

/// Six take turns where the device reaches the texts, as it does `text` and `made`.
#[allow(dead_code)] // not all devices reach memory of the host
pub(crate) fn check_reached(device: &dyn Device, kernel: &str, text: &[u8], made: &mut [u8]) {
    let mut session = open(device, kernel, CHUNK, None);
    let (_, streams) = run_on(&mut *session, &[MESSAGE; MESSAGES], text, made);
    assert_eq!(streams.iter().map(|one| one.chunks).collect::<Vec<_>>(), [2, 2, 2, 2, 1, 1], "{streams:?}");
}

/// Asserts that `streams` of `devices` devices can be those of a run of `spans`.
pub(crate) fn agree(spans: &Spans, streams: &[StreamSpans], devices: usize) {
    let what = format!("{streams:?} of {spans:?}");
    for one in streams {
        assert!(one.busy() <= spans.wall, "busier than the run was long: {what}");
        assert_eq!(one.chunks > 0, one.execute > Duration::ZERO, "{what}");
    }
    let each = streams.len() / devices;
    let kinds: [(Duration, Time); 3] =
        [(spans.load, |one| one.load), (spans.execute, |one| one.execute), (spans.store, |one| one.store)];
    for (whole, of) in kinds {
        let sum = |streams: &[StreamSpans]| streams.iter().map(of).sum::<Duration>();
        // Devices work side by side: the whole is as long as the longest takes, and what one does for all after it.
        assert!(whole <= sum(streams), "{what}");
        assert!(streams.chunks(each).all(|of_device| sum(of_device) <= whole), "{what}");
    }
}

fn algorithm() -> Algorithm {
    "aes-128-ctr".parse().unwrap()
}

fn open(device: &dyn Device, kernel: &str, chunk: usize, streams: Option<usize>) -> Box<dyn Session> {
    let shape = Shape::uniform(algorithm(), Operation::Encrypt, MESSAGES, MESSAGE as u64, true);
    let found = device.kernels(&shape).into_iter().find(|found| found.name.contains(kernel));
    let kernel = Some(found.unwrap().name);
    let wish = Wish { kernel, chunk: Some(chunk), streams, ..Wish::default() };
    device.open(&device.plan(&shape, &wish).unwrap()).unwrap()
}

fn run(session: &mut dyn Session, lengths: &[usize]) -> (Spans, Vec<StreamSpans>) {
    let text = vec![3; lengths.iter().sum()];
    run_on(session, lengths, &text, &mut vec![0; text.len()])
}

/// Of `text` into `made`, which may be longer.
fn run_on(
    session: &mut dyn Session,
    lengths: &[usize],
    text: &[u8],
    made: &mut [u8],
) -> (Spans, Vec<StreamSpans>) {
    let mut offsets = vec![0];
    for &length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length as u64);
    }
    let messages = Messages { source: Source::Apart(text), offsets: &offsets };
    let (key, counter) = (Column::Shared(&[7; 16]), Column::Shared(&[9; 16]));
    let batch = Batch::cipher(algorithm(), Operation::Encrypt, key, counter, messages);
    let spans = session.run(&batch, &mut Output::text(made)).unwrap();
    (spans, session.streams())
}
