//! How to measure, as the verbs that do have it on their command lines.

use std::path::PathBuf;

use anyhow::Result;
use cipherlane_lab::resume::Done;
use cipherlane_lab::telemetry::DEFAULT_HERTZ;

use crate::command::launch::Launch;
use crate::command::shared::{self, Threads};
use crate::exit::Usage;
use crate::render::sink::{self, Sink};

/// Where to measure, beside whom, and where the results go.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct How {
    /// Devices, by the names that `cipherlane devices` shows, or all [default: cpu]
    #[arg(long, short, env = "CIPHERLANE_DEVICE", value_delimiter = ',', help_heading = "Where")]
    pub(crate) device: Vec<String>,
    /// Instruction tiers, a row each: portable, sse, avx2, avx512 [default: the best of this machine]
    #[arg(long, env = "CIPHERLANE_TIER", value_delimiter = ',', help_heading = "Where")]
    pub(crate) tier: Vec<String>,
    /// Threads, a row each: a number, phys (physical cores) or all [default: 1,phys; with --quick 1]
    #[arg(long, short, env = "CIPHERLANE_THREADS", value_delimiter = ',', help_heading = "Where")]
    pub(crate) threads: Vec<Threads>,
    #[command(flatten)]
    pub(crate) launch: Launch,
    /// Leave the rivals out
    #[arg(long, env = "CIPHERLANE_NO_RIVALS", help_heading = "Where")]
    pub(crate) no_rivals: bool,
    /// Flush the caches before each pass
    #[arg(long, env = "CIPHERLANE_COLD", help_heading = "Where")]
    pub(crate) cold: bool,
    /// Readings of the machine's sensors a second, 10 at most; 0 for none
    #[arg(long, value_name = "HERTZ", env = "CIPHERLANE_SENSORS", default_value_t = DEFAULT_HERTZ, value_parser = shared::not_negative, help_heading = "Where")]
    pub(crate) sensors: f64,
    /// Seed of all contents
    #[arg(long, env = "CIPHERLANE_SEED", default_value_t = 1, help_heading = "Where")]
    pub(crate) seed: u64,

    /// Records, one JSON object a line, written as rows finish [default: a new file, which is named at the end]
    #[arg(long, value_name = "FILE", env = "CIPHERLANE_JSON", help_heading = "Results (- is stdout)")]
    pub(crate) json: Option<Sink>,
    /// Go on with a file of records: rows that it holds are not measured again, new ones are added
    #[arg(long, value_name = "FILE", value_parser = sink::file, conflicts_with = "json", help_heading = "Results (- is stdout)")]
    pub(crate) resume: Option<PathBuf>,
    /// The rows as comma-separated values
    #[arg(long, value_name = "FILE", env = "CIPHERLANE_CSV", help_heading = "Results (- is stdout)")]
    pub(crate) csv: Option<Sink>,
    /// The rows as a Markdown table
    #[arg(long, value_name = "FILE", env = "CIPHERLANE_MD", help_heading = "Results (- is stdout)")]
    pub(crate) md: Option<Sink>,
    /// Write the report beside the records, and open it in the browser
    #[arg(long, env = "CIPHERLANE_OPEN", help_heading = "Results (- is stdout)")]
    pub(crate) open: bool,
    /// Show no progress bar
    #[arg(long, env = "CIPHERLANE_NO_PROGRESS", help_heading = "Results (- is stdout)")]
    pub(crate) no_progress: bool,
}

impl How {
    /// Whether results go to stdout.
    ///
    /// # Errors
    /// If two of them do, or if records go there that a report is wanted of.
    pub(crate) fn takes_stdout(&self) -> Result<bool, Usage> {
        if self.open && self.json == Some(Sink::Stdout) {
            return Err(Usage("--open makes a report of the file of records; give --json a file".to_owned()));
        }
        sink::takes_stdout([
            ("--json", self.json.as_ref()),
            ("--csv", self.csv.as_ref()),
            ("--md", self.md.as_ref()),
        ])
    }

    /// The rows of the file to go on with; none without one.
    ///
    /// # Errors
    /// If it is no file of records.
    pub(crate) fn done(&self) -> Result<Done> {
        Ok(self
            .resume
            .as_ref()
            .map_or_else(|| Ok(Vec::new()), |path| cipherlane_record::read(path))
            .map(Done::of)?)
    }

    /// Whether a rival was asked for by name.
    pub(super) fn names_a_rival(&self) -> bool {
        self.device.iter().any(|id| id.starts_with("rival:") || id == "all")
    }
}
