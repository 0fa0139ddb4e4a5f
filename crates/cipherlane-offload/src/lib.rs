//! What devices with memory of their own share, whether CUDA or OpenCL drives them.
//!
//! [`backend::Backend`] is all that is needed of such a device. [`Accelerator`] makes a
//! [`Device`](cipherlane_core::Device) of it: it plans by the manifest of kernels, and opens sessions that bring a
//! batch to the device in groups (`cut`), with the columns of each in one memory (`columns`), on several queues at
//! once (`lane`), and launch the stages of the program (`launch`). [`Resident`] keeps a batch on the device instead.
//! [`cache`] keeps compiled kernels, `tuning` the numbers of blocks that were found best.

pub mod answers;
pub mod backend;
mod buffers;
pub mod cache;
mod columns;
mod cut;
mod device;
mod job;
mod lane;
mod launch;
mod loaded;
mod programs;
mod resident;
mod session;
mod tuning;

pub use device::{Accelerator, Provider};
pub use loaded::unit;
pub use resident::Resident;
pub use session::OffloadSession;
pub use tuning::{Launch, Tuned};
