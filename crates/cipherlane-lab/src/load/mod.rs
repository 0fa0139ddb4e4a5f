//! Other work that the machine has while something is measured.
//!
//! [`CpuLoad`] keeps every logical CPU busy for a part of the time, [`GpuLoad`] a device. Both are closed loops: what
//! a generator did is measured, and what is missing is made up for. What was reached is told beside what was asked
//! for ([`cipherlane_record::Share`]): a machine that is busy already cannot always give it. A load ends when it is
//! dropped.

mod cpu;
mod debt;
mod gpu;
mod workers;

use std::io;

use cipherlane::DeviceError;
use thiserror::Error;

pub use cpu::CpuLoad;
pub use debt::Debt;
pub use gpu::GpuLoad;
pub use workers::Since;

/// Why there is no load.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The part of the time is not one.
    #[error("a load is a part of the time from 0 to 1, not {0}")]
    Share(f64),
    /// No thread can be had.
    #[error("no thread for a load: {0}")]
    Thread(#[from] io::Error),
    /// The device cannot run what makes the load.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Refuses what is no part of the time.
fn check(share: f64) -> Result<(), LoadError> {
    if (0.0..=1.0).contains(&share) { Ok(()) } else { Err(LoadError::Share(share)) }
}
