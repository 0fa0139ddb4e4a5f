//! What devices with memory of their own share, whether CUDA or OpenCL drives them.
//!
//! [`backend::Backend`] is all that is needed of such a device. [`Accelerator`] makes a
//! [`Device`](cipherlane_core::Device) of it: it plans by the manifest of kernels, and opens sessions that bring a
//! batch to the device in groups (`cut`), with the columns of each in one memory (`columns`), on several queues at
//! once (`lane`), and launch the stages of the program (`launch`). `resident` keeps a batch on the device instead, or
//! runs one that lies there, in `memory` of callers. [`cache`] keeps compiled kernels, [`compiling`] tells of them,
//! `tuning` keeps the launches that were found best; [`calls`] tells of every copy and launch. [`pci`] says where on the bus a device is and [`near`]
//! allocates beside it, [`link`] measures the way to it, [`probe`] launches kernels that measure instructions. A
//! [`Fleet`] is several devices as one; `part` is what it asks of them for messages that it cuts.

pub mod answers;
pub mod backend;
mod bound;
mod buffers;
pub mod cache;
pub mod calls;
mod columns;
pub mod compiling;
mod copy;
mod cut;
mod device;
#[cfg(test)]
mod fake;
mod fleet;
mod job;
mod key;
mod lane;
mod launch;
pub mod link;
mod loaded;
mod long;
mod memory;
pub mod near;
mod opened;
mod part;
pub mod pci;
pub mod probe;
mod programs;
mod resident;
mod session;
mod sizes;
mod sum;
mod tuning;
mod usable;

pub use device::{Accelerator, Provider};
pub use fleet::{Fleet, most_alike};
pub use loaded::unit;
pub use memory::CallerMemory;
pub use opened::Opened;
pub use part::{Member, Part, Parts, ResidentParts, Sum};
pub use session::OffloadSession;
pub use usable::usable;
