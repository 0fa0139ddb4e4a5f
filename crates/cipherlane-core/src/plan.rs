//! How a batch will be run, as plain data: printed and recorded; what a caller may choose, a wish overrides.

use crate::algorithm::{Algorithm, Operation};
use crate::error::Unsupported;

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
    /// Worker threads, the caller's included: 1 where the work is done on a device that launches kernels.
    pub threads: usize,
    /// Bytes that one thread takes at a time, about, so that all have equally many turns, and the length beyond which
    /// one message is split over threads. On a device that launches kernels: bytes that are brought to it at a time.
    pub chunk: usize,
    /// How kernels are launched; `None` on a CPU, where threads run them.
    pub geometry: Option<Geometry>,
    /// Whether the kernel's timing is made to be independent of keys and data. Defaults always are; what of that the banks of
    /// a GPU's shared memory leave undone stands in SECURITY.md.
    pub constant_time: bool,
}

/// How a device with memory of its own launches a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Most blocks of a launch (OpenCL: work-groups); fewer where there is less to do.
    pub blocks: usize,
    /// Threads of a block (OpenCL: work-items of a group), compiled into the kernel.
    pub threads_per_block: usize,
    /// Queues on which copies and launches run side by side; `None`: as many as suit where the texts lie.
    pub streams: Option<usize>,
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
    /// [`Geometry::blocks`], at least 1, of a device that launches kernels.
    pub blocks: Option<usize>,
    /// [`Geometry::threads_per_block`], as the kernel takes them.
    pub threads_per_block: Option<usize>,
    /// [`Geometry::streams`], at least 1.
    pub streams: Option<usize>,
}

impl Wish {
    /// For devices that launch no kernels.
    ///
    /// # Errors
    /// If blocks, their threads or streams are wished for.
    pub fn check_no_geometry(&self, device: &str) -> Result<(), Unsupported> {
        let wished = [
            ("blocks", self.blocks),
            ("threads per block", self.threads_per_block),
            ("streams", self.streams),
        ];
        for (what, number) in wished {
            if let Some(found) = number {
                let wanted = format!("left out on {device}, which launches no kernels");
                return Err(Unsupported::Range { what, wanted, found });
            }
        }
        Ok(())
    }
}
