//! Two OpenCL devices as one do what the reference does. PoCL makes two of the CPU where it is asked to, which is in a
//! process of its own, since it looks once. Where there is but one device, it takes both places.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

#[path = "../../cipherlane-offload/tests/fleet/case.rs"]
mod case;
mod found;

use std::process::Command;
use std::sync::Arc;

use case::{Case, Results};
use cipherlane_core::{Device, Operation};
use cipherlane_opencl::{Fleet, Member, OpenClDevice};
use cipherlane_reference::Reference;
use found::devices;

/// Set in the process that the test starts.
const ROLE: &str = "CIPHERLANE_TEST_ROLE";
/// What it does.
const BLOCKS: &str = "blocks";
const TAGS: &str = "tags";

/// Two devices of one name together.
fn fleet() -> Fleet {
    let devices: Vec<_> = devices().into_iter().map(Arc::new).collect();
    let alike = devices.iter().filter(|device| device.info().name == devices[0].info().name);
    let members =
        alike.cycle().take(2).map(|device| -> Arc<dyn Member> { Arc::<OpenClDevice>::clone(device) });
    Fleet::new("opencl:all", members.collect())
}

/// In a session and where the batch stays, the fleet does what the reference does. Returns that.
fn agree(fleet: &Fleet, case: &Case) -> Results {
    let wanted = case.run(&Reference::new(), false);
    let what = format!("{} {} of {:?}", case.algorithm, case.operation, case.offsets);
    assert!(case.run(fleet, false) == wanted, "{what}, in a session");
    let mut resident = fleet.resident(&case.plan(fleet)).unwrap().unwrap();
    let found = case.with(false, |batch, output| {
        resident.load(batch, output).unwrap();
        let error = resident.store(batch, output).unwrap_err().to_string();
        assert!(error.contains("call `execute` first"), "{error}");
        resident.execute().unwrap();
        resident.store(batch, output).unwrap();
    });
    assert!(found == wanted, "{what}, where it stays");
    wanted
}

/// The parts of a message are not messages, however alike their sizes are: what lies beside a part is no tag.
fn refuse_parts_as_messages(fleet: &Fleet) {
    let case = |lengths: &[usize]| Case::new("aes-128-gcm", Operation::Seal, lengths, true);
    let (whole, halves) = (case(&[4 << 20]), case(&[2 << 20, 2 << 20]));
    let mut resident = fleet.resident(&whole.plan(fleet)).unwrap().unwrap();
    whole.with(false, |batch, output| {
        resident.load(batch, output).unwrap();
        resident.execute().unwrap();
    });
    halves.with(false, |batch, output| {
        let error = resident.store(batch, output).unwrap_err().to_string();
        assert!(error.contains("not the sizes"), "{error}");
    });
}

/// A long message that is cut, then messages of many lengths, empty ones among them. Multiples of a block.
fn lengths() -> Vec<usize> {
    [vec![0, 48, (3 << 20) / 2], (0..60).map(|index| 16 * (index * 37 % 2001)).collect()].concat()
}

/// A cipher and a hash of messages whose blocks can be shared out: those whose kernels other tests have PoCL compile as well.
/// How batches are cut depends on no driver, and is tested without.
fn share_blocks(fleet: &Fleet) {
    agree(fleet, &Case::new("aes-128-ctr", Operation::Encrypt, &lengths(), true));
    agree(fleet, &Case::new("sha3-256", Operation::Hash, &lengths(), true));
}

/// Ragged messages with tags; that of the first message that is cut is wrong in its last bit, and so are those of others.
fn share_tags(fleet: &Fleet) {
    let ragged = [40, (3 << 20) / 2 + 5, 0, (1 << 20) + (1 << 17), 17];
    agree(fleet, &Case::new("aes-128-gcm", Operation::Seal, &ragged, true));
    let is_wrong = |index| index % 2 == 1;
    let opened = agree(fleet, &Case::sealed("aes-128-gcm", &ragged, true, is_wrong));
    assert_eq!(opened.accepted, [0, 1, 2, 3, 4].map(|index| !is_wrong(index)));
    refuse_parts_as_messages(fleet);
}

/// Not a test of its own.
#[test]
fn share_batches() {
    let Some(role) = std::env::var_os(ROLE) else { return };
    let fleet = fleet();
    if fleet.info().detail("platform") == Some("Portable Computing Language") {
        assert_eq!(fleet.info().detail("devices"), Some("opencl:0, opencl:1"));
    }
    if role == BLOCKS { share_blocks(&fleet) } else { share_tags(&fleet) }
}

/// Runs `share_batches` as `role` on two devices.
fn share_as(role: &str) {
    let Some(first) = devices().into_iter().next() else { return };
    // PoCL's names begin with the kind of device, which it makes as many of as it is told.
    let kind = first.info().name.split('-').next().unwrap_or_default().to_owned();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "share_batches", "--nocapture"])
        .env(ROLE, role)
        .env("POCL_DEVICES", format!("{kind} {kind}"))
        .status();
    assert!(status.unwrap().success());
}

// A process each, since PoCL compiles one kernel of a process at a time.

#[test]
fn two_devices_share_ciphers_and_hashes() {
    share_as(BLOCKS);
}

#[test]
fn two_devices_share_messages_with_tags() {
    share_as(TAGS);
}
