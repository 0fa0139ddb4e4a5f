//! `dashboard`: runs on a page, while they happen.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use cipherlane::Device;
use cipherlane_dashboard::{Config, Dashboard};
use clap::builder::FalseyValueParser;

use super::measure::{argv, store};
use super::report::{browser, questions};
use super::shared::Roster;
use crate::exit::Exit;
use crate::render::{self, complain, sink};
use crate::signals;

const EXAMPLES: &str = "\
Examples:
  cipherlane dashboard                         a page on a free port, shown in the browser
  cipherlane dashboard --no-open --port 8123   for another machine, which runs ssh -L
  cipherlane dashboard --json runs.jsonl       add the rows to this file

The page is served on the loopback interface alone. Whoever has the printed address, which holds a token, can start \
runs; give it to nobody. To see it from another machine, run `ssh -L 8123:127.0.0.1:8123 HOST` there and open the address. \
Ctrl-C or the page's Quit ends it; what the run measured by then is kept, unless a second Ctrl-C ends it at once.";

/// Options of `dashboard`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, env = "CIPHERLANE_PORT", default_value_t = 0, value_parser = port)]
    port: u16,
    /// Show no browser; print the address alone
    #[arg(long, env = "CIPHERLANE_NO_OPEN", value_parser = FalseyValueParser::new())]
    no_open: bool,
    /// Leave the rivals out
    #[arg(long, env = "CIPHERLANE_NO_RIVALS", value_parser = FalseyValueParser::new())]
    no_rivals: bool,
    /// Records, one JSON object a line, added as runs finish; logs go beside it [default: a new file, which is named]
    #[arg(long, value_name = "FILE", env = "CIPHERLANE_JSON", value_parser = sink::file())]
    json: Option<PathBuf>,
}

/// A port on the command line.
fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("`{text}` is no port; write a number from 0 to {}", u16::MAX))
}

/// Serves until somebody ends it.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    let records = match &options.json {
        Some(path) => {
            // Rows are added to it: behind something else, nobody could read them.
            if path.exists() {
                cipherlane_record::read(path).context("rows cannot be added; name another file")?;
            }
            path.clone()
        }
        None => store::new_path("dashboard").context("records are not kept; name a file with --json FILE")?,
    };
    let Roster { engine, rivals, absent } = Roster::find(!options.no_rivals);
    let own = engine.devices().iter().map(Arc::clone);
    let devices: Vec<Arc<dyn Device>> = own.chain(rivals.into_iter().map(Arc::from)).collect();
    let dashboard = Dashboard::start(Config {
        devices,
        absent,
        host: cipherlane_lab::host::detect(),
        records: records.clone(),
        questions: questions::all(),
        port: options.port,
        argv: argv(),
    })?;
    let handle = dashboard.handle();
    // The first Ctrl-C ends it when the run has come to the end of its sample, the second at once.
    let on_ctrl_c = move || {
        if !handle.quit() {
            browser::forget_address();
            std::process::exit(Exit::Interrupted as i32);
        }
    };
    signals::on_request(on_ctrl_c)?;
    let url = dashboard.url();
    render::print(&format!(
        "dashboard: {url}\nrecords: {}\nCtrl-C ends it; what the run measured by then is kept.\n",
        records.display()
    ))?;
    if !options.no_open {
        browser::show_secret_address(&url);
    }
    let served = dashboard.serve(|run| complain("stopping", &format!("{run}; press Ctrl-C to end at once")));
    browser::forget_address();
    served?;
    Ok(Exit::Success)
}
