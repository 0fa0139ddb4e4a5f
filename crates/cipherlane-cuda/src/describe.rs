//! A GPU in words: its name, and what `cipherlane devices` shows of it.

use cipherlane_offload::pci::PciDevice;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::Clock;
use nvml_wrapper::error::NvmlError;

use crate::driver::{Attribute, CudaError, Gpu};

/// The capability as one number: 90 for 9.0, as `sm_90` spells it.
pub(crate) fn capability(gpu: Gpu) -> Result<u32, CudaError> {
    let (major, minor) = gpu.capability()?;
    Ok(u32::try_from(10 * major + minor).unwrap_or(0))
}

/// What there is to say of `gpu`: what CUDA knows, then what the system and NVML do. A figure that the driver does not
/// tell is unknown, with its reason.
pub(crate) fn details(gpu: Gpu) -> Vec<(String, String)> {
    let say = |told: Result<String, CudaError>| told.unwrap_or_else(|error| format!("unknown: {error}"));
    let number = |attribute, unit: &'static str, divisor: usize| {
        say(gpu.attribute(attribute).map(|number| format!("{}{unit}", number / divisor)))
    };
    let gibibytes = |bytes| format!("{:.1} GiB", bytes as f64 / (1_u64 << 30) as f64);
    let (major, minor) = gpu.driver().version();
    let bus = gpu.bus_id();
    let mut details = vec![
        ("capability", say(capability(gpu).map(|number| format!("sm_{number}")))),
        ("multiprocessors", number(Attribute::Multiprocessors, "", 1)),
        ("highest clock", number(Attribute::ClockKilohertz, " MHz", 1000)),
        ("memory", say(gpu.memory_bytes().map(gibibytes))),
        ("highest memory clock", number(Attribute::MemoryClockKilohertz, " MHz", 1000)),
        ("memory bus", number(Attribute::MemoryBusBits, " bits", 1)),
        ("second-level cache", number(Attribute::CacheBytes, " MiB", 1 << 20)),
        ("shared memory a block", number(Attribute::SharedPerBlock, " KiB", 1 << 10)),
        ("copy engines", number(Attribute::CopyEngines, "", 1)),
        ("CUDA of the driver", format!("{major}.{minor}")),
        ("bus", say(bus.clone())),
    ];
    if let Ok(bus) = bus {
        let device = PciDevice::at(&bus);
        details.extend(device.node().map(|node| ("NUMA node", node.to_string())));
        match told_by_nvml(&bus) {
            Ok(told) => details.extend(told),
            Err(error) => {
                details.extend(device.links());
                details.push(("driver, clocks now", format!("unknown: NVML: {error}")));
            }
        }
    }
    details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What NVIDIA's management library says of the GPU at `bus_id`: the driver's version, the link, the clocks now. A
/// figure that this GPU does not have is left out with its reason.
fn told_by_nvml(bus_id: &str) -> Result<Vec<(&'static str, String)>, NvmlError> {
    // The plain name is for those who develop with it; drivers install the one with the version.
    let nvml = Nvml::init().or_else(|_| Nvml::builder().lib_path("libnvidia-ml.so.1".as_ref()).init())?;
    let device = nvml.device_by_pci_bus_id(bus_id)?;
    let link = |generation: Result<u32, NvmlError>, width: Result<u32, NvmlError>| match (generation, width) {
        (Ok(generation), Ok(width)) => format!("PCIe {generation} x{width}"),
        (Err(error), _) | (_, Err(error)) => format!("unknown: {error}"),
    };
    let clock = |clock| device.clock_info(clock).map_or_else(|error| format!("unknown: {error}"), megahertz);
    let power = device.enforced_power_limit();
    Ok(vec![
        ("driver", nvml.sys_driver_version()?),
        ("link", link(device.current_pcie_link_gen(), device.current_pcie_link_width())),
        ("highest link", link(device.max_pcie_link_gen(), device.max_pcie_link_width())),
        ("clock now", clock(Clock::SM)),
        ("memory clock now", clock(Clock::Memory)),
        (
            "power limit",
            power.map_or_else(|error| format!("unknown: {error}"), |power| format!("{} W", power / 1000)),
        ),
    ])
}

fn megahertz(number: u32) -> String {
    format!("{number} MHz")
}
