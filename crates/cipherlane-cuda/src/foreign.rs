//! Memory of GPUs that other libraries of the process have allocated.
#![allow(unsafe_code)] // hands on what the caller vouches for

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cipherlane_core::{DeviceError, DeviceMemory};
use cipherlane_offload::CallerMemory;

use crate::backend::Cuda;
use crate::describe;
use crate::device::kernels;
use crate::driver::{CudaError, Driver, Gpu, Memory, gpu_of, is_of_other};

/// What kernels take: their texts are read by words of 16 bytes.
const ALIGNMENT: u64 = 16;

/// The `bytes` bytes at `pointer`, a `CUdeviceptr`, as memory that a [`Resident`](cipherlane_core::Resident) may be bound
/// to, on whichever GPU they lie: of the CUDA runtime, or a tensor of PyTorch's.
///
/// They are to be memory of the GPU's primary context, which the runtime and PyTorch use, too. The memory is not owned: it
/// is never freed, and never wiped when it is let go. What makes the text on another stream has to be done before a run:
/// synchronise that stream, or [wait for all of them](wait_for_others).
///
/// # Errors
/// If there is no driver, `pointer` is not a multiple of 16, or the driver knows one of the ends for other memory than a
/// GPU's, or than of its primary context.
///
/// # Safety
/// Until the last clone of what is returned is dropped, the bytes stay allocated, and so do those behind them up to the next
/// multiple of 4, which are read and thrown away: every allocation of CUDA's ends at a multiple of 256. What a view of them
/// has elsewhere, such as a tensor, is not used while a run reads or writes them.
pub unsafe fn foreign_memory(pointer: u64, bytes: usize) -> Result<Arc<dyn DeviceMemory>, DeviceError> {
    let driver = Driver::get().map_err(|reason| failed("cuda", reason))?;
    if !pointer.is_multiple_of(ALIGNMENT) {
        return Err(unfit(
            "cuda",
            format!(
                "memory at {pointer:#x} does not begin at a multiple of {ALIGNMENT}: name some that begins before it, and \
                 have the offsets of messages skip its front"
            ),
        ));
    }
    let last = pointer.saturating_add(bytes.saturating_sub(1) as u64);
    let Some(index) = gpu_of(driver, pointer).filter(|&index| gpu_of(driver, last) == Some(index)) else {
        return Err(unfit(
            "cuda",
            format!(
                "{bytes} bytes at {pointer:#x} are not memory of one GPU: name what cudaMalloc, or a tensor there, has, and no \
                 more bytes than it has"
            ),
        ));
    };
    let id = format!("cuda:{index}");
    let backend = backend(driver, index, &id).map_err(|error| failed(&id, error.to_string()))?;
    if [pointer, last].iter().any(|&at| is_of_other(backend.context(), at)) {
        return Err(unfit(
            &id,
            format!(
                "memory at {pointer:#x} is of another context than the GPU's primary one: allocate it there, as CUDA's \
                 runtime does"
            ),
        ));
    }
    // SAFETY: the caller vouches for the memory.
    let memory = unsafe { Memory::foreign(backend.context(), pointer, bytes) };
    Ok(Arc::new(CallerMemory::lent(backend, memory)))
}

/// Waits until all is done that this process has begun in the primary context of the GPU in whose memory `memory` is, by
/// other libraries, too: a text that one of them makes there on a stream of its own is complete then. What other contexts,
/// and other GPUs, write to that memory is for the caller to wait for.
///
/// # Errors
/// If the memory is not of an NVIDIA GPU, something that was begun has failed, or a stream is being captured into a graph, whose
/// capture that ends.
pub fn wait_for_others(memory: &Arc<dyn DeviceMemory>) -> Result<(), DeviceError> {
    let id = memory.device().to_owned();
    let any: Arc<dyn Any + Send + Sync> = Arc::<dyn DeviceMemory>::clone(memory);
    let Ok(memory) = any.downcast::<CallerMemory<Cuda>>() else {
        return Err(unfit(&id, "its queues are not CUDA's: wait for them by its own interface".to_owned()));
    };
    memory.backend().context().synchronize().map_err(|error| failed(&id, error.to_string()))
}

/// GPU `index`, without kernels: those are its sessions'. Made once and kept, with the primary context, which whoever has
/// allocated memory there keeps as well: made anew for each tensor, it takes longer than a small one's run.
fn backend(driver: &'static Driver, index: usize, id: &str) -> Result<Arc<Cuda>, CudaError> {
    static MADE: Mutex<BTreeMap<usize, Arc<Cuda>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(backend) = made.get(&index) {
        return Ok(Arc::clone(backend));
    }
    let gpu = Gpu::new(driver, index)?;
    let backend = Arc::new(Cuda::new(id, gpu, kernels(gpu, describe::capability(gpu)?))?);
    made.insert(index, Arc::clone(&backend));
    Ok(backend)
}

fn failed(device: &str, reason: String) -> DeviceError {
    DeviceError::Failed { device: device.to_owned(), reason }
}

fn unfit(device: &str, reason: String) -> DeviceError {
    DeviceError::Memory { device: device.to_owned(), reason }
}
