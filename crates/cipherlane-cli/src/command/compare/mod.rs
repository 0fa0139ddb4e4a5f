//! `compare`: records beside others, and whether they are slower.

mod gate;
mod table;

use std::path::{Path, PathBuf};

use anyhow::Result;
use cipherlane_lab::compare::{self, Comparison};
use cipherlane_record::{Measurement, Record, measurements};
use clap::builder::FalseyValueParser;

use crate::command::shared;
use crate::exit::Exit;
use crate::render::sink::{self, Sink};
use crate::render::{self, complain};
use gate::{FailOn, Gate};

const EXAMPLES: &str = "\
Examples:
  cipherlane compare before.jsonl after.jsonl                     what became faster, what slower
  cipherlane compare before.jsonl after.jsonl --fail-on slower:5  fails if a row is 5 % slower
  cipherlane compare laptop.jsonl server.jsonl --md -             two machines, as a Markdown table

The ratio is how many times as fast as A row B is, of medians, with a 95 % interval by bootstrap: over the rounds where \
both rows were timed in turn in one run, else over the samples of each. FASTER and SLOWER mean that there are 6 rounds or \
samples or more, and that the whole interval lies beyond a hundredth from 1; anything else is AMBIGUOUS. An interval knows \
the noise within a run, not that between runs: what matters should be measured in turn, or several times. A row that a file has \
several times meets each of the other file, unless both have as many: then they meet in their order.";

/// Options of `compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Records to compare with
    #[arg(value_name = "A", value_parser = sink::file_to_read())]
    base: PathBuf,
    /// Records that are compared
    #[arg(value_name = "B", value_parser = sink::file_to_read())]
    new: PathBuf,
    /// Exit with code 4 if a row of B is slower, or slower by more than so many percent, or if nobody can tell: a row of A
    /// has none to be compared with, its times are none that code has, or there are fewer than 6 rounds or samples, of
    /// which more --time makes more; rows of rivals do not count
    #[arg(long, value_name = "slower[:PERCENT]", env = "CIPHERLANE_FAIL_ON")]
    fail_on: Option<FailOn>,
    /// Have rows of rivals count as well: for --fail-on, and for the exit code of wrong outputs
    #[arg(long)]
    with_rivals: bool,
    /// Compare rows with different scopes as well, and say where they differ
    #[arg(long, env = "CIPHERLANE_ACROSS_SCOPES", value_parser = FalseyValueParser::new())]
    across_scopes: bool,
    /// Seed of the bootstrap
    #[arg(long, env = "CIPHERLANE_SEED", default_value_t = 1, value_parser = shared::seed)]
    seed: u64,
    /// The comparison as one JSON object
    // No variables: CIPHERLANE_JSON and its like name files of timed rows, which these would replace.
    #[arg(long, value_name = "FILE", help_heading = "Results (- is stdout)")]
    json: Option<Sink>,
    /// The rows as comma-separated values
    #[arg(long, value_name = "FILE", help_heading = "Results (- is stdout)")]
    csv: Option<Sink>,
    /// The rows as a Markdown table
    #[arg(long, value_name = "FILE", help_heading = "Results (- is stdout)")]
    md: Option<Sink>,
}

/// Compares, shows and writes.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    let stdout_taken = sink::takes_stdout([
        ("--json", options.json.as_ref()),
        ("--csv", options.csv.as_ref()),
        ("--md", options.md.as_ref()),
    ])?;
    let (base, new) = (rows(&options.base)?, rows(&options.new)?);
    let how = compare::Options { across_scopes: options.across_scopes, seed: options.seed };
    let comparison = compare::compare(&base, &new, &how);
    let verdict = Gate { fail_on: options.fail_on, with_rivals: options.with_rivals }.judge(&comparison);
    options.write(&comparison)?;
    let text = table::text(&comparison, &options.base, &options.new);
    if stdout_taken {
        render::print_aside(&text);
    } else {
        render::print(&text)?;
    }
    verdict.reasons.iter().for_each(|reason| complain("regression", reason));
    Ok(verdict.exit)
}

/// The measurements of a file. Other rows have no rate: they are counted, and left out.
fn rows(path: &Path) -> Result<Vec<Measurement>> {
    let records = shared::records(path)?;
    if records.is_empty() {
        complain("left out", &format!("{}: there is no record in it", path.display()));
    }
    let others = records.iter().filter(|record| matches!(record, Record::Observation(_))).count();
    if others > 0 {
        let text =
            format!("{}: {others} rows are observations, which have no rate to compare", path.display());
        complain("left out", &text);
    }
    Ok(measurements(records))
}

impl Options {
    fn write(&self, comparison: &Comparison) -> Result<()> {
        if let Some(sink) = &self.json {
            sink.write_json(comparison)?;
        }
        if let Some(sink) = &self.csv {
            sink.fill(|target| table::csv(target, comparison))?;
        }
        if let Some(sink) = &self.md {
            sink.fill(|target| table::markdown(target, comparison))?;
        }
        Ok(())
    }
}
