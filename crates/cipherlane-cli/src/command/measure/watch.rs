//! Watches a run: moves the bar, and stores each row as it finishes.

use std::io;

use cipherlane_lab::{Observer, Progress, Skipped};
use cipherlane_record::{Measurement, Observation};

use super::describe;
use super::store::Store;
use crate::render::progress::Bar;
use crate::render::{complain, units};

/// The watcher.
pub(super) struct Watch {
    bar: Bar,
    store: Store,
    /// The row that finished last, in short.
    last: String,
    observations: Vec<Observation>,
    /// What was left out, in words.
    skipped: Vec<String>,
}

impl Watch {
    pub(super) fn new(store: Store, quiet: bool) -> Self {
        Self {
            bar: Bar::new(quiet),
            store,
            last: String::new(),
            observations: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Shows what is going on before the run.
    pub(super) fn say(&self, what: &str) {
        self.bar.show(0.0, None, what.to_owned());
    }

    /// Writes above the bar.
    pub(super) fn above(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        self.bar.clear();
    }

    /// Where the rows went, the observations, and what was left out.
    pub(super) fn into_parts(self) -> (Store, Vec<Observation>, Vec<String>) {
        (self.store, self.observations, self.skipped)
    }

    /// Where the rows went.
    pub(super) fn into_store(self) -> Store {
        self.store
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress<'_>) {
        let message = format!("{}{}", progress.current, self.last);
        self.bar.show(progress.fraction, Some(progress.left), message);
    }

    fn finished(&mut self, row: &Measurement) -> io::Result<()> {
        if !row.device.starts_with("rival:") {
            let rate = units::gigabytes(row.bytes_per_second);
            self.last =
                format!("   (last: {} {} {}: {rate} GB/s)", row.workload, row.algorithm, row.operation);
        }
        if !row.verified {
            let (wrong, all) = (row.checks.unexpected, row.checks.messages);
            let text = format!("{} on {}: {wrong} of {all} outputs are wrong", row.workload, row.device);
            self.bar.suspend(|| complain("warning", &text));
        }
        self.store.append(row)
    }

    fn observed(&mut self, row: &Observation) -> io::Result<()> {
        let axes: Vec<String> = row.axes.values().map(ToString::to_string).collect();
        self.say(&format!("{}: {} on {}", row.experiment, axes.join(", "), row.subject));
        self.store.observe(row)?;
        self.observations.push(row.clone());
        Ok(())
    }

    fn skipped(&mut self, skipped: &Skipped) {
        self.skipped.push(describe(skipped));
        self.bar.suspend(|| complain("skipped", &describe(skipped)));
    }
}
