//! What the command line asks for, as a suite.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use cipherlane::{Algorithm, BatchError, Cipher, Mode, Operation};
use cipherlane_lab::Suite;
use cipherlane_lab::workload::{Custom, Lengths};
use cipherlane_record::Host;
use clap::builder::FalseyValueParser;

use crate::command::measure::How;
use crate::command::shared::{self, Keys, Threads};
use crate::exit::Usage;
use crate::render::{complain, sink};

use super::own::{Asked, Own};

const EXAMPLES: &str = "\
Examples:
  cipherlane bench                                  the standard workloads, 80 s
  cipherlane bench --quick                          a first look, 12 s
  cipherlane bench --list                           the workloads and their questions
  cipherlane bench meter-128 --threads 1,phys,all
  cipherlane bench --algorithm aes-256-gcm --size 64,1k,16k,1MiB --keys distinct
  cipherlane bench --algorithm sha-256 --size 1-55,1-500 --threads 1
  cipherlane bench --algorithm aes-128-ctr --input disk.img --size 4k --tier avx512,avx2
  cipherlane bench --quick --json - --csv rows.csv --md rows.md";

/// Seconds of a full run and of a quick one: with start and report they stay below 90 and 15.
const FULL_SECONDS: f64 = 80.0;
const QUICK_SECONDS: f64 = 12.0;
/// The algorithm of a workload of one's own that names none.
const DEFAULT_ALGORITHM: Algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);
/// Bytes of its messages: a full TLS record.
const DEFAULT_SIZE: Lengths = Lengths::of(16 << 10);

/// Options of `bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    // First: what follows is taken out of what clap has found, and it asks whether a workload is named.
    #[command(flatten)]
    own: Own,

    /// Workloads by name: meter-128, meter-mixed, cavp-mix, packets, tls-16k, disk-4k, bulk [default: all]
    #[arg(value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// List the workloads and the questions that they answer; run nothing
    #[arg(long)]
    pub(super) list: bool,
    /// A first look: one row of each workload, in about 12 seconds
    #[arg(long, env = "CIPHERLANE_QUICK", value_parser = FalseyValueParser::new())]
    quick: bool,
    /// Seconds of measuring at most: what is certain before ends before, ceilings and checks come on top, and each row has
    /// at least 3 rounds, however long they take [default: 80, with --quick 12]
    #[arg(long, value_name = "SECONDS", env = "CIPHERLANE_TIME", value_parser = shared::positive)]
    time: Option<f64>,

    /// A log of each row of ours: its totals, then keys, nonces and texts message by message, expected and computed;
    /// of generated and published messages alone, hence not with --input; a file, not -
    #[arg(
        long,
        value_name = "FILE",
        env = "CIPHERLANE_LOG",
        value_parser = sink::file(),
        help_heading = "Results (- is stdout)"
    )]
    pub(super) log: Option<PathBuf>,

    #[command(flatten)]
    pub(super) how: How,
}

impl Options {
    /// Seconds for the whole run.
    pub(super) fn seconds(&self) -> f64 {
        self.time.unwrap_or(if self.quick { QUICK_SECONDS } else { FULL_SECONDS })
    }

    /// The suite.
    ///
    /// # Errors
    /// If a workload has no such name, or the parts of one's own do not fit together.
    pub(super) fn suite(&self, host: &Host) -> Result<Suite> {
        let threads = self.thread_counts(host);
        self.say_variables();
        if self.own.asked.is_given() {
            self.refuse_names()?;
            return self.own.asked.suite(&threads);
        }
        if !self.workloads.is_empty() {
            return Ok(Suite::of(&self.workloads, &threads)?);
        }
        Ok(if self.quick { Suite::quick(&threads) } else { Suite::standard(&threads) })
    }

    fn thread_counts(&self, host: &Host) -> Vec<usize> {
        let default: &[Threads] =
            if self.quick { &[Threads::Count(1)] } else { &[Threads::Count(1), Threads::Physical] };
        shared::thread_counts(&self.how.threads, default, host)
    }

    /// Refuses a log of what was not made for the purpose.
    pub(super) fn check_log(&self) -> Result<(), Usage> {
        if self.log.is_some() && self.own.asked.input.is_some() {
            let remedy =
                "--log writes messages down, and those of --input are your own: leave one of them out";
            return Err(Usage(remedy.to_owned()));
        }
        Ok(())
    }

    /// Says what variables of the environment change, and what they do not.
    fn say_variables(&self) {
        let Own { by, passed_over, .. } = &self.own;
        if !by.is_empty() {
            let by = by.join(", ");
            complain("variables", &format!("{by}: your own workload is measured, not the standard ones"));
        }
        if !passed_over.is_empty() {
            let (variables, named) = (passed_over.join(", "), self.workloads.join(", "));
            complain("passed over", &format!("{variables}: {named} has its own algorithm, sizes and keys"));
        }
    }

    fn refuse_names(&self) -> Result<(), Usage> {
        if self.workloads.is_empty() {
            return Ok(());
        }
        Err(Usage(format!(
            "the workload {} has its own algorithm, sizes and keys; leave out either its name, or --algorithm, \
             --operation, --size, --messages, --keys and --input",
            self.workloads.join(", ")
        )))
    }
}

impl Asked {
    fn suite(&self, threads: &[usize]) -> Result<Suite> {
        if let Some(input) = &self.input {
            sink::protect(input);
        }
        let algorithms = or_default(&self.algorithm, DEFAULT_ALGORITHM);
        let sizes = or_default(&self.size, DEFAULT_SIZE);
        let mut suite = Suite { experiment: "bench".to_owned(), points: Vec::new() };
        for algorithm in algorithms {
            let keys = self.keys_of(algorithm);
            for operation in self.operations(algorithm)? {
                for &lengths in &sizes {
                    cipherlane_lab::workload::check(algorithm, operation, lengths)?;
                    let custom = Custom {
                        algorithm,
                        operation,
                        lengths,
                        messages: self.messages,
                        keys: keys.into(),
                        input: self.input.clone(),
                    };
                    custom.check().map_err(|error| Usage(error.to_string()))?;
                    suite.points.extend(Suite::custom(&custom, threads).points);
                }
            }
        }
        if let Some(input) = &self.input {
            refuse_to_read_again(input, suite.points.len())?;
        }
        Ok(suite)
    }

    /// The keys of `algorithm` that were asked for, which it may not have.
    fn keys_of(&self, algorithm: Algorithm) -> Keys {
        match self.keys {
            Some(Keys::Distinct) if algorithm.key_bytes() == 0 => {
                complain("passed over", &format!("--keys: {algorithm} has none"));
                Keys::Same
            }
            keys => keys.unwrap_or(Keys::Same),
        }
    }

    /// The operations of `algorithm` that were asked for.
    ///
    /// # Errors
    /// If it has none of them.
    fn operations(&self, algorithm: Algorithm) -> Result<Vec<Operation>, BatchError> {
        if self.operation.is_empty() {
            return Ok(algorithm.operations().to_vec());
        }
        let asked = shared::once(self.operation.iter().copied());
        let (fit, unfit): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|operation| algorithm.operations().contains(operation));
        match (fit.is_empty(), unfit.first()) {
            (true, Some(&operation)) => Err(BatchError::Operation { algorithm, operation }),
            _ => Ok(fit),
        }
    }
}

/// Refuses a pipe as the input of several rows: each reads it, and all but the first would wait, or find nothing.
fn refuse_to_read_again(input: &Path, rows: usize) -> Result<(), Usage> {
    let is_pipe = input.metadata().is_ok_and(|file| file.file_type().is_fifo());
    if !is_pipe || rows < 2 {
        return Ok(());
    }
    Err(Usage(format!(
        "{} is a pipe, which can be read once, and each of {rows} rows reads it; write it to a file first, or ask for \
         one row by --algorithm, --operation, --size and --threads",
        input.display()
    )))
}

/// What was given, each once, or else `default`.
fn or_default<T: Copy + PartialEq>(given: &[T], default: T) -> Vec<T> {
    if given.is_empty() { vec![default] } else { shared::once(given.iter().copied()) }
}
