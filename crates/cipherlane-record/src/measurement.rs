//! One row of a result.

use serde::{Deserialize, Serialize};

use crate::conditions::{Calibration, Energy, Geometry, Load, StreamTimes, Times};
use crate::host::Host;
use crate::scope::Scope;
use crate::summary::{Ceiling, Comparison, FEWEST_ROUNDS, Interval, Summary};
use crate::timeline::Timeline;

/// One contender on one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// The experiment that the row belongs to: `bench`.
    pub experiment: String,
    /// The workload by name: `meter-128`.
    pub workload: String,
    /// Cipher, key bits and mode: `aes-128-gcm`. Where a workload mixes key lengths, `mixed` stands in their
    /// place: `aes-mixed-gcm`; [`Measurement::parts`] has the single ones.
    pub algorithm: String,
    /// `seal`, `open`, `encrypt`, `decrypt`, or `mixed` where a workload does several.
    pub operation: String,
    /// Identifier of the device: `cpu`, `rival:openssl`.
    pub device: String,
    /// The device's name for people: a CPU model, a library with its version.
    pub device_name: String,
    /// Kernel by its full name: `aes-gcm/avx512/x16`. Several are joined by `+`.
    pub kernel: String,
    /// Instruction tier of the kernel; rivals choose their own and say `library`.
    pub tier: String,
    /// Threads that did the work.
    pub threads: usize,
    /// Bytes of one message; their mean, rounded, where lengths differ.
    pub message_bytes: u64,
    /// Messages of one pass.
    pub messages: u64,
    /// Bytes of all messages of one pass, without AAD and tags.
    pub bytes: u64,
    /// Whether all messages have one key or each its own.
    pub keys: Keys,
    /// Median rate over one pass, in bytes of message text per second of wall time.
    pub bytes_per_second: f64,
    /// 95 % interval of the rate.
    pub bytes_per_second_ci95: Interval,
    /// Median rate in messages.
    pub messages_per_second: f64,
    /// Median cycles of the core's clock times threads, per byte; `null` where the clock is not known.
    pub cycles_per_byte: Option<f64>,
    /// The core's clock at work: by a chain of dependent additions right behind each sample, the median. Records of before
    /// 2026-11-27 have that of one core with nothing to do, before and after.
    pub core_clock_hertz: Option<f64>,
    /// Whether every output that was looked at was right: texts, tags and verdicts, after every sample.
    pub verified: bool,
    /// What was looked at, and found.
    pub checks: Checks,
    /// What the number covers.
    pub scope: Scope,
    /// What the machine allows; `null` where there is no model: in rows of rivals, of keys of their own, of several
    /// algorithms. Absent from records of schema version 1.
    #[serde(default)]
    pub ceiling: Option<Ceiling>,
    /// This row beside the best rival of the same interleaved run; `null` in rows of rivals, in rows that
    /// are not verified, and without a rival.
    pub best_rival: Option<Comparison>,
    /// How its kernels were launched; absent on devices that launch nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometry: Option<Geometry>,
    /// Where the time went; absent on devices without memory of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// The same stream by stream, of several devices device by device; absent where data stay on the device, where there
    /// are no streams, and from records of writers before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamTimes>,
    /// Other work of the machine meanwhile; absent where nobody made any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Energy of a steady run; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// What sensors said meanwhile; absent where nobody asked them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// What timing itself costs; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// What the samples add up to.
    pub summary: Summary,
    /// Passes that one sample holds, so that it lasts long against the clock's resolution.
    pub passes_per_sample: u64,
    /// Every sample in the order in which it was taken.
    pub samples: Vec<Sample>,
    /// The batches of one pass.
    pub parts: Vec<Part>,
    /// Seed of the workload's contents.
    pub seed: u64,
    /// Time of writing, seconds since 1970-01-01 UTC.
    pub unix_seconds: u64,
    /// The command that measured.
    pub argv: Vec<String>,
    /// What a reader of the number should know.
    pub warnings: Vec<String>,
    /// Where it was measured.
    pub host: Host,
}

/// Whether all messages have one key or each its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keys {
    /// One key for all.
    Same,
    /// A key for each message.
    Distinct,
}

impl Measurement {
    /// What stands in place of its rate where outputs were wrong: `WRONG: 3 of 24 outputs`.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        (!self.verified).then(|| self.checks.in_words())
    }

    /// Whether it has too few rounds to tell how sure its numbers are.
    #[must_use]
    pub const fn is_short(&self) -> bool {
        self.summary.n < FEWEST_ROUNDS
    }

    /// The 95 % interval of its rate, if rounds enough are behind it.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        (!self.is_short()).then_some(self.bytes_per_second_ci95)
    }

    /// The 95 % interval of its ratio to the best rival, if one ran beside it and rounds enough are behind it.
    #[must_use]
    pub fn ratio_interval(&self) -> Option<Interval> {
        self.best_rival.as_ref().filter(|_| !self.is_short()).map(|best| best.ratio_ci95)
    }

    /// Whether another library did the work.
    #[must_use]
    pub fn is_of_a_rival(&self) -> bool {
        is_rival(&self.device)
    }
}

/// Whether the device of this identifier is another library.
#[must_use]
pub fn is_rival(device: &str) -> bool {
    device.starts_with("rival:")
}

impl Keys {
    /// The name, as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Distinct => "distinct",
        }
    }
}

/// What was looked at after the timed samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// Messages whose output was compared with the expected one, over all samples.
    pub messages: u64,
    /// Of these, messages with a planned wrong tag that were rejected, as they must be, their text zeroed.
    pub planned_rejects: u64,
    /// Messages with a wrong text, tag or verdict.
    pub unexpected: u64,
}

impl Checks {
    /// What stands in place of a rate as soon as an output was wrong: `WRONG: 3 of 24 outputs`.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        (self.unexpected > 0).then(|| self.in_words())
    }

    fn in_words(&self) -> String {
        format!("WRONG: {} of {} outputs", self.unexpected, self.messages)
    }
}

/// One timed sample. Times are of one pass: of the sample divided by its passes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The round it belongs to: in each round, every contender runs once.
    pub round: usize,
    /// Wall time by the monotonic clock.
    pub wall_seconds: f64,
    /// CPU time of the thread that does the work; only where one does. Records of before 2026-11-27 have that of the process.
    pub cpu_seconds: Option<f64>,
    /// Whether wall time exceeds CPU time by more than a tenth: something else ran on the core.
    pub preempted: bool,
    /// Whether a repetition took its place in the summary.
    pub superseded: bool,
    /// Whether a sensor said, when the sample ended, that the device's clock was held back; absent where none tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<bool>,
}

/// One batch of a pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The cipher in its mode.
    pub algorithm: String,
    /// What is done to each message.
    pub operation: String,
    /// Messages.
    pub messages: u64,
    /// Bytes of all messages.
    pub bytes: u64,
    /// Messages with a planned wrong tag.
    pub planned_rejects: u64,
    /// The kernel that the device planned.
    pub kernel: String,
    /// Its blocks in flight.
    pub lanes: usize,
    /// Bytes that one thread takes at a time.
    pub chunk_bytes: u64,
    /// Whether the kernel's timing is independent of keys and data.
    pub constant_time: bool,
    /// Median wall time of this batch.
    pub median_seconds: f64,
}
