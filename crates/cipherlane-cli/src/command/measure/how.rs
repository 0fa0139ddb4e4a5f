//! How to measure, as the verbs that do have it on their command lines.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use cipherlane_lab::Wanted;
use cipherlane_lab::resume::Done;
use cipherlane_record::is_rival;
use clap::builder::FalseyValueParser;

use super::records::Records;
use crate::command::launch::Launch;
use crate::command::report;
use crate::command::shared::{self, Threads};
use crate::exit::Usage;
use crate::render::sink::{self, Sink};

/// What writes the report beside the records, in words.
const PAGE: &str = "the page of --open";

/// Whether this command has written CSV, or Markdown: several experiments of one command share a file.
static CSV_BEGUN: AtomicBool = AtomicBool::new(false);
static MARKDOWN_BEGUN: AtomicBool = AtomicBool::new(false);

fn write(mut target: impl Write, bytes: &[u8]) -> io::Result<()> {
    target.write_all(bytes)?;
    target.flush()
}

/// The option that has caches flushed.
const COLD: &str = "--cold";
const INPUT: &str = "--input";

/// Whether the command line `argv` has caches flushed before each pass.
pub(super) fn has_cold(argv: &[String]) -> bool {
    argv.iter().any(|word| word == COLD)
}

/// Whether the command line `argv` has messages cut from a file.
pub(super) fn has_input(argv: &[String]) -> bool {
    argv.iter()
        .any(|word| word == INPUT || word.strip_prefix(INPUT).is_some_and(|rest| rest.starts_with('=')))
}

/// Where to measure, beside whom, and where the results go.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct How {
    /// Devices, by the names that `cipherlane devices` shows, or all [default: the CPU and the GPUs; of `lab run --smoke`
    /// all, CPUs by way of OpenCL among them]
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
    #[arg(long, env = "CIPHERLANE_NO_RIVALS", value_parser = FalseyValueParser::new(), help_heading = "Where")]
    pub(crate) no_rivals: bool,
    /// Flush the caches before each pass
    #[arg(long, env = "CIPHERLANE_COLD", value_parser = FalseyValueParser::new(), help_heading = "Where")]
    pub(crate) cold: bool,
    /// Readings of the machine's sensors a second, 10 at most; 0 for none [default: 4; of experiments that make observations
    /// 10]
    #[arg(long, value_name = "HERTZ", env = "CIPHERLANE_SENSORS", value_parser = shared::readings, help_heading = "Where")]
    pub(crate) sensors: Option<f64>,
    /// Seed of all contents
    #[arg(long, env = "CIPHERLANE_SEED", default_value_t = 1, value_parser = shared::seed, help_heading = "Where")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) records: Records,
    /// The rows as comma-separated values
    #[arg(long, value_name = "FILE", env = "CIPHERLANE_CSV", help_heading = "Results (- is stdout)")]
    pub(crate) csv: Option<Sink>,
    /// The rows as a Markdown table
    #[arg(long, value_name = "FILE", env = "CIPHERLANE_MD", help_heading = "Results (- is stdout)")]
    pub(crate) md: Option<Sink>,
    /// Write the report beside the records, and open it in the browser
    #[arg(long, env = "CIPHERLANE_OPEN", value_parser = FalseyValueParser::new(), help_heading = "Results (- is stdout)")]
    pub(crate) open: bool,
    /// Show no progress bar
    #[arg(long, env = "CIPHERLANE_NO_PROGRESS", value_parser = FalseyValueParser::new(), help_heading = "Results (- is stdout)")]
    pub(crate) no_progress: bool,
}

impl How {
    /// Where the data shall lie when the clock starts.
    pub(super) const fn cache(&self) -> Wanted {
        if self.cold { Wanted::Cold } else { Wanted::Hot }
    }

    /// `argv` for the records of such a run. Caches that are flushed because a variable of the environment says so are
    /// flushed all the same: the line says it, since nothing else in a record tells them from data that fits no cache. It
    /// says how kernels are to be launched as well, which is told from what a device chose by nothing else.
    pub(super) fn told(&self, mut argv: Vec<String>) -> Vec<String> {
        if self.cold && !has_cold(&argv) {
            argv.push(COLD.to_owned());
        }
        self.launch.tell(&mut argv);
        argv
    }

    /// Whether results go to stdout.
    ///
    /// # Errors
    /// If two of them do, or if records go there that a report is wanted of.
    pub(crate) fn takes_stdout(&self) -> Result<bool, Usage> {
        if self.open && self.records.sink() == Some(&Sink::Stdout) {
            return Err(Usage("--open makes a report of the file of records; give --json a file".to_owned()));
        }
        let page = self.page();
        if let (Some(Sink::File(page)), Some(resumed)) = (&page, self.records.resumed()) {
            let resumed = Sink::File(resumed.to_owned());
            sink::check_apart((PAGE, page), &[("--resume", Some(&resumed))])?;
        }
        sink::takes_stdout(self.sinks(page.as_ref()))
    }

    /// Whether `path`, which the option `name` gives for a result as well, is none of these files.
    ///
    /// # Errors
    /// If it is one of them.
    pub(crate) fn check_apart(&self, name: &str, path: &Path) -> Result<(), Usage> {
        sink::check_apart((name, path), &self.sinks(self.page().as_ref()))
    }

    /// Where `--open` writes the report: beside the file of records. None where that is a new file, beside which there is
    /// nothing yet.
    fn page(&self) -> Option<Sink> {
        let records = match (self.records.sink(), self.records.resumed()) {
            (Some(Sink::File(path)), _) => path,
            (_, resumed) => resumed?,
        };
        self.open.then(|| Sink::File(report::beside(records)))
    }

    fn sinks<'a>(&'a self, page: Option<&'a Sink>) -> [(&'static str, Option<&'a Sink>); 4] {
        [
            ("--json", self.records.sink()),
            ("--csv", self.csv.as_ref()),
            ("--md", self.md.as_ref()),
            (PAGE, page),
        ]
    }

    /// Has `csv` and `markdown` write the tables that were asked for. Where there are no rows, those of another run stay.
    /// What an earlier experiment of this command wrote stays as well: lines of CSV go on below its header, and a table of
    /// Markdown ends at an empty line.
    pub(super) fn write_tables<R>(
        &self,
        rows: &[R],
        csv: impl FnOnce(&mut Vec<u8>, &[R]) -> io::Result<()>,
        markdown: impl FnOnce(&mut Vec<u8>, &[R]) -> io::Result<()>,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        if let Some(sink) = &self.csv {
            let mut table = Vec::new();
            csv(&mut table, rows)?;
            let header = table.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            let from = if CSV_BEGUN.swap(true, Ordering::Relaxed) { header } else { 0 };
            sink.fill_with_results(|target| write(target, &table[from..]))?;
        }
        if let Some(sink) = &self.md {
            let mut table = Vec::new();
            if MARKDOWN_BEGUN.swap(true, Ordering::Relaxed) {
                table.push(b'\n');
            }
            markdown(&mut table, rows)?;
            sink.fill_with_results(|target| write(target, &table))?;
        }
        Ok(())
    }

    /// The rows of the file to go on with; none without one.
    ///
    /// # Errors
    /// If it is no file of records.
    pub(crate) fn done(&self) -> Result<Done> {
        Ok(self.records.resumed().map_or_else(|| Ok(Vec::new()), cipherlane_record::read).map(Done::of)?)
    }

    /// Whether a rival was asked for by name.
    pub(super) fn names_a_rival(&self) -> bool {
        self.device.iter().any(|id| is_rival(id))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        how: How,
    }

    #[test]
    fn records_say_that_caches_were_flushed_whoever_asked_for_it() {
        let told = |cold, argv: &[&str]| {
            let how = How { cold, ..Line::parse_from(["bench"]).how };
            how.told(argv.iter().map(|&word| word.to_owned()).collect())
        };
        assert_eq!(told(false, &["cipherlane", "bench"]), ["cipherlane", "bench"]);
        assert_eq!(told(true, &["cipherlane", "bench", "--cold"]), ["cipherlane", "bench", "--cold"]);
        // By the environment.
        assert_eq!(told(true, &["cipherlane", "bench"]), ["cipherlane", "bench", "--cold"]);
    }

    #[test]
    fn all_devices_name_no_rival() {
        for (device, names_one) in [("all", false), ("cpu", false), ("rival:aws-lc", true)] {
            assert_eq!(
                Line::parse_from(["bench", "--device", device]).how.names_a_rival(),
                names_one,
                "{device}"
            );
        }
    }
}
