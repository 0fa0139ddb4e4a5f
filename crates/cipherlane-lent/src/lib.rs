//! Batches in memory that programs in other languages lend: pointers in, the engine's types out.
//!
//! `lent.rs` makes slices of pointers, `batch.rs` a batch of these, both after looking at what can be looked at: NULL,
//! alignment, overlap; `gpu.rs` takes addresses of a GPU's memory. [`cipherlane::Batch::check`] does the rest, as it does for callers in Rust. The types are those of C's
//! header, which the crate `capi` makes; `python` fills them with Python's buffers.

mod batch;
mod engine;
mod gpu;
mod lent;
mod sizes;
mod status;

pub use batch::{Batch, Column, Output};
pub use engine::{Engine, Plan, Spans, Wish};
pub use lent::{Buffer, Bytes, name, some_name};
pub use sizes::Sizes;
pub use status::{Failure, Status};
