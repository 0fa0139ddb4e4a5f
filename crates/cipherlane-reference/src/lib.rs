//! Readable implementations that follow their standards, and the exam that every device sits.
//!
//! - [`aes`] and [`mode`] follow the standards section by section; [`Reference`] makes a device of them.
//! - [`conformance::check`] compares any other device with it: one line in a backend's tests.
//! - [`vectors`] reads published test vectors, [`exam`] puts them to a device.
//!
//! Nothing here is fast, and none of it is constant-time: tables are indexed by secrets. Run production work
//! on another device.

#![forbid(unsafe_code)]

pub mod aes;
pub mod cipher;
pub mod conformance;
mod device;
pub mod exam;
pub mod mode;
mod random;
mod rows;
pub mod vectors;

pub use device::Reference;
