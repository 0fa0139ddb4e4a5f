//! `bench`: measure, verified.

mod ask;
mod known;
mod report;
mod store;
mod watch;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use cipherlane::verify::Reference;
use cipherlane::{Device, Tier};
use cipherlane_lab::{Contender, Judges, Outcome, Sampling, Skipped, Wanted, run_suite};

pub(crate) use ask::Options;

use super::shared::{self, Roster};
use crate::exit::Exit;
use crate::render::sink;
use crate::render::{self, complain};
use store::Store;
use watch::Watch;

/// Ctrl-C was pressed.
static STOP: AtomicBool = AtomicBool::new(false);

/// Measures what the options ask for.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    if options.list {
        render::print(&report::list())?;
        return Ok(Exit::Success);
    }
    let stdout_taken = sink::takes_stdout([
        ("--json", options.json.as_ref()),
        ("--csv", options.csv.as_ref()),
        ("--md", options.md.as_ref()),
    ])?;
    let host = cipherlane_lab::host::detect();
    let suite = options.suite(&host)?;
    let roster = Roster::find(!options.no_rivals || options.names_a_rival());
    let contenders = contenders(options, &roster)?;
    stop_on_ctrl_c()?;
    let mut watch = Watch::new(Store::open(options)?, options.no_progress);
    let contenders = known::check(contenders, &watch)?;
    let portable = roster.engine.device("cpu")?;
    let reference = Reference::new();
    let judges = Judges {
        fast: Contender::at_tier(&**portable, Tier::Portable.name()),
        readable: Contender::new(&reference),
    };
    let outcome = run_suite(&suite, &contenders, &judges, &host, &lab_options(options), &mut watch)?;
    watch.clear();
    let store = watch.into_store();
    store.write_tables(options, &outcome.rows)?;
    let shown = |id: &str| !id.starts_with("rival:") || options.device.iter().any(|asked| asked == id);
    let report = report::of(&outcome, shown, store.path());
    if stdout_taken {
        render::print_aside(&report);
    } else {
        render::print(&report)?;
    }
    Ok(exit(&outcome))
}

/// Everything that is measured in turn: the devices that were asked for, then the rivals.
fn contenders<'a>(options: &Options, roster: &'a Roster) -> Result<Vec<Contender<'a>>> {
    let (rivals, own): (Vec<_>, Vec<_>) =
        roster.choose(&options.device)?.into_iter().partition(|device| is_rival(*device));
    let mut contenders = if options.tier.is_empty() {
        own.into_iter().map(Contender::new).collect()
    } else {
        shared::at_tiers(&own, &options.tier)?
    };
    contenders.extend(rivals.into_iter().map(Contender::new));
    if !options.no_rivals {
        for rival in &roster.rivals {
            if contenders.iter().all(|other| other.device.info().id != rival.info().id) {
                contenders.push(Contender::new(&**rival));
            }
        }
    }
    Ok(contenders)
}

fn is_rival(device: &dyn Device) -> bool {
    device.info().id.starts_with("rival:")
}

fn lab_options(options: &Options) -> cipherlane_lab::Options<'static> {
    cipherlane_lab::Options {
        budget: Duration::from_secs_f64(options.seconds()),
        sampling: Sampling::default(),
        cache: if options.cold { Wanted::Cold } else { Wanted::Hot },
        seed: options.seed,
        stop: &STOP,
        // By name: where the program lies is nobody's business who reads the record.
        argv: std::iter::once(env!("CARGO_BIN_NAME").to_owned()).chain(std::env::args().skip(1)).collect(),
    }
}

/// The first Ctrl-C ends the run after the current sample, the second ends the program. Rows that are finished have
/// been written by then.
fn stop_on_ctrl_c() -> Result<()> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted as i32);
        }
        complain("stopping", "after the current sample; press Ctrl-C again to end at once");
    })
    .context("Ctrl-C cannot be caught")
}

fn exit(outcome: &Outcome) -> Exit {
    if outcome.rows.iter().any(|row| !row.verified && !row.device.starts_with("rival:")) {
        Exit::Mismatch
    } else if outcome.stopped {
        Exit::Interrupted
    } else if outcome.rows.is_empty() {
        Exit::NothingToRun
    } else {
        Exit::Success
    }
}

/// What was left out, for people.
fn describe(skipped: &Skipped) -> String {
    let Skipped { workload, algorithm, operation, threads, device, reason } = skipped;
    let job = algorithm.map_or_else(String::new, |algorithm| format!(" {algorithm}"));
    let operation = operation.map_or_else(String::new, |operation| format!(" {operation}"));
    let device = device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
    format!("{workload}{job}{operation}{device}, threads {threads}: {reason}")
}
