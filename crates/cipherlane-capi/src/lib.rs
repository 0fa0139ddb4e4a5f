//! The engine for C: `include/cipherlane.h` is made of this crate and of `cipherlane-lent`.
//!
//! An engine is opened on a device, runs batches, and is closed. No panic crosses the border, and each thread keeps the
//! message of its last failure.

mod engine;
mod names;
mod status;

pub use engine::{
    cipherlane_engine_close, cipherlane_engine_open, cipherlane_engine_release, cipherlane_plan_of,
    cipherlane_run,
};
pub use names::{cipherlane_algorithms, cipherlane_devices, cipherlane_sizes_of};
pub use status::{cipherlane_last_error, cipherlane_version};
