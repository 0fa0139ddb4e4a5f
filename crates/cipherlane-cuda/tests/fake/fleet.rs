//! Long GCM messages over several fake GPUs.

use std::sync::Arc;

use cipherlane_core::{
    Algorithm, Batch, Column, Device, Messages, Operation, Output, Ragged, Resident, Session, Shape, Source,
    TagLengths, Wish,
};
use cipherlane_cuda::{CudaDevice, Fleet, Member};
use cipherlane_reference::Reference;

use crate::{is_role, run, streams};

/// Messages that a fleet of two or three cuts, after and before short ones.
const LENGTHS: [usize; 5] = [40, (3 << 20) + 5, 0, (1 << 20) + (1 << 17), 17];
const TAGS: [u8; LENGTHS.len()] = [16, 13, 4, 16, 8];

/// The batch's columns.
struct Case {
    text: Vec<u8>,
    offsets: Vec<u64>,
    nonce_offsets: Vec<u64>,
    aad_offsets: Vec<u64>,
}

/// What comes out.
#[derive(Clone, Default, PartialEq, Eq)]
struct Results {
    text: Vec<u8>,
    tags: Vec<u8>,
    accepted: Vec<bool>,
}

fn prefix(lengths: &[usize]) -> Vec<u64> {
    let sums = lengths.iter().scan(0, |sum, &length| {
        *sum += length as u64;
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

impl Case {
    fn new() -> Self {
        let text = |index: u32| (index.wrapping_mul(0x9e37_79b1) >> 24) as u8;
        Self {
            text: (0..LENGTHS.iter().sum::<usize>() as u32).map(text).collect(),
            offsets: prefix(&LENGTHS),
            // The first counter of most is a GHASH of their nonce.
            nonce_offsets: prefix(&[12, 17, 12, 12, 1]),
            aad_offsets: prefix(&[0, 33, 5, 0, 16]),
        }
    }

    /// Runs the batch by `run`: to seal, or to open `sealed`.
    fn run(&self, sealed: Option<&Results>, run: impl FnOnce(&Batch<'_>, &mut Output<'_>)) -> Results {
        let count = LENGTHS.len();
        let mut results = Results {
            text: vec![0; self.text.len()],
            tags: vec![0; if sealed.is_some() { 0 } else { 16 * count }],
            accepted: vec![false; if sealed.is_some() { count } else { 0 }],
        };
        let batch = Batch {
            algorithm: algorithm(),
            operation: if sealed.is_some() { Operation::Open } else { Operation::Seal },
            keys: Column::Shared(&[7; 16]),
            nonces: Column::Ragged(Ragged { bytes: &[9; 54], offsets: &self.nonce_offsets }),
            aad: Column::Ragged(Ragged { bytes: &[3; 54], offsets: &self.aad_offsets }),
            messages: Messages {
                source: Source::Apart(sealed.map_or(&self.text, |sealed| &sealed.text)),
                offsets: &self.offsets,
            },
            tag_lengths: TagLengths::Each(&TAGS),
            tags: sealed.map_or(&[], |sealed| &sealed.tags),
        };
        let Results { text, tags, accepted } = &mut results;
        run(&batch, &mut Output { bytes: text, tags, accepted });
        // A tag fills the front of its row, whatever lies behind it.
        for (row, &length) in results.tags.chunks_mut(16).zip(&TAGS) {
            row[usize::from(length)..].fill(0);
        }
        results
    }
}

fn algorithm() -> Algorithm {
    "aes-128-gcm".parse().unwrap()
}

/// A session of `device`, and a place on it if it has memory of its own.
fn open(device: &dyn Device, operation: Operation) -> (Box<dyn Session>, Option<Box<dyn Resident>>) {
    let shape = Shape::uniform(algorithm(), operation, 2, 3 << 20, true);
    // The fake has no tensor cores, which the others ask for.
    let kernel = device.kernels(&shape).into_iter().find(|kernel| kernel.name == "aes-gcm/banked1/x1");
    let kernel = kernel.map(|kernel| kernel.name);
    let plan = device.plan(&shape, &Wish { kernel, chunk: Some(1 << 20), ..Wish::default() }).unwrap();
    (device.open(&plan).unwrap(), device.resident(&plan).unwrap())
}

/// Both ways, in a session and where the batch stays, fleets do what the reference does.
fn compare(fleet: &Fleet, devices: usize, case: &Case, sealed: Option<&Results>) -> Results {
    let operation = if sealed.is_some() { Operation::Open } else { Operation::Seal };
    let (mut reference, _) = open(&Reference::new(), operation);
    let wanted = case.run(sealed, |batch, output| {
        reference.run(batch, output).unwrap();
    });
    let (mut session, resident) = open(fleet, operation);
    let mut resident = resident.unwrap();
    let found = case.run(sealed, |batch, output| {
        let spans = session.run(batch, output).unwrap();
        assert!(!spans.load.is_zero() && !spans.execute.is_zero() && !spans.store.is_zero(), "{spans:?}");
        streams::agree(&spans, &session.streams(), devices);
    });
    assert!(found == wanted, "{operation} in a session, {:?}", found.accepted);
    let found = case.run(sealed, |batch, output| {
        resident.load(batch, output).unwrap();
        for _ in 0..2 {
            let spans = resident.execute().unwrap();
            assert!(spans.load.is_zero() && spans.store.is_zero() && !spans.execute.is_zero());
        }
        resident.store(batch, output).unwrap();
    });
    assert!(found == wanted, "{operation} of what stays there, {:?}", found.accepted);
    wanted
}

/// Not a test of its own.
#[test]
fn share_messages() {
    if !is_role("fleet::share_messages") {
        return;
    }
    let device = Arc::new(cipherlane_cuda::devices().unwrap().swap_remove(0));
    for count in [2, 3] {
        let all = (0..count).map(|_| -> Arc<dyn Member> { Arc::<CudaDevice>::clone(&device) });
        let fleet = Fleet::new("cuda:all", all.collect());
        let case = Case::new();
        let mut sealed = compare(&fleet, count, &case, None);
        // The last bit of a tag of 13 bytes with two devices, of 8 with three.
        let wrong = if count == 2 { 1 } else { 4 };
        sealed.tags[16 * wrong + usize::from(TAGS[wrong]) - 1] ^= 1;
        let opened = compare(&fleet, count, &case, Some(&sealed));
        for (index, accepted) in opened.accepted.into_iter().enumerate() {
            assert_eq!(accepted, index != wrong);
            let text = case.offsets[index] as usize..case.offsets[index + 1] as usize;
            let is_zero = opened.text[text.clone()].iter().all(|&byte| byte == 0);
            assert!(if accepted { opened.text[text.clone()] == case.text[text] } else { is_zero });
        }
    }
}

#[test]
fn fake_gpus_share_long_messages() {
    if let Some((said, passed)) = run("fleet::share_messages", &[]) {
        assert!(passed, "{said}");
    }
}

/// What two runs of a long CBC message, decrypted where it stays in place, make of it.
fn decrypted_twice(device: &dyn Device) -> Vec<u8> {
    const BYTES: usize = 3 << 20;
    let algorithm: Algorithm = "aes-128-cbc".parse().unwrap();
    let shape = Shape::uniform(algorithm, Operation::Decrypt, 1, BYTES as u64, true);
    // The fake has no shuffles, which others ask for.
    let kernel = device.kernels(&shape).into_iter().find(|kernel| kernel.name.contains("banked1/x1"));
    let kernel = kernel.map(|kernel| kernel.name);
    let plan = device.plan(&shape, &Wish { kernel, ..Wish::default() }).unwrap();
    let mut resident = device.resident(&plan).unwrap().unwrap();
    let mut text: Vec<u8> = (0..BYTES).map(|index| (index % 251) as u8).collect();
    let messages = Messages { source: Source::InPlace, offsets: &[0, BYTES as u64] };
    let (key, iv) = (Column::Shared(&[7; 16]), Column::Shared(&[9; 16]));
    let batch = Batch::cipher(algorithm, Operation::Decrypt, key, iv, messages);
    let mut output = Output::text(&mut text);
    resident.load(&batch, &mut output).unwrap();
    for _ in 0..2 {
        resident.execute().unwrap();
    }
    resident.store(&batch, &mut output).unwrap();
    text
}

/// Not a test of its own.
#[test]
fn go_on_in_place() {
    if is_role("fleet::go_on_in_place") {
        let device = Arc::new(cipherlane_cuda::devices().unwrap().swap_remove(0));
        let members = (0..2).map(|_| -> Arc<dyn Member> { Arc::<CudaDevice>::clone(&device) });
        let fleet = Fleet::new("cuda:all", members.collect());
        assert!(decrypted_twice(&fleet) == decrypted_twice(&*device), "a fleet goes on from another text");
    }
}

#[test]
fn chains_in_place_go_on_as_on_one_gpu() {
    if let Some((said, passed)) = run("fleet::go_on_in_place", &[]) {
        assert!(passed, "{said}");
    }
}
