//! What can be read, and what cannot.

use std::collections::BTreeMap;
use std::time::Duration;

use cipherlane::Device;

use super::{Files, cpu, gpu, hwmon, rapl};

/// Something that can be read again and again.
pub trait Sensor: Send {
    /// Name and unit of each of its values, always the same: `cpu.frequency` in `Hz`.
    fn channels(&self) -> Vec<(String, &'static str)>;

    /// Its values in the order of the channels; `None` where a reading failed. `now` rises from call to call.
    fn read(&mut self, now: Duration) -> Vec<Option<f64>>;
}

/// The sensors of a machine.
#[derive(Default)]
pub struct Sensors {
    pub(super) sensors: Vec<Box<dyn Sensor>>,
    pub(super) missing: BTreeMap<String, String>,
}

impl Sensors {
    /// Those of this machine's CPU, and of the GPUs among `devices`.
    #[must_use]
    pub fn of_this_machine(devices: &[&dyn Device]) -> Self {
        let mut sensors = Self::of_cpu(&Files::of_this_machine());
        gpu::find(devices, &mut sensors);
        sensors
    }

    /// Those of the CPU, as far as `files` shows them.
    #[must_use]
    pub fn of_cpu(files: &Files) -> Self {
        let mut sensors = Self::default();
        sensors.keep("cpu.frequency", cpu::frequency(files));
        sensors.keep("cpu.load", cpu::load(files));
        sensors.keep("cpu.throttle", cpu::throttle(files));
        sensors.keep("cpu.temperature", hwmon::temperature(files));
        sensors.keep("cpu.fan", hwmon::fan(files));
        sensors.keep("cpu.voltage", hwmon::voltage(files));
        match rapl::sensor(files) {
            Ok(sensor) => sensors.add(sensor),
            Err(reason) => {
                sensors.lack("cpu.energy", "see cpu.power");
                sensors.lack("cpu.power", reason);
            }
        }
        sensors
    }

    /// Adds a sensor.
    pub fn add(&mut self, sensor: impl Sensor + 'static) {
        self.sensors.push(Box::new(sensor));
    }

    /// Notes that `channel` cannot be read, and why.
    pub fn lack(&mut self, channel: impl Into<String>, reason: impl Into<String>) {
        self.missing.insert(channel.into(), reason.into());
    }

    /// What cannot be read: channel to reason.
    #[must_use]
    pub const fn missing(&self) -> &BTreeMap<String, String> {
        &self.missing
    }

    /// Name and unit of everything that can be read.
    #[must_use]
    pub fn channels(&self) -> Vec<(String, &'static str)> {
        self.sensors.iter().flat_map(|sensor| sensor.channels()).collect()
    }

    fn keep(&mut self, channel: &str, found: Result<impl Sensor + 'static, String>) {
        match found {
            Ok(sensor) => self.add(sensor),
            Err(reason) => self.lack(channel, reason),
        }
    }
}

impl std::fmt::Debug for Sensors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sensors").field("channels", &self.channels()).field("missing", &self.missing).finish()
    }
}
