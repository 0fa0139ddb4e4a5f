//! `verify`: known answers on every device and tier.

mod answers;
mod report;

use std::path::PathBuf;

use anyhow::Result;
use cipherlane_lab::Contender;
use clap::builder::FalseyValueParser;

use super::launch::Launch;
use super::shared::{self, Roster};
use crate::exit::Exit;
use crate::render::progress::Bar;
use crate::render::sink::{self, Sink};
use crate::render::{self, complain};
use answers::Answers;
use report::Report;

const EXAMPLES: &str = "\
Examples:
  cipherlane verify
  cipherlane verify --quick --tier avx2
  cipherlane verify --device all
  cipherlane verify --vectors gcmDecrypt128.rsp --vectors aes_gcm_test.json

Vectors are looked for in the paths of --vectors; without any, in the folder that \
CIPHERLANE_VECTORS names; without it, in vectors/fetched here or above, and last in cipherlane/vectors in your cache \
(XDG_CACHE_HOME). `cargo xtask vectors` in a checkout fetches them. A set that is not there is listed as NOT RUN.

Exits 3 if an answer is wrong.";

/// Options of `verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Devices, by the names that `cipherlane devices` shows, or all [default: the CPU and the GPUs]
    #[arg(long, short, env = "CIPHERLANE_DEVICE", value_delimiter = ',')]
    device: Vec<String>,
    /// Instruction tiers: portable, sse, avx2, avx512 [default: every one of this machine]
    #[arg(long, env = "CIPHERLANE_TIER", value_delimiter = ',')]
    tier: Vec<String>,
    #[command(flatten)]
    launch: Launch,
    /// CAVP .rsp files, Wycheproof JSON files, or folders of them, in place of the fetched ones
    #[arg(long, value_name = "PATH", value_parser = sink::file_to_read())]
    vectors: Vec<PathBuf>,
    /// Known answers only, without the batches of all shapes against the readable reference
    #[arg(long, env = "CIPHERLANE_QUICK", value_parser = FalseyValueParser::new())]
    quick: bool,
    /// Show no progress bar
    #[arg(long, env = "CIPHERLANE_NO_PROGRESS", value_parser = FalseyValueParser::new())]
    no_progress: bool,
    /// Write the counts as JSON to this file, `-` for stdout (which then has no table)
    // No variable: CIPHERLANE_JSON names a file of records, which this would replace.
    #[arg(long, value_name = "FILE")]
    json: Option<Sink>,
}

/// Checks every answer on every tier.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    let roster = Roster::find(!options.device.is_empty());
    let devices = roster.choose(&options.device)?;
    let mut seats = if options.tier.is_empty() {
        shared::at_every_tier(&devices)
    } else {
        shared::at_tiers(&devices, &options.tier)?
    };
    options.launch.apply(&mut seats)?;
    let answers = Answers::find(&options.vectors)?;
    for file in &answers.passed_over {
        complain("warning", &format!("{file}; passed over"));
    }
    options.json.as_ref().map_or(Ok(()), Sink::check)?;
    let report = examine(&seats, &answers, options);
    if let Some(sink) = &options.json {
        sink.write_json(&report)?;
    }
    if options.json != Some(Sink::Stdout) {
        render::print(&report.to_text())?;
    }
    Ok(if report.verified { Exit::Success } else { Exit::Mismatch })
}

fn examine(seats: &[Contender<'_>], answers: &Answers, options: &Options) -> Report {
    let bar = Bar::new(options.no_progress);
    let steps = seats.len() * if options.quick { 1 } else { 2 };
    let mut done = 0;
    let mut step = |what: String| {
        #[allow(clippy::cast_precision_loss)] // a handful of steps
        bar.show(done as f64 / steps as f64, None, what);
        done += 1;
    };
    let mut report = Report::new(seats, answers);
    for seat in seats {
        step(format!("{}: {} known answers", shared::label(seat), answers.cases.len()));
        report.vectors(seat, &answers.cases);
        if !options.quick {
            step(format!("{}: batches of all shapes against the reference", shared::label(seat)));
            report.conformance(seat);
        }
    }
    bar.clear();
    report
}
