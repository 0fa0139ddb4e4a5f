//! What a run that fails leaves in memory of callers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cipherlane_core::{
    Batch, Column, DeviceMemory, DeviceTexts, Messages, Operation, Output, Resident as _, Source,
};

use super::Resident;
use crate::backend::{Backend as _, Commands};
use crate::fake::{Case, Failing, Fake, TAG, planned};
use crate::memory::CallerMemory;

#[test]
fn no_text_is_left_that_no_tag_vouches_for() {
    const TEXT: [u8; 300] = [0x5a; 300];
    let backend = Arc::new(Fake::new());
    let lend = || -> Arc<dyn DeviceMemory> {
        let memory = CallerMemory::lent(Arc::clone(&backend), backend.allocate(TEXT.len()).unwrap());
        memory.write(0, &TEXT).unwrap();
        Arc::new(memory)
    };
    for (operation, failing, in_place, left) in [
        (Operation::Open, Failing::Texts, true, 0),
        (Operation::Open, Failing::Texts, false, 0),
        (Operation::Seal, Failing::Texts, true, !0x5a),
        (Operation::Seal, Failing::Texts, false, !0x5a),
        (Operation::Open, Failing::Panic, true, 0),
        (Operation::Open, Failing::Panic, false, 0),
        // Nothing that writes texts was launched.
        (Operation::Open, Failing::Keys, true, 0x5a),
        (Operation::Open, Failing::Keys, false, 0x5a),
    ] {
        let (plan, programs) = planned("aes-128-gcm", operation, 1 << 20);
        let mut resident = Resident::new(Arc::clone(&backend), programs, plan.chunk).unwrap();
        resident.is_compared = true;
        let (key, nonces) = (Column::Shared(&[1; 16]), Column::Each { bytes: &[2; 24], width: 12 });
        let messages = Messages { source: Source::OnDevice, offsets: &[16, 100, 290] };
        let batch = if operation == Operation::Open {
            Batch::open(plan.algorithm, key, nonces, Column::Shared(&[]), messages, &[0; 32])
        } else {
            Batch::seal(plan.algorithm, key, nonces, Column::Shared(&[]), messages)
        };
        let (input, output) = (lend(), lend());
        let texts = if in_place {
            DeviceTexts::InPlace(Arc::clone(&output))
        } else {
            DeviceTexts::Apart { input, output: Arc::clone(&output) }
        };
        let (mut tags, mut accepted) = ([0; 32], [false; 2]);
        let mut outputs = Output { bytes: &mut [], tags: &mut tags, accepted: &mut accepted };
        resident.bind(&batch, &mut outputs, &texts).unwrap();
        backend.fail(failing, 0);
        match catch_unwind(AssertUnwindSafe(|| resident.execute())) {
            Ok(ran) => assert_eq!(ran.unwrap_err().to_string(), "fake:0: the device is lost"),
            Err(_) => assert_eq!(failing, Failing::Panic),
        }
        let mut found = [0xee; TEXT.len()];
        output.read(0, &mut found).unwrap();
        let what = format!("{operation}, {failing:?} failing, in place: {in_place}");
        assert!(found[16..290].iter().all(|&byte| byte == left), "{what}");
        assert!(
            found[..16].iter().chain(&found[290..]).all(|&byte| byte == 0x5a),
            "what is around it, {what}"
        );
    }
}

#[test]
fn a_key_is_expanded_again_after_a_run_that_failed() {
    let backend = Arc::new(Fake::new());
    let (plan, programs) = planned("aes-128-ctr", Operation::Encrypt, 1 << 20);
    let mut resident = Resident::new(Arc::clone(&backend), programs, plan.chunk).unwrap();
    resident.is_compared = true;
    let (key, counter) = ([7; 16], Column::Shared(&[9; 16]));
    let messages = Messages { source: Source::Apart(&[5; 100]), offsets: &[0, 100] };
    let batch = Batch::cipher(plan.algorithm, Operation::Encrypt, Column::Shared(&key), counter, messages);
    resident.load(&batch, &mut Output::text(&mut [0; 100])).unwrap();
    backend.fail(Failing::Wait, 0);
    resident.execute().unwrap_err();
    // As if the device had not come to copy it.
    Commands { backend: &*backend, queue: &resident.queue }.wipe(&resident.schedule.memory).unwrap();
    resident.execute().unwrap();
    let schedule = resident.schedule.memory.all();
    assert!(schedule.windows(16).any(|words| words == key), "a run went on with no key");
}

#[test]
fn what_is_not_taken_back_is_left_where_it_lies() {
    let backend = Arc::new(Fake::new());
    let (plan, programs) = planned("aes-128-gcm", Operation::Open, 1 << 20);
    let mut resident = Resident::new(Arc::clone(&backend), programs, plan.chunk).unwrap();
    resident.is_compared = true;
    let (key, nonce, aad) = (Column::Shared(&[1; 16]), Column::Shared(&[2; 12]), Column::Shared(&[]));
    let messages = Messages { source: Source::InPlace, offsets: &[0, 100] };
    let batch = Batch::open(plan.algorithm, key, nonce, aad, messages, &[0; 16]);
    let (mut text, mut accepted) = ([0x5a; 100], [true]);
    let mut output = Output::opened(&mut text, &mut accepted);
    resident.load(&batch, &mut output).unwrap();
    resident.store(&batch, &mut output).unwrap_err();
    assert!(output.bytes.iter().all(|&byte| byte == 0x5a) && !output.accepted[0], "nothing has run");
    resident.execute().unwrap();
    backend.fail(Failing::Wait, 0);
    resident.store(&batch, &mut output).unwrap_err();
    assert!(output.bytes.iter().all(|&byte| byte == 0) && !output.accepted[0], "text may have come out");
}

/// What comes back afterwards was made by a run since, or is zeros; the schedule of the key stays.
#[test]
fn what_runs_have_made_is_cleared() {
    let backend = Arc::new(Fake::new());
    let (plan, programs) = planned("aes-128-gcm", Operation::Seal, 1 << 20);
    let mut resident = Resident::new(Arc::clone(&backend), programs, plan.chunk).unwrap();
    resident.is_compared = true;
    assert!(resident.clear().unwrap_err().to_string().contains("nothing was loaded"));
    let (key, nonce, aad) = (Column::Shared(&[1; 16]), Column::Shared(&[2; 12]), Column::Shared(&[]));
    let messages = Messages { source: Source::Apart(&[0x5a; 100]), offsets: &[0, 100] };
    let batch = Batch::seal(plan.algorithm, key, nonce, aad, messages);
    let (mut text, mut tag) = ([0; 100], [0; 16]);
    let mut output = Output::sealed(&mut text, &mut tag);
    resident.load(&batch, &mut output).unwrap();
    resident.execute().unwrap();
    resident.store(&batch, &mut output).unwrap();
    assert!(output.bytes.iter().all(|&byte| byte == !0x5a));
    assert!(output.tags.iter().all(|&byte| byte == TAG));
    resident.clear().unwrap();
    resident.store(&batch, &mut output).unwrap();
    assert!(output.bytes.iter().chain(&*output.tags).all(|&byte| byte == 0));
    resident.execute().unwrap();
    resident.store(&batch, &mut output).unwrap();
    assert!(output.bytes.iter().all(|&byte| byte == !0x5a));
}

#[test]
fn steps_of_a_resident_are_over_when_it_returns() {
    for case in Case::all() {
        for &in_place in case.places() {
            for backend in [Fake::new(), Fake::pinned()].map(Arc::new) {
                let (plan, programs) = case.planned();
                let mut resident = Resident::new(Arc::clone(&backend), programs, plan.chunk).unwrap();
                resident.is_compared = true;
                for (lengths, key) in [(&[96, 200_016, 80][..], 1), (&[96; 9], 101)] {
                    case.stay(&mut resident, lengths, key, in_place).unwrap();
                    resident.clear().unwrap();
                    assert_eq!(backend.under_way(), [""; 0], "{case:?}");
                }
                drop(resident);
                assert_eq!(backend.under_way(), [""; 0], "{case:?}");
            }
        }
    }
}

/// Whatever the device refuses, and whenever.
#[test]
fn a_resident_that_fails_leaves_nothing_under_way() {
    for case in Case::all().filter(|case| case.longest < 1 << 14) {
        for failing in Failing::ERRORS {
            for others in 0.. {
                let backend = Arc::new(Fake::new());
                let (plan, programs) = case.planned();
                let mut resident = Resident::new(Arc::clone(&backend), programs, plan.chunk).unwrap();
                resident.is_compared = true;
                backend.fail(failing, others);
                let ran = case.stay(&mut resident, &[96, 80], 1, false);
                assert_eq!(backend.under_way(), [""; 0], "{case:?}: {failing:?} after {others}");
                let Err(error) = ran else { break };
                assert!(error.to_string().contains("the device is lost"), "{case:?}: {error}");
            }
        }
    }
}
