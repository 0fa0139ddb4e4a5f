//! `compare`: records beside others, and whether they are slower.

mod table;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use cipherlane_lab::compare::{self, Comparison};
use cipherlane_record::{Measurement, Record, measurements, read};
use clap::builder::FalseyValueParser;

use crate::exit::Exit;
use crate::render::sink::{self, Sink};
use crate::render::{self, complain};

const EXAMPLES: &str = "\
Examples:
  cipherlane compare before.jsonl after.jsonl                    what became faster, what slower
  cipherlane compare before.jsonl after.jsonl --fail-on slower:5 fail if a row is slower by more than 5 %
  cipherlane compare laptop.jsonl server.jsonl --md -            two machines, as a Markdown table

The ratio is how many times as fast as A row B is, of medians, with a 95 % interval by bootstrap: over the rounds where \
both rows were timed in turn in one run, else over the samples of each. FASTER and SLOWER mean that there are 6 rounds or \
samples or more, and that the whole interval lies beyond a hundredth from 1; anything else is AMBIGUOUS. An interval knows \
the noise within a run, not that between runs: what matters should be measured in turn, or several times.";

/// Options of `compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Records to compare with
    #[arg(value_name = "A")]
    base: PathBuf,
    /// Records that are compared
    #[arg(value_name = "B")]
    new: PathBuf,
    /// Exit with code 4 if a row of B is slower, or slower by more than so many percent, or if nobody can tell: a row of A
    /// has none to be compared with, or there are fewer than 6 rounds or samples, of which more --time makes more
    #[arg(long, value_name = "slower[:PERCENT]", env = "CIPHERLANE_FAIL_ON")]
    fail_on: Option<FailOn>,
    /// Compare rows with different scopes as well, and say where they differ
    #[arg(long, env = "CIPHERLANE_ACROSS_SCOPES", value_parser = FalseyValueParser::new())]
    across_scopes: bool,
    /// Seed of the bootstrap
    #[arg(long, env = "CIPHERLANE_SEED", default_value_t = 1)]
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

/// What makes the comparison fail: a row that is slower by more than so many percent.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FailOn {
    percent: f64,
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is no such thing; write slower, or slower:5 for more than 5 %");
        let percent = match text.split_once(':') {
            None if text == "slower" => 0.0,
            Some(("slower", percent)) => percent.trim_end_matches('%').parse().map_err(|_| wrong())?,
            _ => return Err(wrong()),
        };
        if (0.0..100.0).contains(&percent) { Ok(Self { percent }) } else { Err(wrong()) }
    }
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
    options.write(&comparison)?;
    let text = table::text(&comparison, &options.base, &options.new);
    if stdout_taken {
        render::print_aside(&text);
    } else {
        render::print(&text)?;
    }
    Ok(options.exit(&comparison))
}

/// The measurements of a file. Other rows have no rate: they are counted, and left out.
fn rows(path: &Path) -> Result<Vec<Measurement>> {
    sink::protect(path);
    let records = read(path)?;
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

    /// The exit code.
    fn exit(&self, comparison: &Comparison) -> Exit {
        if comparison.refused.iter().any(|refused| refused.new_is_wrong) {
            return Exit::Mismatch;
        }
        // What is not compared may be slower, even where that is all of it.
        let left = comparison.refused.len() + comparison.only_base.len();
        if self.fail_on.is_some() && left > 0 {
            complain("regression", &format!("{left} rows of A are not compared: measure them for B as well"));
            return Exit::Regression;
        }
        if comparison.compared.is_empty() {
            return Exit::NothingToRun;
        }
        let Some(FailOn { percent }) = self.fail_on else {
            return Exit::Success;
        };
        let slower = comparison.slower(percent).count();
        if slower > 0 {
            let more = if percent > 0.0 { format!(" by more than {percent} %") } else { String::new() };
            complain("regression", &format!("{slower} rows are slower{more}"));
        }
        let few = comparison.too_few();
        if few > 0 {
            let remedy = "measure them for longer, with more --time";
            complain("regression", &format!("{few} rows have too few rounds or samples to tell: {remedy}"));
        }
        if slower + few > 0 { Exit::Regression } else { Exit::Success }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_read() {
        assert_eq!("slower".parse(), Ok(FailOn { percent: 0.0 }));
        assert_eq!("slower:2.5".parse(), Ok(FailOn { percent: 2.5 }));
        assert_eq!("slower:5%".parse(), Ok(FailOn { percent: 5.0 }));
        for text in ["", "faster", "slower:", "slower:x", "slower:-1", "slower:100", "slower:NaN"] {
            assert!(text.parse::<FailOn>().is_err(), "{text}");
        }
    }
}
