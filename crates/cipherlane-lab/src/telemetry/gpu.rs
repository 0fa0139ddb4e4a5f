//! A GPU's clocks, temperatures, power and load as a sensor.

use std::time::Duration;

use cipherlane::Device;

use super::{NvmlGpu, Sensor, Sensors};

/// What a GPU may tell of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Clock of the multiprocessors, in Hz.
    Frequency,
    /// Clock of the memory, in Hz.
    MemoryFrequency,
    /// Temperature of the chip, in °C.
    Temperature,
    /// Temperature of the memory, in °C; it may lie tens of degrees above the chip's.
    MemoryTemperature,
    /// Power over the driver's shortest window, in W. On Hopper 25 ms of each 100 (arXiv 2312.02741).
    Power,
    /// Power over the driver's long window, in W: one second on Ampere and newer.
    PowerAverage,
    /// Energy since the driver was loaded, in J.
    Energy,
    /// Voltage of the chip, in V.
    Voltage,
    /// Speed of the fan as a part of its highest.
    Fan,
    /// The part of the time in which any kernel ran.
    Load,
    /// The part of the time in which the memory was read or written.
    MemoryLoad,
    /// Why the clock is as it is: the driver's bits, which [`cipherlane_record::throttle`] names.
    Throttle,
}

impl Quantity {
    /// Every quantity.
    pub const ALL: [Self; 12] = [
        Self::Frequency,
        Self::MemoryFrequency,
        Self::Temperature,
        Self::MemoryTemperature,
        Self::Power,
        Self::PowerAverage,
        Self::Energy,
        Self::Voltage,
        Self::Fan,
        Self::Load,
        Self::MemoryLoad,
        Self::Throttle,
    ];

    /// Its name in a channel, behind the device's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frequency => "frequency",
            Self::MemoryFrequency => "memory_frequency",
            Self::Temperature => "temperature",
            Self::MemoryTemperature => "memory_temperature",
            Self::Power => "power",
            Self::PowerAverage => "power_average",
            Self::Energy => "energy",
            Self::Voltage => "voltage",
            Self::Fan => "fan",
            Self::Load => "load",
            Self::MemoryLoad => "memory_load",
            Self::Throttle => "throttle",
        }
    }

    /// Its unit.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Frequency | Self::MemoryFrequency => "Hz",
            Self::Temperature | Self::MemoryTemperature => "°C",
            Self::Power | Self::PowerAverage => "W",
            Self::Energy => "J",
            Self::Voltage => "V",
            Self::Fan | Self::Load | Self::MemoryLoad | Self::Throttle => "1",
        }
    }
}

/// Something that tells quantities of a GPU.
pub trait Gpu: Send {
    /// The value of `quantity` now, in its unit.
    ///
    /// # Errors
    /// Why it cannot be told, and what helps.
    fn read(&mut self, quantity: Quantity) -> Result<f64, String>;
}

/// The quantities that a GPU does tell.
struct GpuSensor<G> {
    device: String,
    gpu: G,
    quantities: Vec<Quantity>,
}

impl<G: Gpu> Sensor for GpuSensor<G> {
    fn channels(&self) -> Vec<(String, &'static str)> {
        self.quantities.iter().map(|quantity| (channel(&self.device, *quantity), quantity.unit())).collect()
    }

    fn read(&mut self, _: Duration) -> Vec<Option<f64>> {
        self.quantities.iter().map(|&quantity| self.gpu.read(quantity).ok()).collect()
    }
}

/// The channel of a quantity of the device `id`: `cuda:0.power`.
fn channel(id: &str, quantity: Quantity) -> String {
    format!("{id}.{}", quantity.name())
}

impl Sensors {
    /// Adds what `gpu`, which is the device `id`, tells; notes what it does not.
    pub fn add_gpu(&mut self, id: &str, mut gpu: impl Gpu + 'static) {
        let mut quantities = Vec::new();
        for quantity in Quantity::ALL {
            match gpu.read(quantity) {
                Ok(_) => quantities.push(quantity),
                Err(reason) => self.lack(channel(id, quantity), reason),
            }
        }
        if !quantities.is_empty() {
            self.add(GpuSensor { device: id.to_owned(), gpu, quantities });
        }
    }
}

/// Adds the GPUs among `devices`. Devices are known to be GPUs by their place on the bus, which is how NVML finds the
/// same card: its own numbers count in another order than CUDA's.
pub(super) fn find(devices: &[&dyn Device], sensors: &mut Sensors) {
    for device in devices {
        let info = device.info();
        let Some(bus) = info.detail("bus") else {
            continue;
        };
        match NvmlGpu::at(bus) {
            Ok(gpu) => sensors.add_gpu(&info.id, gpu),
            Err(reason) => sensors.lack(info.id.clone(), reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A passively cooled GPU of a data centre.
    struct Passive;

    impl Gpu for Passive {
        fn read(&mut self, quantity: Quantity) -> Result<f64, String> {
            match quantity {
                Quantity::Frequency => Ok(1.98e9),
                Quantity::Power => Ok(650.0),
                _ => Err(format!("no {}", quantity.name())),
            }
        }
    }

    #[test]
    fn what_a_gpu_does_not_tell_is_missing_with_its_reason() {
        let mut sensors = Sensors::default();
        sensors.add_gpu("cuda:1", Passive);
        let channels: Vec<String> = sensors.channels().into_iter().map(|(name, _)| name).collect();
        assert_eq!(channels, ["cuda:1.frequency", "cuda:1.power"]);
        assert_eq!(sensors.missing()["cuda:1.fan"], "no fan");
        assert_eq!(channels.len() + sensors.missing().len(), Quantity::ALL.len());
        assert_eq!(sensors.sensors[0].read(Duration::ZERO), [Some(1.98e9), Some(650.0)]);
    }
}
