//! What sessions keep and what they pin, on a device that shows it.

mod in_a_fleet;
mod order;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cipherlane_core::{Algorithm, Batch, Column, Messages, Operation, Output, Session, Shape, Source};
use cipherlane_kernels::manifest::Tiling;

use super::OffloadSession;
use crate::buffers::Buffers;
use crate::fake::{Failing, Fake, planned};

const COUNTER: [u8; 16] = [9; 16];

/// A session whose program is loaded, and gives no known answer.
fn session(backend: &Arc<Fake>, algorithm: &str, operation: Operation, chunk: usize) -> OffloadSession<Fake> {
    let (plan, programs) = planned(algorithm, operation, chunk);
    let mut session = OffloadSession::idle(Arc::clone(backend), &plan, programs).unwrap();
    let shape = Shape::uniform(plan.algorithm, operation, 1, 100, true);
    let (index, _) = session.programs.find(backend, &shape, None).unwrap();
    session.answering = Some(index);
    session
}

/// Encrypts messages that end at `offsets`.
fn encrypt(
    session: &mut OffloadSession<Fake>,
    key: &[u8],
    source: Source<'_>,
    offsets: &[u64],
    text: &mut [u8],
) {
    let algorithm: Algorithm = session.plan.algorithm;
    let (key, counter) = (Column::Shared(key), Column::Shared(&COUNTER));
    let messages = Messages { source, offsets };
    let batch = Batch::cipher(algorithm, Operation::Encrypt, key, counter, messages);
    session.run(&batch, &mut Output::text(text)).unwrap();
}

/// In how many of its memories the session has `key`: of the host, of the device, and those of programs.
fn places(session: &OffloadSession<Fake>, key: &[u8]) -> [usize; 3] {
    let has = |bytes: &[u8]| usize::from(bytes.windows(key.len()).any(|window| window == key));
    let of_buffers = |buffers: &Buffers<Fake>| -> usize {
        let memories = [&buffers.rows, &buffers.work].into_iter().filter_map(|memory| memory.get());
        memories.map(|memory| has(&memory.all())).sum()
    };
    let stagings = session.lanes.iter().filter_map(|lane| lane.stagings.rows.get());
    let host = stagings.map(|staging| has(staging)).sum();
    let device = session.lanes.iter().map(|lane| of_buffers(&lane.buffers)).sum::<usize>()
        + of_buffers(&session.whole)
        + has(&session.schedule.memory.all());
    let programs = session.programs.all().map(|loaded| has(&loaded.handle.schedule())).sum();
    [host, device, programs]
}

#[test]
fn a_key_is_gone_when_another_comes() {
    let backend = Arc::new(Fake::new());
    let mut session = session(&backend, "aes-128-ctr", Operation::Encrypt, 256);
    let program = session.answering.map(|index| session.programs.get(index).program.clone()).unwrap();
    let Tiling::Blocks(blocks) = program.tiling else { panic!("{program:?}") };
    let keys = [1, 101].map(|first: u8| std::array::from_fn::<u8, 16, _>(|index| first + index as u8));
    // One is longer than a chunk, and runs over all lanes, between groups of different sizes.
    let lengths = [100, 100, 90, 90, 80, 80, 70, 70, 3 * 16 * blocks, 1, 2];
    let ends = lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
    let mut text = vec![0x77; usize::try_from(offsets[lengths.len()]).unwrap()];
    encrypt(&mut session, &keys[0], Source::InPlace, &offsets, &mut text);
    // All four lanes, and the message that is whole on the device.
    assert_eq!(places(&session, &keys[0]), [4, 2 * 4 + 2 + 1, 1]);
    encrypt(&mut session, &keys[0], Source::InPlace, &[0, 5], &mut text);
    assert_eq!(places(&session, &keys[0]), [4, 2 * 4 + 2 + 1, 1], "the same key is kept");
    encrypt(&mut session, &keys[1], Source::InPlace, &[0, 5], &mut text);
    assert_eq!(places(&session, &keys[0]), [0, 0, 0]);
    assert_eq!(places(&session, &keys[1]), [1, 2 + 1, 1]);
    // Another program has the key elsewhere, too.
    let first = session.answering;
    let long = Shape::uniform(session.plan.algorithm, Operation::Encrypt, 1, 1 << 30, true);
    session.answering = Some(session.programs.find(&backend, &long, None).unwrap().0);
    assert_ne!(session.answering, first);
    encrypt(&mut session, &keys[1], Source::InPlace, &[0, 5], &mut text);
    assert_eq!(places(&session, &keys[1]), [1, 2 + 1, 2]);
    session.answering = first;
    encrypt(&mut session, &keys[0], Source::InPlace, &[0, 5], &mut text);
    assert_eq!(places(&session, &keys[1]), [0, 0, 0]);
    // With it went what had been made of the other one, which is made anew.
    encrypt(&mut session, &keys[0], Source::InPlace, &[0, 5], &mut text);
    assert_eq!(places(&session, &keys[0]), [1, 2 + 1, 1]);
}

#[test]
fn keys_are_gone_after_a_run_that_failed() {
    let backend = Arc::new(Fake::new());
    let mut session = session(&backend, "aes-128-ctr", Operation::Encrypt, 256);
    let keys = [1, 51, 101].map(|first: u8| std::array::from_fn::<u8, 16, _>(|index| first + index as u8));
    let offsets: Vec<u64> = (0..9).map(|index| 200 * index).collect();
    let mut text = vec![0x77; 1600];
    encrypt(&mut session, &keys[0], Source::InPlace, &offsets, &mut text);
    assert_eq!(places(&session, &keys[0]), [4, 2 * 4 + 1, 1]);
    // Some lanes have the second key by then, and others still the first.
    backend.fail(Failing::Wait, 1);
    let run = || encrypt(&mut session, &keys[1], Source::InPlace, &offsets, &mut text);
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    encrypt(&mut session, &keys[2], Source::InPlace, &[0, 5], &mut text);
    assert_eq!([0, 1].map(|key| places(&session, &keys[key])), [[0, 0, 0]; 2]);
    assert_eq!(places(&session, &keys[2]), [1, 2 + 1, 1]);
}

#[test]
fn a_long_text_goes_by_short_stagings() {
    const CHUNK: usize = 4096;
    let backend = Arc::new(Fake::new());
    let mut session = session(&backend, "aes-128-cbc", Operation::Encrypt, CHUNK);
    // Messages have no tiles here: each is on the device at once.
    let offsets = [16, 64, 64 + 9 * CHUNK as u64 + 16, 10 * CHUNK as u64 + 160];
    let input: Vec<u8> = (0..11 * CHUNK).map(|index| (index % 251) as u8).collect();
    for in_place in [false, true] {
        let mut output = if in_place { input.clone() } else { vec![0x33; input.len()] };
        let source = if in_place { Source::InPlace } else { Source::Apart(&input) };
        let guard = output.clone();
        encrypt(&mut session, &[7; 16], source, &offsets, &mut output);
        let text = 16..10 * CHUNK + 160;
        assert!(output[text.clone()].iter().zip(&input[text.clone()]).all(|(out, byte)| *out == !byte));
        assert!(output[..16] == guard[..16] && output[text.end..] == guard[text.end..]);
    }
    assert_eq!(backend.longest_staging(), CHUNK);
}

/// What a session that fails leaves of a text of 0x5a that it was to open, in place or apart.
fn left(failing: Failing, in_place: bool) -> Vec<u8> {
    let backend = Arc::new(Fake::new());
    let mut session = session(&backend, "aes-128-gcm", Operation::Open, 1 << 20);
    if failing == Failing::Load {
        // It has yet to look for its program.
        (session.answering, session.programs) = (None, session.programs.afresh());
    }
    let (key, nonce, aad) = (Column::Shared(&[1; 16]), Column::Shared(&[2; 12]), Column::Shared(&[]));
    let source = if in_place { Source::InPlace } else { Source::Apart(&[0x5a; 300]) };
    let messages = Messages { source, offsets: &[16, 290] };
    let batch = Batch::open(session.plan.algorithm, key, nonce, aad, messages, &[0; 16]);
    let (mut text, mut accepted) = (vec![0x5a; 300], [true]);
    backend.fail(failing, 0);
    session.run(&batch, &mut Output::opened(&mut text, &mut accepted)).unwrap_err();
    assert!(!accepted[0], "{failing:?}");
    assert!(
        text[..16].iter().chain(&text[290..]).all(|&byte| byte == 0x5a),
        "what is around it, {failing:?}"
    );
    text[16..290].to_vec()
}

#[test]
fn what_was_to_be_opened_in_place_is_left_where_nothing_came_out() {
    for (failing, byte) in [
        (Failing::Room, 0x5a),
        (Failing::Load, 0x5a),
        (Failing::Keys, 0x5a),
        (Failing::Texts, 0x5a),
        (Failing::Download, 0),
        (Failing::Wait, 0),
    ] {
        assert!(left(failing, true).iter().all(|&found| found == byte), "{failing:?}");
        assert!(left(failing, false).iter().all(|&found| found == 0), "{failing:?}, apart");
    }
}

#[test]
fn a_message_that_has_no_room_is_told_that_a_chunk_is_no_help() {
    let backend = Arc::new(Fake::new());
    let mut session = session(&backend, "aes-128-ctr", Operation::Encrypt, 256);
    let (key, counter) = (Column::Shared(&[1; 16]), Column::Shared(&COUNTER));
    let messages = Messages { source: Source::InPlace, offsets: &[0, 1 << 20] };
    let batch = Batch::cipher(session.plan.algorithm, Operation::Encrypt, key, counter, messages);
    backend.fail(Failing::Room, 0);
    let error = session.run(&batch, &mut Output::text(&mut vec![0; 1 << 20])).unwrap_err().to_string();
    assert!(error.contains("of a message of 1048576 bytes all has to lie there"), "{error}");
}

#[test]
fn a_panic_leaves_no_verdict_on_text_that_it_zeroed() {
    let backend = Arc::new(Fake::new());
    let mut session = session(&backend, "aes-128-gcm", Operation::Open, 256);
    let (key, nonce, aad) = (Column::Shared(&[1; 16]), Column::Shared(&[2; 12]), Column::Shared(&[]));
    let offsets: Vec<u64> = (0..=20).map(|index| 200 * index).collect();
    let messages = Messages { source: Source::InPlace, offsets: &offsets };
    let batch = Batch::open(session.plan.algorithm, key, nonce, aad, messages, &[0; 320]);
    let (mut text, mut accepted) = (vec![0x5a; 4000], [true; 20]);
    // Groups before it have landed by then.
    backend.fail(Failing::Panic, 15);
    let run = || session.run(&batch, &mut Output::opened(&mut text, &mut accepted));
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    assert!(text.iter().all(|&byte| byte == 0));
    assert_eq!(accepted, [false; 20]);
}

#[test]
fn a_panic_leaves_nothing_under_way() {
    let backend = Arc::new(Fake::new());
    let mut session = session(&backend, "aes-128-ctr", Operation::Encrypt, 256);
    let offsets: Vec<u64> = (0..9).map(|index| 200 * index).collect();
    backend.fail(Failing::Panic, 2);
    let mut text = vec![0x77; 1600];
    let run = || encrypt(&mut session, &[7; 16], Source::InPlace, &offsets, &mut text);
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    assert!(session.lanes.iter().all(|lane| lane.flight.is_none()), "work of a run that is over");
    assert_eq!(backend.under_way(), [""; 0]);
}
