//! Watches a run: moves the bar, and stores each row as it finishes.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use cipherlane_lab::workload::Workload;
use cipherlane_lab::workload::part::Results;
use cipherlane_lab::{Observer, Progress, Skipped, log};
use cipherlane_record::{Measurement, Observation};

use super::store::{Store, named};
use super::{describe, is_lacking};
use crate::render::progress::Bar;
use crate::render::sink::ResultFile;
use crate::render::{complain, units};

/// The watcher.
pub(super) struct Watch {
    bar: Bar,
    store: Store,
    /// Where texts go, message by message, and its path.
    log: Option<(PathBuf, BufWriter<ResultFile>)>,
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
            log: None,
            last: String::new(),
            observations: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// The same, writing the log of each row of ours to the file at `path`.
    pub(super) fn with_log(self, path: Option<&Path>) -> Result<Self> {
        let open = |path: &Path| anyhow::Ok((path.to_owned(), BufWriter::new(ResultFile::open(path)?)));
        Ok(Self { log: path.map(open).transpose()?, ..self })
    }

    /// Shows what is going on before the run.
    pub(super) fn say(&self, what: &str) {
        self.bar.show(0.0, None, what.to_owned());
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
        if row.verified && !row.is_of_a_rival() {
            let rate = units::gigabytes(row.bytes_per_second);
            self.last =
                format!("   (last: {} {} {}: {rate} GB/s)", row.workload, row.algorithm, row.operation);
        }
        if !row.verified {
            let (wrong, all) = (row.checks.unexpected, row.checks.messages);
            let text = format!("{} on {}: {wrong} of {all} outputs are wrong", row.workload, row.device);
            complain("warning", &text);
        }
        self.store.append(row)
    }

    fn wants_outputs(&self, row: &Measurement) -> bool {
        self.log.is_some() && !row.is_of_a_rival()
    }

    fn outputs(&mut self, row: &Measurement, workload: &Workload, results: &[Results]) -> io::Result<()> {
        let Some((path, file)) = &mut self.log else { return Ok(()) };
        let written = log::write(&mut *file, row, workload, results);
        let written = written.and_then(|()| writeln!(file)).and_then(|()| file.flush());
        written.map_err(|error| named(&path.display().to_string(), &error))
    }

    fn no_outputs(&mut self, row: &Measurement, reason: &str) {
        let Measurement { workload, algorithm, operation, device, .. } = row;
        let text = format!("the log lacks {workload} {algorithm} {operation} on {device}: {reason}");
        complain("warning", &text);
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
        if !is_lacking(skipped) {
            complain("skipped", &describe(skipped));
        }
    }
}
