//! The engine's own behaviour, on the readable reference: sessions, plans, and what the short way refuses.

#![allow(clippy::unwrap_used)] // in helpers as well: a test that cannot be set up has failed

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cipherlane::verify::Reference;
use cipherlane::{
    Algorithm, Batch, BatchError, Column, Device, DeviceError, Engine, Error, Info, Kernel, Messages,
    Operation, Output, Plan, Ragged, Sealed, Session, Shape, Source, Unsupported, Wish,
};

/// The reference, which counts how often it plans and opens a session, and plans longer chunks for more messages.
struct Counted {
    inner: Reference,
    planned: AtomicUsize,
    opened: AtomicUsize,
}

impl Device for Counted {
    fn info(&self) -> &Info {
        self.inner.info()
    }

    fn kernels(&self, shape: &Shape) -> Vec<Kernel> {
        self.inner.kernels(shape)
    }

    fn plan(&self, shape: &Shape, wish: &Wish) -> Result<Plan, Unsupported> {
        self.planned.fetch_add(1, Ordering::Relaxed);
        Ok(Plan { chunk: shape.messages.max(1), ..self.inner.plan(shape, wish)? })
    }

    fn open(&self, plan: &Plan) -> Result<Box<dyn Session>, DeviceError> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        self.inner.open(plan)
    }
}

fn counted() -> (Arc<Counted>, Engine) {
    let (planned, opened) = Default::default();
    let device = Arc::new(Counted { inner: Reference::new(), planned, opened });
    (Arc::clone(&device), Engine::with_devices(device, []))
}

fn gcm() -> Algorithm {
    "aes-128-gcm".parse().unwrap()
}

const KEY: [u8; 16] = [7; 16];

fn nonces(count: u8) -> Vec<[u8; 12]> {
    (0..count).map(|i| [i; 12]).collect()
}

fn seal(engine: &Engine, count: u8) -> Sealed {
    engine.seal(gcm(), &KEY, &nonces(count), b"", &vec!["text"; count.into()]).unwrap()
}

#[test]
fn a_session_stays_open_for_its_plan() {
    let (device, engine) = counted();
    let opened = || device.opened.load(Ordering::Relaxed);
    seal(&engine, 1);
    seal(&engine, 1);
    assert_eq!(opened(), 1);
    let sealed = seal(&engine, 2);
    assert_eq!(opened(), 2, "another shape, another plan");
    engine.open(gcm(), &KEY, &nonces(2), b"", &sealed).unwrap();
    assert_eq!(opened(), 3, "another operation");
    seal(&engine, 1);
    assert_eq!(opened(), 3, "the first plan is still open");
}

#[test]
fn a_batch_like_the_last_one_is_not_planned_again() {
    let (device, engine) = counted();
    let planned = || device.planned.load(Ordering::Relaxed);
    for (text, plans) in [("text", 1), ("more", 1), ("another length", 2), ("ditto", 3), ("equal", 3)] {
        engine.seal(gcm(), &KEY, &nonces(1), b"", &[text]).unwrap();
        assert_eq!(planned(), plans, "{text}");
    }
    assert_eq!(device.opened.load(Ordering::Relaxed), 1, "all by one plan");
}

#[test]
fn sessions_do_not_pile_up() {
    let (device, engine) = counted();
    for count in 1..=5 {
        seal(&engine, count);
    }
    seal(&engine, 5);
    assert_eq!(device.opened.load(Ordering::Relaxed), 5);
    seal(&engine, 1);
    assert_eq!(device.opened.load(Ordering::Relaxed), 6, "the oldest made room");
}

#[test]
fn batches_of_many_threads_take_turns() {
    let (_, engine) = counted();
    let expected = seal(&engine, 9);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(seal(&engine, 9), expected));
        }
    });
}

#[test]
fn a_wrong_tag_gives_no_text() {
    let (_, engine) = counted();
    let mut sealed = seal(&engine, 3);
    sealed.tags[1][15] ^= 0x80;
    let opened = engine.open(gcm(), &KEY, &nonces(3), b"", &sealed).unwrap();
    let texts: Vec<_> = opened.iter().collect();
    assert_eq!(texts, [Some(&b"text"[..]), None, Some(&b"text"[..])]);
    assert_eq!(opened.rejected(), 1);
    assert_eq!(opened.all(), None);
}

#[test]
fn a_nonce_serves_once() {
    let (_, engine) = counted();
    let error = engine.seal(gcm(), &KEY, &[[1; 12], [2; 12], [1; 12]], b"", &["a", "b", "c"]).unwrap_err();
    assert_eq!(error, Error::RepeatedNonce { first: 0, second: 2 });
    let ctr = "aes-128-ctr".parse().unwrap();
    let error = engine.encrypt(ctr, &KEY, &[[1; 16], [1; 16]], &["a", "b"]).unwrap_err();
    assert_eq!(error, Error::RepeatedNonce { first: 0, second: 1 });
}

#[test]
fn parts_that_do_not_fit_are_named() {
    let (_, engine) = counted();
    let error = engine.seal(gcm(), &KEY, &nonces(1), b"", &["a", "b"]).unwrap_err();
    assert_eq!(error, Error::Device(BatchError::Rows { what: "nonces", messages: 2 }.into()));
    let error = engine.encrypt(gcm(), &KEY, &nonces(1), &["a"]).unwrap_err();
    assert!(error.to_string().contains("it can seal and open"), "{error}");
}

#[test]
fn a_wish_that_cannot_be_met_is_refused() {
    let engine = counted().1.with_wish(Wish { tier: Some("avx1024".to_owned()), ..Wish::default() });
    let error = engine.seal(gcm(), &KEY, &nonces(1), b"", &["a"]).unwrap_err();
    assert!(error.to_string().contains("does not offer tier avx1024"), "{error}");
}

#[test]
fn no_messages_are_no_trouble() {
    let (_, engine) = counted();
    let none: [&[u8]; 0] = [];
    let sealed = engine.seal(gcm(), &KEY, &nonces(0), b"aad", &none).unwrap();
    assert!(sealed.texts.is_empty() && sealed.tags.is_empty());
    assert_eq!(engine.open(gcm(), &KEY, &nonces(0), b"aad", &sealed).unwrap().iter().len(), 0);
}

#[test]
fn one_nonce_for_many_messages_is_refused_where_it_gives_them_away() {
    let (_, engine) = counted();
    let (texts, offsets) = (Source::Apart(&[0; 32]), [0, 16, 32]);
    let run = |algorithm: &str, operation, nonces, count: usize| {
        let messages = Messages { source: texts, offsets: &offsets[..=count] };
        let algorithm: Algorithm = algorithm.parse().unwrap();
        let mut batch = Batch::cipher(algorithm, operation, Column::Shared(&KEY), nonces, messages);
        let mut tags = [0; 32];
        if operation == Operation::Seal {
            batch = Batch::seal(algorithm, batch.keys, nonces, Column::EMPTY, messages);
        }
        engine.run(&batch, &mut Output { bytes: &mut [0; 32], tags: &mut tags, accepted: &mut [] })
    };
    let (shared, each) =
        (|width| Column::Shared(&[5; 16][..width]), Column::Each { bytes: &[5; 24], width: 12 });
    for (algorithm, operation, width) in
        [("aes-128-gcm", Operation::Seal, 12), ("aes-128-ctr", Operation::Encrypt, 16)]
    {
        let error = run(algorithm, operation, shared(width), 2).unwrap_err();
        assert!(matches!(error, DeviceError::Batch(BatchError::SharedNonce { messages: 2, .. })), "{error}");
        assert!(error.to_string().contains("give each message its own nonce"), "{error}");
        run(algorithm, operation, shared(width), 1).unwrap();
    }
    run("aes-128-ctr", Operation::Decrypt, shared(16), 2).unwrap();
    run("aes-128-cbc", Operation::Encrypt, shared(16), 2).unwrap();
    run("aes-128-gcm", Operation::Seal, each, 2).unwrap();
}

#[test]
fn one_nonce_for_a_key_each_is_refused_unless_no_key_comes_twice() {
    let (_, engine) = counted();
    let offsets = [0, 16, 32, 48];
    let run = |algorithm: &str, keys, nonces| {
        let messages = Messages { source: Source::Apart(&[0; 48]), offsets: &offsets };
        let algorithm: Algorithm = algorithm.parse().unwrap();
        let batch = match algorithm.is_aead() {
            true => Batch::seal(algorithm, keys, nonces, Column::EMPTY, messages),
            false => Batch::cipher(algorithm, Operation::Encrypt, keys, nonces, messages),
        };
        engine.run(&batch, &mut Output { bytes: &mut [0; 48], tags: &mut [0; 48], accepted: &mut [] })
    };
    let (mut other, again) = ([1; 48], [7; 48]);
    other[16..32].fill(2);
    other[32..].fill(3);
    let each = |bytes| Column::Each { bytes, width: 16 };
    let ragged = |bytes| Column::Ragged(Ragged { bytes, offsets: &offsets });
    for (algorithm, width) in [("aes-128-gcm", 12), ("aes-128-ctr", 16)] {
        let nonce = Column::Shared(&[5; 36][..width]);
        run(algorithm, each(&other), nonce).unwrap();
        run(algorithm, ragged(&other), nonce).unwrap();
        for keys in [each(&again), ragged(&again)] {
            let error = run(algorithm, keys, nonce).unwrap_err();
            assert!(matches!(error, DeviceError::Batch(BatchError::SharedNonce { .. })), "{error}");
        }
    }
    // Those of all messages, without a width: whatever the keys are.
    for keys in [each(&again), each(&other)] {
        let error = run("aes-128-gcm", keys, Column::Shared(&[5; 36])).unwrap_err();
        assert_eq!(error.to_string(), "3 messages need 3 nonces, one row each");
    }
    run("aes-128-gcm", each(&again), Column::Each { bytes: &[5; 36], width: 12 }).unwrap();
    run("aes-128-cbc", each(&again), Column::Shared(&[5; 16])).unwrap();
}

#[test]
fn nonces_without_their_width_open_nothing_and_leave_what_lies_in_place() {
    let (_, engine) = counted();
    let (offsets, mut text, mut accepted) = ([0, 16, 32, 48], [9; 48], [true; 3]);
    let messages = Messages { source: Source::InPlace, offsets: &offsets };
    for keys in [Column::Shared(&KEY), Column::Each { bytes: &[1; 48], width: 16 }] {
        let batch = Batch::open(gcm(), keys, Column::Shared(&[5; 36]), Column::EMPTY, messages, &[0; 48]);
        let output = &mut Output { bytes: &mut text, tags: &mut [], accepted: &mut accepted };
        let error = engine.run(&batch, output).unwrap_err();
        assert_eq!(error.to_string(), "3 messages need 3 nonces, one row each");
    }
    assert_eq!(text, [9; 48]);
}

#[test]
fn one_error_type_carries_names_as_well() {
    fn named(algorithm: &str) -> Result<Sealed, Error> {
        Engine::on("cpu")?.seal(algorithm.parse()?, &KEY, &nonces(1), b"", &["text"])
    }
    assert_eq!(named("aes-128-gcm").unwrap().tags.len(), 1);
    assert!(named("rot-13").unwrap_err().to_string().starts_with("unknown algorithm `rot-13`"));
}

/// Threads share out the look at offsets before any begins: what one of them finds stops all.
#[test]
fn a_batch_of_very_many_messages_is_checked_as_one_of_few() {
    const COUNT: usize = 70_000;
    let mut offsets = vec![3];
    offsets.extend((0..COUNT as u64).scan(3, |end, i| {
        *end += i * i % 41;
        Some(*end)
    }));
    let nonces: Vec<_> =
        (0..COUNT as u64).flat_map(|i| [i.to_le_bytes(), [9; 8]].concat()[..12].to_vec()).collect();
    let text: Vec<_> = (0..*offsets.last().unwrap()).map(|i| (i * i % 251) as u8).collect();
    let run = |engine: &Engine, offsets: &[u64]| {
        let (mut bytes, mut tags) = (text.clone(), vec![0; COUNT * 16]);
        let batch = Batch::seal(
            gcm(),
            Column::Shared(&KEY),
            Column::Each { bytes: &nonces, width: 12 },
            Column::EMPTY,
            Messages { source: Source::InPlace, offsets },
        );
        let ran = engine.run(&batch, &mut Output::sealed(&mut bytes, &mut tags));
        ran.map(|_| (bytes, tags))
    };
    let on = |threads| Engine::new().with_wish(Wish { threads: Some(threads), ..Wish::default() });
    let expected = run(&on(1), &offsets).unwrap();
    let engine = on(3);
    for _ in 0..3 {
        assert!(run(&engine, &offsets).unwrap() == expected);
    }
    for at in [1, 20_000, COUNT / 2, COUNT - 1] {
        let mut wrong = offsets.clone();
        wrong[at] = wrong[at + 1] + 1;
        let error = run(&engine, &wrong).unwrap_err().to_string();
        assert!(error.contains("offsets of messages"), "{at}: {error}");
    }
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert!(run(&engine, &offsets).unwrap() == expected));
        }
    });
}
