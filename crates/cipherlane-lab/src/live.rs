//! One contender on one workload for as long as somebody wants: sample by sample, each looked at, and a row at the end.

use std::time::{Duration, Instant};

use cipherlane::{DeviceError, Plan};
use cipherlane_record::{Calibration, Checks, Host, Measurement, Transfer};

use crate::bench::Options;
use crate::contender::Contender;
use crate::measure::clock::core_clock_hertz;
use crate::measure::{End, Runner, Trial, calibrate, threads_at_work};
use crate::row;
use crate::telemetry::{Mark, Sampler};
use crate::totals::Totals;
use crate::workload::Workload;
use crate::workload::part::Results;

/// Samples without which there is no row: fewer have no spread.
pub const FEWEST_SAMPLES: usize = 3;
/// A live run ends when somebody says so; a sample that was disturbed may always be repeated.
const FOREVER: Duration = Duration::from_secs(1 << 30);

/// A contender with its sessions open, and what it did so far.
#[derive(Debug)]
pub struct Live<'a> {
    setup: Setup<'a>,
    runner: Runner<'a>,
    results: Vec<Results>,
    rounds: usize,
    calibration: Calibration,
    clock: Option<f64>,
    /// Where in the sampler's readings it began, or went on after a pause; `None` while it rests.
    mark: Option<Mark>,
    /// The stretches of readings before the last pause.
    stretches: Vec<(Mark, Mark)>,
}

/// What does not change while it runs.
#[derive(Debug)]
struct Setup<'a> {
    workload: Workload,
    /// Threads that were asked for, and those that do the work.
    threads: usize,
    at_work: usize,
    fits: bool,
    host: &'a Host,
    options: &'a Options<'a>,
}

/// What one call of [`Live::sample`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Time that was measured.
    pub seconds: f64,
    /// Bytes of message text in this time.
    pub bytes: u64,
    /// Messages in this time.
    pub messages: u64,
}

impl<'a> Live<'a> {
    /// Opens the sessions and warms the device up. `resident` has the data lie in the device's own memory all the time.
    /// The budget of `options` is left alone.
    ///
    /// # Errors
    /// If the contender cannot do the workload, fails, or has no memory of its own for what shall be resident.
    pub fn start(
        workload: Workload,
        contender: &'a Contender<'a>,
        threads: usize,
        resident: bool,
        host: &'a Host,
        options: &'a Options<'a>,
    ) -> Result<Self, DeviceError> {
        let calibration = calibrate();
        let mut runners = Runner::open(0, contender, &workload, threads)?;
        let wanted = |runner: &Runner<'_>| (runner.transfer() == Transfer::Excluded) == resident;
        let Some(place) = runners.iter().position(wanted) else {
            let device = contender.device.info().id.clone();
            let reason =
                "it has no memory of its own in which data could lie; have it brought with each pass";
            return Err(DeviceError::Failed { device, reason: reason.to_owned() });
        };
        let runner = runners.swap_remove(place);
        let results = workload.tasks.iter().map(|task| Results::for_part(&task.part)).collect();
        let at_work = threads_at_work(std::slice::from_ref(&runner), threads);
        let fits = workload.fits(host, at_work);
        let mut live = Self {
            setup: Setup { workload, threads, at_work, fits, host, options },
            runner,
            results,
            rounds: 0,
            calibration,
            clock: core_clock_hertz().ok(),
            mark: options.sampler.map(Sampler::mark),
            stretches: Vec::new(),
        };
        live.setup.trial().warm_up(&mut live.runner, &mut live.results)?;
        Ok(live)
    }

    /// Takes a sample and compares what came out with what must.
    ///
    /// # Errors
    /// If the device fails.
    #[allow(clippy::cast_precision_loss)] // numbers of passes
    pub fn sample(&mut self) -> Result<Sampled, DeviceError> {
        let before = self.runner.samples.len();
        self.setup.trial().sample(&mut self.runner, &mut self.results, self.rounds)?;
        self.rounds += 1;
        let new = &self.runner.samples[before..];
        let passes = u64::from(self.runner.passes) * new.len() as u64;
        Ok(Sampled {
            seconds: new.iter().map(|sample| sample.wall_seconds * f64::from(self.runner.passes)).sum(),
            bytes: passes * self.setup.workload.bytes(),
            messages: passes * self.setup.workload.messages(),
        })
    }

    /// Says that it rests from now on: what sensors read meanwhile is not of the row.
    pub fn pause(&mut self) {
        self.stretches.extend(self.stretch());
        self.mark = None;
    }

    /// Says that it goes on after a pause.
    pub fn resume(&mut self) {
        self.mark = self.setup.options.sampler.map(Sampler::mark);
    }

    /// The sampler's readings since it began or went on.
    fn stretch(&self) -> Option<(Mark, Mark)> {
        Some((self.mark?, self.setup.options.sampler?.mark()))
    }

    /// Samples so far; one that was repeated counts once.
    #[must_use]
    pub const fn rounds(&self) -> usize {
        self.rounds
    }

    /// Whether there are samples enough for a row.
    #[must_use]
    pub const fn has_enough(&self) -> bool {
        self.rounds >= FEWEST_SAMPLES
    }

    /// What went through the device so far, as [`Totals::of_row`] will have it of the row.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let passes = self.runner.samples.len() as u64 * u64::from(self.runner.passes);
        Totals::of_workload(&self.setup.workload, passes)
    }

    /// What was looked at so far, and found.
    #[must_use]
    pub const fn checks(&self) -> Checks {
        self.runner.checks
    }

    /// The core's clock right behind the last sample, in hertz; `None` of devices that launch kernels, and where it cannot be
    /// measured.
    #[must_use]
    pub fn clock(&self) -> Option<f64> {
        self.runner.clocks.last().copied()
    }

    /// How each batch is run.
    #[must_use]
    pub fn plans(&self) -> &[Plan] {
        &self.runner.plans
    }

    /// What is run.
    #[must_use]
    pub const fn workload(&self) -> &Workload {
        &self.setup.workload
    }

    /// What came out of the last pass, in the order of the workload's tasks.
    #[must_use]
    pub fn results(&self) -> &[Results] {
        &self.results
    }

    /// The row of everything so far, under the name of `experiment`; `None` without [`Live::has_enough`].
    #[must_use]
    pub fn row(&self, experiment: &str) -> Option<Measurement> {
        if !self.has_enough() {
            return None;
        }
        let Setup { workload, threads, fits, host, options, .. } = &self.setup;
        let stretches: Vec<_> = self.stretches.iter().copied().chain(self.stretch()).collect();
        let timeline = options.sampler.map(|sampler| sampler.joined(&stretches));
        let point = row::Point {
            experiment,
            workload,
            threads: *threads,
            fits: *fits,
            end: End::TimeUp,
            clock: [self.clock, core_clock_hertz().ok()],
            calibration: self.calibration,
            timeline,
            host,
            options,
        };
        Some(point.row(&self.runner, &[]))
    }
}

impl Setup<'_> {
    fn trial(&self) -> Trial<'_> {
        Trial {
            workload: &self.workload,
            threads: self.at_work,
            cache: self.options.cache,
            fits: self.fits,
            sampling: self.options.sampling,
            deadline: Instant::now() + FOREVER,
            stop: self.options.stop,
            sampler: self.options.sampler,
        }
    }
}
