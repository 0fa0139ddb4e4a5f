//! Batches on memory of the fake GPU, whoever allocated it.
#![allow(unsafe_code)] // views of memory that lives

use std::ffi::{c_int, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::Arc;

use cipherlane_core::{
    Algorithm, Batch, Column, Device, DeviceTexts, Hash, Messages, Operation, Output, Shape, Source, Wish,
};
use cipherlane_cuda::{CudaDevice, Fleet, Member, foreign_memory};

use crate::bound::{self, lend, take};
use crate::{is_role, run};

/// Not a test of its own.
#[test]
fn run_bound() {
    if is_role("foreign::run_bound") {
        let device = &cipherlane_cuda::devices().unwrap()[0];
        bound::check_memory(device);
        for (algorithm, shared_key) in [
            ("aes-128-ctr", true),
            ("aes-128-gcm", true),
            ("aes-128-gcm", false),
            ("aes-128-cbc", true),
            ("aes-128-xts", false),
            ("sha-256", true),
        ] {
            // The fake has no tensor cores and no shuffles, which other kernels ask for.
            let kernel = if algorithm == "sha-256" { "" } else { "banked1/x1" };
            bound::check(device, algorithm, shared_key, kernel);
        }
    }
}

#[test]
fn batches_run_where_their_texts_lie() {
    if let Some((said, passed)) = run("foreign::run_bound", &[]) {
        assert!(passed, "{said}");
    }
}

/// Not a test of its own.
#[test]
fn run_foreign() {
    if !is_role("foreign::run_foreign") {
        return;
    }
    let devices = cipherlane_cuda::devices().unwrap();
    let (device, text) = (&devices[0], vec![5; 1000]);
    let memory = lend(device, &text);
    // SAFETY: it lies within memory that outlives what is made of it, as do the others.
    let view = |at: u64, bytes| unsafe { foreign_memory(memory.handle() + at, bytes) };
    let (front, back) = (view(0, 500).unwrap(), view(512, 488).unwrap());
    assert_eq!((back.device(), back.bytes(), back.handle()), ("cuda:0", 488, memory.handle() + 512));
    let error = view(8, 100).unwrap_err().to_string();
    assert!(error.contains("multiple of 16"), "{error}");
    let error = view(0, 1 << 20).unwrap_err().to_string();
    assert!(
        error.contains("not memory of one GPU") && error.contains("no more bytes than it has"),
        "{error}"
    );
    let host = device.host_memory(100).unwrap();
    // SAFETY: it is refused.
    let error = unsafe { foreign_memory(host.as_ptr().addr() as u64, 100) }.unwrap_err().to_string();
    assert!(error.contains("not memory of one GPU"), "{error}");
    let algorithm: Algorithm = "aes-128-ctr".parse().unwrap();
    let shape = Shape::uniform(algorithm, Operation::Encrypt, 1, 400, true);
    let plan = device.plan(&shape, &Wish::default()).unwrap();
    let (key, counter) = (Column::Shared(&[7; 16]), Column::Shared(&[9; 16]));
    let cipher = |source| {
        Batch::cipher(algorithm, Operation::Encrypt, key, counter, Messages { source, offsets: &[3, 403] })
    };
    let mut expected = text.clone();
    device.open(&plan).unwrap().run(&cipher(Source::InPlace), &mut Output::text(&mut expected)).unwrap();
    // A resident of the same GPU, found once more.
    let again = cipherlane_cuda::devices().unwrap().swap_remove(0);
    let mut resident = again.resident(&plan).unwrap().unwrap();
    let (batch, mut output) = (cipher(Source::OnDevice), Output::text(&mut []));
    let overlapping = DeviceTexts::Apart { input: Arc::clone(&front), output: view(496, 500).unwrap() };
    let error = resident.bind(&batch, &mut output, &overlapping).unwrap_err().to_string();
    assert!(error.contains("input and output overlap"), "{error}");
    let apart = DeviceTexts::Apart { input: front, output: Arc::clone(&back) };
    resident.bind(&batch, &mut output, &apart).unwrap();
    resident.execute().unwrap();
    drop((resident, apart));
    assert!(take(&back)[3..403] == expected[3..403], "a view came out different");
    drop(back);
    let found = take(&memory);
    assert!(found[..515] == text[..515] && found[915..] == text[915..], "what is around a view was written");
}

#[test]
fn memory_of_others_is_used_and_left_to_them() {
    if let Some((said, passed)) = run("foreign::run_foreign", &[]) {
        assert!(passed, "{said}");
    }
}

/// Not a test of its own.
#[test]
fn ask_fleet() {
    if !is_role("foreign::ask_fleet") {
        return;
    }
    let device = Arc::new(cipherlane_cuda::devices().unwrap().swap_remove(0));
    let members = (0..2).map(|_| -> Arc<dyn Member> { Arc::<CudaDevice>::clone(&device) });
    let fleet = Fleet::new("cuda:all", members.collect());
    assert!(fleet.memory(100).unwrap().is_none());
    assert_eq!(fleet.host_memory(100).unwrap().len(), 100);
    let texts = DeviceTexts::Read(lend(&*device, &[1; 100]));
    let batch = Batch::hash(Hash::Sha256, Messages { source: Source::OnDevice, offsets: &[0, 100] }, 32);
    let shape = Shape::uniform(Algorithm::Hash(Hash::Sha256), Operation::Hash, 1, 100, true);
    let plan = fleet.plan(&shape, &Wish::default()).unwrap();
    let mut resident = fleet.resident(&plan).unwrap().unwrap();
    let error = resident.bind(&batch, &mut Output::digests(&mut [0; 32]), &texts).unwrap_err().to_string();
    assert!(error.contains("bind them to a resident of that device alone"), "{error}");
    let error = fleet.open(&plan).unwrap().run(&batch, &mut Output::digests(&mut [0; 32])).unwrap_err();
    assert!(error.to_string().contains("lie in the memory of a device"), "{error}");
}

#[test]
fn a_fleet_sends_to_its_members() {
    if let Some((said, passed)) = run("foreign::ask_fleet", &[]) {
        assert!(passed, "{said}");
    }
}

/// Not a test of its own: a thread's context is for others to choose.
#[test]
fn keep_context() {
    if !is_role("foreign::keep_context") {
        return;
    }
    // SAFETY: the fake driver, which was opened before.
    let driver =
        unsafe { libloading::Library::new(std::env::var(cipherlane_cuda::driver::VARIABLE).unwrap()) };
    let driver = driver.unwrap();
    // SAFETY: the types that `cuda.h` gives them.
    let (set, get) = unsafe {
        (
            driver.get::<unsafe extern "C" fn(*mut c_void) -> c_int>("cuCtxSetCurrent").unwrap(),
            driver.get::<unsafe extern "C" fn(*mut *mut c_void) -> c_int>("cuCtxGetCurrent").unwrap(),
        )
    };
    let (theirs, mut found) = (without_provenance_mut::<c_void>(4711), null_mut());
    // SAFETY: the fake only keeps the handle.
    assert_eq!(unsafe { set(theirs) }, 0);
    let device = &cipherlane_cuda::devices().unwrap()[0];
    bound::check(device, "sha-256", true, "");
    // SAFETY: the fake writes one handle.
    assert_eq!(unsafe { get(&raw mut found) }, 0);
    assert_eq!(found, theirs, "what a device did has changed the thread's context");
}

#[test]
fn contexts_of_others_stay_current() {
    if let Some((said, passed)) = run("foreign::keep_context", &[]) {
        assert!(passed, "{said}");
    }
}
