//! What timing itself costs: the step of the clock, a look at it, and a pass that does nothing.

use std::time::{Duration, Instant};

use cipherlane::{Algorithm, Batch, DeviceError, Hash, Operation, Output, Session, Spans};
use cipherlane_record::Calibration;

use super::runner::time_passes;
use crate::statistics;
use crate::workload::Task;
use crate::workload::aligned::Aligned;
use crate::workload::part::{Part, Results, Rows, TagBytes};

/// Looks at the clock, and passes that do nothing, of one timing: a tenth of a millisecond or so.
const LOOKS: u32 = 4000;
/// Timings; their median counts.
const TIMINGS: usize = 25;

/// A session that does nothing.
struct Nothing;

impl Session for Nothing {
    fn run(&mut self, _: &Batch<'_>, _: &mut Output<'_>) -> Result<Spans, DeviceError> {
        Ok(Spans::default())
    }
}

/// Measures it, in a few milliseconds.
#[must_use]
pub fn calibrate() -> Calibration {
    let median = |time: fn() -> Duration| {
        let seconds: Vec<f64> = (0..TIMINGS).map(|_| time().as_secs_f64()).collect();
        statistics::median(&seconds) / f64::from(LOOKS)
    };
    Calibration {
        timer_step_seconds: step().as_secs_f64(),
        timer_call_seconds: median(looks),
        empty_pass_seconds: median(empty_passes),
    }
}

/// The smallest difference between two looks that differ.
fn step() -> Duration {
    let mut smallest = Duration::MAX;
    for _ in 0..LOOKS {
        let start = Instant::now();
        let mut end = Instant::now();
        while end == start {
            end = Instant::now();
        }
        smallest = smallest.min(end - start);
    }
    smallest
}

fn looks() -> Duration {
    let start = Instant::now();
    let mut last = start;
    for _ in 0..LOOKS {
        last = std::hint::black_box(Instant::now());
    }
    last - start
}

/// The loop that times passes, around a session that does nothing.
fn empty_passes() -> Duration {
    let part = Part {
        algorithm: Algorithm::Hash(Hash::Sha256),
        operation: Operation::Hash,
        keys: Rows::Shared(Vec::new()),
        nonces: Rows::Shared(Vec::new()),
        aad: Rows::Shared(Vec::new()),
        texts: Aligned::default(),
        offsets: vec![0],
        tag_bytes: TagBytes::Same(0),
        tags: Vec::new(),
    };
    let task = Task { part, expected: Results::default() };
    let mut sessions: [Box<dyn Session>; 1] = [Box::new(Nothing)];
    // A session that does nothing cannot fail.
    time_passes(&mut sessions, false, &[task], &mut [Results::default()], LOOKS)
        .map_or(Duration::ZERO, |timing| timing.wall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timing_costs_little_and_something() {
        let is_sane = |found: &Calibration| {
            let Calibration { timer_step_seconds, timer_call_seconds, empty_pass_seconds } = *found;
            (1e-9..1e-3).contains(&timer_step_seconds)
                && (1e-10..1e-4).contains(&timer_call_seconds)
                && (1e-10..1e-3).contains(&empty_pass_seconds)
        };
        // Figures are taken one after the other, and a neighbour on the core may come between.
        let mut found = calibrate();
        for _ in 0..4 {
            if !is_sane(&found) {
                found = calibrate();
            }
        }
        assert!(is_sane(&found), "{found:?}");
    }
}
