//! OpenCL through its loader, opened at run time: nothing links to OpenCL, and a machine without it says so.
//!
//! The crates `cl3` and `opencl3` hold the functions and give back what they made. What is here adds the name of the
//! call to each error, the remedy where one is known, and only uses what OpenCL 1.2 has.
#![allow(unsafe_code)] // foreign functions of OpenCL; every block says what holds

mod context;
mod error;
mod foreign;
mod place;
mod platform;
mod queue;

pub use context::{Context, Kernel, Memory, Part, Program, Staging};
pub use error::ClError;
pub use platform::{DeviceHandle, Facts, devices};
pub use queue::{Queue, Step};
