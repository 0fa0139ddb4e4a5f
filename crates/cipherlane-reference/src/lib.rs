//! Readable implementations that follow their standards, and the exam that every device sits.
//!
//! - [`aes`], [`camellia`], [`sc2000`], [`sm4`] and [`mode`], [`sha2`] and [`keccak`] follow the standards section by
//!   section; [`cipher`] and [`hash`] find them by name, and [`Reference`] makes a device of them.
//! - [`conformance::check`] compares any other device with it: one line in a backend's tests.
//! - [`vectors`] reads published test vectors, [`exam`] puts them to a device.
//! - [`side_by_side`] has the algorithms of a GPU examined on several threads.
//!
//! Nothing here is fast, and none of it is constant-time: tables are indexed by secrets. Run production work
//! on another device.

#![forbid(unsafe_code)]

pub mod aes;
pub mod camellia;
pub mod cipher;
pub mod conformance;
mod device;
pub mod exam;
pub mod hash;
pub mod keccak;
pub mod mode;
mod random;
mod rows;
pub mod sc2000;
pub mod sha2;
pub mod side_by_side;
pub mod sm4;
pub mod vectors;

pub use device::Reference;
