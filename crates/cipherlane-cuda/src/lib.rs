//! The engine on NVIDIA GPUs.
//!
//! [`driver`] opens CUDA's driver at run time, [`compile`] its compiler: nothing links to CUDA, and a machine without
//! it says what is missing. [`devices`] lists the GPUs; each is a device of `cipherlane-offload`, which brings batches
//! to it and launches the kernels of `cipherlane-kernels`, compiled once and kept ([`kernels`]), or runs them on memory that
//! others have allocated ([`foreign_memory`]). Those that are [`alike`] make a [`Fleet`].

mod backend;
pub mod compile;
mod describe;
mod device;
pub mod driver;
mod events;
mod foreign;
pub mod kernels;

pub use backend::{Cuda, Program, Step};
pub use cipherlane_offload::{Fleet, Member};
pub use device::{CudaDevice, Found, alike, devices};
pub use foreign::{foreign_memory, wait_for_others};
