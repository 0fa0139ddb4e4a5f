//! What the libraries log, on stderr.

use log::{Level, LevelFilter, Log, Metadata, Record};

use super::complain;

/// What is logged by crates of this project: others tell of their own workings.
const OURS: &str = "cipherlane";

struct Notes;

impl Log for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Info && metadata.target().starts_with(OURS)
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let kind = if record.level() <= Level::Warn { "warning" } else { "note" };
            complain(kind, &record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// Shows them from now on.
pub(crate) fn listen() {
    if log::set_logger(&Notes).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}
