//! Memory of GPUs that other libraries have allocated, to run batches on where it lies: a tensor, for example.
//!
//! ```no_run
//! use cipherlane::{DeviceTexts, foreign};
//!
//! # let (data_ptr, nbytes) = (0, 0);
//! // Of a contiguous tensor of PyTorch's: `tensor.data_ptr()` and `tensor.nbytes`, after `torch.cuda.synchronize()`.
//! // SAFETY: the tensor is kept for as long as the memory is, and nothing else uses it while a batch runs.
//! # #[cfg(feature = "cuda")]
//! let tensor = unsafe { foreign::cuda(data_ptr, nbytes) }?;
//! # #[cfg(feature = "cuda")]
//! let texts = DeviceTexts::InPlace(tensor);
//! # Ok::<(), cipherlane::DeviceError>(())
//! ```

#[cfg(feature = "cuda")]
pub use cipherlane_cuda::foreign_memory as cuda;
#[cfg(feature = "opencl")]
pub use cipherlane_opencl::foreign_memory as opencl;
