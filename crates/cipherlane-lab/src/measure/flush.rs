//! Empties the caches of a workload's data, so that a pass starts cold.

#![allow(unsafe_code)] // CLFLUSH takes a pointer

/// Bytes of a cache line on every x86-64 CPU.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Flushes `bytes` from every level of every cache.
///
/// # Errors
/// Where the architecture does not let programs do it.
#[cfg(target_arch = "x86_64")]
pub(crate) fn flush(bytes: &[u8]) -> Result<(), &'static str> {
    use std::arch::x86_64::{_mm_clflush, _mm_mfence};
    // The last byte besides, for a buffer need not start where a line does.
    for byte in bytes.iter().step_by(LINE).chain(bytes.last()) {
        // SAFETY: the pointer lies in `bytes`; flushing changes no contents. SSE2 is part of x86-64.
        unsafe { _mm_clflush(std::ptr::from_ref(byte)) };
    }
    // SAFETY: SSE2 is part of x86-64. The fence keeps the timed run from starting before the flushes end.
    unsafe { _mm_mfence() };
    Ok(())
}

/// Flushes `bytes` from every level of every cache.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn flush(_: &[u8]) -> Result<(), &'static str> {
    Err("cold caches need CLFLUSH, which only x86-64 has; measure hot")
}
