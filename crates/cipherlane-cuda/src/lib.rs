//! The engine on NVIDIA GPUs.
//!
//! [`driver`] opens CUDA's driver at run time, [`compile`] its compiler: nothing links to CUDA, and a machine
//! without it says what is missing.

pub mod compile;
mod describe;
pub mod driver;
