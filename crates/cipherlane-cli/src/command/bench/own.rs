//! One's own workload, as the command line and the environment say it.

use std::path::PathBuf;

use cipherlane::{Algorithm, Operation};
use cipherlane_lab::workload::Lengths;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use crate::command::shared::{self, Keys};
use crate::render::{sink, units};
use crate::variables;

/// What is asked for; nothing of it where the workloads are the standard ones.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Asked {
    /// Your own workload: ciphers in their modes and hash functions, as aes-128-gcm or sha3-256 [default: aes-128-gcm]
    #[arg(
        long,
        short,
        env = "CIPHERLANE_ALGORITHM",
        value_delimiter = ',',
        value_parser = shared::algorithm,
        help_heading = "Your own workload"
    )]
    pub(super) algorithm: Vec<Algorithm>,
    /// seal, open, encrypt, decrypt, hash [default: all of the algorithm's]
    #[arg(
        long,
        short,
        env = "CIPHERLANE_OPERATION",
        value_delimiter = ',',
        help_heading = "Your own workload"
    )]
    pub(super) operation: Vec<Operation>,
    /// Bytes of each message: 16, 16k, 1MiB, 4kB, or a list; 16-512 for messages of all lengths from 16 to 512 B; k, M, G, T
    /// and KiB to TiB count in 1024, kB to TB in 1000, in any case [default: 16k]
    #[arg(long, short, env = "CIPHERLANE_SIZE", value_delimiter = ',', value_parser = units::parse_lengths,
          help_heading = "Your own workload")]
    pub(super) size: Vec<Lengths>,
    /// Number of messages [default: as many as half of the L2 cache holds]
    #[arg(long, short, env = "CIPHERLANE_MESSAGES", value_parser = shared::messages, help_heading = "Your own workload")]
    pub(super) messages: Option<usize>,
    /// One key for all messages, or one each [default: same]
    #[arg(long, env = "CIPHERLANE_KEYS", help_heading = "Your own workload")]
    pub(super) keys: Option<Keys>,
    /// A file that is cut into messages, in place of random bytes
    #[arg(
        long,
        value_name = "FILE",
        env = "CIPHERLANE_INPUT",
        value_parser = sink::file_to_read(),
        help_heading = "Your own workload"
    )]
    pub(super) input: Option<PathBuf>,
}

/// What is asked for, and what variables have to do with it. They hold for every command: where this one names a workload
/// they are not for it, and where it names nothing they change what is measured.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) asked: Asked,
    /// The variables that ask for it, where the command line does not.
    pub(super) by: Vec<String>,
    /// The variables that count for nothing here.
    pub(super) passed_over: Vec<String>,
}

impl Asked {
    /// Whether anything is asked for.
    pub(super) const fn is_given(&self) -> bool {
        !(self.algorithm.is_empty() && self.operation.is_empty() && self.size.is_empty())
            || self.messages.is_some()
            || self.keys.is_some()
            || self.input.is_some()
    }
}

impl FromArgMatches for Own {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let asked = Asked::from_arg_matches(matches)?;
        let options = Asked::augment_args(Command::new("own"));
        let is_said = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let none = Vec::new;
        if options.get_arguments().any(|option| is_said(option.get_id().as_str())) {
            return Ok(Self { asked, by: none(), passed_over: none() });
        }
        let variables = variables::of(&options, matches).collect();
        Ok(if is_said("workloads") {
            Self { asked: Asked::default(), by: none(), passed_over: variables }
        } else {
            Self { asked, by: variables, passed_over: none() }
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Own {
    fn augment_args(command: Command) -> Command {
        Asked::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Asked::augment_args_for_update(command)
    }
}
