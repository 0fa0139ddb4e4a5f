//! How a device warms up: its sensors before, after ten seconds of load, when steady, and afterwards. A device with memory of
//! its own runs kernels alone, as the study's did.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use cipherlane::{Algorithm, Device};
use cipherlane_record::{Axis, Timeline, Value};
use serde::Deserialize;

use crate::energy::pause;
use crate::experiment::sensors::recent;
use crate::experiment::setting::{Row, Run, Setting, beside, known};
use crate::experiment::steady::Steady;
use crate::measure::clock::core_clock_hertz;
use crate::observer::Observer;
use crate::telemetry::Mark;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Thermal {
    /// What makes the load.
    #[serde(deserialize_with = "super::super::fields::algorithm")]
    algorithm: Algorithm,
    /// Bytes of its messages.
    message_bytes: usize,
    /// Bytes that a device with memory of its own keeps there and runs again and again: several times its caches, so that
    /// launching and beginning do not count.
    batch_bytes: usize,
    /// Seconds of idleness before.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    before: f64,
    /// Seconds of load until the early look; study 000 took ten.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    early: f64,
    /// Seconds of load until the steady look.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    steady: f64,
    /// Seconds of idleness until the look afterwards.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    after: f64,
}

/// What study 000 looked at, where ours has more.
const STUDY: &str = "000.12";
const STUDY_CPU: &str = "the study's CPU";
const STUDY_GPU: &str = "the study's GPU";

/// A quantity of the table: its name and unit in the study, the channel, channel units in one of the study's, and
/// the study's figures for a CPU and a GPU, before and after ten seconds.
struct Quantity {
    name: &'static str,
    unit: &'static str,
    channel: &'static str,
    factor: f64,
    cpu: [Option<f64>; 2],
    gpu: [Option<f64>; 2],
}

const NONE: [Option<f64>; 2] = [None; 2];
const fn both(before: f64, after: f64) -> [Option<f64>; 2] {
    [Some(before), Some(after)]
}

/// Of the CPU beside a GPU at work, by the study after ten seconds.
const HOST: [Quantity; 2] = [
    Quantity {
        name: "host's temperature",
        unit: "°C",
        channel: "temperature",
        factor: 1.0,
        cpu: [None, Some(61.0)],
        gpu: NONE,
    },
    Quantity {
        name: "host's load",
        unit: "%",
        channel: "load",
        factor: 100.0,
        cpu: [None, Some(12.0)],
        gpu: NONE,
    },
];

const QUANTITIES: [Quantity; 7] = [
    Quantity {
        name: "frequency",
        unit: "GHz",
        channel: "frequency",
        factor: 1e-9,
        cpu: both(2.0, 4.0),
        gpu: both(0.21, 2.4),
    },
    Quantity {
        name: "memory frequency",
        unit: "GHz",
        channel: "memory_frequency",
        factor: 1e-9,
        cpu: NONE,
        gpu: both(0.405, 8.0),
    },
    Quantity {
        name: "temperature",
        unit: "°C",
        channel: "temperature",
        factor: 1.0,
        cpu: both(45.0, 95.0),
        gpu: both(42.0, 51.0),
    },
    Quantity {
        name: "voltage",
        unit: "mV",
        channel: "voltage",
        factor: 1e3,
        cpu: both(800.0, 1279.0),
        gpu: both(620.0, 985.0),
    },
    Quantity { name: "fan", unit: "1/min", channel: "fan", factor: 60.0, cpu: both(0.0, 2700.0), gpu: NONE },
    Quantity { name: "load", unit: "%", channel: "load", factor: 100.0, cpu: NONE, gpu: NONE },
    Quantity { name: "power", unit: "W", channel: "power", factor: 1.0, cpu: NONE, gpu: NONE },
];

impl Run for Thermal {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let time = Duration::from_secs_f64(self.before + self.steady + self.after);
        let devices = setting.devices.iter();
        devices.map(|device| (format!("{} on {}", self.algorithm, device.info().id), time)).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for &device in setting.devices {
            if setting.stopped() {
                break;
            }
            // All four rows belong to one run.
            if setting.is_done(device, &self.axes("after")) {
                continue;
            }
            if let Err(reason) = self.device(setting, device, observer)? {
                setting.skip(observer, device, Some(self.algorithm), reason);
            }
        }
        Ok(())
    }
}

impl Thermal {
    fn axes(&self, moment: &str) -> BTreeMap<String, Axis> {
        BTreeMap::from([
            ("algorithm".to_owned(), Axis::Name(self.algorithm.to_string())),
            ("moment".to_owned(), Axis::from(moment)),
        ])
    }

    fn device(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        observer: &mut dyn Observer,
    ) -> io::Result<Result<(), String>> {
        let seconds = Duration::from_secs_f64;
        let mut steady =
            match Steady::filling(setting, device, self.algorithm, self.message_bytes, self.batch_bytes) {
                Ok(steady) => steady,
                Err(reason) => return Ok(Err(reason)),
            };
        let begin = setting.sampler.mark();
        pause(seconds(self.before), setting.stop);
        let mut looks = vec![Look::take(setting, "before", begin, None)];
        let start = Instant::now();
        for (moment, end) in [("early", self.early), ("steady", self.steady)] {
            let (from, mark) = (Instant::now(), setting.sampler.mark());
            let bytes = match steady.until(setting, start + seconds(end)) {
                Ok(bytes) => bytes,
                Err(reason) => return Ok(Err(reason)),
            };
            let rate = bytes as f64 / from.elapsed().as_secs_f64();
            looks.push(Look::take(setting, moment, mark, Some(rate)));
            if let Err(reason) = steady.look() {
                return Ok(Err(reason));
            }
        }
        let mark = setting.sampler.mark();
        pause(seconds(self.after), setting.stop);
        looks.push(Look::take(setting, "after", mark, None));
        if setting.stopped() {
            return Ok(Ok(()));
        }
        for look in looks {
            let row = Row {
                axes: self.axes(look.moment),
                values: look.values(device, self),
                verified: Some(steady.verified()),
                timeline: Some(look.timeline),
                ..Row::default()
            };
            observer.observed(&setting.observation(device, row))?;
        }
        Ok(Ok(()))
    }
}

/// The sensors until a moment.
struct Look {
    moment: &'static str,
    timeline: Timeline,
    clock: Result<f64, String>,
    bytes_per_second: Option<f64>,
}

impl Look {
    fn take(setting: &Setting<'_>, moment: &'static str, since: Mark, bytes_per_second: Option<f64>) -> Self {
        let timeline = setting.sampler.since(since);
        Self { moment, timeline, clock: core_clock_hertz(), bytes_per_second }
    }

    fn values(&self, device: &dyn Device, thermal: &Thermal) -> Vec<Value> {
        let id = &device.info().id;
        let is_cpu = id == "cpu";
        let mut values: Vec<Value> = QUANTITIES
            .iter()
            .filter(|quantity| !is_cpu || quantity.channel != "memory_frequency")
            .map(|quantity| self.value(id, quantity, is_cpu, thermal.early))
            .collect();
        if !is_cpu {
            values.extend(HOST.iter().map(|quantity| self.value("cpu", quantity, true, thermal.early)));
        }
        if is_cpu {
            let clock = self.clock.clone().map(|hertz| hertz * 1e-9);
            values.push(known("core clock, measured", "GHz", clock));
        }
        let idle = || "nothing runs before the load and after it".to_owned();
        values.push(known(
            "throughput",
            "GB/s",
            self.bytes_per_second.map(|rate| rate * 1e-9).ok_or_else(idle),
        ));
        values
    }

    fn value(&self, id: &str, quantity: &Quantity, is_cpu: bool, early: f64) -> Value {
        let found = recent(&self.timeline, &format!("{id}.{}", quantity.channel));
        let found = found.map(|value| value * quantity.factor);
        let value = known(quantity.name, quantity.unit, found);
        let (figures, on) = if is_cpu { (quantity.cpu, STUDY_CPU) } else { (quantity.gpu, STUDY_GPU) };
        // The study looked after ten seconds; another time has no figure.
        let published = match self.moment {
            "before" => figures[0],
            "early" if (early - 10.0).abs() < 0.5 => figures[1],
            _ => None,
        };
        match published {
            Some(figure) => beside(value, STUDY, &[(figure, on)]),
            None => value,
        }
    }
}
