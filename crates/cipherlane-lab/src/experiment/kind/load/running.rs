//! Loads while they run, and what is reached of them.

use std::time::{Duration, Instant};

use cipherlane::Device;

use crate::load::{CpuLoad, GpuLoad, LoadError, Since};

/// What is asked of the CPU and of the device, as parts of 1.
pub(super) type Pair = (f64, f64);

/// Study 002 logged its loads once in so long: over less, what is reached tells little.
const LOGGED: Duration = Duration::from_secs(1);

/// The loads of a turn.
pub(super) struct Running {
    cpu: Option<CpuLoad>,
    gpu: Option<GpuLoad>,
    began: Moment,
}

/// A moment of both loads.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    at: Instant,
    cpu: Option<Since>,
    gpu: Option<Since>,
}

impl Running {
    pub(super) fn start(device: &dyn Device, (cpu, gpu): Pair) -> Result<Self, LoadError> {
        let cpu = (cpu > 0.0).then(|| CpuLoad::start(cpu)).transpose()?;
        let gpu = (gpu > 0.0).then(|| GpuLoad::start(device, gpu)).transpose()?;
        let began = Moment::of(cpu.as_ref(), gpu.as_ref());
        Ok(Self { cpu, gpu, began })
    }

    pub(super) fn now(&self) -> Moment {
        Moment::of(self.cpu.as_ref(), self.gpu.as_ref())
    }

    /// What was reached since then, in percent, and 0 where there is no load. Where that is shorter than [`LOGGED`],
    /// the mean since the loads began stands for it.
    pub(super) fn reached(&self, since: Moment) -> Pair {
        let since = if since.at.elapsed() < LOGGED { self.began } else { since };
        let of_cpu = self.cpu.as_ref().zip(since.cpu).map_or(0.0, |(load, since)| load.achieved(since));
        let of_gpu = self.gpu.as_ref().zip(since.gpu).map_or(0.0, |(load, since)| load.achieved(since));
        (100.0 * of_cpu, 100.0 * of_gpu)
    }
}

impl Moment {
    fn of(cpu: Option<&CpuLoad>, gpu: Option<&GpuLoad>) -> Self {
        Self { at: Instant::now(), cpu: cpu.map(CpuLoad::now), gpu: gpu.map(GpuLoad::now) }
    }
}
