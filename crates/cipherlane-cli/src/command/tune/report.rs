//! What was tried, and what is best.

use std::fmt::Write as _;

use cipherlane::{Device, DeviceError, Tried, Tuned};
use cipherlane_lab::workload::Task;
use serde::Serialize;

use crate::command::launch;
use crate::exit::Exit;
use crate::render::table::{self, Column};
use crate::render::units;

/// A kernel on a device.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    device: String,
    what: String,
    bytes: usize,
    #[serde(serialize_with = "told")]
    pub(super) tuned: Result<Tuned, DeviceError>,
}

/// What JSON has of a launch.
#[derive(Debug, Serialize)]
struct Launch {
    blocks: usize,
    threads_per_block: usize,
    tile_blocks: u64,
    seconds: Option<f64>,
    failure: Option<String>,
}

impl Launch {
    fn of(tried: &Tried) -> Self {
        Self {
            blocks: tried.geometry.blocks,
            threads_per_block: tried.geometry.threads_per_block,
            tile_blocks: tried.tile_blocks,
            seconds: tried.seconds.as_ref().ok().copied(),
            failure: tried.seconds.as_ref().err().cloned(),
        }
    }
}

/// Writes what was tried, or why nothing was.
fn told<S: serde::Serializer>(tuned: &Result<Tuned, DeviceError>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Told<'a> {
        kernel: Option<&'a str>,
        best: Option<Launch>,
        before_seconds: Option<f64>,
        tried: Vec<Launch>,
        failure: Option<String>,
    }
    let tuned_ref = tuned.as_ref();
    let told = Told {
        kernel: tuned_ref.ok().map(|tuned| tuned.kernel.as_str()),
        best: tuned_ref.ok().map(|tuned| Launch::of(&tuned.best)),
        before_seconds: tuned_ref.ok().and_then(|tuned| tuned.before_seconds),
        tried: tuned_ref.map_or_else(|_| Vec::new(), |tuned| tuned.tried.iter().map(Launch::of).collect()),
        failure: tuned_ref.err().map(ToString::to_string),
    };
    told.serialize(serializer)
}

impl Entry {
    pub(super) fn new(
        device: &dyn Device,
        what: &str,
        task: &Task,
        tuned: Result<Tuned, DeviceError>,
    ) -> Self {
        let bytes = task.part.texts.len();
        Self { device: device.info().id.clone(), what: what.to_owned(), bytes, tuned }
    }

    fn rate(&self, seconds: f64) -> String {
        #[allow(clippy::cast_precision_loss)] // sizes below 2^53
        units::gigabytes(self.bytes as f64 / seconds)
    }
}

/// The table, and what it means.
pub(super) fn text(entries: &[Entry]) -> String {
    let mut table = table::new([
        Column::Words("tuned"),
        Column::Words("device"),
        Column::Words("kernel"),
        Column::Number("GB/s before"),
        Column::Number("GB/s"),
        Column::Words("best launch"),
        Column::Number("tried"),
    ]);
    let mut failures = String::new();
    for entry in entries {
        match &entry.tuned {
            Ok(tuned) => {
                let rate =
                    |seconds: Option<f64>| seconds.map_or_else(|| "-".to_owned(), |time| entry.rate(time));
                let mut best = launch::described(&tuned.best.geometry);
                if tuned.best.tile_blocks > 0 {
                    let _ = write!(best, ", tiles of {}", units::bytes(16 * tuned.best.tile_blocks));
                }
                table.add_row([
                    entry.what.clone(),
                    entry.device.clone(),
                    tuned.kernel.clone(),
                    rate(tuned.before_seconds),
                    rate(tuned.best.seconds.as_ref().ok().copied()),
                    best,
                    tuned.tried.len().to_string(),
                ]);
            }
            Err(error) => {
                let _ = writeln!(failures, "NOT TUNED: {} on {}: {error}", entry.what, entry.device);
            }
        }
    }
    let mut text = String::new();
    if entries.iter().any(|entry| entry.tuned.is_ok()) {
        let _ = writeln!(text, "{}", table::text(&table));
        let _ = writeln!(
            text,
            "GB/s = 1e9 bytes of message text per second of kernels, data on the device; every output was right."
        );
    }
    text + &failures
}

/// 0 if all were tuned, else what speaks loudest.
pub(super) fn exit(entries: &[Entry]) -> Exit {
    let errors: Vec<&DeviceError> = entries.iter().filter_map(|entry| entry.tuned.as_ref().err()).collect();
    if errors.iter().any(|error| matches!(error, DeviceError::WrongOutput { .. })) {
        Exit::Mismatch
    } else if errors.is_empty() {
        Exit::Success
    } else if errors.iter().all(|error| matches!(error, DeviceError::Unsupported(_))) {
        Exit::NothingToRun
    } else {
        Exit::Failure
    }
}
