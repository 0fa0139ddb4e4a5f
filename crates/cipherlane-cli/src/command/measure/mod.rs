//! Measuring a suite, verified: what `bench` and `lab` share.

mod how;
mod known;
mod observe;
mod records;
mod report;
mod resume;
pub(crate) mod store;
mod watch;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use cipherlane::Device;
use cipherlane::verify::Reference;
use cipherlane_lab::experiment;
use cipherlane_lab::telemetry::{DEFAULT_HERTZ, Sampler, Sensors};
use cipherlane_lab::{Ceilings, Contender, Judges, Outcome, Sampling, Skipped, Suite, run_suite};
use cipherlane_record::{Host, Measurement, csv, is_rival, markdown, measurements, read};

pub(crate) use how::How;
pub(crate) use observe::{Asked, observe, plan_of};

use super::shared::{self, Roster};
use crate::exit::Exit;
use crate::render::{self, complain, sink};
use crate::signals;
use store::Store;
use watch::Watch;

/// The run shall end after the current sample: Ctrl-C was pressed, or nobody reads its rows any more.
static STOP: AtomicBool = AtomicBool::new(false);
/// It was stopped for want of a reader, which is no interruption.
static UNREAD: AtomicBool = AtomicBool::new(false);
/// Ctrl-C is being caught.
static CAUGHT: AtomicBool = AtomicBool::new(false);

/// What came of a suite.
pub(crate) struct Measured {
    /// Rows and what was skipped.
    pub(crate) outcome: Outcome,
    /// Whether results go to stdout, so that what is for people does not.
    pub(crate) stdout_taken: bool,
}

/// Measures `suite` on devices of `roster` within about `seconds`, and shows and keeps its rows. `log` is where texts are
/// shown, message by message.
pub(crate) fn run(
    suite: &Suite,
    how: &How,
    seconds: f64,
    (roster, host): (&Roster, &Host),
    log: Option<&Path>,
) -> Result<Measured> {
    let stdout_taken = how.takes_stdout()?;
    let contenders = contenders(how, roster)?;
    stop_on_ctrl_c()?;
    let mut watch = Watch::new(Store::open(how, &suite.experiment)?, how.no_progress).with_log(log)?;
    let contenders = known::check(contenders, suite, &watch)?;
    let cpu = roster.engine.device("cpu")?;
    let reference = Reference::new();
    let judges = Judges::new(&**cpu, &reference);
    watch.say("the rates of this core's instructions");
    let ceilings = Ceilings::measure()
        .inspect_err(|reason| complain("warning", &format!("no ceilings are shown: {reason}")))
        .ok();
    let sampler = sampler(how.sensors.unwrap_or(DEFAULT_HERTZ), &contenders)?;
    let options = lab_options(how, seconds, ceilings.as_ref(), sampler.as_ref());
    let outcome = run_suite(suite, &contenders, &judges, host, &options, &mut watch)?;
    watch.clear();
    let store = watch.into_store();
    let shown = |id: &str| !is_rival(id) || how.device.iter().any(|asked| asked == id);
    let mut report = report::of(&outcome, shown, &store);
    let has_own = outcome.rows.iter().any(|row| !row.is_of_a_rival());
    if let Some(path) = log.filter(|_| has_own) {
        let _ = writeln!(report, "log: {}", path.display());
    }
    // Shown before anything else can fail: it is what the run was for.
    show(&report, stdout_taken)?;
    match how.records.resumed() {
        Some(path) => write_tables(how, &rows_of(path, &suite.experiment)?)?,
        None => write_tables(how, &outcome.rows)?,
    }
    show_page(how, &store, !outcome.rows.is_empty(), stdout_taken)?;
    Ok(Measured { outcome, stdout_taken })
}

fn write_tables(how: &How, rows: &[Measurement]) -> Result<()> {
    how.write_tables(rows, |sink, rows| csv::write(sink, rows), |sink, rows| markdown::write(sink, rows))
}

/// The rows of `experiment` that the file at `path` has.
fn rows_of(path: &Path, experiment: &str) -> Result<Vec<Measurement>> {
    let mut rows = measurements(read(path)?);
    rows.retain(|row| row.experiment == experiment);
    Ok(rows)
}

/// Shows the page of the records where `--open` asks for it, or says why there is none.
fn show_page(how: &How, store: &Store, has_rows: bool, stdout_taken: bool) -> Result<()> {
    if !how.open {
        return Ok(());
    }
    let reason = match store.path() {
        Some(records) if has_rows => return super::report::show_beside(records, stdout_taken),
        Some(_) => "there are no new rows to show",
        None => "the page is made of a file of records, and none is kept; name one with --json FILE",
    };
    complain("passed over", &format!("--open: {reason}"));
    Ok(())
}

/// Writes tables and report of the rows of `experiment` that the file to go on with has, where it has them all: nothing
/// is measured then.
pub(crate) fn write_kept(how: &How, experiment: &str, log: Option<&Path>) -> Result<()> {
    let Some(path) = how.records.resumed() else { return Ok(()) };
    sink::protect(path);
    if let Some(log) = log {
        let text = format!("{}: the log is of rows that are measured, and none is", log.display());
        complain("passed over", &text);
    }
    write_tables(how, &rows_of(path, experiment)?)?;
    if how.open {
        super::report::show_beside(path, how.takes_stdout()?)?;
    }
    Ok(())
}

/// Prints what is for people: on stdout, unless results go there.
pub(crate) fn show(text: &str, stdout_taken: bool) -> Result<()> {
    if stdout_taken {
        render::print_aside(text);
        Ok(())
    } else {
        render::print(text)
    }
}

/// Whether there is what `how` asks for, without running anything.
///
/// # Errors
/// If a device, a tier or a launch cannot be had here.
pub(crate) fn check(how: &How, roster: &Roster) -> Result<()> {
    contenders(how, roster).map(drop)
}

/// The devices to choose from, and the rivals where some may be asked for.
pub(crate) fn roster(how: &How) -> Roster {
    Roster::find(!how.no_rivals || how.names_a_rival())
}

/// Everything that is measured in turn: the devices that were asked for, then the rivals.
fn contenders<'a>(how: &How, roster: &'a Roster) -> Result<Vec<Contender<'a>>> {
    let (rivals, own): (Vec<_>, Vec<_>) =
        roster.choose(&how.device)?.into_iter().partition(|device| is_rival(&device.info().id));
    let mut contenders = if how.tier.is_empty() {
        own.into_iter().map(Contender::new).collect()
    } else {
        // Rivals alone have one tier, and say which.
        shared::at_tiers(if own.is_empty() { &rivals } else { &own }, &how.tier)?
    };
    how.launch.apply(&mut contenders)?;
    let is_there = |rival: &&dyn Device, contenders: &[Contender<'_>]| {
        contenders.iter().any(|other| other.device.info().id == rival.info().id)
    };
    // `all` names none of them by itself.
    let is_wanted = |rival: &&dyn Device| !how.no_rivals || how.device.contains(&rival.info().id);
    let others: Vec<_> =
        rivals.into_iter().filter(|rival| is_wanted(rival) && !is_there(rival, &contenders)).collect();
    contenders.extend(others.into_iter().map(Contender::new));
    if !how.no_rivals {
        for rival in &roster.rivals {
            if contenders.iter().all(|other| other.device.info().id != rival.info().id) {
                contenders.push(Contender::new(&**rival));
            }
        }
    }
    Ok(contenders)
}

/// Whoever reads the sensors of the machine and of the devices that are measured; none at 0 readings a second.
fn sampler(hertz: f64, contenders: &[Contender<'_>]) -> Result<Option<Sampler>> {
    if hertz == 0.0 {
        return Ok(None);
    }
    let devices: Vec<&dyn Device> = contenders.iter().map(|contender| contender.device).collect();
    let sampler = Sampler::start(Sensors::of_this_machine(&devices), hertz);
    Ok(Some(sampler.context("no thread for the sensors; do without by --sensors 0")?))
}

fn lab_options<'a>(
    how: &How,
    seconds: f64,
    ceilings: Option<&'a Ceilings>,
    sampler: Option<&'a Sampler>,
) -> cipherlane_lab::Options<'a> {
    cipherlane_lab::Options {
        budget: Duration::from_secs_f64(seconds),
        sampling: Sampling::default(),
        cache: how.cache(),
        seed: how.seed,
        stop: &STOP,
        ceilings,
        sampler,
        argv: how.told(argv()),
    }
}

/// The command line, with the program by its name: where it lies is nobody's business who reads the record. Names of files
/// that are not UTF-8 are as near to it as they can be.
pub(crate) fn argv() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once(env!("CARGO_BIN_NAME").to_owned()).chain(words).collect()
}

/// The first Ctrl-C ends the run after the current sample, the second ends the program. Rows that are finished have
/// been written by then.
fn stop_on_ctrl_c() -> Result<()> {
    // Several experiments of one command share the handler.
    if CAUGHT.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let mut was_asked = false;
    signals::on_request(move || {
        if was_asked {
            if let Err(reason) = experiment::put_back() {
                complain("warning", &format!("not put back: {reason}"));
            }
            std::process::exit(Exit::Interrupted as i32);
        }
        was_asked = true;
        STOP.store(true, Ordering::Relaxed);
        complain("stopping", "after the current sample; press Ctrl-C again to end at once");
    })
}

/// Whether nothing more is to be run.
pub(crate) fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Ends the run after the current sample, since whoever read its rows has seen enough.
fn stop_unread() {
    if !STOP.swap(true, Ordering::Relaxed) {
        UNREAD.store(true, Ordering::Relaxed);
    }
}

/// How a run ended that was stopped.
fn stopped() -> Exit {
    if UNREAD.load(Ordering::Relaxed) { Exit::Success } else { Exit::Interrupted }
}

/// The exit code of a run.
pub(crate) fn exit(outcome: &Outcome) -> Exit {
    if outcome.rows.iter().any(|row| !row.verified && !row.is_of_a_rival()) {
        Exit::Mismatch
    } else if outcome.stopped {
        stopped()
    } else if outcome.rows.is_empty() {
        Exit::NothingToRun
    } else {
        Exit::Success
    }
}

/// Whether a rival has nothing like what was asked of it: no news to whoever knows the library.
fn is_lacking(skipped: &Skipped) -> bool {
    skipped.not_offered && skipped.device.as_ref().is_some_and(|device| is_rival(device))
}

/// What was left out, for people.
fn describe(skipped: &Skipped) -> String {
    let Skipped { workload, algorithm, operation, threads, device, not_offered: _, reason } = skipped;
    let job = algorithm.map_or_else(String::new, |algorithm| format!(" {algorithm}"));
    let operation = operation.map_or_else(String::new, |operation| format!(" {operation}"));
    let device = device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
    format!("{workload}{job}{operation}{device}, threads {threads}: {reason}")
}
