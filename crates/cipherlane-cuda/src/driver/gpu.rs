//! One GPU, as the driver describes it.

use std::ffi::{CStr, c_char, c_int};

use cipherlane_offload::pci::PciDevice;

use super::api::DeviceHandle;
use super::{CudaError, Driver};

/// A GPU that the driver sees.
#[derive(Clone, Copy, Debug)]
pub struct Gpu {
    pub(super) driver: &'static Driver,
    pub(super) handle: DeviceHandle,
    index: usize,
}

/// A number that the driver knows of a GPU: `CUdevice_attribute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Attribute {
    /// Most threads of a block.
    ThreadsPerBlock = 1,
    /// Lanes of a warp.
    WarpSize = 10,
    /// Clock of the multiprocessors in kHz, the highest.
    ClockKilohertz = 13,
    /// Multiprocessors (SMs).
    Multiprocessors = 16,
    /// Clock of the memory in kHz, the highest.
    MemoryClockKilohertz = 36,
    /// Width of the memory bus in bits.
    MemoryBusBits = 37,
    /// Bytes of the second-level cache.
    CacheBytes = 38,
    /// Most threads on a multiprocessor.
    ThreadsPerMultiprocessor = 39,
    /// Copy engines.
    CopyEngines = 40,
    /// Compute capability, major.
    CapabilityMajor = 75,
    /// Compute capability, minor.
    CapabilityMinor = 76,
    /// Bytes of shared memory of a multiprocessor.
    SharedPerMultiprocessor = 81,
    /// Most bytes of shared memory of a block, asked for by name.
    SharedPerBlock = 97,
}

impl Gpu {
    /// GPU `index` of those that [`Driver::count`] counts.
    ///
    /// # Errors
    /// If there is no such GPU.
    pub fn new(driver: &'static Driver, index: usize) -> Result<Self, CudaError> {
        let mut handle = 0;
        let ordinal = c_int::try_from(index).unwrap_or(c_int::MAX);
        // SAFETY: the driver writes one int.
        let code = unsafe { (driver.functions.cuDeviceGet)(&raw mut handle, ordinal) };
        driver.check("cuDeviceGet", code)?;
        Ok(Self { driver, handle, index })
    }

    /// Its number.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The driver that sees it.
    #[must_use]
    pub const fn driver(&self) -> &'static Driver {
        self.driver
    }

    /// The product's name.
    ///
    /// # Errors
    /// If the driver cannot say.
    pub fn name(&self) -> Result<String, CudaError> {
        self.text("cuDeviceGetName", self.driver.functions.cuDeviceGetName)
    }

    /// Where it sits: `0000:41:00.0`.
    ///
    /// # Errors
    /// If the driver cannot say.
    pub fn bus_id(&self) -> Result<String, CudaError> {
        self.text("cuDeviceGetPCIBusId", self.driver.functions.cuDeviceGetPCIBusId)
    }

    /// The NUMA node of the host that it is nearest to, where the system says so.
    #[must_use]
    pub fn node(&self) -> Option<usize> {
        PciDevice::at(&self.bus_id().ok()?).node()
    }

    fn text(
        &self,
        call: &'static str,
        function: unsafe extern "C" fn(*mut c_char, c_int, DeviceHandle) -> c_int,
    ) -> Result<String, CudaError> {
        const LENGTH: usize = 256;
        let mut text: [c_char; LENGTH] = [0; LENGTH];
        // SAFETY: the driver writes at most as many bytes as it is told, the terminating zero among them.
        let code = unsafe { function(text.as_mut_ptr(), LENGTH as c_int, self.handle) };
        self.driver.check(call, code)?;
        text[LENGTH - 1] = 0;
        // SAFETY: the last byte is zero, so the string ends within the array.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().trim().to_owned())
    }

    /// One of its numbers.
    ///
    /// # Errors
    /// If the driver does not know it.
    pub fn attribute(&self, attribute: Attribute) -> Result<usize, CudaError> {
        let mut value = 0;
        // SAFETY: the driver writes one int.
        let code = unsafe {
            (self.driver.functions.cuDeviceGetAttribute)(&raw mut value, attribute as c_int, self.handle)
        };
        self.driver.check("cuDeviceGetAttribute", code)?;
        Ok(usize::try_from(value).unwrap_or(0))
    }

    /// Compute capability, major and minor: (9, 0) for sm_90.
    ///
    /// # Errors
    /// If the driver cannot say.
    pub fn capability(&self) -> Result<(usize, usize), CudaError> {
        Ok((self.attribute(Attribute::CapabilityMajor)?, self.attribute(Attribute::CapabilityMinor)?))
    }

    /// Bytes of its memory.
    ///
    /// # Errors
    /// If the driver cannot say.
    pub fn memory_bytes(&self) -> Result<usize, CudaError> {
        let mut bytes = 0;
        // SAFETY: the driver writes one size.
        let code = unsafe { (self.driver.functions.cuDeviceTotalMem_v2)(&raw mut bytes, self.handle) };
        self.driver.check("cuDeviceTotalMem_v2", code)?;
        Ok(bytes)
    }
}
