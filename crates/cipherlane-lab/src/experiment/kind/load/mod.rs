//! What other work on the CPU, on the device, or on both does to a device's times (study 002).
//!
//! Turns under each pair of loads and without any alternate, in an order that is new in each visit: what else happens on the
//! machine meets all of them.

mod running;
mod turns;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device};
use cipherlane_record::Axis;
use serde::Deserialize;

use super::offload::Offload;
use crate::energy::pause;
use crate::experiment::setting::{Row, Run, Setting, too_few};
use crate::experiment::steady::Steady;
use crate::observer::Observer;
use crate::random::Random;
use running::{Pair, Running};
use turns::{Seen, Turns, published};

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Loads {
    /// Loads on the CPU, as parts of 1.
    cpu: Vec<f64>,
    /// Loads on the device.
    gpu: Vec<f64>,
    /// Turns of each pair of them, among which the runs and seconds of a point are shared out.
    #[serde(deserialize_with = "super::super::fields::count")]
    visits: usize,
    /// What is timed under each pair of them.
    #[serde(flatten)]
    offload: Offload,
}

/// A load runs for so long before anything is timed: its share has settled, and sensors have seen it.
const SETTLE: Duration = Duration::from_millis(500);

/// None at all, with which all others are compared.
const NO_LOAD: Pair = (0.0, 0.0);

/// A size with its session, and its times under each pair of loads.
struct Point {
    size: usize,
    steady: Steady,
    seen: Vec<Seen>,
    failure: Option<String>,
}

/// An algorithm on a device, on its way.
struct Stage<'a> {
    device: &'a dyn Device,
    algorithm: Algorithm,
    points: Vec<Point>,
    turns: Vec<Turns>,
}

fn axes(algorithm: Algorithm, size: usize, (cpu, gpu): Pair) -> BTreeMap<String, Axis> {
    let mut axes = Offload::axes(algorithm, size);
    axes.insert("cpu load".to_owned(), Axis::Number(100.0 * cpu));
    axes.insert("device load".to_owned(), Axis::Number(100.0 * gpu));
    axes
}

impl Loads {
    /// Every pair of loads; none at all comes first, whether the file names it or not.
    fn pairs(&self) -> Vec<Pair> {
        let all = self.cpu.iter().flat_map(|&cpu| self.gpu.iter().map(move |&gpu| (cpu, gpu)));
        std::iter::once(NO_LOAD).chain(all.filter(|&pair| pair != NO_LOAD)).collect()
    }

    /// The sizes of `algorithm` whose rows are not all there yet.
    fn open<'a>(
        &self,
        setting: &Setting<'_>,
        device: &'a dyn Device,
        algorithm: Algorithm,
        observer: &mut dyn Observer,
    ) -> Stage<'a> {
        let pairs = self.pairs();
        let mut points = Vec::new();
        for &size in &self.offload.sizes {
            if pairs.iter().all(|&pair| setting.is_done(device, &axes(algorithm, size, pair))) {
                continue;
            }
            match self.offload.open(setting, device, algorithm, size) {
                Ok(steady) => {
                    let seen = pairs.iter().map(|_| Seen::default()).collect();
                    points.push(Point { size, steady, seen, failure: None });
                }
                Err(reason) => setting.skip(observer, device, Some(algorithm), reason),
            }
        }
        Stage { device, algorithm, points, turns: pairs.iter().map(|_| Turns::default()).collect() }
    }

    /// Times all points of `stage` under the pair of loads at `place`, once.
    fn turn(
        &self,
        setting: &Setting<'_>,
        stage: &mut Stage<'_>,
        place: usize,
        pair: Pair,
    ) -> Result<(), String> {
        let running = Running::start(stage.device, pair).map_err(|error| error.to_string())?;
        if pair != NO_LOAD {
            pause(SETTLE, setting.stop);
        }
        let (mark, since, offload) =
            (setting.sampler.mark(), running.now(), self.offload.shared_out(self.visits));
        for point in stage.points.iter_mut().filter(|point| point.failure.is_none()) {
            match offload.times(setting, &mut point.steady) {
                Ok(times) => point.seen[place].0.push(times),
                Err(reason) => point.failure = Some(reason),
            }
        }
        let turns = &mut stage.turns[place];
        turns.reached.push(running.reached(since));
        turns.stretches.push((mark, setting.sampler.mark()));
        Ok(())
    }

    /// The rows of all turns of `stage`, but of the pairs that have none.
    fn keep(&self, setting: &Setting<'_>, stage: &Stage<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for point in &stage.points {
            if let Some(reason) = &point.failure {
                setting.skip(observer, stage.device, Some(stage.algorithm), reason.clone());
                continue;
            }
            for (place, pair) in self.pairs().into_iter().enumerate() {
                let axes = axes(stage.algorithm, point.size, pair);
                if stage.turns[place].reached.is_empty() || setting.is_done(stage.device, &axes) {
                    continue;
                }
                let row = Row { axes, ..self.row(setting, stage, point, (place, pair)) };
                observer.observed(&setting.observation(stage.device, row))?;
            }
        }
        Ok(())
    }

    fn row(
        &self,
        setting: &Setting<'_>,
        stage: &Stage<'_>,
        point: &Point,
        (place, pair): (usize, Pair),
    ) -> Row {
        let (turns, seen) = (&stage.turns[place], &point.seen[place]);
        let [total, longer, gpu, gpu_longer] = seen.values(&point.seen[0], setting.seed);
        let [longer, gpu_longer] = published([longer, gpu_longer], stage.algorithm, point.size, pair);
        let mut values = vec![total, longer, gpu, gpu_longer];
        values.extend(turns.values());
        let told = too_few(self.visits).unwrap_or_else(|| {
            format!("intervals are over {} visits, in each of which all loads took turns", self.visits)
        });
        Row {
            values,
            samples: seen.samples(),
            verified: Some(point.steady.verified()),
            timeline: Some(setting.sampler.joined(&turns.stretches)),
            notes: vec![told],
            ..Row::default()
        }
    }

    fn device(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let mut random = Random::new(setting.seed);
        let mut pairs: Vec<(usize, Pair)> = self.pairs().into_iter().enumerate().collect();
        for &algorithm in &self.offload.algorithms {
            let mut stage = self.open(setting, device, algorithm, observer);
            for _ in 0..if stage.points.is_empty() { 0 } else { self.visits } {
                random.shuffle(&mut pairs);
                let mut failed = Vec::new();
                for &(place, pair) in &pairs {
                    if let Err(reason) = self.turn(setting, &mut stage, place, pair) {
                        let (cpu, gpu) = pair;
                        let reason = format!("CPU load {cpu}, device load {gpu}: {reason}");
                        setting.skip(observer, device, None, reason);
                        failed.push(place);
                    }
                    // Stopped in the middle, a visit has too few turns to compare.
                    if setting.stopped() {
                        return Ok(());
                    }
                }
                // What cannot be loaded once is not tried again.
                pairs.retain(|(place, _)| !failed.contains(place));
                failed.iter().for_each(|&place| stage.turns[place] = Turns::default());
            }
            self.keep(setting, &stage, observer)?;
        }
        Ok(())
    }
}

impl Run for Loads {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let (pairs, sizes) = (self.pairs().len(), self.offload.sizes.len());
        let turns = (pairs * self.visits) as f64;
        let time = Duration::from_secs_f64(self.offload.seconds * (pairs * sizes) as f64)
            + SETTLE.mul_f64(turns - self.visits as f64);
        let of = |device: &&dyn Device| {
            let id = device.info().id.clone();
            let line = move |algorithm: &Algorithm| {
                let visits = self.visits;
                (format!("{sizes} sizes of {algorithm} on {id}, {pairs} loads in turn, {visits} times"), time)
            };
            self.offload.algorithms.iter().map(line).collect::<Vec<_>>()
        };
        setting.devices.iter().flat_map(of).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for &device in setting.devices {
            if setting.stopped() {
                break;
            }
            self.device(setting, device, observer)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads() -> Loads {
        Loads {
            cpu: vec![0.0, 0.4],
            gpu: vec![0.5, 0.0],
            visits: 6,
            offload: Offload {
                algorithms: Vec::new(),
                sizes: Vec::new(),
                message_bytes: 1,
                repetitions: 1000,
                seconds: 1.5,
            },
        }
    }

    #[test]
    fn no_load_comes_first_and_once() {
        assert_eq!(loads().pairs(), [(0.0, 0.0), (0.0, 0.5), (0.4, 0.5), (0.4, 0.0)]);
    }

    #[test]
    fn turns_share_out_the_runs_and_the_time_of_a_point() {
        let turn = loads().offload.shared_out(loads().visits);
        assert_eq!((turn.repetitions, turn.seconds), (167, 0.25));
    }
}
