//! How far a meter is to be trusted.
//!
//! [`steps`] asks how often a counter moves: energy over a window is no surer than one step. [`square_wave`] asks
//! whether a meter looks all the time: power readings on Hopper see 25 ms of each 100 (arXiv 2312.02741), and
//! whether its counter does, too, is not documented. A load that is on for half of each 100 ms gives every meter that
//! looks all the time the same power wherever its phase lies; one that looks a part of the time finds the load more
//! or less often.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use cipherlane_record::Meter;

use super::{Window, joules, pause};
use crate::statistics;
use crate::telemetry::Sampler;

/// How a counter moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// Steps that were seen.
    pub count: usize,
    /// Median time from one to the next.
    pub seconds: f64,
    /// Median height.
    pub joules: f64,
}

/// Reads a counter each millisecond for `time`.
///
/// # Errors
/// If it cannot be read, or moved fewer than three times.
pub fn steps(read: impl FnMut() -> Result<f64, String>, time: Duration) -> Result<Steps, String> {
    const PAUSE: Duration = Duration::from_millis(1);
    let start = Instant::now();
    steps_by(read, time, || start.elapsed(), || thread::sleep(PAUSE))
}

/// The same by any clock.
fn steps_by(
    mut read: impl FnMut() -> Result<f64, String>,
    time: Duration,
    passed: impl Fn() -> Duration,
    pause: impl Fn(),
) -> Result<Steps, String> {
    let mut seen = vec![(Duration::ZERO, read()?)];
    let mut last = seen[0].1;
    // The first step ends a wait of unknown length; it only says where the next begins.
    while passed() < time {
        let value = read()?;
        if value.to_bits() != last.to_bits() {
            seen.push((passed(), value));
            last = value;
        }
        pause();
    }
    let moved: Vec<_> =
        seen[1..].windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1)).collect();
    if moved.len() < 2 {
        return Err(format!("the counter moved {} times in {:.1} s", seen.len() - 1, time.as_secs_f64()));
    }
    let median = |values: Vec<f64>| statistics::median(&values);
    Ok(Steps {
        count: moved.len(),
        seconds: median(moved.iter().map(|(time, _)| time.as_secs_f64()).collect()),
        joules: median(moved.iter().map(|&(_, joules)| joules).collect()),
    })
}

/// A load that is on for the first half of each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wave {
    /// One on and one off: as long as the meter's own period, 100 ms on GPUs of NVIDIA.
    pub period: Duration,
    /// Phases to try, evenly spread over a period.
    pub phases: u32,
    /// Time for each.
    pub time: Duration,
}

impl Default for Wave {
    fn default() -> Self {
        Self { period: Duration::from_millis(100), phases: 4, time: Duration::from_secs(5) }
    }
}

/// What a meter saw of a wave.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The meter.
    pub meter: Meter,
    /// Mean power at each phase, in W.
    pub watts: Vec<f64>,
}

impl Seen {
    /// Highest less lowest power, by their mean: near 0 where the meter looks all the time.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let mean = self.watts.iter().sum::<f64>() / self.watts.len() as f64;
        let (low, high) =
            self.watts.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &watts| {
                (low.min(watts), high.max(watts))
            });
        (high - low) / mean
    }
}

/// Drives the device `id` with `wave` at each phase. `busy` keeps it busy until the moment that it is given.
///
/// All phases count from one moment, so that they lie differently to the meter's own period as long as that is
/// steady.
///
/// # Errors
/// If the device has no meter, or fails.
pub fn square_wave(
    wave: Wave,
    sampler: &Sampler,
    id: &str,
    stop: &AtomicBool,
    mut busy: impl FnMut(Instant) -> Result<(), String>,
) -> Result<Vec<Seen>, String> {
    let origin = Instant::now();
    let mut seen: Vec<Seen> = Vec::new();
    for phase in 0..wave.phases {
        let shift = wave.period * phase / wave.phases;
        drive(wave.period, origin + shift, wave.period * 5, stop, &mut busy)?;
        let begin = sampler.mark();
        drive(wave.period, origin + shift, wave.time, stop, &mut busy)?;
        let timeline = sampler.since(begin);
        let end = timeline.seconds.last().copied().unwrap_or_default();
        for (meter, joules) in joules(&timeline, id, Window { start: 0.0, end })? {
            match seen.iter_mut().find(|seen| seen.meter == meter) {
                Some(seen) => seen.watts.push(joules / end),
                None => seen.push(Seen { meter, watts: vec![joules / end] }),
            }
        }
    }
    Ok(seen)
}

/// Turns the load on and off for `time`, on at `origin` and at every whole period from there.
fn drive(
    period: Duration,
    origin: Instant,
    time: Duration,
    stop: &AtomicBool,
    busy: &mut impl FnMut(Instant) -> Result<(), String>,
) -> Result<(), String> {
    let end = Instant::now() + time;
    while Instant::now() < end && !stop.load(std::sync::atomic::Ordering::Relaxed) {
        let periods = origin.elapsed().as_secs_f64() / period.as_secs_f64();
        let next = origin + period.mul_f64(periods.ceil());
        pause(next.saturating_duration_since(Instant::now()), stop);
        busy(next + period / 2)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::{Sensor, Sensors};
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn a_counter_shows_its_steps() {
        let now = Cell::new(Duration::ZERO);
        let read = || Ok((now.get().as_millis() / 20) as f64 * 3.0);
        let tick = || now.set(now.get() + Duration::from_millis(1));
        let steps = steps_by(read, Duration::from_millis(300), || now.get(), tick).unwrap();
        // 14 steps, the first of which ends no other.
        assert_eq!((steps.count, steps.joules), (13, 3.0));
        assert!((steps.seconds - 0.02).abs() < 1e-9, "{steps:?}");
    }

    #[test]
    fn a_counter_that_stands_still_has_no_steps() {
        let reason = steps(|| Ok(7.0), Duration::from_millis(20)).unwrap_err();
        assert!(reason.contains("moved 0 times"), "{reason}");
    }

    /// 100 W of idleness, and 10 J each time that the load is on, by the clock of who asks.
    struct Counter(Arc<AtomicU64>);

    impl Sensor for Counter {
        fn channels(&self) -> Vec<(String, &'static str)> {
            vec![("cuda:0.energy".to_owned(), "J")]
        }

        fn read(&mut self, now: Duration) -> Vec<Option<f64>> {
            vec![Some(100.0 * now.as_secs_f64() + 10.0 * self.0.load(Ordering::Relaxed) as f64)]
        }
    }

    #[test]
    fn a_wave_reaches_the_meter_in_every_phase() {
        let turns = Arc::new(AtomicU64::new(0));
        let mut sensors = Sensors::default();
        sensors.add(Counter(Arc::clone(&turns)));
        let sampler = Sampler::start(sensors, 10.0).unwrap();
        let wave = Wave { period: Duration::from_millis(40), phases: 2, time: Duration::from_millis(400) };
        let busy = |until: Instant| {
            thread::sleep(until.saturating_duration_since(Instant::now()));
            turns.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let seen = square_wave(wave, &sampler, "cuda:0", &AtomicBool::new(false), busy).unwrap();
        assert_eq!(seen.len(), 1);
        assert_eq!((seen[0].meter, seen[0].watts.len()), (Meter::NvmlCounter, 2));
        // At least once in a phase; at most once in each 40 ms, and once at each end.
        assert!(seen[0].watts.iter().all(|watts| (100.001..450.0).contains(watts)), "{seen:?}");
    }

    #[test]
    fn a_spread_is_a_part_of_the_mean() {
        let seen = Seen { meter: Meter::NvmlAverage, watts: vec![300.0, 360.0, 240.0, 300.0] };
        assert!((seen.spread() - 0.4).abs() < 1e-9);
    }
}
