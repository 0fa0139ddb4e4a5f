//! Under which conditions a number came about: what timing costs, launch geometry, where the time went, load, energy.

use serde::{Deserialize, Serialize};

/// What timing itself costs, measured before the rows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Smallest step of the clock that was seen.
    pub timer_step_seconds: f64,
    /// Time of reading the clock once.
    pub timer_call_seconds: f64,
    /// Time of a pass that does nothing. It is part of every pass, and not taken off.
    pub empty_pass_seconds: f64,
}

/// How a kernel was launched on a device with memory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Blocks of a launch (OpenCL: work-groups).
    pub blocks: u64,
    /// Threads of a block (OpenCL: work-items of a group).
    pub threads_per_block: u64,
    /// Queues that run side by side.
    pub streams: u64,
}

/// Where the time of one pass went, by the device's own events: medians over the samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Moving the batch to the device.
    pub to_device_seconds: f64,
    /// Computing.
    pub kernel_seconds: f64,
    /// Moving the results back.
    pub to_host_seconds: f64,
}

impl Times {
    /// All three.
    #[must_use]
    pub fn total_seconds(&self) -> f64 {
        self.to_device_seconds + self.kernel_seconds + self.to_host_seconds
    }
}

/// Where the time of one pass went on one of the streams that a session kept busy: medians over the samples, of the
/// last pass of each. A stream does one thing after the other; streams run side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamTimes {
    /// The device that it is of: `cuda:0`, where several are one.
    pub device: String,
    /// Its number there, from 0.
    pub stream: u64,
    /// Groups of messages and pieces of long messages that went through it.
    pub chunks: u64,
    /// Where their time went.
    pub times: Times,
}

/// Other work that the machine had while this was measured, as parts of what it can do, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Of the logical CPUs, all together; `null` where nobody loaded them.
    pub cpu: Option<Share>,
    /// Of the GPU; `null` where nobody loaded it.
    pub gpu: Option<Share>,
}

/// A load, as it was asked for and as it was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// What the experiment asked for.
    pub requested: f64,
    /// What was measured while it ran, on average.
    pub achieved: f64,
}

/// The energy of a steady run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// How it was measured.
    pub meter: Meter,
    /// How long.
    pub seconds: f64,
    /// Energy in this time, idle power included.
    pub joules: f64,
    /// Bytes of message text in this time.
    pub bytes: u64,
    /// Power before and after with nothing to do, averaged; `null` where it was not measured.
    pub idle_watts: Option<f64>,
    /// Standard deviation of the power readings.
    pub sigma_watts: Option<f64>,
    /// The same energy by another meter: joules by that, over [`Energy::joules`].
    pub cross_check: Option<CrossCheck>,
}

/// A second meter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossCheck {
    /// How it was measured.
    pub meter: Meter,
    /// Its joules in the same time.
    pub joules: f64,
}

/// How energy was measured, from the most to the least to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meter {
    /// The GPU's own energy counter.
    NvmlCounter,
    /// The GPU's power readings of a short window, added up.
    NvmlInstant,
    /// The GPU's averaged power readings, added up.
    NvmlAverage,
    /// The CPU package's energy counter.
    Rapl,
}

impl Meter {
    /// The name, as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NvmlCounter => "nvml-counter",
            Self::NvmlInstant => "nvml-instant",
            Self::NvmlAverage => "nvml-average",
            Self::Rapl => "rapl",
        }
    }
}

impl Energy {
    /// Mean power.
    #[must_use]
    pub fn watts(&self) -> f64 {
        self.joules / self.seconds
    }

    /// Bits of message text per joule, which is bit/s per watt: of all energy, as the plug pays it.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // below 2^53
    pub fn bits_per_joule(&self) -> f64 {
        8.0 * self.bytes as f64 / self.joules
    }

    /// The same of the energy beyond idle, as the studies of power have it; `None` where idle is not known or not
    /// below.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // below 2^53
    pub fn net_bits_per_joule(&self) -> Option<f64> {
        let net = self.joules - self.idle_watts? * self.seconds;
        (net > 0.0).then(|| 8.0 * self.bytes as f64 / net)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn net_energy_leaves_idle_power_out() {
        let energy = Energy {
            meter: Meter::NvmlCounter,
            seconds: 10.0,
            joules: 6000.0,
            bytes: 1_000_000_000,
            idle_watts: Some(100.0),
            sigma_watts: None,
            cross_check: None,
        };
        assert!((energy.watts() - 600.0).abs() < 1e-9);
        assert!((energy.bits_per_joule() - 8e9 / 6000.0).abs() < 1e-3);
        assert!((energy.net_bits_per_joule().unwrap() - 8e9 / 5000.0).abs() < 1e-3);
        assert!(Energy { idle_watts: Some(600.0), ..energy }.net_bits_per_joule().is_none());
    }
}
