//! One run: what state it is in, what it may do next, and what is known of it.

use std::path::PathBuf;
use std::sync::Arc;

use cipherlane_lab::Totals;
use cipherlane_record::{Checks, Measurement};
use serde::Serialize;

use crate::request::{Order, Request};

/// Where a run is.
///
/// ```text
/// queued -> preparing -> running <-> paused
///    |          |           |          |
///    +----------+-----------+----------+--> finished, cancelled or failed
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Another one runs.
    Queued,
    /// Known answers, expected outputs, warming up.
    Preparing,
    /// It measures.
    Running,
    /// It rests; its sessions stay open.
    Paused,
    /// Its row is in the file of records.
    Finished,
    /// Stopped before there was anything to keep.
    Cancelled,
    /// Something went wrong: see its problem.
    Failed,
}

impl State {
    /// Whether nothing will change any more.
    pub(crate) const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled | Self::Failed)
    }
}

/// What somebody wants of a run. The engine looks at it between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Go,
    Pause,
    Stop,
}

/// What the page can ask of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Pause,
    Resume,
    /// Ends it; what it measured is kept.
    Stop,
}

/// What is known of a run while it measures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Time since it began to measure, pauses left out.
    pub(crate) seconds: f64,
    /// Samples that will count; a sample that was disturbed is repeated and counts once.
    pub(crate) samples: usize,
    /// What went through the device.
    pub(crate) totals: Totals,
    /// What was compared with the expected outputs.
    pub(crate) checks: Checks,
    /// Over the last quarter of a second or so.
    pub(crate) bytes_per_second: f64,
    /// The same in messages.
    pub(crate) messages_per_second: f64,
    /// Over the whole run.
    pub(crate) mean_bytes_per_second: f64,
    /// The core's clock by a chain of additions; absent where it cannot be measured or does not count.
    pub(crate) core_clock_hertz: Option<f64>,
    /// What background loads reached so far, as parts of 1: CPU and device.
    pub(crate) cpu_load: Option<f64>,
    pub(crate) device_load: Option<f64>,
}

/// Throughput at a moment: seconds since the run began to measure, pauses included, and bytes per second; `None` at the
/// beginning of a pause.
pub(crate) type Point = (f64, Option<f64>);

/// How a run ended.
pub(crate) enum End {
    Finished {
        row: Arc<Measurement>,
        /// The log, or why there is none.
        log: Result<PathBuf, String>,
    },
    Cancelled(String),
    Failed(String),
    /// It measured, but its row is not in the file of records, for this reason.
    Unkept {
        row: Arc<Measurement>,
        reason: String,
    },
}

/// One run.
pub(crate) struct Run {
    pub(crate) id: u64,
    /// Of all changes of the board's runs, which was the last of this one: a page is told of what it has not seen.
    pub(crate) change: u64,
    /// What was asked for, to be asked for again.
    pub(crate) request: Request,
    pub(crate) order: Arc<Order>,
    pub(crate) state: State,
    pub(crate) wanted: Wanted,
    /// What the engine is at, or how it ended: see [`Run::words()`].
    words: String,
    /// How its batches are run.
    pub(crate) plans: Vec<String>,
    pub(crate) figures: Figures,
    pub(crate) points: Vec<Point>,
    pub(crate) row: Option<Arc<Measurement>>,
    pub(crate) log: Option<PathBuf>,
}

impl Run {
    pub(crate) fn new(id: u64, request: Request, order: Order) -> Self {
        Self {
            id,
            change: 0,
            request,
            order: Arc::new(order),
            state: State::Queued,
            wanted: Wanted::Go,
            words: "waits for its turn".to_owned(),
            plans: Vec::new(),
            figures: Figures::default(),
            points: Vec::new(),
            row: None,
            log: None,
        }
    }

    /// What stands in place of its rates, if an output was wrong.
    pub(crate) fn fault(&self) -> Option<String> {
        self.row.as_ref().map_or_else(|| self.figures.checks.fault(), |row| row.fault())
    }

    /// Says what the engine is at.
    pub(crate) fn say(&mut self, words: &str) {
        words.clone_into(&mut self.words);
    }

    /// Takes a command.
    ///
    /// # Errors
    /// Says why it makes no sense in this state.
    pub(crate) fn command(&mut self, command: Command) -> Result<(), String> {
        if self.state.is_over() {
            return Err("this run is over; start another".to_owned());
        }
        match (command, self.state) {
            (Command::Stop, State::Queued) => {
                self.state = State::Cancelled;
                "taken out of the queue".clone_into(&mut self.words);
            }
            (Command::Stop, _) => self.wanted = Wanted::Stop,
            (_, State::Queued | State::Preparing) => {
                return Err("this run does not measure yet; it can be stopped".to_owned());
            }
            (Command::Pause | Command::Resume, _) if self.wanted == Wanted::Stop => {
                return Err("this run is being stopped".to_owned());
            }
            (Command::Pause, _) => self.wanted = Wanted::Pause,
            (Command::Resume, _) => self.wanted = Wanted::Go,
        }
        Ok(())
    }

    /// What the engine is at, or how the run ended, in words. What is going on may take a while: who waits for the end
    /// of a run that is being stopped can see what for.
    pub(crate) fn words(&self) -> String {
        match &*self.words {
            words if self.wanted != Wanted::Stop || self.state.is_over() => words.to_owned(),
            "" => "is being stopped".to_owned(),
            now => format!("{now}, and is then stopped"),
        }
    }

    pub(crate) fn end(&mut self, end: End) {
        match end {
            End::Finished { row, log } => {
                self.state = State::Finished;
                self.words = match &log {
                    Ok(_) => String::new(),
                    Err(reason) => format!("there is no log: {reason}"),
                };
                self.log = log.ok();
                self.row = Some(row);
            }
            End::Cancelled(words) => (self.state, self.words) = (State::Cancelled, words),
            End::Failed(words) => (self.state, self.words) = (State::Failed, words),
            End::Unkept { row, reason } => {
                self.state = State::Failed;
                self.words = format!(
                    "its row is not in the file of records: {reason}; the dashboard alone has it, as long as it runs"
                );
                self.row = Some(row);
            }
        }
    }
}
