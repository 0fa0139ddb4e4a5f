//! The verbs, one file each.

pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod dashboard;
pub(crate) mod devices;
pub(crate) mod files;
pub(crate) mod lab;
pub(crate) mod launch;
pub(crate) mod measure;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod shared;
pub(crate) mod tune;
pub(crate) mod verify;

use anyhow::Result;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;

/// Runs the verb.
pub(crate) fn run(cli: Cli) -> Result<Exit> {
    match cli.verb {
        Verb::Devices(options) => devices::run(&options),
        Verb::Bench(options) => bench::run(&options),
        Verb::Lab(options) => lab::run(&options),
        Verb::Tune(options) => tune::run(&options),
        Verb::Report(options) => report::run(&options),
        Verb::Dashboard(options) => dashboard::run(&options),
        Verb::Compare(options) => compare::run(&options),
        Verb::Verify(options) => verify::run(&options),
        Verb::Plan(options) => plan::run(&options),
        Verb::Keyset(options) => files::keyset(&options),
        Verb::Encrypt(options) => files::encrypt(&options),
        Verb::Decrypt(options) => files::decrypt(&options),
        Verb::Completions(options) => completions::run(&options),
    }
}
