//! The engine on this CPU: every algorithm on a portable, an SSE, an AVX2 and an AVX-512 tier.
//!
//! Read in this order: `lanes` is the vector vocabulary, one file per instruction set; `cipher` has a file or a folder
//! for each block cipher, `mode` for each mode of operation and `hash` for each kind of hash function, written once over
//! the vocabulary; `table` says which of them serves an algorithm on a tier; `crew` spreads a batch over threads, which
//! are those of the crate `cipherlane-threads`.

#[cfg(target_endian = "big")]
compile_error!("words lie in registers and in memory as on little-endian CPUs; others are not served");

#[allow(unsafe_code)] // loads and stores through the pointers of a checked batch
mod cipher;
mod crew;
mod describe;
mod device;
#[cfg(all(test, unix))]
#[path = "../tests/kernels/fence.rs"]
mod fence;
#[allow(unsafe_code)] // blocks of a checked batch through pointers, vector intrinsics
mod hash;
#[allow(unsafe_code)] // pointers into the buffers of a checked batch, shared by threads
mod job;
#[allow(unsafe_code)] // vector intrinsics, each behind a proof of its CPU feature
mod lanes;
#[cfg(target_arch = "x86_64")]
mod microarchitecture;
#[allow(unsafe_code)] // loads and stores through the pointers of a checked batch
mod mode;
#[allow(unsafe_code)] // places of an array that have been written
mod order;
#[allow(unsafe_code)] // an instruction that touches nothing
mod prefetch;
#[allow(unsafe_code)] // rows of a checked batch
mod rows;
mod session;
mod split;
mod table;
mod tier;
mod worker;

#[cfg(all(test, unix))]
#[global_allocator]
static FENCED: fence::Fenced = fence::Fenced;

pub use device::Cpu;
pub use hash::incremental::{Hasher, Xof};
pub use tier::Tier;
