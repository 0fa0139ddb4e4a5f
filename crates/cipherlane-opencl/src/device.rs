//! OpenCL devices as devices: found, described, and opened when they are first used.

use std::sync::Arc;

use cipherlane_core::Info;
use cipherlane_kernels::manifest::Target;
use cipherlane_offload::backend::{Fault, Limits, Unit};
use cipherlane_offload::pci::PciDevice;
use cipherlane_offload::{Accelerator, Opened, Provider, usable};

use crate::backend::{self, OpenCl};
use crate::compile;
use crate::driver::{self, DeviceHandle, Facts};

/// An OpenCL device.
pub type OpenClDevice = Accelerator<Found>;

/// An OpenCL device before it is used.
#[derive(Debug)]
pub struct Found {
    info: Info,
    limits: Limits,
    target: Target,
    facts: Facts,
    device: DeviceHandle,
    backend: Opened<OpenCl>,
}

/// Every OpenCL device of this machine, as `opencl:0`, `opencl:1` and so on in the loader's order. One that cannot be used is
/// left out with a warning.
///
/// # Errors
/// Why there is none, with the remedy: no loader, no driver, or no device that can be used.
pub fn devices() -> Result<Vec<OpenClDevice>, String> {
    let handles = driver::devices().map_err(|error| error.to_string())?;
    let listed = handles.into_iter().enumerate().map(|(index, handle)| {
        let id = format!("opencl:{index}");
        (id.clone(), Found::new(id, handle).map(Accelerator::new))
    });
    usable(listed, "OpenCL lists no device; install a vendor's driver, or PoCL for the CPU")
}

impl Found {
    fn new(id: String, device: DeviceHandle) -> Result<Self, String> {
        let facts = device.facts().map_err(|error| error.to_string())?;
        if !facts.little_endian {
            return Err(format!("{} is big-endian, and the kernels are not", facts.name));
        }
        let limits = backend::limits(&facts);
        let info =
            Info { id, name: facts.name.clone(), tiers: Vec::new(), threads: 1, details: details(&facts) };
        // The layout that makes tables constant-time is that of NVIDIA's shared memory.
        let banked = facts.is_gpu && facts.vendor.contains("NVIDIA");
        let target = Target {
            compute: None,
            shared_bytes: u32::try_from(limits.shared_per_block).unwrap_or(u32::MAX),
            threads: u32::try_from(limits.threads_per_block).unwrap_or(u32::MAX),
            banked,
        };
        Ok(Self { info, limits, target, facts, device, backend: Opened::not_yet() })
    }

    pub(crate) const fn facts(&self) -> &Facts {
        &self.facts
    }
}

impl Provider for Found {
    type Backend = OpenCl;

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
        let Facts { platform, name, version, driver, .. } = &self.facts;
        format!("{platform}, {name}, {version}, {driver}")
    }

    fn is_compiled(&self, unit: &Unit) -> bool {
        compile::is_cached(&self.facts, unit)
    }

    fn backend(&self) -> Result<Arc<OpenCl>, Fault> {
        self.backend.get(|| Ok(OpenCl::new(&self.info.id, &self.device, self.facts.clone())?))
    }
}

fn details(facts: &Facts) -> Vec<(String, String)> {
    let gibibytes = |bytes: u64| format!("{:.1} GiB", bytes as f64 / (1_u64 << 30) as f64);
    let mut details = vec![
        ("platform", facts.platform.clone()),
        ("vendor", facts.vendor.clone()),
        ("version", facts.version.clone()),
        ("driver", facts.driver.clone()),
        ("kind", if facts.is_gpu { "GPU" } else { "no GPU" }.to_owned()),
        ("compute units", facts.units.to_string()),
        ("highest clock", format!("{} MHz", facts.megahertz)),
        ("memory", gibibytes(facts.memory_bytes)),
        ("most of it in one buffer", gibibytes(facts.buffer_bytes)),
        ("local memory a group", format!("{} KiB", facts.local_bytes >> 10)),
        ("most work-items a group", facts.group_size.to_string()),
    ];
    match &facts.bus {
        Some(bus) => details.extend(told_by_system(bus)),
        None if facts.is_gpu => {
            let reason = "unknown: the driver has no extension that tells where the GPU is";
            details.push(("bus, link, clock now", reason.to_owned()));
        }
        None => {}
    }
    details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What OpenCL has no words for.
fn told_by_system(bus: &str) -> Vec<(&'static str, String)> {
    let device = PciDevice::at(bus);
    let node = device.node().map(|node| ("NUMA node", node.to_string()));
    let place = std::iter::once(("bus", bus.to_owned())).chain(node);
    place.chain(device.links()).chain([device.clock()]).collect()
}
