//! Which programs serve a shape on a target, best first.

use cipherlane_core::{Algorithm, Shape};

use super::{Program, cipher, hash};

/// What programs must know of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// CUDA's compute capability, as in `(9, 0)`; `None` in OpenCL, whatever the device.
    pub compute: Option<(u32, u32)>,
    /// Most bytes of shared (local) memory that a block can have: CUDA's opt-in limit, not its default.
    pub shared_bytes: u32,
    /// Most threads of a block.
    pub threads: u32,
    /// Whether shared memory is 32 banks of 4-byte words with no cache in front of it, and 32 neighbouring threads
    /// read at once: NVIDIA GPUs. Elsewhere look-ups by secret index are not the default.
    pub banked: bool,
}

impl Target {
    /// Host C and OpenCL on CPUs.
    pub const CPU: Self = Self { compute: None, shared_bytes: 256 << 10, threads: 1024, banked: false };

    /// Whether NVRTC keeps more values in registers at once than it does for Hopper, as it does for what came after:
    /// kernels that fill them then have fewer threads.
    #[must_use]
    pub(super) const fn keeps_more(&self) -> bool {
        matches!(self.compute, Some((major, _)) if major >= 10)
    }

    /// Whether neighbouring threads can exchange words of registers.
    pub(super) const fn has_shuffle(&self) -> bool {
        self.compute.is_some()
    }

    /// Whether there are binary tensor cores (`mma.m16n8k256.b1.and.popc`). From capability 10.0 on, the instruction is a
    /// call of 111 others, products of bytes among them, as NVRTC 13.0 has it: GHASH by it would take some 2000 of a block,
    /// and without it takes some 400.
    #[must_use]
    pub const fn has_binary_mma(&self) -> bool {
        matches!(self.compute, Some((8 | 9, _)))
    }
}

/// Messages and bytes of each, which between them call for every program: one long message, records, smaller ones, and
/// short ones.
pub const SIZES: [(usize, u64); 4] = [(1, 1 << 30), (1 << 16, 16 << 10), (1 << 16, 4 << 10), (1 << 20, 128)];

/// The programs that serve `shape` on `target`, best first. Those whose timing depends on secrets there come last,
/// whatever their speed, so that the first is the default.
#[must_use]
pub fn programs(shape: &Shape, target: &Target) -> Vec<Program> {
    let mut programs = match shape.algorithm {
        Algorithm::Cipher(cipher, mode) => cipher::programs(cipher, mode, shape, target),
        Algorithm::Hash(hash) => hash::programs(hash, target),
    };
    // What is written for units of threads has no block where those have fewer.
    programs.retain(|program| program.threads.step <= program.threads.most);
    programs.sort_by_key(|program| !program.constant_time);
    programs
}
