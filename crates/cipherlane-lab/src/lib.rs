//! The laboratory: workloads, interleaved sampling, checks of every output, statistics.
//!
//! The modules are the stages of a measurement. [`suite`] says what to measure; [`workload`] builds the batches and
//! [`judge`] computes what their outputs must be; [`measure`] runs all contenders in turn and looks at every
//! output; [`statistics`] says what the samples add up to; [`mod@bench`] joins the stages and hands out a
//! [`cipherlane_record::Measurement`] as each row finishes.

pub mod bench;
pub mod ceiling;
pub mod compare;
pub mod contender;
mod disassembly;
pub mod energy;
pub mod experiment;
pub mod host;
pub mod judge;
pub mod live;
pub mod load;
pub mod log;
pub mod measure;
pub mod observer;
mod random;
pub mod resume;
#[cfg(feature = "rivals")]
pub mod rivals;
mod row;
pub mod scaling;
mod schedule;
pub mod statistics;
mod streams;
pub mod suite;
pub mod telemetry;
pub mod totals;
mod trace;
pub mod workload;

pub use bench::{BenchError, Options, Outcome, Sampling, Wanted, run_suite};
pub use ceiling::Ceilings;
pub use contender::Contender;
pub use experiment::Experiment;
pub use judge::{JudgeError, Judges};
pub use live::Live;
pub use observer::{Observer, Progress, Skipped};
pub use suite::{Point, Suite};
pub use totals::Totals;
