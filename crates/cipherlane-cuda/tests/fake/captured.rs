//! Runs while others capture a stream into a graph, and one that the driver refuses an event.
#![allow(unsafe_code)] // others are functions of the fake driver

use std::ffi::c_int;

use cipherlane_core::{
    Algorithm, Batch, Column, Device, Messages, Operation, Output, Session, Shape, Source, Wish,
};
use cipherlane_cuda::wait_for_others;
use libloading::Library;

use crate::bound::lend;
use crate::{is_role, run};

const BYTES: usize = 70_000;

/// The fake driver, once more.
pub(crate) fn driver() -> Library {
    // SAFETY: it was opened before.
    unsafe { Library::new(std::env::var(cipherlane_cuda::driver::VARIABLE).unwrap()) }.unwrap()
}

/// Calls a function of the fake that takes a number.
fn tell(driver: &Library, name: &str, number: c_int) {
    // SAFETY: the type that the fake gives it.
    let function = unsafe { driver.get::<unsafe extern "C" fn(c_int)>(name) }.unwrap();
    // SAFETY: it takes any number.
    unsafe { function(number) };
}

/// A number that the fake tells by its function `name`.
pub(crate) fn ask(driver: &Library, name: &str) -> c_int {
    // SAFETY: the type that the fake gives those that take nothing.
    let function = unsafe { driver.get::<unsafe extern "C" fn() -> c_int>(name) }.unwrap();
    // SAFETY: as above.
    unsafe { function() }
}

/// Has this thread capture in `mode`. Returns the mode before.
fn exchange(driver: &Library, mode: c_int) -> c_int {
    // SAFETY: the type that `cuda.h` gives it.
    let function = unsafe {
        driver.get::<unsafe extern "C" fn(*mut c_int) -> c_int>("cuThreadExchangeStreamCaptureMode")
    };
    let (function, mut mode) = (function.unwrap(), mode);
    // SAFETY: it reads and writes one int.
    assert_eq!(unsafe { function(&raw mut mode) }, 0);
    mode
}

/// A session of CTR on `device`.
pub(crate) fn open(device: &dyn Device) -> Box<dyn Session> {
    let algorithm: Algorithm = "aes-128-ctr".parse().unwrap();
    let shape = Shape::uniform(algorithm, Operation::Encrypt, 1, BYTES as u64, true);
    device.open(&device.plan(&shape, &Wish::default()).unwrap()).unwrap()
}

/// What `session` makes of a text, or the error.
pub(crate) fn encrypt(session: &mut dyn Session) -> Result<Vec<u8>, String> {
    let text: Vec<u8> = (0..BYTES).map(|index| (index % 251) as u8).collect();
    let messages = Messages { source: Source::Apart(&text), offsets: &[0, BYTES as u64] };
    let (key, counter) = (Column::Shared(&[7; 16]), Column::Shared(&[9; 16]));
    let algorithm: Algorithm = "aes-128-ctr".parse().unwrap();
    let batch = Batch::cipher(algorithm, Operation::Encrypt, key, counter, messages);
    let mut made = vec![0; BYTES];
    let ran = session.run(&batch, &mut Output::text(&mut made));
    ran.map(|_| made).map_err(|error| error.to_string())
}

/// Not a test of its own.
#[test]
fn run_beside_a_capture() {
    if !is_role("captured::run_beside_a_capture") {
        return;
    }
    let device = &cipherlane_cuda::devices().unwrap()[0];
    let expected = encrypt(&mut *open(device)).unwrap();
    let (driver, memory) = (driver(), lend(device, &[5; 100]));
    for mode in [0, 1] {
        assert_eq!(exchange(&driver, mode), 0);
        tell(&driver, "fake_capture", 1);
        // It allocates, loads, waits and frees.
        let found = encrypt(&mut *open(device));
        memory.write(0, &[6; 100]).unwrap();
        let error = wait_for_others(&memory).unwrap_err().to_string();
        tell(&driver, "fake_capture", 0);
        assert!(found.as_ref() == Ok(&expected), "{:?}", found.err());
        assert!(error.contains("captured into a CUDA graph"), "{error}");
        assert_eq!(exchange(&driver, 0), mode, "how this thread captures was changed");
    }
}

#[test]
fn captures_of_others_hinder_no_run() {
    if let Some((said, passed)) = run("captured::run_beside_a_capture", &[]) {
        assert!(passed, "{said}");
    }
}

/// Not a test of its own.
#[test]
fn miss_an_event() {
    if !is_role("captured::miss_an_event") {
        return;
    }
    let device = &cipherlane_cuda::devices().unwrap()[0];
    let (mut session, driver) = (open(device), driver());
    let expected = encrypt(&mut *session).unwrap();
    let before = ask(&driver, "fake_synchronised");
    // The event at the end of the first command.
    tell(&driver, "fake_fail_record", 1);
    let error = encrypt(&mut *session).unwrap_err();
    assert!(error.contains("cuEventRecord"), "{error}");
    assert_eq!(ask(&driver, "fake_synchronised"), before + 1, "a command went on that nobody could wait for");
    assert!(encrypt(&mut *session).unwrap() == expected, "a session came out different after that");
}

#[test]
fn a_command_without_an_event_is_waited_for() {
    if let Some((said, passed)) = run("captured::miss_an_event", &[]) {
        assert!(passed, "{said}");
    }
}
