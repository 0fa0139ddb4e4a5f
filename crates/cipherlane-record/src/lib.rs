//! Measurements as records: one JSON object a line, with a published schema.
//!
//! A [`Measurement`] is one row of a result: one contender on one workload, with its raw samples, what they add up
//! to, what the number covers ([`Scope`]) and where it was measured ([`Host`]). An [`Observation`] is a row of an
//! experiment about something else. [`Writer`] appends rows to a file as they finish, [`read`] brings them back,
//! [`SCHEMA`] and [`OBSERVATION_SCHEMA`] say what a row looks like to everyone else, and [`csv`] and [`markdown`]
//! write tables of rows.
//!
//! Units are base SI and part of the name: `bytes_per_second`, `wall_seconds`, `core_clock_hertz`. What was not
//! measured is `null`, never 0, and its reason stands in a `missing` object beside it.

#![forbid(unsafe_code)]

pub mod conditions;
pub mod csv;
pub mod date;
pub mod host;
pub mod lines;
pub mod markdown;
pub mod measurement;
pub mod observation;
pub mod scope;
pub mod statistics;
pub mod summary;
pub mod text;
pub mod throttle;
pub mod timeline;
pub mod units;

pub use conditions::{Calibration, CrossCheck, Energy, Geometry, Load, Meter, Share, StreamTimes, Times};
pub use host::{Host, Tool};
pub use lines::{ReadError, Record, Writer, end_last_line, measurements, read, read_from};
pub use measurement::{Checks, Keys, Measurement, Part, Sample, is_rival};
pub use observation::{Axis, Kind, Observation, Published, Value};
pub use scope::{Cache, KeySetup, Scope, Tag, Transfer};
pub use summary::{Ceiling, Comparison, FEWEST_ROUNDS, Interval, Summary, Verdict};
pub use timeline::{Channel, Timeline};

/// The version of the record's layout: it rises when a field changes its meaning or goes away, not when one is
/// added. So readers pass over fields that they do not know.
pub const SCHEMA_VERSION: u32 = 1;

/// JSON Schema (draft 2020-12) of a line that is a measurement.
pub const SCHEMA: &str = include_str!("../schema/measurement.schema.json");

/// JSON Schema (draft 2020-12) of a line that is an observation.
pub const OBSERVATION_SCHEMA: &str = include_str!("../schema/observation.schema.json");
