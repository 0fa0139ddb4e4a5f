//! What other work on the CPU, on the device, or on both does to a device's times (study 002).

use std::io;
use std::time::{Duration, Instant};

use cipherlane::{Algorithm, Device};
use cipherlane_record::{Axis, Value};
use serde::Deserialize;

use super::offload::{Offload, Times};
use crate::energy::pause;
use crate::experiment::setting::{Row, Run, Setting, beside, median, value};
use crate::experiment::steady::Steady;
use crate::load::{CpuLoad, GpuLoad, LoadError, Since};
use crate::observer::Observer;
use crate::statistics;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Loads {
    /// Loads on the CPU, as parts of 1.
    cpu: Vec<f64>,
    /// Loads on the device.
    gpu: Vec<f64>,
    /// What is timed under each pair of them.
    #[serde(flatten)]
    offload: Offload,
}

/// A load runs for so long before anything is timed: its share has settled, and sensors have seen it.
const SETTLE: Duration = Duration::from_millis(500);

/// Study 002 logged its loads once in so long.
const LOGGED: Duration = Duration::from_secs(1);

/// Longer t_total in percent: AES above 1 MB under CPU loads, AES-256 under GPU loads (study 002, figures 11 and 13).
const STUDY_CPU: &str = "002.4";
const PUBLISHED_CPU: [(f64, f64); 3] = [(0.2, 4.0), (0.4, 12.0), (0.6, 22.0)];
const STUDY_GPU: &str = "002.5";
const PUBLISHED_GPU: [(f64, f64); 3] = [(0.25, 25.0), (0.5, 27.0), (0.75, 36.0)];

/// The loads of a moment.
struct Running {
    cpu: Option<CpuLoad>,
    gpu: Option<GpuLoad>,
    began: Moment,
}

/// A moment of both loads.
#[derive(Clone, Copy)]
struct Moment {
    at: Instant,
    cpu: Option<Since>,
    gpu: Option<Since>,
}

impl Running {
    fn start(device: &dyn Device, cpu: f64, gpu: f64) -> Result<Self, LoadError> {
        let cpu = (cpu > 0.0).then(|| CpuLoad::start(cpu)).transpose()?;
        let gpu = (gpu > 0.0).then(|| GpuLoad::start(device, gpu)).transpose()?;
        let began = Moment::of(cpu.as_ref(), gpu.as_ref());
        Ok(Self { cpu, gpu, began })
    }

    fn now(&self) -> Moment {
        Moment::of(self.cpu.as_ref(), self.gpu.as_ref())
    }

    /// What was reached since then, in percent, and 0 where there is no load. A point that was shorter than
    /// [`LOGGED`] tells little of it: then the mean since the loads began stands for it.
    fn achieved(&self, since: Moment) -> (f64, f64) {
        let since = if since.at.elapsed() < LOGGED { self.began } else { since };
        let of_cpu = self.cpu.as_ref().zip(since.cpu).map_or(0.0, |(load, since)| load.achieved(since));
        let of_gpu = self.gpu.as_ref().zip(since.gpu).map_or(0.0, |(load, since)| load.achieved(since));
        (100.0 * of_cpu, 100.0 * of_gpu)
    }
}

impl Moment {
    fn of(cpu: Option<&CpuLoad>, gpu: Option<&GpuLoad>) -> Self {
        Self { at: Instant::now(), cpu: cpu.map(CpuLoad::now), gpu: gpu.map(GpuLoad::now) }
    }
}

/// A point of the sweep with its session, and its times without load.
struct Point {
    algorithm: Algorithm,
    size: usize,
    steady: Steady,
    alone: Option<[f64; 2]>,
}

impl Loads {
    /// Every pair of loads; none at all comes first, whether the file names it or not, for all others are compared
    /// with it.
    fn pairs(&self) -> Vec<(f64, f64)> {
        let all = self.cpu.iter().flat_map(|&cpu| self.gpu.iter().map(move |&gpu| (cpu, gpu)));
        let loaded = all.filter(|&(cpu, gpu)| cpu > 0.0 || gpu > 0.0);
        std::iter::once((0.0, 0.0)).chain(loaded).collect()
    }

    fn open(&self, setting: &Setting<'_>, device: &dyn Device, observer: &mut dyn Observer) -> Vec<Point> {
        let mut points = Vec::new();
        for (algorithm, size) in self.offload.points() {
            match self.offload.open(setting, device, algorithm, size) {
                Ok(steady) => points.push(Point { algorithm, size, steady, alone: None }),
                Err(reason) => setting.skip(observer, device, Some(algorithm), reason),
            }
        }
        points
    }

    fn point(
        &self,
        setting: &Setting<'_>,
        running: &Running,
        (cpu, gpu): (f64, f64),
        point: &mut Point,
    ) -> Result<Row, String> {
        let (mark, since) = (setting.sampler.mark(), running.now());
        let times = self.offload.times(setting, &mut point.steady)?;
        let achieved = running.achieved(since);
        let timeline = setting.sampler.since(mark);
        let medians = [statistics::median(&times.total), statistics::median(&times.gpu)];
        let alone = *point.alone.get_or_insert(medians);
        let mut axes = Offload::axes(point.algorithm, point.size);
        axes.insert("cpu load".to_owned(), Axis::Number(100.0 * cpu));
        axes.insert("device load".to_owned(), Axis::Number(100.0 * gpu));
        Ok(Row {
            axes,
            values: self.values(&times, alone, achieved, (cpu, gpu), point, setting.seed),
            samples: times.total.iter().map(|seconds| 1e6 * seconds).collect(),
            verified: Some(point.steady.verified()),
            timeline: Some(timeline),
            notes: Vec::new(),
        })
    }

    fn values(
        &self,
        times: &Times,
        alone: [f64; 2],
        achieved: (f64, f64),
        (cpu, gpu): (f64, f64),
        point: &Point,
        seed: u64,
    ) -> Vec<Value> {
        let microseconds = |seconds: &[f64]| seconds.iter().map(|s| 1e6 * s).collect::<Vec<_>>();
        let longer = |times: &[f64], alone: f64| {
            if alone > 0.0 { 100.0 * (statistics::median(times) / alone - 1.0) } else { 0.0 }
        };
        let name = point.algorithm.to_string();
        let large = name.starts_with("aes-") && point.size >= 1 << 20;
        let total = value("t_total longer by", "%", longer(&times.total, alone[0]));
        let figure =
            |table: &[(f64, f64)], load: f64| table.iter().find(|(at, _)| *at == load).map(|(_, f)| *f);
        let total = match (cpu, gpu) {
            (cpu, 0.0) if large => match figure(&PUBLISHED_CPU, cpu) {
                Some(figure) => beside(total, STUDY_CPU, &[(figure, "AES above 1 MB")]),
                None => total,
            },
            (0.0, gpu) if name.starts_with("aes-256") => match figure(&PUBLISHED_GPU, gpu) {
                Some(figure) => beside(total, STUDY_GPU, &[(figure, "AES-256")]),
                None => total,
            },
            _ => total,
        };
        vec![
            median("t_total", "µs", &microseconds(&times.total), seed),
            total,
            median("t_gpu", "µs", &microseconds(&times.gpu), seed),
            value("t_gpu longer by", "%", longer(&times.gpu, alone[1])),
            value("cpu load reached", "%", achieved.0),
            value("device load reached", "%", achieved.1),
        ]
    }

    fn device(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let mut points = self.open(setting, device, observer);
        for (cpu, gpu) in self.pairs() {
            let running = match Running::start(device, cpu, gpu) {
                Ok(running) => running,
                Err(error) => {
                    let reason = format!("CPU load {cpu}, device load {gpu}: {error}");
                    setting.skip(observer, device, None, reason);
                    continue;
                }
            };
            if cpu > 0.0 || gpu > 0.0 {
                pause(SETTLE, setting.stop);
            }
            for point in &mut points {
                match self.point(setting, &running, (cpu, gpu), point) {
                    // Stopped in the middle, a point has too few runs to keep.
                    _ if setting.stopped() => return Ok(()),
                    Ok(row) if setting.is_done(device, &row.axes) => {}
                    Ok(row) => observer.observed(&setting.observation(device, row))?,
                    Err(reason) => setting.skip(observer, device, Some(point.algorithm), reason),
                }
            }
        }
        Ok(())
    }
}

impl Run for Loads {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let points = self.offload.points().count();
        let time = Duration::from_secs_f64(self.offload.seconds * points as f64) + SETTLE;
        let of = |device: &&dyn Device| {
            let id = device.info().id.clone();
            let pair = move |(cpu, gpu): (f64, f64)| {
                let (cpu, gpu) = (100.0 * cpu, 100.0 * gpu);
                (format!("{points} points under {cpu} % on the CPU and {gpu} % on {id}"), time)
            };
            self.pairs().into_iter().map(pair).collect::<Vec<_>>()
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

    #[test]
    fn no_load_comes_first_and_once() {
        let loads = Loads {
            cpu: vec![0.0, 0.4],
            gpu: vec![0.5, 0.0],
            offload: Offload {
                algorithms: Vec::new(),
                sizes: Vec::new(),
                message_bytes: 1,
                repetitions: 1,
                seconds: 1.0,
            },
        };
        assert_eq!(loads.pairs(), [(0.0, 0.0), (0.0, 0.5), (0.4, 0.5), (0.4, 0.0)]);
    }
}
