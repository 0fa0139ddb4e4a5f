//! Memory of GPUs that other libraries have allocated, to run batches on where it lies: a tensor, for example.
//!
//! ```no_run
//! use cipherlane::{DeviceTexts, foreign};
//!
//! # let (data_ptr, nbytes) = (0, 0);
//! # #[cfg(feature = "cuda")] {
//! // Of a contiguous tensor of PyTorch's: `tensor.data_ptr()` and `tensor.nbytes`.
//! // SAFETY: the tensor is kept for as long as the memory is, and nothing else uses it while a batch runs.
//! let tensor = unsafe { foreign::cuda(data_ptr, nbytes) }?;
//! foreign::wait_for_cuda(&tensor)?;                             // as `torch.cuda.synchronize()` does
//! let texts = DeviceTexts::InPlace(tensor);                     // for `Engine::run_on_device`
//! # }
//! # Ok::<(), cipherlane::DeviceError>(())
//! ```

#[cfg(feature = "cuda")]
pub use cipherlane_cuda::{foreign_memory as cuda, wait_for_others as wait_for_cuda};
#[cfg(feature = "opencl")]
pub use cipherlane_opencl::foreign_memory as opencl;
