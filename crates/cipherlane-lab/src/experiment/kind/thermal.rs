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
use crate::measure::clock::{behind_work, core_clock_hertz};
use crate::observer::Observer;

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

/// What a quantity is looked up of: fans of CPUs tell their turns, and those of GPUs the part of their highest speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Cpus,
    Gpus,
    Both,
}

impl Of {
    const fn takes(self, is_cpu: bool) -> bool {
        match self {
            Self::Cpus => is_cpu,
            Self::Gpus => !is_cpu,
            Self::Both => true,
        }
    }
}

/// A quantity of the table: its name and unit in the study, the channel, channel units in one of the study's, and
/// the study's figures for a CPU and a GPU, before and after ten seconds.
struct Quantity {
    of: Of,
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
        of: Of::Cpus,
        name: "host's temperature",
        unit: "°C",
        channel: "temperature",
        factor: 1.0,
        cpu: [None, Some(61.0)],
        gpu: NONE,
    },
    Quantity {
        of: Of::Cpus,
        name: "host's load",
        unit: "%",
        channel: "load",
        factor: 100.0,
        cpu: [None, Some(12.0)],
        gpu: NONE,
    },
];

const QUANTITIES: [Quantity; 8] = [
    Quantity {
        of: Of::Both,
        name: "frequency",
        unit: "GHz",
        channel: "frequency",
        factor: 1e-9,
        cpu: both(2.0, 4.0),
        gpu: both(0.21, 2.4),
    },
    Quantity {
        of: Of::Gpus,
        name: "memory frequency",
        unit: "GHz",
        channel: "memory_frequency",
        factor: 1e-9,
        cpu: NONE,
        gpu: both(0.405, 8.0),
    },
    Quantity {
        of: Of::Both,
        name: "temperature",
        unit: "°C",
        channel: "temperature",
        factor: 1.0,
        cpu: both(45.0, 95.0),
        gpu: both(42.0, 51.0),
    },
    Quantity {
        of: Of::Both,
        name: "voltage",
        unit: "mV",
        channel: "voltage",
        factor: 1e3,
        cpu: both(800.0, 1279.0),
        gpu: both(620.0, 985.0),
    },
    Quantity {
        of: Of::Cpus,
        name: "fan",
        unit: "1/min",
        channel: "fan",
        factor: 60.0,
        cpu: both(0.0, 2700.0),
        gpu: NONE,
    },
    // By a name of its own, so that no chart has both on one axis.
    Quantity {
        of: Of::Gpus,
        name: "fan of its highest",
        unit: "%",
        channel: "fan",
        factor: 100.0,
        cpu: NONE,
        gpu: NONE,
    },
    Quantity { of: Of::Both, name: "load", unit: "%", channel: "load", factor: 100.0, cpu: NONE, gpu: NONE },
    Quantity { of: Of::Both, name: "power", unit: "W", channel: "power", factor: 1.0, cpu: NONE, gpu: NONE },
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
            match self.look_at(setting, device) {
                // A run that was stopped on its way is not whole.
                _ if setting.stopped() => break,
                Ok(looked) => self.keep(setting, device, looked, observer)?,
                Err(reason) => setting.skip(observer, device, Some(self.algorithm), reason),
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

    /// Idleness, load and idleness of `device`. What is stopped on its way is cut short.
    fn look_at(&self, setting: &Setting<'_>, device: &dyn Device) -> Result<Looked, String> {
        let seconds = Duration::from_secs_f64;
        let mut steady =
            Steady::filling(setting, device, self.algorithm, self.message_bytes, self.batch_bytes)?;
        let mut looks = vec![Look::at_rest(setting, "before", seconds(self.before))];
        let start = Instant::now();
        for (moment, end) in [("early", self.early), ("steady", self.steady)] {
            looks.push(Look::at_work(setting, moment, &mut steady, start + seconds(end))?);
        }
        looks.push(Look::at_rest(setting, "after", seconds(self.after)));
        Ok(Looked { looks, verified: steady.verified() })
    }

    fn keep(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        Looked { looks, verified }: Looked,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let notes = if setting.is_cpu(device) { vec![CLOCKS.to_owned()] } else { Vec::new() };
        for look in looks {
            let row = Row {
                axes: self.axes(look.moment),
                values: look.values(&device.info().id, self.early),
                verified: Some(verified),
                timeline: Some(look.timeline),
                notes: notes.clone(),
                ..Row::default()
            };
            observer.observed(&setting.observation(device, row))?;
        }
        Ok(())
    }
}

/// What the two clocks of a CPU are of.
const CLOCKS: &str = "core clock, measured: by chains of additions on one core; under load right behind a run, while \
                      the other threads are still awake, and else alone";

/// All looks at a device.
struct Looked {
    looks: Vec<Look>,
    /// Whether every output that was looked at was right.
    verified: bool,
}

/// The sensors until a moment.
struct Look {
    moment: &'static str,
    timeline: Timeline,
    clock: Result<f64, String>,
    bytes_per_second: Option<f64>,
}

impl Look {
    /// After `time` of idleness, or when it is stopped.
    fn at_rest(setting: &Setting<'_>, moment: &'static str, time: Duration) -> Self {
        let mark = setting.sampler.mark();
        pause(time, setting.stop);
        let timeline = setting.sampler.since(mark);
        Self { moment, timeline, clock: core_clock_hertz(), bytes_per_second: None }
    }

    /// After a load until `end`, whose last outputs are looked at.
    fn at_work(
        setting: &Setting<'_>,
        moment: &'static str,
        steady: &mut Steady,
        end: Instant,
    ) -> Result<Self, String> {
        let (mark, from) = (setting.sampler.mark(), Instant::now());
        let bytes = steady.until(setting, end)?;
        let passed = from.elapsed();
        // Before the sensors are read: that takes so long that the other threads fall asleep, and a core alone has a
        // higher clock than all of them at work.
        let clock = behind_work();
        let timeline = setting.sampler.since(mark);
        steady.look()?;
        let bytes_per_second = Some(bytes as f64 / passed.as_secs_f64());
        Ok(Self { moment, timeline, clock, bytes_per_second })
    }

    /// What a look at the device `id` tells; `early` seconds of load were before the early one.
    fn values(&self, id: &str, early: f64) -> Vec<Value> {
        let is_cpu = id == "cpu";
        let mut values: Vec<Value> = QUANTITIES
            .iter()
            .filter(|quantity| quantity.of.takes(is_cpu))
            .map(|quantity| self.value(id, quantity, is_cpu, early))
            .collect();
        if is_cpu {
            let clock = self.clock.clone().map(|hertz| hertz * 1e-9);
            values.push(known("core clock, measured", "GHz", clock));
        } else {
            values.extend(HOST.iter().map(|quantity| self.value("cpu", quantity, true, early)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use cipherlane_record::Channel;

    /// A look at the device `id`, whose sensors said `found` at the end.
    fn look(moment: &'static str, id: &str, found: &[(&str, f64)]) -> Look {
        let channel = |&(name, value): &(&str, f64)| Channel {
            name: format!("{id}.{name}"),
            unit: String::new(),
            values: vec![Some(value)],
        };
        let channels = found.iter().map(channel).collect();
        let timeline = Timeline { seconds: vec![0.0], channels, ..Timeline::default() };
        Look { moment, timeline, clock: Ok(3e9), bytes_per_second: Some(2e9) }
    }

    fn found<'a>(values: &'a [Value], name: &str) -> &'a Value {
        let mut named = values.iter().filter(|value| value.name == name);
        let value = named.next().unwrap();
        assert!(named.next().is_none(), "{name} stands once");
        value
    }

    #[test]
    fn fans_of_cpus_turn_and_those_of_gpus_have_a_part_of_their_speed() {
        let fan = |id: &str, reading, name: &str| {
            let value = found(&look("steady", id, &[("fan", reading)]).values(id, 10.0), name).clone();
            (value.value, value.unit)
        };
        assert_eq!(fan("cpu", 45.0, "fan"), (Some(2700.0), "1/min".to_owned()));
        assert_eq!(fan("cuda:0", 0.3, "fan of its highest"), (Some(30.0), "%".to_owned()));
    }

    #[test]
    fn figures_of_the_study_stand_beside_its_moments_alone() {
        let figure = |moment, early| {
            let values = look(moment, "cpu", &[("temperature", 50.0)]).values("cpu", early);
            found(&values, "temperature").published.first().map(|figure| figure.value)
        };
        assert_eq!([figure("before", 10.0), figure("early", 10.0)], [Some(45.0), Some(95.0)]);
        assert_eq!([figure("early", 0.2), figure("steady", 10.0), figure("after", 10.0)], [None; 3]);
        // Of the CPU beside a GPU at work the study tells the end alone.
        let of_host = |moment| {
            let values = look(moment, "cuda:0", &[]).values("cuda:0", 10.0);
            found(&values, "host's load").published.first().map(|figure| figure.value)
        };
        assert_eq!([of_host("before"), of_host("early")], [None, Some(12.0)]);
    }

    #[test]
    fn the_clock_of_a_core_is_told_of_cpus() {
        let has_clock = |id: &str| {
            look("early", id, &[]).values(id, 10.0).iter().any(|value| value.name == "core clock, measured")
        };
        assert!(has_clock("cpu") && !has_clock("cuda:0"));
    }
}
