//! Reads sensors from a thread of its own.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cipherlane_record::{Channel, Timeline, throttle};

use super::Sensors;

/// Readings a second, if nobody asks for another number.
pub const DEFAULT_HERTZ: f64 = 4.0;
/// Readings a second at most: more of them disturb what they watch (reading RAPL a thousand times a second takes up
/// to half of a core, arXiv 2604.26815), and few sensors step faster.
pub const MOST_HERTZ: f64 = 10.0;

/// A thread that reads sensors until it is dropped.
///
/// It keeps every reading, a hundred bytes or so each, until it is told to [forget](Sampler::forget) them.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// A moment in a sampler's readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(usize);

#[derive(Debug)]
struct Shared {
    log: Mutex<Log>,
    stop: Mutex<bool>,
    stopping: Condvar,
}

#[derive(Debug)]
struct Log {
    sensors: Sensors,
    start: Instant,
    unix_seconds: f64,
    /// Readings before the first that is kept.
    forgotten: usize,
    seconds: Vec<f64>,
    /// Name, unit and readings of each channel.
    channels: Vec<Channel>,
    /// Time that reading took, all in all.
    spent: Duration,
}

impl Sampler {
    /// Starts to read `sensors`, `hertz` times a second, but no more often than [`MOST_HERTZ`].
    ///
    /// # Errors
    /// If no thread can be had.
    pub fn start(sensors: Sensors, hertz: f64) -> io::Result<Self> {
        let period = Duration::from_secs_f64(1.0 / hertz.clamp(0.01, MOST_HERTZ));
        let mut log = Log::new(sensors);
        // Whoever asks finds a reading, however late the thread begins.
        log.read();
        let shared =
            Arc::new(Shared { log: Mutex::new(log), stop: Mutex::new(false), stopping: Condvar::new() });
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().name("sensors".to_owned()).spawn(move || theirs.run(period))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Reads all sensors now, and remembers the moment.
    #[must_use]
    pub fn mark(&self) -> Mark {
        let mut log = self.shared.log();
        log.read();
        Mark(log.forgotten + log.seconds.len() - 1)
    }

    /// Forgets all readings but the last. What is asked of a mark from before begins with the oldest that is left.
    pub fn forget(&self) {
        self.shared.log().forget();
    }

    /// Reads all sensors now; everything that was read since `mark`, with the mark's own reading.
    #[must_use]
    pub fn since(&self, mark: Mark) -> Timeline {
        let end = self.mark();
        self.between(mark, end)
    }

    /// Everything that was read from `start` to `end`, both included.
    #[must_use]
    pub fn between(&self, start: Mark, end: Mark) -> Timeline {
        self.joined(&[(start, end)])
    }

    /// Everything that was read in stretches that follow one another, at the times at which it was.
    #[must_use]
    pub fn joined(&self, stretches: &[(Mark, Mark)]) -> Timeline {
        let log = self.shared.log();
        let places = |&(start, end): &(Mark, Mark)| log.place(start)..=log.place(end);
        log.readings(&stretches.iter().flat_map(places).collect::<Vec<_>>())
    }

    /// The last reading, of one moment. Costs no reading.
    #[must_use]
    pub fn latest(&self) -> Timeline {
        let log = self.shared.log();
        let last = log.seconds.len().checked_sub(1);
        log.readings(last.as_slice())
    }

    /// Seconds from `start` to `end`.
    #[must_use]
    pub fn seconds_between(&self, start: Mark, end: Mark) -> f64 {
        let log = self.shared.log();
        log.seconds[log.place(end)] - log.seconds[log.place(start)]
    }

    /// Whether the clock of the device `id` was held back at the last reading, or the CPU's where the device has no
    /// such sensor of its own. `None` where nothing tells. Costs no reading.
    #[must_use]
    pub fn throttled(&self, id: &str) -> Option<bool> {
        let log = self.shared.log();
        let of = |id| log.channels.iter().find(|channel| channel.name == throttle::channel(id));
        let channel = of(id).or_else(|| of("cpu"))?;
        let value = (*channel.values.last()?)?;
        Some(!throttle::reasons(&channel.name, value).is_empty())
    }

    /// The part of one CPU's time that reading took so far.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let log = self.shared.log();
        log.spent.as_secs_f64() / log.start.elapsed().as_secs_f64()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        *lock(&self.shared.stop) = true;
        self.shared.stopping.notify_all();
        if let Some(thread) = self.thread.take() {
            // A sensor that panicked ended its thread; what was read until then stands.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self, period: Duration) {
        let mut next = Instant::now();
        loop {
            // A machine that slept does not read all that it missed.
            next = (next + period).max(Instant::now());
            let mut stop = lock(&self.stop);
            while !*stop {
                let left = next.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                stop = self.stopping.wait_timeout(stop, left).unwrap_or_else(PoisonError::into_inner).0;
            }
            if *stop {
                return;
            }
            drop(stop);
            self.log().read();
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }
}

/// A log is whole between readings, whoever panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    fn new(sensors: Sensors) -> Self {
        let channel =
            |(name, unit): (String, &str)| Channel { name, unit: unit.to_owned(), values: Vec::new() };
        Self {
            channels: sensors.channels().into_iter().map(channel).collect(),
            sensors,
            start: Instant::now(),
            unix_seconds: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |since| since.as_secs_f64()),
            forgotten: 0,
            seconds: Vec::new(),
            spent: Duration::ZERO,
        }
    }

    fn read(&mut self) {
        let now = self.start.elapsed();
        let values: Vec<_> = self.sensors.sensors.iter_mut().flat_map(|sensor| sensor.read(now)).collect();
        for (channel, value) in self.channels.iter_mut().zip(values) {
            // Half of a reading, as a driver that goes away may leave it, is none.
            channel.values.push(value.filter(|value| value.is_finite()));
        }
        self.seconds.push(now.as_secs_f64());
        self.spent += self.start.elapsed().saturating_sub(now);
    }

    /// Where the reading of `mark` lies among those that are kept.
    const fn place(&self, mark: Mark) -> usize {
        mark.0.saturating_sub(self.forgotten)
    }

    fn forget(&mut self) {
        let old = self.seconds.len().saturating_sub(1);
        self.seconds.drain(..old);
        for channel in &mut self.channels {
            channel.values.drain(..old);
        }
        self.forgotten += old;
    }

    /// The readings at these places.
    fn readings(&self, places: &[usize]) -> Timeline {
        let missing = self.sensors.missing.clone();
        let Some(&first) = places.first() else { return Timeline { missing, ..Timeline::default() } };
        let start = self.seconds[first];
        let values = |channel: &Channel| places.iter().map(|&place| channel.values[place]).collect();
        let of = |channel: &Channel| Channel {
            name: channel.name.clone(),
            unit: channel.unit.clone(),
            values: values(channel),
        };
        Timeline {
            unix_seconds: self.unix_seconds + start,
            seconds: places.iter().map(|&place| self.seconds[place] - start).collect(),
            channels: self.channels.iter().map(of).collect(),
            missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Sensor;

    /// Counts its readings.
    struct Count(f64);

    impl Sensor for Count {
        fn channels(&self) -> Vec<(String, &'static str)> {
            vec![("cpu.throttle".to_owned(), "1")]
        }

        fn read(&mut self, _: Duration) -> Vec<Option<f64>> {
            self.0 += 1.0;
            vec![Some(self.0)]
        }
    }

    fn counting() -> Sampler {
        let mut sensors = Sensors::default();
        sensors.add(Count(-2.0));
        sensors.lack("cpu.power", "no RAPL");
        Sampler::start(sensors, 1000.0).unwrap()
    }

    #[test]
    fn a_part_of_the_readings_begins_at_its_mark() {
        let sampler = counting();
        let mark = sampler.mark();
        let read = || sampler.shared.log().seconds.len();
        let before = read();
        while read() < before + 5 {
            thread::sleep(Duration::from_millis(5));
        }
        let timeline = sampler.since(mark);
        assert_eq!(timeline.seconds[0], 0.0);
        let count = timeline.seconds.len();
        let passed = timeline.seconds[count - 1];
        // Ten a second at most, whatever was asked for; one at each end, one that came late, one that is due.
        assert!(count as f64 <= 10.0 * passed + 4.5, "{count} readings in {passed} s");
        assert!(timeline.seconds.is_sorted());
        assert_eq!(timeline.channels[0].values.len(), count);
        assert_eq!(timeline.missing["cpu.power"], "no RAPL");
        let values: Vec<f64> = timeline.channels[0].values.iter().copied().flatten().collect();
        assert!(values.windows(2).all(|pair| pair[1] == pair[0] + 1.0), "{values:?}");
    }

    #[test]
    fn the_last_reading_says_whether_something_throttles() {
        let mut sensors = Sensors::default();
        sensors.add(Count(-1.0));
        let sampler = Sampler::start(sensors, 0.01).unwrap();
        assert_eq!(sampler.throttled("cpu"), Some(false));
        assert_eq!(sampler.latest().channels[0].values, [Some(0.0)]);
        let _ = sampler.mark(); // 1: held back once
        assert_eq!(sampler.throttled("cpu"), Some(true));
        assert_eq!(sampler.throttled("rival:aws-lc"), Some(true));
        assert_eq!(Sampler::start(Sensors::default(), 1.0).unwrap().throttled("cpu"), None);
    }

    #[test]
    fn what_is_forgotten_takes_no_memory_and_moves_no_mark() {
        let mut sensors = Sensors::default();
        sensors.add(Count(0.0));
        let sampler = Sampler::start(sensors, 0.01).unwrap();
        let early = sampler.mark();
        let last = sampler.mark();
        sampler.forget();
        let value = |timeline: &Timeline, place: usize| timeline.channels[0].values[place].unwrap();
        let kept = value(&sampler.latest(), 0);
        assert_eq!(sampler.shared.log().seconds.len(), 1);
        let (from, to) = (sampler.mark(), sampler.mark());
        for (start, end, values) in [
            (from, to, vec![kept + 1.0, kept + 2.0]),
            (last, to, vec![kept, kept + 1.0, kept + 2.0]),
            (early, from, vec![kept, kept + 1.0]),
        ] {
            let timeline = sampler.between(start, end);
            let found: Vec<f64> = (0..timeline.seconds.len()).map(|place| value(&timeline, place)).collect();
            assert_eq!(found, values);
        }
        assert!(sampler.seconds_between(from, to) >= 0.0);
    }

    #[test]
    fn stretches_are_joined_at_their_times() {
        let mut sensors = Sensors::default();
        sensors.add(Count(0.0));
        let sampler = Sampler::start(sensors, 0.01).unwrap();
        let marks: Vec<Mark> = (0..6).map(|_| sampler.mark()).collect();
        let joined = sampler.joined(&[(marks[0], marks[1]), (marks[4], marks[5])]);
        let values: Vec<f64> = joined.channels[0].values.iter().copied().flatten().collect();
        assert_eq!(values, [2.0, 3.0, 6.0, 7.0]);
        assert_eq!(joined.seconds[3], sampler.seconds_between(marks[0], marks[5]));
    }

    #[test]
    fn dropping_ends_the_thread_at_once() {
        let mut sensors = Sensors::default();
        sensors.add(Count(0.0));
        let sampler = Sampler::start(sensors, 0.01).unwrap();
        let start = Instant::now();
        drop(sampler);
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
