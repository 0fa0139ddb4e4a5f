//! The command line of cipherlane: results on stdout, progress and warnings on stderr.

mod cli;
mod command;
mod exit;
mod render;
mod signals;
mod suggest;
mod variables;

use std::process::ExitCode;

fn main() -> ExitCode {
    signals::hold_up();
    render::notes::listen();
    exit::guard(|| command::run(variables::parse())).into()
}
