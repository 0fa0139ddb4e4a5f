//! Batches on memory of OpenCL devices, whoever allocated it: PoCL makes a device of the CPU.
//!
//! Few kernels, which the other tests examine as well: PoCL takes minutes for one. Where there is no device, the tests say
//! `NOT CHECKED`; with `CIPHERLANE_REQUIRE_OPENCL` set they fail.

#![allow(unsafe_code)] // buffers that live
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // helpers of tests fail as tests do

#[path = "../../cipherlane-offload/tests/exam/bound.rs"]
mod bound;
mod found;
#[path = "../../cipherlane-offload/tests/exam/memory.rs"]
mod memory;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use bound::{lend, take};
use cipherlane_core::{
    Algorithm, Batch, Column, Device as _, DeviceMemory, DeviceTexts, Hash, Messages, Operation, Output,
    Plan, Shape, Source, Wish,
};
use cipherlane_opencl::{OpenClDevice, foreign_memory};
use cl3::context::{CL_CONTEXT_DEVICES, get_context_info};
use cl3::memory::{CL_MEM_CONTEXT, CL_MEM_READ_WRITE, get_mem_object_info};
use found::devices;
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::memory::{Buffer, ClMem};

#[test]
fn batches_run_where_their_texts_lie() {
    for device in devices() {
        bound::check_memory(&device);
        assert_eq!(memory::dirty(&device, (16 << 20) + 1001).unwrap(), Some((0, 9)));
        bound::check(&device, "sha3-256", true, "");
        bound::check(&device, "aes-128-ctr", true, "aes-ctr/bitsliced");
    }
}

/// A plan for hashing.
fn plan(device: &OpenClDevice) -> Plan {
    let shape = Shape::uniform(Algorithm::Hash(Hash::Sha3_256), Operation::Hash, 1, 400, true);
    device.plan(&shape, &Wish::default()).unwrap()
}

/// Hashes bytes 3 to 403 of `memory`, or says why not.
fn hash(device: &OpenClDevice, memory: Arc<dyn DeviceMemory>) -> Result<[u8; 32], String> {
    let messages = Messages { source: Source::OnDevice, offsets: &[3, 403] };
    let (batch, mut digest) = (Batch::hash(Hash::Sha3_256, messages, 32), [0; 32]);
    let mut resident = device.resident(&plan(device)).unwrap().unwrap();
    let mut output = Output::digests(&mut digest);
    resident
        .bind(&batch, &mut output, &DeviceTexts::Read(memory))
        .and_then(|_| resident.execute())
        .and_then(|_| resident.store(&batch, &mut output))
        .map_err(|error| error.to_string())?;
    Ok(digest)
}

/// The `cl_mem` of `memory`.
fn buffer(memory: &Arc<dyn DeviceMemory>) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(usize::try_from(memory.handle()).unwrap())
}

/// A buffer of the device that `buffer` is of, in a context that others have made.
fn in_another_context(buffer: *mut c_void) -> Buffer<u8> {
    let handle = |number: isize| std::ptr::with_exposed_provenance_mut::<c_void>(number.cast_unsigned());
    let theirs = handle(get_mem_object_info(buffer, CL_MEM_CONTEXT).unwrap().to_ptr());
    let devices = get_context_info(theirs, CL_CONTEXT_DEVICES).unwrap().to_vec_intptr();
    let context = Context::from_device(&Device::new(handle(devices[0]))).unwrap();
    // SAFETY: no host memory is handed over. The buffer keeps the context alive.
    unsafe { Buffer::create(&context, CL_MEM_READ_WRITE, 500, null_mut()) }.unwrap()
}

#[test]
fn buffers_of_others_are_used_and_left_to_them() {
    for (device, apart) in devices().into_iter().zip(devices()) {
        let text: Vec<u8> = (0..500).map(|index| (index % 251) as u8).collect();
        let memory = lend(&device, &text);
        let known = hash(&device, Arc::clone(&memory)).unwrap();
        // SAFETY: a buffer that lives.
        let foreign = unsafe { foreign_memory(&*memory, buffer(&memory)) }.unwrap();
        assert!(foreign.bytes() >= 500 && foreign.handle() == memory.handle());
        assert_eq!(hash(&device, Arc::clone(&foreign)).unwrap(), known);
        let overlapping = DeviceTexts::Apart { input: Arc::clone(&memory), output: Arc::clone(&foreign) };
        check_overlap(&device, &overlapping);
        drop(overlapping);
        // The buffer lives for as long as one of the two does.
        drop(memory);
        assert!(foreign.read(0, &mut [0; 500]).is_ok());
        // The same device, found once more, reaches what it gave before.
        let others = lend(&apart, &text);
        for device in [&device, &apart] {
            assert_eq!(hash(device, Arc::clone(&others)).unwrap(), known);
        }
        // SAFETY: a buffer that lives.
        assert!(unsafe { foreign_memory(&*foreign, buffer(&others)) }.is_ok());
        assert!(take(&others) == text);
        let strange = in_another_context(buffer(&others));
        // SAFETY: a buffer that lives; it is refused.
        let error = unsafe { foreign_memory(&*foreign, strange.get()) }.unwrap_err().to_string();
        assert!(error.contains("of another context"), "{error}");
    }
}

/// Texts that lie apart may not overlap.
fn check_overlap(device: &OpenClDevice, texts: &DeviceTexts) {
    let algorithm: Algorithm = "aes-128-ctr".parse().unwrap();
    let shape = Shape::uniform(algorithm, Operation::Encrypt, 1, 400, true);
    let plan = device.plan(&shape, &Wish::default()).unwrap();
    let column = Column::Shared(&[7; 16]);
    let messages = Messages { source: Source::OnDevice, offsets: &[3, 403] };
    let batch = Batch::cipher(algorithm, Operation::Encrypt, column, column, messages);
    let mut resident = device.resident(&plan).unwrap().unwrap();
    let error = resident.bind(&batch, &mut Output::text(&mut []), texts).unwrap_err().to_string();
    assert!(error.contains("input and output overlap"), "{error}");
}
