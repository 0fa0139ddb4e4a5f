//! The command line of cipherlane: results on stdout, progress and warnings on stderr.

mod cli;
mod command;
mod exit;
mod render;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    exit::guard(|| command::run(cli::Cli::parse())).into()
}
