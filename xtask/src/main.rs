//! What CI and developers run. `cargo xtask help` lists it.

// A command-line tool prints.
#![allow(clippy::print_stderr, clippy::print_stdout)]

mod apt;
mod chromium;
mod ci;
mod layers;
mod msrv;
mod offload;
mod pictures;
mod programs;
mod python;
mod rivals;
mod shell;
mod test;
mod tools;
mod vectors;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::shell::Workspace;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Checks and tests of cipherlane")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Clone, Debug, Subcommand)]
enum Task {
    /// Everything that a change must pass: every check below, then `test`
    Ci,
    /// Fetches the vectors, runs every test, then the CPU tests with the tiers switched off one by one
    Test,
    /// Fails on a dependency between crates that ARCHITECTURE.md does not draw, and on unsafe in the wrong place
    Layers,
    /// Fetches the published test vectors into vectors/fetched, or $CIPHERLANE_VECTORS
    Vectors,
    /// Fails unless every crate promises the Rust version that the tests run on
    Msrv,
    /// Fails where a file is not formatted
    Fmt,
    /// Lints all targets, and what other features leave of the crates; a warning fails
    Clippy,
    /// Builds the documentation; a warning fails
    Docs,
    /// Licences, banned crates and sources of the dependencies; advisories where the database can be had
    Deny,
    /// Spelling
    Typos,
    /// Takes the pictures in docs/ again: reports of committed records, and the dashboard on this machine
    Pictures {
        /// The program whose pages they are [default: cipherlane of the release build]
        program: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let workspace = Workspace::find()?;
    match task {
        Task::Ci => ci::run(&workspace),
        Task::Test => test::run(&workspace),
        Task::Layers => layers::run(&workspace),
        Task::Vectors => vectors::fetch(&workspace),
        Task::Msrv => msrv::run(&workspace),
        Task::Fmt => ci::fmt(&workspace),
        Task::Clippy => ci::clippy(&workspace),
        Task::Docs => ci::docs(&workspace),
        Task::Deny => tools::deny(&workspace),
        Task::Typos => tools::typos(&workspace),
        Task::Pictures { program } => {
            let program = program.unwrap_or_else(|| workspace.target.join("release/cipherlane"));
            pictures::take(&workspace, &program)
        }
    }
}
