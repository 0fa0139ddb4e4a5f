//! What devices with memory of their own share, whether CUDA or OpenCL drives them.
//!
//! [`backend::Backend`] is all that a session needs of such a device; [`cache`] keeps compiled kernels from one
//! process to the next.

#![forbid(unsafe_op_in_unsafe_fn)]

pub mod backend;
pub mod cache;
