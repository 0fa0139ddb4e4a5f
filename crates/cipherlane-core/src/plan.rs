//! How a batch will be run, as plain data: printed and recorded; what a caller may choose, a wish overrides.

use crate::algorithm::{Algorithm, Operation};

/// How a device will run batches of one shape.
///
/// Plain data: `cipherlane plan` prints it, a record keeps it, an experiment sweeps what a [`Wish`] can ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Identifier of the device: `cpu`, `rival:aws-lc`.
    pub device: String,
    /// The cipher in its mode, or the hash function.
    pub algorithm: Algorithm,
    /// What is done to each message.
    pub operation: Operation,
    /// The kernel by its full name: `aes-gcm/avx512/x16`.
    pub kernel: String,
    /// The instruction tier of the kernel: `avx512`. Rivals choose their own and say `library`.
    pub tier: String,
    /// Blocks that the kernel has in flight.
    pub lanes: usize,
    /// Worker threads, the caller's included.
    pub threads: usize,
    /// Bytes that one thread takes at a time, and the length beyond which one message is split over threads.
    pub chunk: usize,
    /// Whether the kernel's timing is independent of keys and data. Defaults always are.
    pub constant_time: bool,
}

/// What a caller insists on; a device fills in the rest. The default wishes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// A tier by name.
    pub tier: Option<String>,
    /// A kernel by its full name.
    pub kernel: Option<String>,
    /// A number of threads, at least 1.
    pub threads: Option<usize>,
    /// A chunk in bytes.
    pub chunk: Option<usize>,
}
