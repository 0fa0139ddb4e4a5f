//! Who watches a run: a progress bar, a file of records.

use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Operation};
use cipherlane_record::{Measurement, Observation};

use crate::workload::Workload;
use crate::workload::part::Results;

/// Watches a run. Every method but [`Observer::finished`] does nothing by default.
pub trait Observer {
    /// The run got on. Called several times a second.
    fn progress(&mut self, progress: &Progress<'_>) {
        let _ = progress;
    }

    /// A row is finished. Called at once, so that a row that was written survives an interruption.
    ///
    /// # Errors
    /// If it cannot be kept; the run then ends.
    fn finished(&mut self, row: &Measurement) -> io::Result<()>;

    /// An observation is finished. Called at once, as [`Observer::finished`] is. Does nothing by default.
    ///
    /// # Errors
    /// If it cannot be kept; the run then ends.
    fn observed(&mut self, row: &Observation) -> io::Result<()> {
        let _ = row;
        Ok(())
    }

    /// Whether it wants to see what comes out in `row`, which has just finished. Nobody does by default.
    fn wants_outputs(&self, row: &Measurement) -> bool {
        let _ = row;
        false
    }

    /// What came out of one more pass of `row`, which was not timed: the results of each task of `workload`. Called
    /// where [`Observer::wants_outputs`]. Does nothing by default.
    ///
    /// # Errors
    /// If it cannot be kept; the run then ends.
    fn outputs(&mut self, row: &Measurement, workload: &Workload, results: &[Results]) -> io::Result<()> {
        let _ = (row, workload, results);
        Ok(())
    }

    /// The pass for [`Observer::outputs`] of `row` failed, and why. The row stands. Does nothing by default.
    fn no_outputs(&mut self, row: &Measurement, reason: &str) {
        let _ = (row, reason);
    }

    /// A row will not be measured, and why.
    fn skipped(&mut self, skipped: &Skipped) {
        let _ = skipped;
    }
}

/// How far a run got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// What is done by now, of 1.
    pub fraction: f64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Time left, by the budget.
    pub left: Duration,
    /// What is being measured.
    pub current: &'a str,
}

/// A row that was not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The workload by name.
    pub workload: String,
    /// The algorithm, where the workload has a single one.
    pub algorithm: Option<Algorithm>,
    /// The operation, where the workload has a single one.
    pub operation: Option<Operation>,
    /// Threads.
    pub threads: usize,
    /// The device that cannot do it; `None` where the workload itself is not there.
    pub device: Option<String>,
    /// Whether that device has nothing like it: no fault of this run, and no news to whoever knows the device.
    pub not_offered: bool,
    /// Why, and what helps.
    pub reason: String,
}
