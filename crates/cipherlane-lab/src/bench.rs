//! Runs a suite: builds each workload, lets all contenders run it in turn, and hands out a record of each.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cipherlane::{DeviceError, Unsupported};
use cipherlane_record::{Calibration, Host, Measurement, Transfer};
use thiserror::Error;

use crate::ceiling::Ceilings;
use crate::contender::Contender;
use crate::judge::{JudgeError, Judges};
use crate::measure::clock::core_clock_hertz;
use crate::measure::{End, Runner, Trial, calibrate, threads_at_work};
use crate::observer::{Observer, Progress, Skipped};
use crate::row;
use crate::schedule::Schedule;
use crate::suite::{Point, Suite};
use crate::telemetry::Sampler;
use crate::workload::{Choice, Job, Request, Workload, WorkloadError};

/// How to measure.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Time for the whole suite, building workloads and expected results included.
    pub budget: Duration,
    /// How many samples, and when they are enough.
    pub sampling: Sampling,
    /// Where the data shall lie when the clock starts.
    pub cache: Wanted,
    /// Seed of all contents.
    pub seed: u64,
    /// Set from elsewhere (Ctrl-C) to end the run; finished rows are kept.
    pub stop: &'a AtomicBool,
    /// What this core's instructions and memory allow, where it is known.
    pub ceilings: Option<&'a Ceilings>,
    /// Who reads sensors meanwhile; without, rows have no time line.
    pub sampler: Option<&'a Sampler>,
    /// The command line, for the records.
    pub argv: Vec<String>,
}

/// How many samples, and when they are enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Fewest rounds of a point, whatever the budget.
    pub min_rounds: usize,
    /// Most rounds of a point.
    pub max_rounds: usize,
    /// A point is finished when the 95 % interval of every contender's median is at most this part of it.
    pub relative_width: f64,
    /// Shortest sample; short passes are repeated to fill it.
    pub min_sample: Duration,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { min_rounds: 10, max_rounds: 300, relative_width: 0.01, min_sample: Duration::from_millis(2) }
    }
}

/// Where the data shall lie when the clock starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// In the second-level cache, where the workload's size is free.
    #[default]
    Hot,
    /// Flushed from every cache before each pass.
    Cold,
}

/// What became of a suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Rows in the order in which they finished.
    pub rows: Vec<Measurement>,
    /// What was not measured.
    pub skipped: Vec<Skipped>,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
}

/// Why a run ended early.
#[derive(Debug, Error)]
pub enum BenchError {
    /// There is no right answer to compare with: nothing may be timed.
    #[error("{workload}: {error}")]
    Judge {
        /// The workload.
        workload: String,
        /// Why.
        error: JudgeError,
    },
    /// A row could not be kept.
    #[error("a finished row cannot be written: {0}")]
    Observer(#[from] io::Error),
}

/// Measures every point of `suite` with all `contenders` in turn.
///
/// # Errors
/// If the judges disagree or a row cannot be kept. A contender that cannot do a point, and a workload that is not
/// there, are in [`Outcome::skipped`]; a wrong output is a row that is not verified.
pub fn run_suite(
    suite: &Suite,
    contenders: &[Contender<'_>],
    judges: &Judges<'_>,
    host: &Host,
    options: &Options<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome, BenchError> {
    let weights = suite.points.iter().map(|point| point.choice.weight()).collect();
    let mut run = Run {
        suite,
        judges,
        host,
        options,
        observer,
        schedule: Schedule::new(options.budget, weights),
        calibration: calibrate(),
        built: None,
        outcome: Outcome::default(),
    };
    for (index, point) in suite.points.iter().enumerate() {
        run.point(index, point, contenders)?;
        if options.stop.load(Ordering::Relaxed) {
            run.outcome.stopped = true;
            break;
        }
    }
    Ok(run.outcome)
}

/// A suite on its way.
struct Run<'a> {
    suite: &'a Suite,
    judges: &'a Judges<'a>,
    host: &'a Host,
    options: &'a Options<'a>,
    observer: &'a mut dyn Observer,
    schedule: Schedule,
    calibration: Calibration,
    /// The workload that was built last, for the next point that is the same but for its threads.
    built: Option<(Choice, usize, Workload)>,
    outcome: Outcome,
}

impl Run<'_> {
    fn point(&mut self, index: usize, point: &Point, contenders: &[Contender<'_>]) -> Result<(), BenchError> {
        let deadline = self.schedule.deadline(index);
        let title = title(point);
        self.progress(index, 0.0, &format!("{title}: expected outputs"));
        let workload = match self.build(point) {
            Ok(workload) => workload,
            Err(WorkloadError::Judge(error)) => {
                return Err(BenchError::Judge { workload: point.choice.name().into_owned(), error });
            }
            Err(error) => {
                self.skip(point, None, error.to_string());
                return Ok(());
            }
        };
        let mut runners = self.open(point, contenders, &workload);
        if !runners.is_empty() {
            self.measure(index, point, &title, &workload, &mut runners, deadline)?;
        }
        self.built = Some((point.choice.clone(), self.working_set(point), workload));
        Ok(())
    }

    /// The workload of `point`: the last one, where it serves, for its expected outputs cost time.
    fn build(&mut self, point: &Point) -> Result<Workload, WorkloadError> {
        let working_set_bytes = self.working_set(point);
        if let Some((choice, built_for, workload)) = self.built.take()
            && choice == point.choice
            && (built_for == working_set_bytes || choice.has_fixed_size())
        {
            return Ok(workload);
        }
        let request = Request { seed: self.options.seed, working_set_bytes, judges: self.judges };
        point.choice.build(&request)
    }

    fn working_set(&self, point: &Point) -> usize {
        point.working_set(self.options.cache, self.host)
    }

    fn open<'c>(
        &mut self,
        point: &Point,
        contenders: &'c [Contender<'c>],
        workload: &Workload,
    ) -> Vec<Runner<'c>> {
        let mut runners = Vec::new();
        for (index, contender) in contenders.iter().enumerate() {
            // Where blocks do the work, the number of threads changes nothing: it is measured once.
            let threads = if contender.launches { 1 } else { point.threads };
            if contender.launches && !std::ptr::eq(self.suite.with_most_threads(point), point) {
                continue;
            }
            match Runner::open(index, contender, workload, threads) {
                Ok(opened) => runners.extend(opened),
                Err(error) => self.skip(point, Some((contender, &error)), error.to_string()),
            }
        }
        runners
    }

    fn measure(
        &mut self,
        index: usize,
        point: &Point,
        title: &str,
        workload: &Workload,
        runners: &mut Vec<Runner<'_>>,
        deadline: Instant,
    ) -> Result<(), BenchError> {
        let (options, threads) = (self.options, threads_at_work(runners, point.threads));
        let fits = workload.fits(self.host, threads);
        let Options { cache, sampling, stop, sampler, .. } = *options;
        let trial = Trial { workload, threads, cache, fits, sampling, deadline, stop, sampler };
        let before = core_clock_hertz().ok();
        let mark = sampler.map(Sampler::mark);
        let (end, failed) = trial.run(runners, &mut |within| self.progress(index, within, title));
        let timeline = sampler.zip(mark).map(|(sampler, mark)| sampler.since(mark));
        for (runner, error) in failed {
            self.skip(point, Some((runner.contender, &error)), error.to_string());
        }
        if end == End::Stopped {
            return Ok(());
        }
        runners.sort_by_key(|runner| (runner.index, runner.transfer() == Transfer::Excluded));
        let rows = row::Point {
            experiment: &self.suite.experiment,
            workload,
            threads: point.threads,
            fits,
            end,
            clock: [before, core_clock_hertz().ok()],
            calibration: self.calibration,
            timeline,
            host: self.host,
            options,
        };
        let first = self.outcome.rows.len();
        for runner in &*runners {
            let row = rows.row(runner, runners);
            self.observer.finished(&row)?;
            self.outcome.rows.push(row);
        }
        self.show_outputs(first, workload, runners)
    }

    /// Runs one more pass of each of the rows from `first` on whose outputs the observer wants to see.
    fn show_outputs(
        &mut self,
        first: usize,
        workload: &Workload,
        runners: &mut [Runner<'_>],
    ) -> Result<(), BenchError> {
        for (place, runner) in (first..).zip(runners) {
            let row = &self.outcome.rows[place];
            if !self.observer.wants_outputs(row) {
                continue;
            }
            match runner.outputs(&workload.tasks) {
                Ok(results) => self.observer.outputs(row, workload, &results)?,
                Err(error) => self.observer.no_outputs(row, &error.to_string()),
            }
        }
        Ok(())
    }

    fn skip(&mut self, point: &Point, failed: Option<(&Contender<'_>, &DeviceError)>, reason: String) {
        let single = match point.choice.job() {
            Job::Single(algorithm, operation) => Some((algorithm, operation)),
            Job::Mixed => None,
        };
        let skipped = Skipped {
            workload: point.choice.name().into_owned(),
            algorithm: single.map(|(algorithm, _)| algorithm),
            operation: single.map(|(_, operation)| operation),
            threads: point.threads,
            device: failed.map(|(contender, _)| contender.device.info().id.clone()),
            not_offered: failed.is_some_and(|(_, error)| is_not_offered(error)),
            reason,
        };
        self.observer.skipped(&skipped);
        self.outcome.skipped.push(skipped);
    }

    fn progress(&mut self, point: usize, within: f64, current: &str) {
        let fraction = self.schedule.fraction(point, within);
        let (elapsed, left) = (self.schedule.elapsed(), self.schedule.left(fraction));
        self.observer.progress(&Progress { fraction, elapsed, left, current });
    }
}

fn is_not_offered(error: &DeviceError) -> bool {
    matches!(error, DeviceError::Unsupported(Unsupported::Kernel { .. }))
}

/// What is measured, for people.
fn title(point: &Point) -> String {
    let (name, threads) = (point.choice.name(), point.threads);
    let plural = if threads == 1 { "" } else { "s" };
    match point.choice.job() {
        Job::Mixed => format!("{name}, {threads} thread{plural}"),
        Job::Single(algorithm, operation) => {
            format!("{name} {algorithm} {operation}, {threads} thread{plural}")
        }
    }
}
