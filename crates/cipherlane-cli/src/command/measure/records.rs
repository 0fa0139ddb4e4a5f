//! Where records go, as the command line and the environment say it.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use crate::render::sink::{self, Sink};

/// Where records go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Records {
    /// To a new file in the user's data folder.
    New,
    /// To where `--json` says.
    To(Sink),
    /// To the end of this file, without the rows that it holds.
    GoOn(PathBuf),
}

impl Records {
    /// What `--json` names, if records go there.
    pub(crate) const fn sink(&self) -> Option<&Sink> {
        match self {
            Self::To(sink) => Some(sink),
            Self::New | Self::GoOn(_) => None,
        }
    }

    /// The file to go on with.
    pub(crate) fn resumed(&self) -> Option<&Path> {
        match self {
            Self::GoOn(path) => Some(path),
            Self::New | Self::To(_) => None,
        }
    }
}

/// The options themselves.
#[derive(Debug, Args)]
struct Given {
    /// Records, one JSON object a line, written as rows finish, in place of what FILE has (--resume adds to it)
    /// [default: a new file, which is named at the end]
    #[arg(long, value_name = "FILE", env = "CIPHERLANE_JSON", help_heading = "Results (- is stdout)")]
    json: Option<Sink>,
    /// Go on with a file of records, whatever CIPHERLANE_JSON says: what it has the rows of all devices of is not measured
    /// again, with rivals or without; new rows are added, and tables have all rows of the file
    #[arg(long, value_name = "FILE", value_parser = sink::file(), help_heading = "Results (- is stdout)")]
    resume: Option<PathBuf>,
}

impl FromArgMatches for Records {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let Given { json, resume } = Given::from_arg_matches(matches)?;
        match (json, resume) {
            // A variable holds for every command; this one is told to go on with a file.
            (Some(_), Some(_)) if matches.value_source("json") == Some(ValueSource::CommandLine) => {
                let remedy =
                    "--json begins a file of records and --resume goes on with one: leave one of them out";
                Err(Error::raw(ErrorKind::ArgumentConflict, remedy))
            }
            (_, Some(path)) => Ok(Self::GoOn(path)),
            (Some(sink), None) => Ok(Self::To(sink)),
            (None, None) => Ok(Self::New),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

// clap would have the two conflict wherever they come from.
impl Args for Records {
    fn augment_args(command: Command) -> Command {
        Given::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Given::augment_args_for_update(command)
    }
}
