//! The engine on OpenCL devices of any vendor, from OpenCL 1.2 on.
//!
//! [`driver`] opens the loader at run time: nothing links to OpenCL, and a machine without it says what is missing.
//! [`devices`] lists what the loader knows; each is a device of `cipherlane-offload`, which brings batches to it and
//! launches the kernels of `cipherlane-kernels`, compiled by the driver (`compile`), or runs them on
//! buffers that others have made ([`foreign_memory`]). Those that are [`alike()`] make a [`Fleet`].

mod alike;
mod backend;
mod compile;
mod device;
pub mod driver;
mod foreign;

pub use alike::alike;
pub use backend::OpenCl;
pub use cipherlane_offload::{Fleet, Member};
pub use compile::Compiled;
pub use device::{Found, OpenClDevice, devices};
pub use foreign::foreign_memory;
