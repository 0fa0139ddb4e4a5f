//! `bench`: measure, verified.

mod ask;
mod own;

use anyhow::Result;
use cipherlane_lab::workload::{Job, Named};

pub(crate) use ask::Options;

use super::measure;
use crate::exit::Exit;
use crate::render;
use crate::render::table::{self, Column};

/// Measures what the options ask for.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    if options.list {
        render::print(&list())?;
        return Ok(Exit::Success);
    }
    // A wrong combination is known before the machine is looked at.
    options.how.takes_stdout()?;
    options.check_log()?;
    if let Some(log) = &options.log {
        options.how.check_apart("--log", log)?;
    }
    let host = cipherlane_lab::host::detect();
    let mut suite = options.suite(&host)?;
    if options.how.leave_out_done(&mut suite)? {
        measure::write_kept(&options.how, &suite.experiment, options.log.as_deref())?;
        return Ok(Exit::Success);
    }
    let roster = measure::roster(&options.how);
    let on = (&roster, &host);
    let measured = measure::run(&suite, &options.how, options.seconds(), on, options.log.as_deref())?;
    Ok(measure::exit(&measured.outcome))
}

/// The workloads with the questions that they answer.
fn list() -> String {
    let mut table = table::new([Column::Words("workload"), Column::Words("question"), Column::Words("rows")]);
    for workload in Named::ALL {
        let jobs: Vec<String> = workload.jobs.iter().map(Job::to_string).collect();
        table.add_row([workload.name.to_owned(), workload.question.to_owned(), jobs.join(", ")]);
    }
    format!("{}\n", table::text(&table))
}
