//! The named workloads are what they say.

use std::collections::BTreeSet;

use cipherlane::verify::Reference;
use cipherlane::{Operation, Shape};
use cipherlane_lab::workload::part::Results;
use cipherlane_lab::workload::{Job, Named, Request, Task, Workload, WorkloadError, named};
use cipherlane_lab::{Contender, Judges, Wanted, host};
use cipherlane_record::{Host, Keys};

const WORKING_SET_BYTES: usize = 128 << 10;

/// Each job of the workload `name`.
fn build(name: &str) -> Result<Vec<Workload>, WorkloadError> {
    let reference = Reference::new();
    let judges = Judges { fast: Contender::new(&reference), readable: Contender::new(&reference) };
    let request = Request { seed: 1, working_set_bytes: WORKING_SET_BYTES, judges: &judges };
    named(name).expect("a known name").choices().map(|choice| choice.build(&request)).collect()
}

fn operations(workload: &Workload) -> Vec<Operation> {
    workload.tasks.iter().map(|task| task.part.operation).collect()
}

fn planned_rejects(workload: &Workload) -> u64 {
    workload.tasks.iter().map(Task::planned_rejects).sum()
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let error = named("meter").err().unwrap().to_string();
    for workload in Named::ALL {
        assert!(error.contains(workload.name), "{error}");
        assert!(workload.question.ends_with('?') && !workload.jobs.is_empty());
    }
}

#[test]
fn sizes_free_to_choose_fill_the_working_set() {
    for workload in ["meter-128", "meter-mixed", "packets", "tls-16k", "disk-4k"]
        .into_iter()
        .flat_map(|name| build(name).unwrap())
    {
        let share = workload.working_set_bytes() as f64 / WORKING_SET_BYTES as f64;
        // Three records of 16 KiB are as near as tls-16k gets.
        assert!((0.4..=1.01).contains(&share), "{}: {share}", workload.name);
    }
    let of_cores = |cores| Host {
        l2_bytes: Some(1 << 20),
        logical_cores: 8,
        physical_cores: Some(cores),
        ..host::detect()
    };
    assert_eq!(Request::working_set(Wanted::Hot, &of_cores(4), 4), 2 << 20);
    assert_eq!(
        Request::working_set(Wanted::Hot, &of_cores(4), 8),
        2 << 20,
        "two threads share a core's cache"
    );
    assert!(Request::working_set(Wanted::Cold, &of_cores(4), 4) > 32 << 20);
}

#[test]
fn what_fills_caches_that_nobody_knows_is_hot() {
    let reference = Reference::new();
    let judges = Judges { fast: Contender::new(&reference), readable: Contender::new(&reference) };
    let unknown = Host { l2_bytes: None, physical_cores: Some(2), ..host::detect() };
    for cores in [1, 2] {
        let working_set_bytes = Request::working_set(Wanted::Hot, &unknown, cores);
        let request = Request { seed: 1, working_set_bytes, judges: &judges };
        let workload = named("disk-4k").unwrap().choices().next().unwrap().build(&request).unwrap();
        assert!(workload.fits(&unknown, cores), "{cores} cores, {} bytes", workload.working_set_bytes());
        assert!(!workload.fits(&Host { l2_bytes: Some(4096), ..unknown.clone() }, cores));
    }
}

/// What plans are made of before there are messages.
#[test]
fn outlines_are_those_of_the_messages() {
    for name in ["meter-128", "meter-mixed", "packets", "tls-16k", "disk-4k", "cavp-mix"] {
        let workloads = build(name).expect("`cargo xtask vectors` fetches those of NIST");
        for (choice, workload) in named(name).unwrap().choices().zip(workloads) {
            let told = |shape: &Shape| {
                (shape.algorithm.to_string(), shape.operation.name(), shape.longest, shape.shared_key)
            };
            let made: BTreeSet<_> =
                workload.tasks.iter().map(|task| told(&task.part.shape().unwrap())).collect();
            let longest = made.iter().map(|(.., longest, _)| *longest).max().unwrap();
            let outlined: BTreeSet<_> = choice.shapes(7).iter().map(told).collect();
            // Of texts of several lengths the longest counts, whichever batch has it.
            let made: BTreeSet<_> =
                made.into_iter().map(|(a, o, _, shared)| (a, o, longest, shared)).collect();
            assert_eq!(outlined, made, "{name}");
            assert!(choice.shapes(7).iter().all(|shape| shape.messages == 7), "{name}");
        }
    }
    let bulk = named("bulk").unwrap().choices().next().unwrap().shapes(7);
    assert_eq!((bulk.len(), bulk[0].messages, bulk[0].longest), (1, 1, 256 << 20));
}

#[test]
fn meters_mix_keys_and_directions() {
    let [workload] = &build("meter-128").unwrap()[..] else { panic!("one job") };
    assert_eq!((workload.keys(), &*workload.algorithm()), (Keys::Distinct, "aes-mixed-gcm"));
    assert_eq!(workload.bytes(), 128 * workload.messages());
    assert_eq!(planned_rejects(workload) * 4, workload.messages());
    for task in &workload.tasks {
        assert_eq!(task.part.len() as u64 * 6, workload.messages());
        assert!(Job::Mixed.algorithms().contains(&task.part.algorithm), "whose known answers are asked for");
        let aad = task.part.aad.column();
        assert!(
            (0..task.part.len()).all(|message| aad.row(message).len() == 17 && aad.row(message)[0] == 0x30)
        );
        assert_eq!(task.part.tag_range(1), 12..24);
        let keys: std::collections::HashSet<&[u8]> =
            (0..task.part.len()).map(|message| task.part.keys.column().row(message)).collect();
        assert_eq!(keys.len(), task.part.len(), "a key each");
    }
}

#[test]
fn meters_have_all_lengths_and_a_key_each() {
    let [seal, open] = &build("meter-mixed").unwrap()[..] else { panic!("two jobs") };
    assert_eq!((seal.keys(), &*seal.algorithm()), (Keys::Distinct, "aes-128-gcm"));
    let part = &seal.tasks[0].part;
    let lengths: BTreeSet<_> = (0..part.len()).map(|message| part.range(message).len()).collect();
    assert!(lengths.len() >= part.len().min(241), "each as often as any other");
    assert_eq!((lengths.first(), lengths.last()), (Some(&16), Some(&256)));
    assert_eq!((part.aad.column().row(0).len(), part.tag_range(1)), (17, 12..24));
    assert_ne!(part.keys.column().row(0), part.keys.column().row(1));
    assert_eq!(open.tasks[0].part.texts, seal.tasks[0].expected.bytes);
}

#[test]
fn packets_have_all_lengths() {
    let [seal, open] = &build("packets").unwrap()[..] else { panic!("two jobs") };
    let part = &seal.tasks[0].part;
    let lengths: BTreeSet<_> = (0..part.len()).map(|message| part.range(message).len()).collect();
    assert!(lengths.len() >= part.len().min(497), "each as often as any other");
    let (nonces, aad) = (part.nonces.column(), part.aad.column());
    assert_eq!(
        (nonces.row(1)[4..].to_vec(), aad.row(1)[4..].to_vec()),
        (vec![0, 0, 0, 0, 0, 0, 0, 2], vec![0, 0, 0, 2])
    );
    assert_eq!((&nonces.row(0)[..4], &aad.row(0)[..4]), (&nonces.row(1)[..4], &aad.row(1)[..4]));
    assert_eq!(open.tasks[0].part.texts, seal.tasks[0].expected.bytes);
}

#[test]
fn records_and_sectors_are_numbered() {
    let [seal, open] = &build("tls-16k").unwrap()[..] else { panic!("two jobs") };
    assert_eq!((operations(seal), operations(open)), (vec![Operation::Seal], vec![Operation::Open]));
    let part = &seal.tasks[0].part;
    assert_eq!((part.range(0).len(), part.aad.column().row(1).len()), (16384, 13));
    assert_eq!(part.aad.column().row(1), [0, 0, 0, 0, 0, 0, 0, 1, 23, 3, 3, 0x40, 0]);
    assert_ne!(part.nonces.column().row(0), part.nonces.column().row(1));
    // One undoes the other.
    assert_eq!(open.tasks[0].part.texts, seal.tasks[0].expected.bytes);
    assert_eq!(open.tasks[0].expected.bytes, part.texts);

    let [encrypt, _] = &build("disk-4k").unwrap()[..] else { panic!("two jobs") };
    let tweaks = encrypt.tasks[0].part.nonces.column();
    let number = |sector| u128::from_le_bytes(tweaks.row(sector).try_into().unwrap());
    assert_eq!(number(1), number(0) + 1);
}

/// The counts of the records with a text, as published results of this set give them: nearly as many planned
/// failures as successes, and as many encryptions as decryptions.
#[test]
fn the_cavp_mix_is_nists_set_in_its_order() {
    let workloads = build("cavp-mix").expect("`cargo xtask vectors` fetches them");
    let workload = &workloads[0];
    assert_eq!(workload.messages(), 37_800);
    assert_eq!(planned_rejects(workload), 9_509);
    let [s, o] = [Operation::Seal, Operation::Open];
    assert_eq!(operations(workload), [s, s, s, o, o, o]);
    assert_eq!((workload.bytes() as f64 / workload.messages() as f64).round(), 28.0);
    assert_eq!(workload.keys(), Keys::Distinct);
}

#[test]
fn contents_follow_from_the_seed() {
    let texts = |seed| {
        let reference = Reference::new();
        let judges = Judges { fast: Contender::new(&reference), readable: Contender::new(&reference) };
        let request = Request { seed, working_set_bytes: WORKING_SET_BYTES, judges: &judges };
        let choice = named("disk-4k").unwrap().choices().next().unwrap();
        choice.build(&request).unwrap().tasks[0].part.texts.clone()
    };
    assert_eq!(texts(1), texts(1));
    assert_ne!(texts(1), texts(2));
    assert!(texts(1).iter().filter(|&&byte| byte == 0).count() < texts(1).len() / 100, "no zeros are timed");
}

#[test]
fn each_kind_of_wrong_output_is_seen() {
    let [workload] = &build("meter-128").unwrap()[..] else { panic!("one job") };
    for task in &workload.tasks {
        let right = task.expected.clone();
        let all = task.part.len() as u64;
        assert_eq!(
            (task.check(&right).unexpected, task.check(&right).planned_rejects),
            (0, task.planned_rejects())
        );
        let wrong = |change: &dyn Fn(&mut Results)| {
            let mut results = right.clone();
            change(&mut results);
            task.check(&results).unexpected
        };
        assert_eq!(wrong(&|results| results.bytes[130] ^= 1), 1);
        assert_eq!(wrong(&|results| task.scrub_message(results, 1)), 1);
        assert_eq!(wrong(&|results| task.scrub(results)), all);
        if task.part.operation == Operation::Seal {
            assert_eq!(wrong(&|results| results.tags[12] ^= 1), 1);
        } else {
            assert_eq!(wrong(&|results| results.accepted[0] ^= true), 1);
            let rejected = right.accepted.iter().position(|accepted| !accepted).unwrap();
            // The text of a rejected message must be zeroed.
            assert_eq!(wrong(&|results| results.bytes[task.part.range(rejected).end - 1] = 1), 1);
        }
    }
}
