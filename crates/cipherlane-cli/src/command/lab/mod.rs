//! `lab`: the experiments.

mod losing;
mod studies;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::{Context, Result};
use cipherlane::{Algorithm, Operation};
use cipherlane_lab::experiment::{Kind, Narrow, Scale};
use cipherlane_lab::{Contender, Experiment};
use cipherlane_record::Record;
use clap::builder::FalseyValueParser;
use clap::{Args, Subcommand};

use super::measure::{self, Asked, How};
use super::shared;
use crate::exit::{self, Exit, Usage};
use crate::render::table::{self, Column};
use crate::render::{self, complain, sink, units};

const EXAMPLES: &str = "\
Examples:
  cipherlane lab list                                the experiments, and the questions that they answer
  cipherlane lab run cpu-ceilings                    what this core's instructions and memory allow
  cipherlane lab run rivals --quick                  the rows that matter most, in a minute
  cipherlane lab run rivals --algorithm sm4-ctr --json sm4.jsonl
  cipherlane lab run thermal energy --quick          how warm it gets, and what a watt does
  cipherlane lab run gpu-load --device cuda:0        how other work on the GPU shows
  cipherlane lab run --study 003                     all that reproduces something of study 003
  cipherlane lab run all --dry-run                   what would be run, and how long it would take
  cipherlane lab run mine.toml                       an experiment of your own
  cipherlane lab run findings generations *.jsonl    what records of one machine or many add up to

Several experiments share the files of --json, --csv and --md: Markdown has a table for each. CSV has one header, so that \
sweeps, whose rows are measurements, and experiments that make observations have to be run by themselves for it.";

/// Options of `lab`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the experiments and the questions that they answer
    List,
    /// Run experiments
    Run(Box<RunOptions>),
}

/// Options of `lab run`.
#[derive(Debug, Args)]
struct RunOptions {
    /// Experiments by name, files of your own (.toml), or all; and records (.jsonl) for those that conclude from them
    #[arg(value_name = "EXPERIMENT", required_unless_present = "study")]
    experiments: Vec<OsString>,
    /// All experiments of these studies, or of a row of one: 000, 003.5 (see docs/STUDIES.md)
    #[arg(long, value_name = "STUDY", env = "CIPHERLANE_STUDY", value_delimiter = ',')]
    study: Vec<String>,
    /// A first look: the rows that matter most
    #[arg(long, env = "CIPHERLANE_QUICK", value_parser = FalseyValueParser::new())]
    quick: bool,
    /// One short, verified point of each experiment: whether it runs at all
    #[arg(long, env = "CIPHERLANE_SMOKE", value_parser = FalseyValueParser::new())]
    smoke: bool,
    /// Print what would be run and how long it would take; run nothing
    #[arg(long)]
    dry_run: bool,
    /// Let simd-grid switch turbo and hyper-threading off, which needs root; both are put back
    #[arg(long)]
    change_machine: bool,
    /// Seconds for each experiment; each row has at least 3 rounds, however long they take [default: as many as its rows
    /// need]
    #[arg(long, value_name = "SECONDS", env = "CIPHERLANE_TIME", value_parser = shared::positive)]
    time: Option<f64>,
    /// Only rows of these algorithms
    #[arg(long, short, env = "CIPHERLANE_ALGORITHM", value_delimiter = ',', value_parser = shared::algorithm, help_heading = "Only")]
    algorithm: Vec<Algorithm>,
    /// Only rows of these operations
    #[arg(long, short, env = "CIPHERLANE_OPERATION", value_delimiter = ',', help_heading = "Only")]
    operation: Vec<Operation>,
    /// Only rows of these sizes in bytes: 16, 16k, 1MiB, 4kB; k, M, G, T and KiB to TiB count in 1024, kB to TB in 1000
    #[arg(long, short, env = "CIPHERLANE_SIZE", value_delimiter = ',', value_parser = units::parse_bytes, help_heading = "Only")]
    size: Vec<usize>,
    #[command(flatten)]
    how: How,
}

/// Lists or runs.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    match &options.verb {
        Verb::List => {
            render::print(&list())?;
            Ok(Exit::Success)
        }
        Verb::Run(options) => options.run(),
    }
}

fn list() -> String {
    let columns = ["experiment", "studies", "question"].map(Column::Words);
    let mut table = table::new(columns);
    for Experiment { name, studies, question, .. } in Experiment::all() {
        table.add_row([name, studies.join(" "), question]);
    }
    format!("{}\n", table::text(&table))
}

/// What is left of `exits` of several experiments: some may have nothing to run here, and the others are what counts.
fn joint(exits: &[Exit]) -> Exit {
    let bad = exits.iter().find(|exit| !matches!(exit, Exit::Success | Exit::NothingToRun));
    let none = if exits.contains(&Exit::Success) { Exit::Success } else { Exit::NothingToRun };
    bad.copied().unwrap_or(none)
}

impl RunOptions {
    fn run(&self) -> Result<Exit> {
        self.how.takes_stdout()?;
        if self.quick && self.smoke {
            return Err(Usage("--quick and --smoke are two scales: leave one out".to_owned()).into());
        }
        let experiments = self.experiments()?;
        if experiments.is_empty() {
            let remedy = format!("name an experiment before the records: {}", readers());
            return Err(Usage(remedy).into());
        }
        self.check_columns(&experiments)?;
        // Read before any result is written, which none of the files then can be.
        let records = self.records()?;
        self.say_unread(&experiments);
        let mut how = self.how.clone();
        if self.smoke && how.device.is_empty() {
            how.device.push("all".to_owned());
            for absent in shared::Roster::find(false).absent {
                complain("left out", &format!("{}: {}", absent.kind, absent.reason));
            }
        }
        let mut exits = Vec::new();
        for experiment in &experiments {
            let exit = match self.one(experiment, &how, &records) {
                Ok(exit) => exit,
                // The others can still be run.
                Err(error) if experiments.len() > 1 && exit::is_of_the_run(&error) => {
                    complain("error", &format!("{}: {}", experiment.name, exit::in_words(&error)));
                    exit::of(&error)
                }
                Err(error) => return Err(error),
            };
            exits.push(exit);
            if measure::is_stopped() {
                break;
            }
        }
        Ok(joint(&exits))
    }

    /// Refuses one file of CSV for rows of different columns.
    fn check_columns(&self, experiments: &[Experiment]) -> Result<(), Usage> {
        let of = |sweep: bool| experiments.iter().find(|one| (one.kind == Kind::Sweep) == sweep);
        let (Some(_), Some(sweep), Some(other)) = (&self.how.csv, of(true), of(false)) else { return Ok(()) };
        let (sweep, other) = (&sweep.name, &other.name);
        Err(Usage(format!(
            "--csv has the columns of one table, and {sweep} has others than {other}: run them by themselves, each with its \
             own file, or write --json, from which `cipherlane report --csv` makes one table"
        )))
    }

    fn one(&self, experiment: &Experiment, how: &How, records: &[Record]) -> Result<Exit> {
        // Found once: that looks for drivers, and opens each GPU.
        let sweeps = experiment.kind == Kind::Sweep;
        let roster = if sweeps { measure::roster(how) } else { shared::Roster::find(false) };
        if experiment.about_gpus {
            say_without_gpu(experiment, how, &roster);
        }
        if sweeps {
            self.sweep(experiment, how, &roster)
        } else {
            self.observe(experiment, how, &roster, records)
        }
    }

    /// The experiments that were asked for, each once.
    fn experiments(&self) -> Result<Vec<Experiment>> {
        let mut chosen = studies::experiments(&self.study)?;
        for name in self.experiments.iter().filter(|name| !is_records(name)) {
            let named = match name {
                name if name == "all" => Experiment::all(),
                file if ends_in(file, "toml") => vec![read(Path::new(file))?],
                name => vec![Experiment::named(&name.to_string_lossy())?],
            };
            for experiment in named {
                if chosen.iter().all(|other| other.name != experiment.name) {
                    chosen.push(experiment);
                }
            }
        }
        Ok(chosen)
    }

    /// The files of records that were handed in.
    fn files(&self) -> impl Iterator<Item = &Path> {
        self.experiments.iter().filter(|name| is_records(name)).map(Path::new)
    }

    /// The records that were handed in.
    fn records(&self) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        for path in self.files() {
            records.extend(shared::records(path)?);
        }
        Ok(records)
    }

    /// Says that records were handed in to `experiments` that conclude nothing from them, if they were.
    fn say_unread(&self, experiments: &[Experiment]) {
        let files: Vec<String> = self.files().map(|file| file.display().to_string()).collect();
        if !files.is_empty() && experiments.iter().all(|experiment| !experiment.kind.reads_records()) {
            let files = files.join(", ");
            let text = format!("{files}: no experiment here reads records; these do: {}", readers());
            complain("passed over", &text);
        }
    }

    const fn scale(&self) -> Scale {
        if self.smoke {
            Scale::Smoke
        } else if self.quick {
            Scale::Quick
        } else {
            Scale::Full
        }
    }

    /// The options that were given and that experiments which make observations do not ask for: they say themselves
    /// what is run, and for how long.
    fn passed_over(&self, how: &How) -> Vec<&'static str> {
        let given = [
            ("--algorithm", !self.algorithm.is_empty()),
            ("--operation", !self.operation.is_empty()),
            ("--size", !self.size.is_empty()),
            ("--time", self.time.is_some()),
            ("--tier", !how.tier.is_empty()),
            ("--threads", !how.threads.is_empty()),
            ("--blocks", how.launch.blocks.is_some()),
            ("--threads-per-block", how.launch.threads_per_block.is_some()),
            ("--streams", how.launch.streams.is_some()),
            ("--cold", how.cold),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }

    fn observe(
        &self,
        experiment: &Experiment,
        how: &How,
        roster: &shared::Roster,
        records: &[Record],
    ) -> Result<Exit> {
        let passed_over = self.passed_over(how);
        if !passed_over.is_empty() {
            let (name, options) = (&experiment.name, passed_over.join(", "));
            complain("passed over", &format!("{options}: {name} says itself what it runs, and how"));
        }
        let host = cipherlane_lab::host::detect();
        let run = experiment.at(self.scale())?.context("this kind makes no observations")?;
        let (dry, change_machine) = (self.dry_run, self.change_machine);
        let asked = Asked { done: how.done()?, dry, change_machine, records };
        measure::observe(&experiment.name, &*run, how, &asked, (roster, &host))
    }

    fn sweep(&self, experiment: &Experiment, how: &How, roster: &shared::Roster) -> Result<Exit> {
        let host = cipherlane_lab::host::detect();
        let one = shared::Threads::Count(1);
        let usual: &[_] = if experiment.on_all_threads { &[shared::Threads::All, one] } else { &[one] };
        let threads = shared::thread_counts(&how.threads, usual, &host);
        let narrow = Narrow {
            algorithms: self.algorithm.clone(),
            operations: self.operation.clone(),
            sizes: self.size.clone(),
        };
        let mut suite = experiment.suite(self.scale(), &narrow, &threads)?;
        if self.smoke {
            suite.points.truncate(1);
        }
        if how.leave_out_done(&mut suite)? && !self.dry_run {
            measure::write_kept(how, &suite.experiment, None)?;
            return Ok(Exit::Success);
        }
        #[allow(clippy::cast_precision_loss)] // far below 2^53
        let seconds = self.time.unwrap_or(experiment.seconds_per_row * suite.points.len() as f64);
        if self.dry_run {
            // A plan of what cannot be run would be none.
            measure::check(how, roster)?;
            measure::show(&measure::plan_of(&suite, seconds), how.takes_stdout()?)?;
            return Ok(Exit::Success);
        }
        let measured = measure::run(&suite, how, seconds, (roster, &host), None)?;
        measure::show(&losing::of(&measured.outcome.rows), measured.stdout_taken)?;
        Ok(measure::exit(&measured.outcome))
    }
}

/// Says that an experiment about GPUs has none, if that is so. Devices that there are not are an error of whoever runs it.
fn say_without_gpu(experiment: &Experiment, how: &How, roster: &shared::Roster) {
    let chosen = roster.choose(&how.device).unwrap_or_default();
    if !chosen.is_empty() && chosen.iter().all(|&device| !Contender::new(device).launches) {
        let (name, remedy) = (&experiment.name, roster.remedy_for_launches());
        complain(
            "no GPU",
            &format!("{name} asks about GPUs, and what follows is of the CPU alone; {remedy}"),
        );
    }
}

/// The names of the experiments that conclude from records.
fn readers() -> String {
    let all = Experiment::all().into_iter();
    let names: Vec<String> =
        all.filter(|experiment| experiment.kind.reads_records()).map(|experiment| experiment.name).collect();
    names.join(", ")
}

/// Whether an argument is a file of records, and no experiment.
fn is_records(name: &OsStr) -> bool {
    ends_in(name, "jsonl")
}

fn ends_in(name: &OsStr, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == ending)
}

/// Reads an experiment of the user's own.
fn read(path: &Path) -> Result<Experiment> {
    sink::protect(path);
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(Experiment::parse(&path.display().to_string(), &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_that_do_not_fit_the_machine_do_not_fail_the_others() {
        assert_eq!(joint(&[Exit::NothingToRun, Exit::Success]), Exit::Success);
        assert_eq!(joint(&[Exit::NothingToRun, Exit::NothingToRun]), Exit::NothingToRun);
        assert_eq!(joint(&[Exit::Success, Exit::Mismatch, Exit::Failure]), Exit::Mismatch);
    }
}
