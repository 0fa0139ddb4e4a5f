//! What experiments of every kind are given, and what they have in common.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cipherlane::{Algorithm, Device};
use cipherlane_record::{Axis, Host, Kind, Observation, Published, Record, SCHEMA_VERSION, Timeline, Value};

use crate::judge::Judges;
use crate::observer::{Observer, Skipped};
use crate::resume::Done;
use crate::statistics::{self, FEWEST_ROUNDS};
use crate::telemetry::Sampler;

/// How much of an experiment is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// What the study asks for.
    #[default]
    Full,
    /// A first look.
    Quick,
    /// One short, verified point: whether it runs at all.
    Smoke,
}

/// Where and for whom an experiment runs.
pub struct Setting<'a> {
    /// The experiment's name.
    pub experiment: &'a str,
    /// The devices that were asked for.
    pub devices: &'a [&'a dyn Device],
    /// This CPU, with which devices are compared.
    pub cpu: &'a dyn Device,
    /// Who knows the right answers.
    pub judges: &'a Judges<'a>,
    /// Who reads the sensors.
    pub sampler: &'a Sampler,
    /// This machine.
    pub host: &'a Host,
    /// Set from elsewhere (Ctrl-C) to end the run; finished rows are kept.
    pub stop: &'a AtomicBool,
    /// Rows that a record file holds already.
    pub done: &'a Done,
    /// Records that were handed in, for experiments that conclude from them and measure nothing.
    pub records: &'a [Record],
    /// Whether settings of the machine may be changed, to be put back afterwards.
    pub change_machine: bool,
    /// Seed of all contents and orders.
    pub seed: u64,
    /// The command line, for the records.
    pub argv: &'a [String],
}

impl std::fmt::Debug for Setting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let devices: Vec<&str> = self.devices.iter().map(|device| device.info().id.as_str()).collect();
        f.debug_struct("Setting")
            .field("experiment", &self.experiment)
            .field("devices", &devices)
            .finish_non_exhaustive()
    }
}

/// An experiment that makes observations.
pub trait Run {
    /// The points that it will run, in words, and about how long each takes.
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)>;

    /// Why it has no points on these devices and with these records: what [`Run::run`] tells, before anything is run.
    /// `None` where some of it can run.
    fn nothing(&self, setting: &Setting<'_>) -> Option<String> {
        let _ = setting;
        None
    }

    /// Runs it. What a device cannot do is skipped, with its reason.
    ///
    /// # Errors
    /// If a row cannot be kept.
    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()>;
}

/// A row on its way: what is particular to it.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) axes: BTreeMap<String, Axis>,
    pub(super) values: Vec<Value>,
    pub(super) samples: Vec<f64>,
    pub(super) verified: Option<bool>,
    pub(super) timeline: Option<Timeline>,
    pub(super) notes: Vec<String>,
}

impl Setting<'_> {
    /// Whether the run shall end.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether `device` is this CPU.
    pub(super) fn is_cpu(&self, device: &dyn Device) -> bool {
        device.info().id == self.cpu.info().id
    }

    /// The devices that were asked for, without this CPU: where it was, `why` it takes no part is told.
    pub(super) fn gpus(&self, observer: &mut dyn Observer, why: &str) -> Vec<&dyn Device> {
        for &cpu in self.devices.iter().filter(|device| self.is_cpu(**device)) {
            self.skip(observer, cpu, None, no_part(why));
        }
        self.devices.iter().filter(|device| !self.is_cpu(**device)).copied().collect()
    }

    /// `why` this CPU takes no part, where nothing else was asked for.
    pub(super) fn without_gpus(&self, why: &str) -> Option<String> {
        self.devices.iter().all(|device| self.is_cpu(*device)).then(|| no_part(why))
    }

    /// Whether the row of `device` at `axes` is there already.
    pub(super) fn is_done(&self, device: &dyn Device, axes: &BTreeMap<String, Axis>) -> bool {
        self.done.observed(self.experiment, (self.host, &device.info().id), axes)
    }

    /// The row of `device` at `axes` that is there already.
    pub(super) fn found(&self, device: &dyn Device, axes: &BTreeMap<String, Axis>) -> Option<&Observation> {
        self.done.observation(self.experiment, (self.host, &device.info().id), axes)
    }

    /// Has `make` run the point of `device` at `axes` and keeps its row, unless it is there already or the run shall
    /// end. What `make` fails by is told as the reason why there is none.
    pub(super) fn point(
        &self,
        observer: &mut dyn Observer,
        device: &dyn Device,
        algorithm: Option<Algorithm>,
        axes: BTreeMap<String, Axis>,
        make: impl FnOnce() -> Result<Row, String>,
    ) -> io::Result<()> {
        if self.stopped() || self.is_done(device, &axes) {
            return Ok(());
        }
        match make() {
            // One that was stopped on its way is not whole.
            _ if self.stopped() => Ok(()),
            Ok(row) => observer.observed(&self.observation(device, Row { axes, ..row })),
            Err(reason) => {
                self.skip(observer, device, algorithm, reason);
                Ok(())
            }
        }
    }

    /// What must be said of conclusions from the records that were handed in.
    pub(super) fn doubts(&self) -> Vec<String> {
        let is_smoke = |record: &Record| match record {
            Record::Measurement(row) => row.argv.iter().any(|word| word == "--smoke"),
            Record::Observation(row) => row.argv.iter().any(|word| word == "--smoke"),
        };
        let count = self.records.iter().filter(|record| is_smoke(record)).count();
        let doubt = format!(
            "{count} of {} records are of --smoke runs, which tell whether something runs and not how fast it is",
            self.records.len()
        );
        if count > 0 { vec![doubt] } else { Vec::new() }
    }

    /// The record of `row`, which was observed on `device`.
    pub(super) fn observation(&self, device: &dyn Device, row: Row) -> Observation {
        let info = device.info();
        self.observation_of(self.host, (&info.id, &info.name), row)
    }

    /// The record of `row` about a subject, by its identifier and its name for people, of the machine `host`.
    pub(super) fn observation_of(&self, host: &Host, (id, name): (&str, &str), row: Row) -> Observation {
        let Row { axes, values, mut samples, verified, timeline, mut notes } = row;
        let count = samples.len();
        samples.retain(|sample| sample.is_finite());
        if samples.len() < count {
            notes.push(format!("{} of {count} samples are no numbers, and left out", count - samples.len()));
        }
        Observation {
            schema_version: SCHEMA_VERSION,
            record: Kind::Observation,
            experiment: self.experiment.to_owned(),
            subject: id.to_owned(),
            subject_name: name.to_owned(),
            axes,
            values,
            samples,
            verified,
            timeline: timeline.map(|timeline| timeline.of(id)),
            notes,
            unix_seconds: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            argv: self.argv.to_vec(),
            host: host.clone(),
        }
    }

    /// Tells that `device` does not do something.
    pub(super) fn skip(
        &self,
        observer: &mut dyn Observer,
        device: &dyn Device,
        algorithm: Option<Algorithm>,
        reason: String,
    ) {
        observer.skipped(&Skipped {
            workload: self.experiment.to_owned(),
            algorithm,
            operation: algorithm.map(Algorithm::forward),
            threads: 1,
            device: Some(device.info().id.clone()),
            not_offered: false,
            reason,
        });
    }
}

/// `why` this CPU takes no part, and what helps.
fn no_part(why: &str) -> String {
    format!("{why}; name a GPU with --device (`cipherlane devices` lists them)")
}

/// A value that was observed.
pub(super) fn value(name: &str, unit: &str, value: f64) -> Value {
    known(name, unit, Ok(value))
}

/// Why what was observed is no number, which no record has.
const NO_NUMBER: &str = "no number came out: what it is divided by was measured as 0; measure for longer";

/// A value that was observed or could not be, with its reason.
pub(super) fn known(name: &str, unit: &str, found: Result<f64, String>) -> Value {
    let (value, reason) = match found {
        Ok(found) if found.is_finite() => (Some(found), None),
        Ok(_) => (None, Some(NO_NUMBER.to_owned())),
        Err(reason) => (None, Some(reason)),
    };
    Value { name: name.to_owned(), unit: unit.to_owned(), value, reason, ci95: None, published: Vec::new() }
}

/// The median of `samples`, or of what visits found, one number each: with its interval where there are
/// [enough](FEWEST_ROUNDS) of them.
pub(super) fn median(name: &str, unit: &str, samples: &[f64], seed: u64) -> Value {
    if !samples.iter().all(|sample| sample.is_finite()) {
        return known(name, unit, Err(NO_NUMBER.to_owned()));
    }
    let is_told = samples.len() >= FEWEST_ROUNDS;
    let ci95 = is_told.then(|| statistics::median_interval(samples, seed));
    Value { ci95, ..value(name, unit, statistics::median(samples)) }
}

/// Why so many visits have figures alone, without intervals and verdicts; `None` if they are enough for these.
pub(super) fn too_few(visits: usize) -> Option<String> {
    (visits < FEWEST_ROUNDS).then(|| {
        format!("visits: {visits}, too few to tell how sure a figure is; take {FEWEST_ROUNDS} or more")
    })
}

/// `value` beside figures of a study, behind those that it has: each with what it was measured on.
pub(super) fn beside(mut value: Value, source: &str, figures: &[(f64, &str)]) -> Value {
    let published =
        |&(value, on): &(f64, &str)| Published { value, on: on.to_owned(), source: source.to_owned() };
    value.published.extend(figures.iter().map(published));
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_a_value_that_is_missing() {
        for found in [
            value("power", "W", f64::NAN),
            known("power", "W", Ok(f64::INFINITY)),
            median("power", "W", &[1.0, f64::INFINITY, 2.0], 1),
        ] {
            assert_eq!((found.value, found.ci95), (None, None));
            assert!(found.reason.is_some_and(|reason| reason.contains("measured as 0")));
        }
        assert_eq!(value("power", "W", 2.0).value, Some(2.0));
    }

    #[test]
    fn figures_of_several_tables_stand_beside_one_value() {
        let two =
            beside(beside(value("rate", "1", 2.0), "003.2", &[(1.0, "one")]), "003.1", &[(3.0, "another")]);
        let figures: Vec<_> = two.published.iter().map(|figure| (figure.value, &*figure.source)).collect();
        assert_eq!(figures, [(1.0, "003.2"), (3.0, "003.1")]);
    }

    #[test]
    fn few_samples_have_a_median_without_an_interval() {
        let samples = [5.0, 1.0, 3.0, 2.0, 4.0, 3.0];
        let interval = |count: usize| median("power", "W", &samples[..count], 1).ci95;
        assert!(interval(FEWEST_ROUNDS).is_some());
        assert!((1..FEWEST_ROUNDS).all(|count| interval(count).is_none()));
        assert_eq!(median("power", "W", &samples[..1], 1).value, Some(5.0));
    }
}
