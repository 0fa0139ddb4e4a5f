//! A load on every logical CPU: spin, then sleep, in a loop that is closed over the CPU time that it got.

use std::hint;
use std::time::{Duration, Instant};

use core_affinity::CoreId;

use super::workers::{Desk, Since, Workers};
use super::{Debt, LoadError, check};
use crate::measure::clock::thread_time;

/// Spinning and sleeping take turns in this time: several slices of the scheduler, and far below a second, in which
/// study 002 logged its load.
const PERIOD: Duration = Duration::from_millis(20);
/// The clock is read after so many pauses: a few microseconds.
const PAUSES: u32 = 200;

/// Spins on every logical CPU that this program may use.
///
/// Its share is of CPU time that the spinners got by the operating system's account. Where the measured job and the
/// spinners want the same CPU, they share it, as two programs do; the whole machine's load is `cpu.load` in a
/// timeline.
#[derive(Debug)]
pub struct CpuLoad {
    workers: Workers,
    requested: f64,
    pinned: bool,
}

impl CpuLoad {
    /// Starts to keep each CPU busy for `share` of the time.
    ///
    /// # Errors
    /// If `share` is no part of 1, or no threads can be had.
    pub fn start(share: f64) -> Result<Self, LoadError> {
        check(share)?;
        // Without a list of CPUs there are as many spinners, and the scheduler places them.
        let cpus = core_affinity::get_core_ids().filter(|cpus| !cpus.is_empty());
        let pinned = cpus.is_some();
        let count = cpus
            .as_ref()
            .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), Vec::len);
        let mut workers = Workers::default();
        for index in 0..count {
            let cpu = cpus.as_ref().map(|cpus| cpus[index]);
            // Periods begin one after the other, so that the CPUs are not all busy at once and then all idle.
            let phase = PERIOD.mul_f64(index as f64 / count as f64);
            workers.add("cpu load", move |desk| spin(desk, share, cpu, phase))?;
        }
        Ok(Self { workers, requested: share, pinned })
    }

    /// The share that was asked for.
    #[must_use]
    pub const fn requested(&self) -> f64 {
        self.requested
    }

    /// Whether each spinner stays on a CPU of its own.
    #[must_use]
    pub const fn pinned(&self) -> bool {
        self.pinned
    }

    /// Now, to ask later what was reached since.
    #[must_use]
    pub fn now(&self) -> Since {
        self.workers.now()
    }

    /// The part of all CPUs' time that the spinners got since then.
    #[must_use]
    pub fn achieved(&self, since: Since) -> f64 {
        self.workers.rate(since) / self.workers.count() as f64
    }
}

fn spin(desk: &Desk, share: f64, cpu: Option<CoreId>, phase: Duration) {
    if let Some(cpu) = cpu {
        // Where it is refused the scheduler places the thread; the share is counted all the same.
        core_affinity::set_for_current(cpu);
    }
    desk.rest_until(desk.start + phase);
    let (start, base) = (Instant::now(), thread_time());
    let mut debt = Debt::new(share, 5 * PERIOD);
    for period in 1.. {
        if desk.stopped() {
            return;
        }
        let done = thread_time().saturating_sub(base);
        let enough = done + debt.owed(start.elapsed() + PERIOD, done).min(PERIOD);
        let end = start + PERIOD * period;
        while thread_time().saturating_sub(base) < enough && Instant::now() < end {
            for _ in 0..PAUSES {
                hint::spin_loop();
            }
        }
        desk.tell(thread_time().saturating_sub(base));
        desk.rest_until(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_share_is_a_part_of_one() {
        assert!(matches!(CpuLoad::start(1.2), Err(LoadError::Share(_))));
        assert!(matches!(CpuLoad::start(f64::NAN), Err(LoadError::Share(_))));
    }

    #[test]
    fn no_share_is_next_to_no_load() {
        let load = CpuLoad::start(0.0).unwrap();
        // Where time that other machines take counts as the thread's, some windows are not what they seem.
        assert!((0..10).any(|_| {
            let since = load.now();
            thread::sleep(Duration::from_millis(300));
            load.achieved(since) < 0.02
        }));
    }

    /// The machine that runs tests is busy itself, so windows differ: who never rests has a share of 1 in each. The
    /// share itself is reached in the tests of [`Debt`], and measured by `lab run cpu-load`.
    #[test]
    fn the_load_rests_and_ends_when_dropped() {
        let load = CpuLoad::start(0.4).unwrap();
        let start = load.now();
        let window = |_| {
            let since = load.now();
            thread::sleep(5 * PERIOD);
            load.achieved(since)
        };
        let lowest = (0..10).map(window).fold(f64::INFINITY, f64::min);
        assert!(lowest < 0.7, "{lowest}");
        assert!((0..1500).any(|_| {
            thread::sleep(PERIOD);
            load.achieved(start) > 0.0
        }));
        // Returns once its threads have ended.
        drop(load);
    }
}
