//! A row of an experiment that is no throughput of a cipher on a workload: ticks of an instruction, seconds of a
//! compiler's program, degrees after ten seconds.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::summary::Interval;
use crate::timeline::Timeline;

/// One row: where on the experiment's axes, and what was observed there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Tells the line from a measurement.
    pub record: Kind,
    /// The experiment by name: `instructions`.
    pub experiment: String,
    /// What was observed: `cpu`, `cuda:0`, `python`.
    pub subject: String,
    /// The subject for people, with its version: `CPython 3.12.4`.
    pub subject_name: String,
    /// The place on the axes: `operation` to `xor`, `threads` to 8.
    pub axes: BTreeMap<String, Axis>,
    /// What was observed, the one that matters most first.
    pub values: Vec<Value>,
    /// Every sample of the first value in its unit, in the order in which they were taken.
    pub samples: Vec<f64>,
    /// Whether results were compared with right ones, and all agreed; `null` where there is nothing to compare.
    pub verified: Option<bool>,
    /// What sensors said meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// What a reader should know: what differs from the study, what disturbed.
    pub notes: Vec<String>,
    /// Time of writing, seconds since 1970-01-01 UTC.
    pub unix_seconds: u64,
    /// The command that measured.
    pub argv: Vec<String>,
    /// Where it was measured.
    pub host: Host,
}

/// What a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An [`Observation`].
    #[default]
    Observation,
}

/// A place on an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Axis {
    /// A number: threads, bytes, a requested load.
    Number(f64),
    /// A name: an operation, a compiler, a moment.
    Name(String),
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl From<f64> for Axis {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Axis {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

/// One quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Its name: `operations per clock`.
    pub name: String,
    /// Its unit: `s`, `1/clk`, `Gbit/s`, `°C`; `1` for a ratio.
    pub unit: String,
    /// The value, a median where there are samples; `null` where it could not be observed.
    pub value: Option<f64>,
    /// Why it is `null`, and what would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// 95 % interval; `null` without samples, or with too few to tell.
    pub ci95: Option<Interval>,
    /// What studies published for the like, in the same unit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
}

/// A figure that somebody published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The figure.
    pub value: f64,
    /// On what: `GTX 680`.
    pub on: String,
    /// Where: the study's number and row, `001.8`.
    pub source: String,
}

impl Observation {
    /// The value of this name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|value| value.name == name)?.value
    }

    /// Its number on `axis`.
    #[must_use]
    pub fn number(&self, axis: &str) -> Option<f64> {
        match self.axes.get(axis)? {
            Axis::Number(number) => Some(*number),
            Axis::Name(_) => None,
        }
    }

    /// Whether it stands at this `place` of `axis`.
    #[must_use]
    pub fn is_at(&self, axis: &str, place: &str) -> bool {
        matches!(self.axes.get(axis), Some(Axis::Name(name)) if name == place)
    }
}
