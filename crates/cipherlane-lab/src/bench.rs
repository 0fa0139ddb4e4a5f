//! Runs a suite.

use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cipherlane_core::DeviceError;
use cipherlane_record::{Host, Measurement};
use thiserror::Error;

use crate::contender::{Contender, Judges};
use crate::observer::{Observer, Skipped};
use crate::suite::Suite;

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
    /// The judges differ: nothing may be timed.
    #[error(
        "{workload}: {fast} and {readable} disagree on {what}; run `cipherlane verify` to see which is wrong"
    )]
    Judges {
        /// The workload.
        workload: String,
        /// The fast judge.
        fast: String,
        /// The readable judge.
        readable: String,
        /// Where they differ.
        what: String,
    },
    /// A judge cannot compute the expected output.
    #[error("no expected output for {workload}: {error}")]
    NoJudge {
        /// The workload.
        workload: String,
        /// Why.
        error: DeviceError,
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
    let _ = (suite, contenders, judges, host, options, observer);
    Ok(Outcome::default())
}
