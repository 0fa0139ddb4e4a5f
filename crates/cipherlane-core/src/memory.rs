//! Memory that a caller has of a device, and memory of the host that a device reaches by itself.

use std::any::Any;
use std::fmt::Debug;
use std::ops::DerefMut;

use crate::error::DeviceError;

/// Bytes in the memory of a device, for texts that are run where they lie: see [`crate::Resident::bind`].
///
/// A device gives it by [`crate::Device::memory`]; the crates of GPUs make it of memory that other libraries have
/// allocated, too. Whoever holds the last clone gives it back. What several use at a time comes out as any bytes: one of
/// them has to wait for the others.
pub trait DeviceMemory: Any + Send + Sync + Debug {
    /// Identifier of the device: `cuda:0`.
    fn device(&self) -> &str;

    /// Number of bytes.
    fn bytes(&self) -> usize;

    /// The memory as the device's own interface names it, for other libraries: CUDA's `CUdeviceptr`, which is the address
    /// of its first byte, or the value of OpenCL's `cl_mem`. Good for as long as the memory is held.
    fn handle(&self) -> u64;

    /// Copies `source` to byte `at` and those behind it, and waits until it is there.
    ///
    /// # Errors
    /// [`DeviceError::Memory`] if it does not fit there; if the device fails.
    fn write(&self, at: usize, source: &[u8]) -> Result<(), DeviceError>;

    /// Copies byte `at` and those behind it until `target` is full.
    ///
    /// # Errors
    /// [`DeviceError::Memory`] if there are not so many; if the device fails.
    fn read(&self, at: usize, target: &mut [u8]) -> Result<(), DeviceError>;
}

/// Bytes of the host, as [`crate::Device::host_memory`] gives them. They are not wiped when they are dropped.
pub trait HostMemory: DerefMut<Target = [u8]> + Send + Sync {}

impl<M: DerefMut<Target = [u8]> + Send + Sync> HostMemory for M {}

// Texts are secrets: their contents never reach a log.
impl Debug for dyn HostMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostMemory({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_contents() {
        let memory: Box<dyn HostMemory> = Box::new(vec![0xab; 16]);
        assert_eq!(format!("{memory:?}"), "HostMemory(16 bytes)");
    }
}
