//! What came of trying a kernel in different geometries.

use crate::plan::Geometry;

/// The geometries that were tried for a kernel, and the fastest of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The kernel by its full name.
    pub kernel: String,
    /// The one that later plans will have.
    pub best: Tried,
    /// Seconds of the kernel in the geometry that plans had before; `None` where the device did not take that one.
    pub before_seconds: Option<f64>,
    /// All of them, in the order in which they were tried.
    pub tried: Vec<Tried>,
}

/// A geometry that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Blocks and their threads.
    pub geometry: Geometry,
    /// Blocks of text (16 bytes) that a tile of a message has; 0 where messages are not cut.
    pub tile_blocks: u64,
    /// Seconds of the kernels of one batch, the median of several runs; or why it cannot be had.
    pub seconds: Result<f64, String>,
}
