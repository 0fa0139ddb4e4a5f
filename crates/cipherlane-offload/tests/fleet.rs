//! Several devices as one give what one of them gives.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

#[path = "fleet/case.rs"]
mod case;
#[path = "fleet/member.rs"]
mod member;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use case::{Case, Results};
use cipherlane_core::{Device, Operation, Output, Shape, Wish};
use cipherlane_offload::{Fleet, Member};
use cipherlane_reference::Reference;
use member::{Alike, Faulty};

/// `parts` counts the parts of GCM messages.
fn fleet(devices: usize, parts: &Arc<AtomicUsize>) -> Fleet {
    let device = || -> Arc<dyn Member> { Arc::new(Alike(Reference::new(), Arc::clone(parts))) };
    Fleet::new("reference:all", (0..devices).map(|_| device()).collect())
}

/// One long message, then short ones; then messages of all lengths. Multiples of a block.
fn lengths() -> [Vec<usize>; 2] {
    let long = [vec![2_400_000], vec![4096; 20]].concat();
    [long, (0..900).map(|index| 16 * (index % 400)).collect()]
}

fn compare(name: &str, operation: Operation, shared_key: bool) {
    for lengths in lengths() {
        agree(&Case::new(name, operation, &lengths, shared_key));
    }
}

/// Fleets of two and three devices, apart and in place, do what one device does. Returns that.
fn agree(case: &Case) -> Results {
    let mut apart = None;
    for in_place in [false, true] {
        if in_place && case.operation == Operation::Hash {
            continue;
        }
        let wanted = case.run(&Reference::new(), in_place);
        for devices in [2, 3] {
            let parts = Arc::default();
            let found = case.run(&fleet(devices, &parts), in_place);
            let lengths: Vec<u64> = case.offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let what = format!(
                "{} {} of {lengths:?} on {devices} devices, in place: {in_place}",
                case.algorithm, case.operation
            );
            let cuts = case.algorithm.is_aead() && lengths.iter().any(|&length| length > 1 << 20);
            assert_eq!(parts.load(Ordering::Relaxed) > 1, cuts, "{what}: parts");
            assert!(found.accepted == wanted.accepted, "{what}: {:?}", found.accepted);
            assert!(found.tags == wanted.tags, "{what}: tags");
            assert!(found.text == wanted.text, "{what}: texts");
        }
        apart.get_or_insert(wanted);
    }
    apart.unwrap()
}

#[test]
fn long_messages_are_shared_out() {
    compare("aes-128-ctr", Operation::Encrypt, true);
    compare("aes-128-ecb", Operation::Encrypt, false);
    compare("aes-128-cbc", Operation::Decrypt, true);
}

#[test]
fn messages_are_shared_out() {
    compare("aes-128-gcm", Operation::Seal, false);
    compare("aes-128-cbc", Operation::Encrypt, false);
    compare("sha-256", Operation::Hash, true);
}

/// Lengths around the places where messages are cut, the last for two places in one message, with empty ones between.
fn cut_lengths() -> Vec<Vec<usize>> {
    const CUT: usize = 1 << 20;
    let around = [CUT - 17, CUT - 1, CUT, CUT + 1, CUT + 16].map(|length| vec![CUT + length]);
    let ragged = vec![vec![0, 5, 3 * CUT / 2 + 7, 0, 0, 2 * CUT + 15, 33, 0], vec![40, 4 * CUT + 1, 0]];
    [around.to_vec(), ragged].concat()
}

#[test]
fn tags_are_made_of_parts() {
    for lengths in cut_lengths() {
        agree(&Case::new("aes-128-gcm", Operation::Seal, &lengths, true));
    }
    agree(&Case::new("sm4-gcm", Operation::Seal, &cut_lengths()[6], false));
}

#[test]
fn tags_are_checked_over_parts() {
    for (round, lengths) in cut_lengths().into_iter().enumerate() {
        let is_wrong = if round % 2 == 0 { |index| index % 2 == 0 } else { |index| index % 2 == 1 };
        let case = Case::sealed("aes-128-gcm", &lengths, round > 2, is_wrong);
        let found = agree(&case);
        for (index, accepted) in found.accepted.iter().enumerate() {
            assert_eq!(*accepted, !is_wrong(index), "{lengths:?}");
            let text = case.offsets[index]..case.offsets[index + 1];
            let text = usize::try_from(text.start).unwrap()..usize::try_from(text.end).unwrap();
            assert!(*accepted || found.text[text].iter().all(|&byte| byte == 0), "{lengths:?}");
        }
    }
}

/// Opens a batch in place on a fleet of which some fail, by a panic or without. Returns the error, the text that there was,
/// and what is left.
fn fail(members: [Option<bool>; 2]) -> (String, Vec<u8>, Results) {
    let member = |panics: Option<bool>| -> Arc<dyn Member> {
        match panics {
            None => Arc::new(Alike(Reference::new(), Arc::default())),
            Some(panics) => Arc::new(Faulty { reference: Reference::new(), panics }),
        }
    };
    let fleet = Fleet::new("reference:all", members.map(member).to_vec());
    let case = Case::sealed("aes-128-gcm", &[1 << 20, 1 << 20], true, |_| false);
    let mut session = fleet.open(&case.plan(&fleet)).unwrap();
    let (mut error, mut before) = (String::new(), Vec::new());
    let results = case.with(true, |batch, output| {
        before = output.bytes.to_vec();
        output.accepted.fill(true);
        error = session.run(batch, output).unwrap_err().to_string();
    });
    (error, before, results)
}

#[test]
fn what_devices_have_opened_is_forgotten_when_another_fails() {
    let message = |results: &Results| results.text[3..3 + (2 << 20)].to_vec();
    for (members, reason) in [
        ([None, Some(false)], "reference: no room"),
        ([Some(false), None], "reference: no room"),
        ([None, Some(true)], "reference:all: a panic, which is a defect"),
        ([Some(true), None], "(a device is broken)"),
    ] {
        let (error, _, results) = fail(members);
        assert!(error.contains(reason), "{error}");
        assert!(
            message(&results).iter().all(|&byte| byte == 0),
            "{members:?}: text that no device vouches for"
        );
        assert_eq!(results.accepted, [false; 2], "{members:?}");
    }
}

#[test]
fn what_no_device_has_opened_is_left_to_the_caller() {
    let (_, before, results) = fail([Some(false); 2]);
    assert!(results.text == before, "text of which nothing had come out");
    assert_eq!(results.accepted, [false; 2]);
}

#[test]
fn what_an_operation_does_not_write_is_left_as_it_is() {
    let lengths = [1 << 20, 40, (1 << 20) + 5, 1 << 20];
    for case in [
        Case::new("aes-128-gcm", Operation::Seal, &lengths, true),
        Case::sealed("aes-128-gcm", &lengths, true, |_| false),
        Case::new("aes-128-ctr", Operation::Encrypt, &lengths, true),
        Case::new("sha-256", Operation::Hash, &lengths, true),
    ] {
        let (fleet, (mut tag, mut verdict)) = (fleet(3, &Arc::default()), ([0x5a; 7], [true]));
        let mut session = fleet.open(&case.plan(&fleet)).unwrap();
        let found = case.with(false, |batch, Output { bytes, tags, accepted }| {
            let tags = if tags.is_empty() { &mut tag[..] } else { tags };
            let accepted = if accepted.is_empty() { &mut verdict[..] } else { accepted };
            session.run(batch, &mut Output { bytes, tags, accepted }).unwrap();
        });
        assert!(found == case.run(&Reference::new(), false), "{} {}", case.algorithm, case.operation);
        assert_eq!((tag, verdict), ([0x5a; 7], [true]), "{} {}", case.algorithm, case.operation);
    }
}

#[test]
fn plans_are_those_of_the_fleet() {
    let fleet = fleet(2, &Arc::default());
    let shape = Shape::uniform("aes-128-ctr".parse().unwrap(), Operation::Encrypt, 9, 1 << 20, true);
    let plan = fleet.plan(&shape, &Wish::default()).unwrap();
    assert_eq!(plan.device, "reference:all");
    assert!(fleet.info().name.starts_with("2 devices"), "{:?}", fleet.info());
    // The reference keeps nothing in memory of its own.
    assert!(fleet.resident(&plan).unwrap().is_none());
    let own = Reference::new().plan(&shape, &Wish::default()).unwrap();
    let error = fleet.open(&own).err().unwrap().to_string();
    assert!(error.contains("reference:all"), "{error}");
}
