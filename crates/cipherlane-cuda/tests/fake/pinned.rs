//! Texts in memory of the host that was pinned in parts, over which the driver copies nothing.
#![allow(unsafe_code)] // parts are pinned as other libraries of the process pin them

use std::ffi::{c_int, c_uint, c_void};

use cipherlane_core::{Algorithm, Batch, Column, Device, Messages, Operation, Output, Shape, Source, Wish};

use crate::{is_role, run};

const BYTES: usize = 70_000;

/// Zeros of which `parts` are pinned, each by itself.
fn pinned(parts: &[(usize, usize)]) -> Vec<u8> {
    // SAFETY: the fake driver, which was opened before.
    let driver =
        unsafe { libloading::Library::new(std::env::var(cipherlane_cuda::driver::VARIABLE).unwrap()) };
    let driver = driver.unwrap();
    // SAFETY: the type that `cuda.h` gives it.
    let register = unsafe {
        driver.get::<unsafe extern "C" fn(*mut c_void, usize, c_uint) -> c_int>("cuMemHostRegister_v2")
    };
    let (register, mut memory) = (register.unwrap(), vec![0; BYTES]);
    for &(from, to) in parts {
        // SAFETY: the fake only notes where they are.
        assert_eq!(unsafe { register(memory[from..to].as_mut_ptr().cast(), to - from, 0) }, 0);
    }
    memory
}

/// Not a test of its own.
#[test]
fn run_pinned_in_parts() {
    if !is_role("pinned::run_pinned_in_parts") {
        return;
    }
    let device = &cipherlane_cuda::devices().unwrap()[0];
    let algorithm: Algorithm = "aes-128-ctr".parse().unwrap();
    let shape = Shape::uniform(algorithm, Operation::Encrypt, 1, BYTES as u64, true);
    let plan = device.plan(&shape, &Wish::default()).unwrap();
    let mut session = device.open(&plan).unwrap();
    let mut encrypt = |text: &[u8], made: &mut [u8]| {
        let (key, counter) = (Column::Shared(&[7; 16]), Column::Shared(&[9; 16]));
        let messages = Messages { source: Source::Apart(text), offsets: &[0, BYTES as u64] };
        let batch = Batch::cipher(algorithm, Operation::Encrypt, key, counter, messages);
        session.run(&batch, &mut Output::text(made)).unwrap();
    };
    let text: Vec<u8> = (0..BYTES).map(|index| (index % 251) as u8).collect();
    let mut expected = vec![0; BYTES];
    encrypt(&text, &mut expected);
    let memory = device.memory(BYTES).unwrap().unwrap();
    // Neighbours; with a hole between them; the front, the back and the middle alone; and all of it.
    for parts in [
        &[(0, 30_000), (30_000, BYTES)][..],
        &[(0, 30_000), (40_000, BYTES)],
        &[(0, 30_000)],
        &[(40_000, BYTES)],
        &[(30_000, 40_000)],
        &[(0, BYTES)],
    ] {
        let (mut from, mut to) = (pinned(parts), pinned(parts));
        from.copy_from_slice(&text);
        encrypt(&from, &mut to);
        assert!(to == expected, "a session came out different: {parts:?}");
        memory.write(0, &from).unwrap();
        to.fill(0);
        memory.read(0, &mut to).unwrap();
        assert!(to == text, "a copy came out different: {parts:?}");
        // Their addresses are never used again, as the fake holds them for pinned.
        std::mem::forget((from, to));
    }
}

#[test]
fn memory_pinned_in_parts_goes_by_stagings() {
    if let Some((said, passed)) = run("pinned::run_pinned_in_parts", &[]) {
        assert!(passed, "{said}");
    }
}
