//! The types of cipherlane, and nothing else: no unsafe, no I/O, no threads.
//!
//! A [`Batch`] of messages has a [`Shape`]; a [`Device`] turns the shape into a [`Plan`]; the plan opens a
//! [`Session`]; the session runs the batch into an [`Output`] and returns [`Spans`] of time.
//!
//! Each module is one noun of that sentence.

#![forbid(unsafe_code)]

pub mod algorithm;
pub mod batch;
pub mod column;
pub mod device;
pub mod error;
pub mod limits;
pub mod memory;
pub mod output;
pub mod plan;
mod secret;
pub mod shape;
pub mod spans;
mod survey;
pub mod tuning;
mod unknown_name;

pub use algorithm::{Algorithm, Cipher, Hash, Mode, Operation};
pub use batch::{Batch, Checked, DeviceTexts, Messages, Source, TagLengths};
pub use column::{Column, Ragged};
pub use device::{Device, Info, Kernel, Resident, Session};
pub use error::{BatchError, DeviceError, Unsupported};
pub use memory::{DeviceMemory, HostMemory};
pub use output::Output;
pub use plan::{Geometry, Plan, Wish};
pub use secret::agree;
pub use shape::Shape;
pub use spans::{Spans, StreamSpans};
pub use survey::{Spread, alone};
pub use tuning::{Tried, Tuned};
pub use unknown_name::UnknownName;

/// Bytes of one block of every 128-bit block cipher here (FIPS 197 section 3.1: Nb = 4 words).
pub const BLOCK: usize = 16;
