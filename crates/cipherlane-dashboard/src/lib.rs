//! Runs on a page of one's own machine: choose, start, pause, stop, and look.
//!
//! ```text
//! browser -> server (one thread: guard, API, events) -> board (what is queued, running, finished)
//!                                                          ^
//!                                  engine (one thread: the laboratory's live runs, records, logs)
//! ```
//!
//! The server listens on the loopback interface alone and refuses whoever does not know its token, comes under another
//! host's name, or from another origin. Nothing of the engine's work happens in its thread. The board is all that the
//! two share: a state machine of runs, tested by itself. Every sample is checked as the laboratory checks it, and the
//! numbers on the page are those of the record.

#![forbid(unsafe_code)]

mod board;
mod engine;
mod keep;
mod machine;
mod request;
mod run;
mod server;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use cipherlane::Device;
use cipherlane::devices::Absent;
use cipherlane_lab::telemetry::{MOST_HERTZ, Sampler, Sensors};
use cipherlane_record::Host;
use thiserror::Error;

use board::Board;
use keep::Keep;
use machine::Machine;
use server::Door;

/// What a dashboard is made of.
#[derive(Clone)]
pub struct Config {
    /// Everything that can be chosen; one of them is `cpu`, which computes the expected outputs.
    pub devices: Vec<Arc<dyn Device>>,
    /// Kinds of devices that are not here, and why.
    pub absent: Vec<Absent>,
    /// This machine.
    pub host: Host,
    /// The file to which records are added. Logs lie beside it.
    pub records: PathBuf,
    /// What experiments ask, by their names, for the reports.
    pub questions: BTreeMap<String, String>,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// The command line, for the records.
    pub argv: Vec<String>,
}

/// Why there is no dashboard.
#[derive(Debug, Error)]
pub enum StartError {
    /// None of the devices can say what is right.
    #[error("no device is called `cpu`, which computes the expected outputs")]
    NoCpu,
    /// The port is taken, or there is no loopback interface.
    #[error("cannot listen on 127.0.0.1:{port}: {error}; leave the port out for a free one")]
    Listen {
        /// The port that was asked for.
        port: u16,
        /// What the system said.
        error: io::Error,
    },
    /// The file of records cannot be written.
    #[error("cannot write {}: {error}; name a file in a folder that you may write to", path.display())]
    Records {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// There is no thread, or no random number for the token.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// A dashboard: its address is open, its engine waits for runs.
pub struct Dashboard {
    door: Door,
    machine: Arc<Machine>,
    board: Arc<Board>,
    engine: JoinHandle<()>,
}

/// Ends a dashboard from anywhere: from a handler of Ctrl-C.
#[derive(Clone)]
pub struct Handle(Arc<Board>);

impl Dashboard {
    /// Opens the address and starts the engine.
    ///
    /// # Errors
    /// If the port, the file of records or a thread cannot be had.
    pub fn start(config: Config) -> Result<Self, StartError> {
        let door =
            Door::open(config.port).map_err(|error| StartError::Listen { port: config.port, error })?;
        let keep = Keep::open(&config.records)
            .map_err(|error| StartError::Records { path: config.records.clone(), error })?;
        let devices: Vec<&dyn Device> = config.devices.iter().map(AsRef::as_ref).collect();
        let sampler = Sampler::start(Sensors::of_this_machine(&devices), MOST_HERTZ)?;
        let machine = Arc::new(Machine::new(config, sampler).ok_or(StartError::NoCpu)?);
        let board = Arc::new(Board::default());
        let (theirs, board_of_engine) = (Arc::clone(&machine), Arc::clone(&board));
        let engine = thread::Builder::new()
            .name("dashboard engine".to_owned())
            .spawn(move || engine::work(&theirs, &board_of_engine, keep))?;
        Ok(Self { door, machine, board, engine })
    }

    /// The page's address with its token: whoever knows it can start runs.
    #[must_use]
    pub fn url(&self) -> String {
        self.door.url()
    }

    /// Ends it from elsewhere.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.board))
    }

    /// Serves until somebody ends it. The run that is going on is then stopped after its sample, and kept: `waits` is told
    /// which, for what it is at may take long.
    ///
    /// # Errors
    /// If the server cannot be started, or a run measured whose row is not in the file of records.
    pub fn serve(self, waits: impl FnOnce(&str)) -> io::Result<()> {
        let served = server::serve(self.door, self.machine, &self.board);
        self.board.quit();
        if let Some(run) = self.board.under_way() {
            waits(&run);
        }
        // What an engine that panicked did before is in the file of records.
        let _ = self.engine.join();
        served?;
        self.board.unkept().map_or(Ok(()), |runs| Err(io::Error::other(runs)))
    }
}

impl Handle {
    /// Ends the dashboard: see [`Dashboard::serve`]. `false` if it is ending already, or over.
    pub fn quit(&self) -> bool {
        self.0.quit()
    }
}

impl std::fmt::Debug for Dashboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dashboard").field("machine", &self.machine).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let devices: Vec<&str> = self.devices.iter().map(|device| device.info().id.as_str()).collect();
        f.debug_struct("Config")
            .field("devices", &devices)
            .field("records", &self.records)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}
