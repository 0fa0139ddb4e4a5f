//! `completions`: what a shell needs to complete this command line.

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::render;

const EXAMPLES: &str = "\
Examples:
  cipherlane completions bash > ~/.local/share/bash-completion/completions/cipherlane
  cipherlane completions zsh  > ~/.zfunc/_cipherlane
  cipherlane completions fish > ~/.config/fish/completions/cipherlane.fish";

/// Options of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The shell
    shell: Shell,
}

/// Prints the completions.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "cipherlane", &mut script);
    render::print(&String::from_utf8(script).context("the completions are not UTF-8")?)?;
    Ok(Exit::Success)
}
