//! Buffers of OpenCL that others have made.
#![allow(unsafe_code)] // hands on what the caller vouches for

use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

use cipherlane_core::{DeviceError, DeviceMemory};
use cipherlane_offload::CallerMemory;

use crate::backend::OpenCl;
use crate::driver::{ClError, Memory};

/// The buffer `buffer`, a `cl_mem`, as memory that a [`Resident`](cipherlane_core::Resident) may be bound to. It is of the
/// context of `beside`, memory that [`Device::memory`](cipherlane_core::Device::memory) of an OpenCL device gave: OpenCL
/// tells that context of its [handle](DeviceMemory::handle) (`CL_MEM_CONTEXT`).
///
/// The buffer is retained until the last clone is dropped, and never wiped. What makes the text in another queue has to be
/// done before a run: finish that queue.
///
/// # Errors
/// If `beside` is no memory of an OpenCL device, or of another context; if the driver does not answer.
///
/// # Safety
/// `buffer` is a buffer whose length is a multiple of 4, which kernels may read and write (`CL_MEM_READ_WRITE`). Its start
/// is aligned as the device aligns buffers (`CL_DEVICE_MEM_BASE_ADDR_ALIGN`), and nothing else uses it, or a part of it,
/// while a run does.
pub unsafe fn foreign_memory(
    beside: &dyn DeviceMemory,
    buffer: *mut c_void,
) -> Result<Arc<dyn DeviceMemory>, DeviceError> {
    let failed = |error: ClError| DeviceError::Failed {
        device: beside.device().to_owned(),
        reason: error.to_string(),
    };
    let unfit =
        |reason: &str| DeviceError::Memory { device: beside.device().to_owned(), reason: reason.to_owned() };
    let beside_any: &dyn Any = beside;
    let known = beside_any.downcast_ref::<CallerMemory<OpenCl>>();
    let known = known.ok_or_else(|| {
        unfit("this is no memory of an OpenCL device: give some that `Device::memory` of one gave")
    })?;
    // SAFETY: the caller vouches for the buffer.
    if !unsafe { known.backend().context().has(buffer) }.map_err(failed)? {
        return Err(unfit(
            "the buffer is of another context: make it in that of memory which this device gave, which clGetMemObjectInfo \
             tells (CL_MEM_CONTEXT)",
        ));
    }
    // SAFETY: as above.
    let memory = unsafe { Memory::foreign(buffer) }.map_err(failed)?;
    Ok(Arc::new(CallerMemory::lent(Arc::clone(known.backend()), memory)))
}
