//! What a record file holds already, so that an experiment goes on where it was interrupted.

use std::collections::BTreeMap;
use std::io;

use cipherlane_record::{Axis, Host, Measurement, Observation, Record};

use crate::observer::{Observer, Progress, Skipped};
use crate::suite::{Point, Suite};
use crate::workload::part::Results;
use crate::workload::{Choice, Job, Workload};

/// Rows that are there already.
#[derive(Clone, Debug, Default)]
pub struct Done {
    measurements: Vec<Measurement>,
    observations: Vec<Observation>,
}

impl Done {
    /// The rows of a file.
    #[must_use]
    pub fn of(records: Vec<Record>) -> Self {
        let mut done = Self::default();
        for record in records {
            match record {
                Record::Measurement(row) => done.measurements.push(*row),
                Record::Observation(row) => done.observations.push(*row),
            }
        }
        done
    }

    /// Whether `experiment` has the row of `subject` at `axes` that `host` gave: files of several machines have rows of
    /// several with the same axes.
    #[must_use]
    pub fn observed(
        &self,
        experiment: &str,
        (host, subject): (&Host, &str),
        axes: &BTreeMap<String, Axis>,
    ) -> bool {
        self.observation(experiment, (host, subject), axes).is_some()
    }

    /// The row of `subject` at `axes` in `experiment` that `host` gave.
    #[must_use]
    pub fn observation(
        &self,
        experiment: &str,
        (host, subject): (&Host, &str),
        axes: &BTreeMap<String, Axis>,
    ) -> Option<&Observation> {
        let is_it = |row: &&Observation| {
            row.experiment == experiment
                && row.subject == subject
                && row.axes == *axes
                && row.host.is_setting_of(host)
        };
        self.observations.iter().find(is_it)
    }

    /// Leaves the points out of `suite` that have a row of `host` among those that `is_asked` for: rows of a point are
    /// written together, when all of its contenders are done. Returns how many were left out.
    pub fn leave_out(
        &self,
        suite: &mut Suite,
        host: &Host,
        is_asked: impl Fn(&Measurement) -> bool,
    ) -> usize {
        let before = suite.points.len();
        let experiment = &suite.experiment;
        let is_of_suite = |row: &&Measurement| {
            row.experiment == *experiment && row.host.is_setting_of(host) && is_asked(row)
        };
        let of_suite: Vec<&Measurement> = self.measurements.iter().filter(is_of_suite).collect();
        suite.points.retain(|point| !of_suite.iter().any(|row| is_of(row, point)));
        before - suite.points.len()
    }
}

/// An observer that is told of the rows alone that a file lacks: some experiments run several rows together, or none at
/// all, and make those anew that are there.
pub struct Missing<'a> {
    done: &'a Done,
    to: &'a mut dyn Observer,
}

impl<'a> Missing<'a> {
    /// Tells `to` what `done` lacks.
    pub fn new(done: &'a Done, to: &'a mut dyn Observer) -> Self {
        Self { done, to }
    }
}

impl std::fmt::Debug for Missing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Missing").field("done", self.done).finish_non_exhaustive()
    }
}

impl Observer for Missing<'_> {
    fn progress(&mut self, progress: &Progress<'_>) {
        self.to.progress(progress);
    }

    fn finished(&mut self, row: &Measurement) -> io::Result<()> {
        self.to.finished(row)
    }

    fn wants_outputs(&self, row: &Measurement) -> bool {
        self.to.wants_outputs(row)
    }

    fn outputs(&mut self, row: &Measurement, workload: &Workload, results: &[Results]) -> io::Result<()> {
        self.to.outputs(row, workload, results)
    }

    fn no_outputs(&mut self, row: &Measurement, reason: &str) {
        self.to.no_outputs(row, reason);
    }

    fn observed(&mut self, row: &Observation) -> io::Result<()> {
        if self.done.observed(&row.experiment, (&row.host, &row.subject), &row.axes) {
            return Ok(());
        }
        self.to.observed(row)
    }

    fn skipped(&mut self, skipped: &Skipped) {
        self.to.skipped(skipped);
    }
}

/// Whether `row` is one of `point`. None is of a point whose messages come from a file: no row tells what that held.
fn is_of(row: &Measurement, point: &Point) -> bool {
    let job = match point.choice.job() {
        Job::Mixed => row.operation == "mixed",
        Job::Single(algorithm, operation) => {
            row.algorithm == algorithm.to_string() && row.operation == operation.name()
        }
    };
    let sizes = match &point.choice {
        Choice::Named(..) => true,
        Choice::Custom(custom) => {
            custom.input.is_none()
                // Where it is not one its name tells.
                && custom.lengths.one().is_none_or(|bytes| row.message_bytes == bytes as u64)
                && row.keys == custom.keys
                && custom.messages.is_none_or(|messages| row.messages == messages as u64)
        }
    };
    job && sizes && row.workload == point.choice.name() && row.threads == point.threads
}

#[cfg(test)]
mod tests {
    use super::*;
    use cipherlane_record::{Kind, SCHEMA_VERSION};

    fn row(host: &Host) -> Observation {
        Observation {
            schema_version: SCHEMA_VERSION,
            record: Kind::Observation,
            experiment: "thermal".to_owned(),
            subject: "cpu".to_owned(),
            subject_name: "A CPU".to_owned(),
            axes: BTreeMap::new(),
            values: Vec::new(),
            samples: Vec::new(),
            verified: None,
            timeline: None,
            notes: Vec::new(),
            unix_seconds: 0,
            argv: Vec::new(),
            host: host.clone(),
        }
    }

    #[derive(Default)]
    struct Count(usize);

    impl Observer for Count {
        fn progress(&mut self, _: &Progress<'_>) {}

        fn finished(&mut self, _: &Measurement) -> io::Result<()> {
            Ok(())
        }

        fn observed(&mut self, _: &Observation) -> io::Result<()> {
            self.0 += 1;
            Ok(())
        }

        fn skipped(&mut self, _: &Skipped) {}
    }

    #[test]
    fn a_row_of_another_machine_is_not_taken_for_one_of_this() {
        let here = crate::host::detect();
        let there = Host { logical_cores: here.logical_cores + 1, ..here.clone() };
        let done = Done::of(vec![Record::Observation(Box::new(row(&there)))]);
        let is_done = |host| done.observed("thermal", (host, "cpu"), &BTreeMap::new());
        assert!(is_done(&there) && !is_done(&here));
        // Conclusions about several machines are rows of these.
        let mut count = Count::default();
        for host in [&there, &here] {
            Missing::new(&done, &mut count).observed(&row(host)).unwrap();
        }
        assert_eq!(count.0, 1);
    }
}
