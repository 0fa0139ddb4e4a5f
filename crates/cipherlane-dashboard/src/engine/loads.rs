//! Background loads of a run: they rest while it rests.

use std::time::Instant;

use cipherlane::Device;
use cipherlane_lab::load::{CpuLoad, GpuLoad, LoadError, Since};
use cipherlane_record::{Load, Share};

/// The loads that a run asked for.
pub(super) struct Loads<'a> {
    device: &'a dyn Device,
    cpu: Generator<CpuLoad>,
    gpu: Generator<GpuLoad>,
}

/// A load, and what it reached while it was on.
struct Generator<L> {
    requested: f64,
    on: Option<(L, Since, Instant)>,
    /// Reached part times seconds, and seconds, of the times before the last pause.
    before: (f64, f64),
}

impl<L> Generator<L> {
    const fn new(requested: f64) -> Self {
        Self { requested, on: None, before: (0.0, 0.0) }
    }

    fn start(
        &mut self,
        start: impl FnOnce(f64) -> Result<L, LoadError>,
        now: fn(&L) -> Since,
    ) -> Result<(), LoadError> {
        if self.requested > 0.0 {
            let load = start(self.requested)?;
            let since = now(&load);
            self.on = Some((load, since, Instant::now()));
        }
        Ok(())
    }

    fn rest(&mut self, achieved: fn(&L, Since) -> f64) {
        if let Some((load, since, start)) = self.on.take() {
            let seconds = start.elapsed().as_secs_f64();
            self.before.0 += achieved(&load, since) * seconds;
            self.before.1 += seconds;
        }
    }

    /// What was asked for and what was reached, over all of its time; `None` where nothing was asked for.
    fn share(&self, achieved: fn(&L, Since) -> f64) -> Option<Share> {
        if self.requested == 0.0 {
            return None;
        }
        let (mut sum, mut seconds) = self.before;
        if let Some((load, since, start)) = &self.on {
            let time = start.elapsed().as_secs_f64();
            sum += achieved(load, *since) * time;
            seconds += time;
        }
        let achieved = if seconds > 0.0 { sum / seconds } else { 0.0 };
        Some(Share { requested: self.requested, achieved })
    }
}

impl<'a> Loads<'a> {
    /// Starts what was asked for.
    pub(super) fn start(device: &'a dyn Device, cpu: f64, gpu: f64) -> Result<Self, String> {
        let mut loads = Self { device, cpu: Generator::new(cpu), gpu: Generator::new(gpu) };
        loads.resume()?;
        Ok(loads)
    }

    /// Starts again after a rest.
    pub(super) fn resume(&mut self) -> Result<(), String> {
        let (cpu, gpu) = (&mut self.cpu, &mut self.gpu);
        cpu.start(CpuLoad::start, CpuLoad::now)
            .and_then(|()| gpu.start(|share| GpuLoad::start(self.device, share), GpuLoad::now))
            .map_err(|error| error.to_string())
    }

    /// Ends the load until [`Loads::resume`].
    pub(super) fn rest(&mut self) {
        self.cpu.rest(CpuLoad::achieved);
        self.gpu.rest(GpuLoad::achieved);
    }

    /// As a record has it; `None` without any load.
    pub(super) fn record(&self) -> Option<Load> {
        let load = Load { cpu: self.cpu.share(CpuLoad::achieved), gpu: self.gpu.share(GpuLoad::achieved) };
        (load.cpu.is_some() || load.gpu.is_some()).then_some(load)
    }
}
