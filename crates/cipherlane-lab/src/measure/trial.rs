//! Rounds in which every contender runs once, until the intervals are narrow or the time is up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cipherlane::DeviceError;

use super::clock::behind_work;
use super::flush::flush;
use super::runner::{Runner, Timing};
use crate::bench::{Sampling, Wanted};
use crate::statistics;
use crate::telemetry::Sampler;
use crate::workload::Workload;
use crate::workload::part::Results;

/// Rounds that a trial makes however short the time is.
const FEWEST_ROUNDS: usize = 3;
/// How often a sample that was interrupted, or held back, is repeated.
const REPEATS: usize = 2;
/// Before a sample that was held back is repeated, the device rests for so long (nvbench rests as long).
const RECOVERY: Duration = Duration::from_millis(50);
/// Repetitions of one contender that were held back all the same, after which there are no more: its clock does not
/// recover, and the time is better spent on samples.
const VAIN: usize = 3;
/// Warming up lasts this long: caches fill, the clock rises, and wide vector units wake.
const WARM_UP: Duration = Duration::from_millis(20);

/// What a trial needs.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// What is run.
    pub workload: &'a Workload,
    /// Threads that do the work: of the contender that has most.
    pub threads: usize,
    /// Where the data shall lie.
    pub cache: Wanted,
    /// Whether the working set fits the second-level caches.
    pub fits: bool,
    /// How many samples.
    pub sampling: Sampling,
    /// When the time is up.
    pub deadline: Instant,
    /// Set from elsewhere to stop.
    pub stop: &'a AtomicBool,
    /// Who says whether a clock is held back; without, no sample is marked for it.
    pub sampler: Option<&'a Sampler>,
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The intervals are as narrow as wanted, or there are samples enough.
    Enough,
    /// The time was up.
    TimeUp,
    /// Someone stopped it: what it has is too little to keep.
    Stopped,
}

impl Trial<'_> {
    /// Runs all `runners` in turn. `watch` is told what part of the trial's time has passed.
    ///
    /// Runners that fail are taken out, and returned with what they failed of.
    pub fn run<'a>(
        &self,
        runners: &mut Vec<Runner<'a>>,
        watch: &mut dyn FnMut(f64),
    ) -> (End, Vec<(Runner<'a>, DeviceError)>) {
        let start = Instant::now();
        let mut results: Vec<Results> =
            self.workload.tasks.iter().map(|task| Results::for_part(&task.part)).collect();
        let mut failed = Vec::new();
        each(runners, &mut failed, |runner| self.warm_up(runner, &mut results));
        for round in 0.. {
            let round_start = Instant::now();
            order(runners, round);
            each(runners, &mut failed, |runner| {
                watch(self.passed(start, runner));
                if self.stopped() { Ok(()) } else { self.sample(runner, &mut results, round) }
            });
            if self.stopped() || runners.is_empty() {
                return (End::Stopped, failed);
            }
            if let Some(end) = self.end(runners, round + 1, round_start.elapsed()) {
                return (end, failed);
            }
        }
        (End::Enough, failed)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The part of the trial that is done: by the clock, or by its samples where they come faster.
    #[allow(clippy::cast_precision_loss)]
    fn passed(&self, start: Instant, runner: &Runner<'_>) -> f64 {
        let total = self.deadline.saturating_duration_since(start).as_secs_f64();
        let by_clock = if total > 0.0 { start.elapsed().as_secs_f64() / total } else { 1.0 };
        let by_rounds = runner.samples.len() as f64 / self.sampling.max_rounds as f64;
        by_clock.max(by_rounds).min(1.0)
    }

    /// Runs until the machine is warm, and finds how many passes make a sample.
    pub(crate) fn warm_up(
        &self,
        runner: &mut Runner<'_>,
        results: &mut [Results],
    ) -> Result<(), DeviceError> {
        let tasks = &self.workload.tasks;
        let start = Instant::now();
        let mut fastest = runner.run(tasks, results, 1)?.wall;
        while self.fits && start.elapsed() < WARM_UP {
            fastest = fastest.min(runner.run(tasks, results, 1)?.wall);
        }
        runner.check(tasks, results);
        if fastest.is_zero() {
            return Err(DeviceError::Failed {
                device: runner.contender.device.info().id.clone(),
                reason: "by its own clock its kernels take no time: there is no rate; take larger messages"
                    .to_owned(),
            });
        }
        // A cold pass cannot be repeated: the second would find the data in the cache.
        if self.cache == Wanted::Hot {
            let passes = self.sampling.min_sample.as_nanos().div_ceil(fastest.as_nanos());
            runner.passes = u32::try_from(passes).unwrap_or(u32::MAX).max(1);
        }
        Ok(())
    }

    /// Takes a sample, and repeats it where it was interrupted or held back.
    pub(crate) fn sample(
        &self,
        runner: &mut Runner<'_>,
        results: &mut [Results],
        round: usize,
    ) -> Result<(), DeviceError> {
        for repeat in 0..=REPEATS {
            let timing = self.time(runner, results, round)?;
            let throttled = self.throttled(runner);
            let preempted = self.threads == 1 && !runner.launches() && timing.preempted();
            runner.keep(round, self.threads, timing, throttled);
            runner.check(&self.workload.tasks, results);
            if repeat == REPEATS || Instant::now() >= self.deadline {
                break;
            }
            if throttled == Some(true) && runner.vain < VAIN {
                runner.vain += usize::from(repeat > 0);
                self.cool_down();
            } else if !preempted {
                break;
            }
        }
        Ok(())
    }

    /// Whether the runner's device is held back, as far as a sensor tells.
    fn throttled(&self, runner: &Runner<'_>) -> Option<bool> {
        self.sampler?.throttled(&runner.contender.device.info().id)
    }

    /// Rests, and reads the sensors again.
    fn cool_down(&self) {
        thread::sleep(RECOVERY);
        if let Some(sampler) = self.sampler {
            let _ = sampler.mark();
        }
    }

    fn time(
        &self,
        runner: &mut Runner<'_>,
        results: &mut [Results],
        round: usize,
    ) -> Result<Timing, DeviceError> {
        let tasks = &self.workload.tasks;
        for (task, results) in tasks.iter().zip(&mut *results) {
            task.scrub(results);
        }
        match self.cache {
            // Scrubbing has moved lines about. A pass puts them back where the passes before the last left them;
            // one message of each task is scrubbed again, so that the timed passes must write, too.
            Wanted::Hot if self.fits => {
                runner.run(tasks, results, 1)?;
                for (task, results) in tasks.iter().zip(&mut *results) {
                    task.scrub_message(results, round % task.part.len().max(1));
                }
            }
            Wanted::Hot => {}
            Wanted::Cold => self.flush(results).map_err(|reason| DeviceError::Failed {
                device: runner.contender.device.info().id.clone(),
                reason: reason.to_owned(),
            })?,
        }
        let timing = runner.run(tasks, results, runner.passes)?;
        // Not behind other passes: workers would go to sleep before the timed ones.
        let hertz = if runner.launches() { None } else { behind_work().ok() };
        Ok(Timing { hertz, ..timing })
    }

    fn flush(&self, results: &[Results]) -> Result<(), &'static str> {
        for task in &self.workload.tasks {
            task.part.buffers().into_iter().try_for_each(flush)?;
        }
        results.iter().try_for_each(|results| flush(&results.bytes).and_then(|()| flush(&results.tags)))
    }

    /// Whether it is time to end after `rounds` rounds, of which the last took `last`.
    fn end(&self, runners: &[Runner<'_>], rounds: usize, last: Duration) -> Option<End> {
        let Sampling { min_rounds, max_rounds, relative_width, .. } = self.sampling;
        let narrow = |runner: &Runner<'_>| {
            statistics::relative_width(&runner.round_seconds()).is_some_and(|width| width <= relative_width)
        };
        if rounds >= max_rounds || (rounds >= min_rounds && runners.iter().all(narrow)) {
            return Some(End::Enough);
        }
        (rounds >= FEWEST_ROUNDS && Instant::now() + last > self.deadline).then_some(End::TimeUp)
    }
}

/// Puts the runners in the order of `round`: each pair of rounds is mirrored (ABBA), so that a steady drift cancels,
/// and who begins moves on from pair to pair.
fn order(runners: &mut [Runner<'_>], round: usize) {
    match round {
        0 => {}
        _ if round % 2 == 1 => runners.reverse(),
        _ => {
            runners.reverse();
            runners.rotate_left(usize::from(runners.len() > 1));
        }
    }
}

/// Lets each runner `act`, and moves those that fail to `failed`.
fn each<'a>(
    runners: &mut Vec<Runner<'a>>,
    failed: &mut Vec<(Runner<'a>, DeviceError)>,
    mut act: impl FnMut(&mut Runner<'a>) -> Result<(), DeviceError>,
) {
    let mut index = 0;
    while index < runners.len() {
        match act(&mut runners[index]) {
            Ok(()) => index += 1,
            Err(error) => failed.push((runners.remove(index), error)),
        }
    }
}
