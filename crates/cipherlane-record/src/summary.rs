//! What samples add up to.

use serde::{Deserialize, Serialize};

/// Rounds from which on an interval is one, and a verdict: with five, even a clean sweep happens by chance once in 16 times.
pub const FEWEST_ROUNDS: usize = 6;

/// An interval that covers the true value in 95 of 100 cases, where [`FEWEST_ROUNDS`] or more are behind it. Fewer are in
/// records with one as well, which covers less, and which nothing that is shown has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Seconds of one pass over the workload, over all samples that were not superseded. Outliers are counted, and stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Samples summarised.
    pub n: usize,
    /// Median.
    pub median_seconds: f64,
    /// 95 % interval of the median, by bootstrap.
    pub median_ci95_seconds: Interval,
    /// Median absolute deviation from the median, not scaled.
    pub mad_seconds: f64,
    /// Fifth percentile.
    pub p5_seconds: f64,
    /// Ninety-fifth percentile.
    pub p95_seconds: f64,
    /// Fastest.
    pub min_seconds: f64,
    /// Slowest.
    pub max_seconds: f64,
    /// Samples beyond Tukey's inner fences (1.5 interquartile ranges) and within the outer ones.
    pub outliers_mild: usize,
    /// Samples beyond Tukey's outer fences (3 interquartile ranges).
    pub outliers_severe: usize,
    /// Samples that the operating system interrupted, superseded ones included.
    pub preempted: usize,
    /// Median of the CPU time; only where one thread does the work.
    pub median_cpu_seconds: Option<f64>,
}

/// A row beside the best rival of the same interleaved run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Identifier of the rival: `rival:openssl`.
    pub rival: String,
    /// The rival with its version.
    pub rival_name: String,
    /// The rival's median rate.
    pub rival_bytes_per_second: f64,
    /// How many times as fast as the rival this row is: median over the rounds of the rival's time by ours.
    pub ratio: f64,
    /// 95 % interval of the ratio, by bootstrap over rounds.
    pub ratio_ci95: Interval,
    /// What the interval says.
    pub verdict: Verdict,
}

/// What an interval of a ratio says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The whole interval lies above 1 by more than a hundredth, which is as much as the place of code and buffers
    /// moves a result.
    Faster,
    /// The whole interval lies below 1 by more than a hundredth.
    Slower,
    /// The interval comes within a hundredth of 1, or there are too few rounds to tell.
    Ambiguous,
}

impl Verdict {
    /// The name, as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "FASTER",
            Self::Slower => "SLOWER",
            Self::Ambiguous => "AMBIGUOUS",
        }
    }
}

/// What the machine allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Bytes of message text per second that no code for the kernel's instructions passes.
    pub bytes_per_second: f64,
    /// The row's rate as a part of it.
    pub share: f64,
    /// What sets it: an instruction and its width, or copying in a level of the memory.
    pub bound: String,
}
