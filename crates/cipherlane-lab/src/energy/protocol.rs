//! Idle, load, idle: a run whose energy is measured.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cipherlane_record::{Energy, Timeline};

use super::{Window, Windows, account};
use crate::telemetry::{Mark, Sampler};

/// How long each part of a trial is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Doing nothing, before and after: sessions stay open, so this is the idleness of a device in use.
    pub idle: Duration,
    /// The beginning of the load that is left out, in which clocks and readings rise.
    pub settle: Duration,
    /// The steady load.
    pub load: Duration,
}

impl Default for Protocol {
    /// As long as meters need: an energy counter that steps each tenth of a second errs by half a percent in 20 s, and
    /// readings that average over a second have risen in two.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { idle: seconds(10), settle: seconds(2), load: seconds(20) }
    }
}

/// What came of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What the sensors said, from the first idleness to the end of the second.
    pub timeline: Timeline,
    /// Where the parts lie in it.
    pub windows: Windows,
    /// Bytes of text of the steady load.
    pub bytes: u64,
    /// Its energy, or why there is none.
    pub energy: Result<Energy, String>,
}

impl Protocol {
    /// The time of a trial. What is left out is so at both ends of the load.
    #[must_use]
    pub fn total(&self) -> Duration {
        2 * (self.idle + self.settle) + self.load
    }

    /// Runs a trial on the device `id`. `work` runs until the moment that it is given, or until `stop` is set, and
    /// returns bytes of text; it is called for the beginning, and for the steady load.
    ///
    /// `None` where it was stopped.
    ///
    /// # Errors
    /// What `work` failed of.
    pub fn run<E>(
        &self,
        sampler: &Sampler,
        id: &str,
        stop: &AtomicBool,
        mut work: impl FnMut(Instant) -> Result<u64, E>,
    ) -> Result<Option<Trial>, E> {
        let begin = sampler.mark();
        pause(self.idle, stop);
        let idle_end = sampler.mark();
        work(Instant::now() + self.settle)?;
        let load_begin = sampler.mark();
        let bytes = work(Instant::now() + self.load)?;
        let load_end = sampler.mark();
        // What is still warm is no idleness: readings that average fall as slowly as they rose.
        pause(self.settle, stop);
        let idle_begin = sampler.mark();
        pause(self.idle, stop);
        let end = sampler.mark();
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let window = |from: Mark, to: Mark| Window {
            start: sampler.seconds_between(begin, from),
            end: sampler.seconds_between(begin, to),
        };
        let windows = Windows {
            before: window(begin, idle_end),
            load: window(load_begin, load_end),
            after: window(idle_begin, end),
        };
        let timeline = sampler.between(begin, end);
        let energy = account(&timeline, id, windows, bytes);
        Ok(Some(Trial { timeline, windows, bytes, energy }))
    }
}

/// Does nothing for `time`, or until `stop` is set.
pub fn pause(time: Duration, stop: &AtomicBool) {
    /// How long a stop may be overlooked.
    const STEP: Duration = Duration::from_millis(50);
    let end = Instant::now() + time;
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(STEP));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::{Sensor, Sensors};
    use cipherlane_record::Meter;
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::Mutex;

    /// A counter of energy for a GPU that takes 100 W, and 500 more while it is busy.
    struct Fake(Arc<Mutex<Duration>>);

    impl Sensor for Fake {
        fn channels(&self) -> Vec<(String, &'static str)> {
            vec![("cuda:0.energy".to_owned(), "J")]
        }

        fn read(&mut self, now: Duration) -> Vec<Option<f64>> {
            let busy = self.0.lock().unwrap().as_secs_f64();
            vec![Some(100.0 * now.as_secs_f64() + 500.0 * busy)]
        }
    }

    fn fake() -> (Sampler, Arc<Mutex<Duration>>) {
        let busy = Arc::new(Mutex::new(Duration::ZERO));
        let mut sensors = Sensors::default();
        sensors.add(Fake(Arc::clone(&busy)));
        (Sampler::start(sensors, 10.0).unwrap(), busy)
    }

    const SHORT: Protocol = Protocol {
        idle: Duration::from_millis(100),
        settle: Duration::from_millis(30),
        load: Duration::from_millis(200),
    };

    #[test]
    fn a_trial_tells_gross_and_net_energy_of_its_load() {
        let (sampler, busy) = fake();
        let (mut calls, mut worked) = (0, Duration::ZERO);
        let begin = Instant::now();
        let trial = SHORT
            .run(&sampler, "cuda:0", &AtomicBool::new(false), |until| {
                calls += 1;
                let start = Instant::now();
                while Instant::now() < until {
                    thread::sleep(Duration::from_millis(1));
                }
                worked = start.elapsed();
                *busy.lock().unwrap() += worked;
                Ok::<_, Infallible>(1000)
            })
            .unwrap()
            .unwrap();
        assert!(begin.elapsed() >= SHORT.total());
        assert_eq!((calls, trial.bytes), (2, 1000));
        let energy = trial.energy.unwrap();
        assert_eq!(energy.meter, Meter::NvmlCounter);
        assert!((energy.idle_watts.unwrap() - 100.0).abs() < 0.1, "{energy:?}");
        // The load itself is the last of the two.
        let expected = 100.0 * energy.seconds + 500.0 * worked.as_secs_f64();
        assert!((energy.joules - expected).abs() < 1e-6, "{energy:?} and not {expected} J");
        assert!(trial.windows.load.seconds() >= 0.2);
        assert!(trial.windows.before.end <= trial.windows.load.start);
        assert!(trial.windows.load.end <= trial.windows.after.start);
    }

    #[test]
    fn a_stopped_trial_is_none() {
        let (sampler, _) = fake();
        let start = Instant::now();
        let trial =
            Protocol::default().run(&sampler, "cuda:0", &AtomicBool::new(true), |_| Ok::<_, Infallible>(0));
        assert!(matches!(trial, Ok(None)));
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn the_time_of_a_trial_is_that_of_all_its_parts() {
        let milliseconds = [100, 30, 200, 30, 100].into_iter().map(Duration::from_millis);
        assert_eq!(SHORT.total(), milliseconds.sum());
    }
}
