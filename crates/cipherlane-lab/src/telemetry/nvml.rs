//! NVIDIA's management library, opened at run time.

use std::sync::OnceLock;

use nvml_wrapper::Device;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::enums::device::SampleValue;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::structs::device::FieldId;
use nvml_wrapper::sys_exports::field_id;

use super::{Gpu, Quantity};

/// Opened once: opening takes a good part of a second, and devices borrow from it.
static LIBRARY: OnceLock<Result<Nvml, String>> = OnceLock::new();

fn library() -> Result<&'static Nvml, String> {
    let open = || {
        // The plain name is for those who develop with it; drivers install the one with the version.
        Nvml::init()
            .or_else(|_| Nvml::builder().lib_path("libnvidia-ml.so.1".as_ref()).init())
            .map_err(|error| format!("NVML: {error}; it comes with NVIDIA's driver"))
    };
    LIBRARY.get_or_init(open).as_ref().map_err(Clone::clone)
}

/// A GPU, as NVML sees it.
#[derive(Debug)]
pub struct NvmlGpu {
    device: Device<'static>,
}

impl NvmlGpu {
    /// The GPU at this place on the bus: `0000:01:00.0`.
    ///
    /// # Errors
    /// If there is no NVML, or no such GPU.
    pub fn at(bus: &str) -> Result<Self, String> {
        let device = library()?.device_by_pci_bus_id(bus).map_err(|error| format!("NVML: {bus}: {error}"))?;
        Ok(Self { device })
    }

    /// The value of a field, by its number in nvml.h.
    fn field(&self, id: u32) -> Result<f64, NvmlError> {
        let sample =
            self.device.field_values_for(&[FieldId(id)])?.pop().unwrap_or(Err(NvmlError::NotFound))?;
        Ok(match sample.value? {
            SampleValue::F64(value) => value,
            SampleValue::U32(value) => f64::from(value),
            SampleValue::U64(value) => value as f64,
            SampleValue::I64(value) => value as f64,
        })
    }

    fn value(&self, quantity: Quantity) -> Result<f64, NvmlError> {
        let device = &self.device;
        let megahertz = |clock| Ok(f64::from(device.clock_info(clock)?) * 1e6);
        let percent = |percent: u32| f64::from(percent) / 100.0;
        match quantity {
            Quantity::Frequency => megahertz(Clock::SM),
            Quantity::MemoryFrequency => megahertz(Clock::Memory),
            Quantity::Temperature => Ok(f64::from(device.temperature(TemperatureSensor::Gpu)?)),
            Quantity::MemoryTemperature => self.field(field_id::NVML_FI_DEV_MEMORY_TEMP),
            Quantity::Power => Ok(self.field(field_id::NVML_FI_DEV_POWER_INSTANT)? * 1e-3),
            // Drivers without the field have the plain call, which averages as the field does.
            Quantity::PowerAverage => self
                .field(field_id::NVML_FI_DEV_POWER_AVERAGE)
                .or_else(|_| device.power_usage().map(f64::from))
                .map(|milliwatts| milliwatts * 1e-3),
            Quantity::Energy => Ok(device.total_energy_consumption()? as f64 * 1e-3),
            Quantity::Voltage => Err(NvmlError::NotSupported),
            Quantity::Fan => Ok(percent(device.fan_speed(0)?)),
            Quantity::Load => Ok(percent(device.utilization_rates()?.gpu)),
            Quantity::MemoryLoad => Ok(percent(device.utilization_rates()?.memory)),
            Quantity::Throttle => Ok(device.current_throttle_reasons()?.bits() as f64),
        }
    }
}

impl Gpu for NvmlGpu {
    fn read(&mut self, quantity: Quantity) -> Result<f64, String> {
        self.value(quantity).map_err(|error| match quantity {
            Quantity::Voltage => "NVML does not tell voltages".to_owned(),
            Quantity::Fan => format!("NVML: {error}; a passively cooled GPU has no fan"),
            Quantity::Power => format!("NVML: {error}; see power_average"),
            _ => format!("NVML: {error}"),
        })
    }
}
