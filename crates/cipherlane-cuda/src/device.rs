//! NVIDIA GPUs as devices: found, described, and opened when they are first used.

use std::sync::Arc;

use cipherlane_core::Info;
use cipherlane_kernels::manifest::Target;
use cipherlane_offload::backend::{Fault, Limits, Unit};
use cipherlane_offload::cache::Cache;
use cipherlane_offload::{Accelerator, Opened, Provider, most_alike, usable};

use crate::backend::{self, Cuda};
use crate::describe;
use crate::driver::{CudaError, Driver, Gpu};
use crate::kernels::Kernels;

/// An NVIDIA GPU.
pub type CudaDevice = Accelerator<Found>;

/// A GPU before it is used.
#[derive(Debug)]
pub struct Found {
    info: Info,
    limits: Limits,
    target: Target,
    capability: u32,
    gpu: Gpu,
    /// For questions about kernels before there is a context.
    kernels: Kernels,
    backend: Opened<Cuda>,
}

/// Every NVIDIA GPU that the driver shows this process, as `cuda:0`, `cuda:1` and so on in the driver's order. One that cannot
/// say what it is, as after it has fallen off its bus, is left out with a warning.
///
/// # Errors
/// Why there is none, with the remedy: no driver, or no GPU that can be used.
pub fn devices() -> Result<Vec<CudaDevice>, String> {
    let driver = Driver::get()?;
    let count = driver.count().map_err(|error| error.to_string())?;
    let listed = (0..count).map(|index| {
        let found = Gpu::new(driver, index).and_then(Found::new);
        (format!("cuda:{index}"), found.map(Accelerator::new).map_err(|error| error.to_string()))
    });
    usable(listed, "the CUDA driver shows no GPU; look at nvidia-smi and at CUDA_VISIBLE_DEVICES")
}

/// The most GPUs that have the same name and compute capability; where two sets are as large, the one with the lowest number.
/// Others stay outside: kernels are chosen for one of them, shares are equal, and the slowest would keep all waiting.
#[must_use]
pub fn alike(devices: &[Arc<CudaDevice>]) -> Vec<Arc<CudaDevice>> {
    let kind = |found: &Found| Some((found.info.name.clone(), found.capability));
    let kinds: Vec<_> = devices.iter().map(|device| kind(device.provider())).collect();
    most_alike(&kinds).into_iter().map(|place| Arc::clone(&devices[place])).collect()
}

/// The kernels of `gpu`, compiled or to be compiled; none is looked for before it is needed.
pub(crate) fn kernels(gpu: Gpu, capability: u32) -> Kernels {
    let (newest, _) = gpu.driver().version();
    Kernels::new(capability, Some(newest), Cache::of_user())
}

impl Found {
    fn new(gpu: Gpu) -> Result<Self, CudaError> {
        let limits = backend::limits(gpu)?;
        let (major, minor) = gpu.capability()?;
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let info = Info {
            id: format!("cuda:{}", gpu.index()),
            name: gpu.name()?,
            tiers: Vec::new(),
            threads: 1,
            details: describe::details(gpu),
        };
        let target = Target {
            compute: Some((narrow(major), narrow(minor))),
            shared_bytes: narrow(limits.shared_per_block),
            threads: narrow(limits.threads_per_block),
            banked: true,
        };
        let capability = describe::capability(gpu)?;
        Ok(Self {
            info,
            limits,
            target,
            capability,
            gpu,
            kernels: kernels(gpu, capability),
            backend: Opened::not_yet(),
        })
    }

    /// The kernels of this GPU: compiled, or to be compiled.
    #[must_use]
    pub fn kernels(&self) -> Kernels {
        kernels(self.gpu, self.capability)
    }
}

impl Provider for Found {
    type Backend = Cuda;

    fn info(&self) -> &Info {
        &self.info
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn build(&self) -> String {
        let (major, minor) = self.gpu.driver().version();
        let driver = self.info.detail("driver").unwrap_or("of unknown version");
        format!("{}, sm_{}, CUDA {major}.{minor}, driver {driver}", self.info.name, self.capability)
    }

    /// Opens the compiler, whose version compiled kernels depend on; without one none counts as compiled.
    fn is_compiled(&self, unit: &Unit) -> bool {
        self.kernels.is_cached(unit)
    }

    fn backend(&self) -> Result<Arc<Cuda>, Fault> {
        self.backend.get(|| Ok(Cuda::new(&self.info.id, self.gpu, self.kernels())?))
    }
}
