//! Throughput by power, gross and net of idleness, as study 001 has it; and how far the meters are to be trusted.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use cipherlane::{Algorithm, Device};
use cipherlane_record::{Axis, Energy, Value};
use serde::Deserialize;

use super::ciphers::{OfCiphers, of_cipher};
use crate::energy::probe::{Wave, square_wave, steps};
use crate::energy::{Protocol, Trial};
use crate::experiment::setting::{Row, Run, Setting, beside, known, median};
use crate::experiment::steady::Steady;
use crate::observer::Observer;
use crate::random::Random;
use crate::telemetry::{Gpu, NvmlGpu, Quantity};

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Power {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithms")]
    algorithms: Vec<Algorithm>,
    /// Bytes of a message on the CPU, which runs as many as fit its caches.
    message_bytes: usize,
    /// Bytes of the one message that stays in the memory of a device that has its own: so many that launching and
    /// waiting, in which the device takes less power, do not count.
    resident_bytes: usize,
    /// Trials of each algorithm on each device.
    trials: usize,
    /// Seconds of idleness before and after each trial.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    idle: f64,
    /// Seconds of load that are left out.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    settle: f64,
    /// Seconds of load.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    load: f64,
    /// Seconds of each probe of the meters; 0 for none.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    probe: f64,
}

/// Gbit/s per watt net of idleness on GPUs (study 001, figure 5).
const STUDY: &str = "001.7";
const PUBLISHED: &OfCiphers = &[(
    "aes-128",
    &[(1.3, "HD 7970"), (0.68, "HD 6770"), (0.43, "GTX 680"), (0.39, "GTX 580"), (0.27, "GTX 650")],
)];
/// The same on the study's CPU.
const PUBLISHED_CPU: &OfCiphers = &[
    ("aes-128", &[(0.07, "Phenom II X6")]),
    ("camellia-128", &[(0.06, "Phenom II X6")]),
    ("sc2000-128", &[(0.07, "Phenom II X6")]),
];
/// Watts beyond idleness on GPUs (study 001, table 6).
const STUDY_WATTS: &str = "001.6";
const PUBLISHED_WATTS: &OfCiphers = &[
    ("aes-128", &[(157.5, "HD 7970"), (147.7, "GTX 680")]),
    ("camellia-128", &[(173.5, "HD 7970"), (153.1, "GTX 680")]),
    ("sc2000-128", &[(179.0, "HD 7970"), (150.3, "GTX 680")]),
];

/// Standard deviations of the power that the study measured, over its devices and ciphers (table 5).
const STUDY_SIGMA: &str = "001.5";
const PUBLISHED_SIGMA: [(f64, &str); 2] = [
    (0.2, "the rails of the study's boards, at the least"),
    (31.7, "the rails of the study's boards, at the most"),
];

/// The study's figures for a cipher, of devices of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figures {
    bits_per_joule: &'static [(f64, &'static str)],
    watts: &'static [(f64, &'static str)],
}

impl Figures {
    fn of(algorithm: Algorithm, cpu: bool) -> Self {
        if cpu {
            return Self { bits_per_joule: of_cipher(PUBLISHED_CPU, algorithm), watts: &[] };
        }
        Self { bits_per_joule: of_cipher(PUBLISHED, algorithm), watts: of_cipher(PUBLISHED_WATTS, algorithm) }
    }
}

impl Run for Power {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let of = |device: &&dyn Device| {
            let id = &device.info().id;
            let trial = |algorithm: &Algorithm| {
                let time = self.protocol().total() * u32::try_from(self.trials).unwrap_or(u32::MAX);
                (format!("{} trials of {algorithm} on {id}", self.trials), time)
            };
            self.algorithms.iter().map(trial).collect::<Vec<_>>()
        };
        setting.devices.iter().flat_map(of).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for &device in setting.devices {
            self.device(setting, device, observer)?;
        }
        Ok(())
    }
}

/// The trials of one algorithm.
struct Trials {
    algorithm: Algorithm,
    /// Bytes of text of one run.
    bytes: u64,
    /// Whether every output that was looked at was right.
    verified: bool,
    trials: Vec<Trial>,
}

impl Trials {
    const fn of(algorithm: Algorithm) -> Self {
        Self { algorithm, bytes: 0, verified: true, trials: Vec::new() }
    }
}

impl Power {
    fn protocol(&self) -> Protocol {
        let seconds = Duration::from_secs_f64;
        Protocol { idle: seconds(self.idle), settle: seconds(self.settle), load: seconds(self.load) }
    }

    fn axes(algorithm: Algorithm) -> BTreeMap<String, Axis> {
        BTreeMap::from([("algorithm".to_owned(), Axis::Name(algorithm.to_string()))])
    }

    fn device(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let is_left = |algorithm: &&Algorithm| !setting.is_done(device, &Self::axes(**algorithm));
        let mut all: Vec<Trials> =
            self.algorithms.iter().filter(is_left).map(|&algorithm| Trials::of(algorithm)).collect();
        // Each round in another order: heat of the trial before raises the power of the next.
        let mut random = Random::new(setting.seed);
        for _ in 0..self.trials {
            random.shuffle(&mut all);
            let mut failed = Vec::new();
            for (place, trials) in all.iter_mut().enumerate() {
                match self.trial(setting, device, trials) {
                    Ok(true) => {}
                    Ok(false) => return Ok(()),
                    Err(reason) => failed.push((place, reason)),
                }
            }
            // The last first, so that the places of the others stay.
            while let Some((place, reason)) = failed.pop() {
                let trials = all.remove(place);
                setting.skip(observer, device, Some(trials.algorithm), reason);
            }
        }
        for trials in all.iter().filter(|trials| !trials.trials.is_empty()) {
            let mut row = self.row(setting, device, trials);
            if self.probe > 0.0 {
                let probed = self.steady(setting, device, trials.algorithm);
                row.notes.extend(match probed {
                    Ok(mut steady) => self.probes(setting, device, &mut steady),
                    Err(reason) => vec![format!("meters not probed: {reason}")],
                });
            }
            observer.observed(&setting.observation(device, row))?;
        }
        Ok(())
    }

    /// On the CPU all messages in its caches; elsewhere kernels alone, as in the study.
    fn steady(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        algorithm: Algorithm,
    ) -> Result<Steady, String> {
        if setting.is_cpu(device) {
            // The CPU has no batch to bring anywhere.
            return Steady::filling(setting, device, algorithm, self.message_bytes, 0);
        }
        Steady::staying(setting, device, algorithm, self.resident_bytes)
    }

    /// One more trial; whether it came to its end. Each has a session of its own: those of all algorithms at once would
    /// take more memory than many a GPU, or its host, has.
    fn trial(&self, setting: &Setting<'_>, device: &dyn Device, trials: &mut Trials) -> Result<bool, String> {
        let mut steady = self.steady(setting, device, trials.algorithm)?;
        let work = |until: Instant| steady.until(setting, until);
        let found = self.protocol().run(setting.sampler, &device.info().id, setting.stop, work)?;
        let Some(trial) = found else { return Ok(false) };
        steady.look()?;
        trials.bytes = steady.bytes();
        trials.verified &= steady.verified();
        trials.trials.push(trial);
        Ok(true)
    }

    fn row(&self, setting: &Setting<'_>, device: &dyn Device, trials: &Trials) -> Row {
        let rates: Vec<f64> = trials
            .trials
            .iter()
            .map(|trial| 8e-9 * trial.bytes as f64 / trial.windows.load.seconds())
            .collect();
        let mut values = vec![median("throughput", "Gbit/s", &rates, setting.seed)];
        let figures = Figures::of(trials.algorithm, setting.is_cpu(device));
        values.extend(self.power(setting, trials, figures));
        let mut notes = vec![format!(
            "the device's own meters; study 001 measured the rails of the board; kernels alone, as there, on {} B that stay \
             in the caches of a CPU, or in the memory of the device; trials: {}",
            trials.bytes,
            trials.trials.len()
        )];
        notes.extend(disagreement(&trials.trials));
        Row {
            axes: Self::axes(trials.algorithm),
            values,
            samples: rates,
            verified: Some(trials.verified),
            timeline: trials.trials.last().map(|trial| trial.timeline.clone()),
            notes,
        }
    }

    /// Power and efficiency over the trials, or why they are not known.
    fn power(&self, setting: &Setting<'_>, trials: &Trials, figures: Figures) -> Vec<Value> {
        let energies: Result<Vec<&Energy>, String> = trials.trials.iter().map(metered).collect();
        let over = |name: &str, unit: &str, of: &dyn Fn(&Energy) -> Option<f64>, lack: &str| match &energies {
            Err(reason) => known(name, unit, Err(reason.clone())),
            Ok(energies) => {
                let found: Option<Vec<f64>> = energies.iter().map(|energy| of(energy)).collect();
                found.map_or_else(
                    || known(name, unit, Err(lack.to_owned())),
                    |found| median(name, unit, &found, setting.seed),
                )
            }
        };
        let idle = "no reading while idle, or the load takes no more than idleness";
        let net = |energy: &Energy| Some(energy.watts() - energy.idle_watts?);
        vec![
            beside(
                over("net", "Gbit/s/W", &|energy| Some(1e-9 * energy.net_bits_per_joule()?), idle),
                STUDY,
                figures.bits_per_joule,
            ),
            over("gross", "Gbit/s/W", &|energy| Some(1e-9 * energy.bits_per_joule()), ""),
            over("power", "W", &|energy| Some(energy.watts()), ""),
            over("idle", "W", &|energy| energy.idle_watts, idle),
            beside(over("power beyond idle", "W", &net, idle), STUDY_WATTS, figures.watts),
            beside(
                over("sigma", "W", &|energy| energy.sigma_watts, "fewer than two readings of power"),
                STUDY_SIGMA,
                &PUBLISHED_SIGMA,
            ),
            over("energy", "J/GB", &|energy| Some(8e9 / energy.bits_per_joule()), ""),
            over(
                "second meter by first",
                "1",
                &|energy| Some(energy.cross_check.as_ref()?.joules / energy.joules),
                "the device has one meter",
            ),
        ]
    }

    /// What the probes say of the device's meters, in words.
    fn probes(&self, setting: &Setting<'_>, device: &dyn Device, steady: &mut Steady) -> Vec<String> {
        let time = Duration::from_secs_f64(self.probe);
        let mut notes = Vec::new();
        let bus = device.info().detail("bus");
        match bus.ok_or("the device has no counter that can be polled".to_owned()).and_then(NvmlGpu::at) {
            Ok(mut gpu) => notes.push(match steps(|| gpu.read(Quantity::Energy), time) {
                Ok(steps) => format!(
                    "counter: {} steps, one each {:.1} ms, {:.2} J high",
                    steps.count,
                    1e3 * steps.seconds,
                    steps.joules
                ),
                Err(reason) => format!("counter not probed: {reason}"),
            }),
            Err(reason) => notes.push(format!("counter not probed: {reason}")),
        }
        let busy = |until: Instant| {
            while Instant::now() < until {
                steady.once()?;
            }
            Ok(())
        };
        let wave = Wave { time, ..Wave::default() };
        match square_wave(wave, setting.sampler, &device.info().id, setting.stop, busy) {
            Ok(seen) => notes.extend(seen.iter().map(|seen| {
                let watts: Vec<String> = seen.watts.iter().map(|watts| format!("{watts:.0}")).collect();
                let spread = 100.0 * seen.spread();
                let name = seen.meter.name();
                format!("square wave of 100 ms: {name} saw {} W, a spread of {spread:.0} %", watts.join(", "))
            })),
            Err(reason) => notes.push(format!("no square wave: {reason}")),
        }
        notes
    }
}

/// The energy of a trial, or why it has none: a meter that stood still tells nothing of what the trial took.
fn metered(trial: &Trial) -> Result<&Energy, String> {
    let energy = trial.energy.as_ref().map_err(Clone::clone)?;
    if energy.joules > 0.0 {
        return Ok(energy);
    }
    let meter = energy.meter.name();
    Err(format!("{meter} counted no energy in {:.1} s; give it a longer load", energy.seconds))
}

/// Why the second meter says something else than the first, where it does.
fn disagreement(trials: &[Trial]) -> Option<String> {
    /// What a counter's step at either end and readings ten times a second may differ by in 20 s.
    const AGREED: f64 = 0.03;
    let energies = trials.iter().filter_map(|trial| metered(trial).ok());
    let most = energies
        .filter_map(|energy| Some((energy, energy.cross_check.as_ref()?)))
        .map(|(energy, check)| (check.joules / energy.joules - 1.0, energy.meter, check.meter))
        .max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
    let (by, first, second) = most;
    (by.abs() > AGREED).then(|| {
        format!(
            "{} differs from {} by {:+.1} %: readings of power see a part of the time, as the square wave shows, and \
             over a short load the ends of the window count, where a counter is between two of its steps",
            second.name(),
            first.name(),
            100.0 * by
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::{Window, Windows};
    use cipherlane_record::{CrossCheck, Meter, Timeline};

    /// A trial of a second, by two meters.
    fn trial_of(first: f64, second: f64) -> Trial {
        let window = Window { start: 0.0, end: 1.0 };
        Trial {
            timeline: Timeline::default(),
            windows: Windows { before: window, load: window, after: window },
            bytes: 1,
            energy: Ok(Energy {
                meter: Meter::NvmlCounter,
                seconds: 1.0,
                joules: first,
                bytes: 1,
                idle_watts: None,
                sigma_watts: None,
                cross_check: Some(CrossCheck { meter: Meter::NvmlInstant, joules: second }),
            }),
        }
    }

    #[test]
    fn meters_that_differ_are_told_with_the_reason() {
        let trial = |joules| trial_of(100.0, joules);
        assert_eq!(disagreement(&[trial(102.0), trial(98.0)]), None);
        let told = disagreement(&[trial(102.0), trial(95.0)]).unwrap();
        assert!(told.contains("nvml-instant differs from nvml-counter by -5.0 %"), "{told}");
    }

    #[test]
    fn a_meter_that_stood_still_tells_no_energy() {
        let still = trial_of(0.0, 0.0);
        assert!(metered(&still).unwrap_err().contains("nvml-counter counted no energy in 1.0 s"));
        assert_eq!(disagreement(&[still]), None);
    }

    #[test]
    fn figures_of_the_study_are_found_by_cipher_and_kind_of_device() {
        let figures = |name: &str, cpu| Figures::of(name.parse::<Algorithm>().unwrap(), cpu);
        let gpus = figures("aes-128-ctr", false);
        assert_eq!((gpus.bits_per_joule[0], gpus.bits_per_joule[4]), ((1.3, "HD 7970"), (0.27, "GTX 650")));
        assert!(gpus.bits_per_joule.iter().all(|(_, on)| !on.contains("Phenom")));
        let cpu = Figures { bits_per_joule: &[(0.07, "Phenom II X6")], watts: &[] };
        assert_eq!(figures("aes-128-ecb", true), cpu);
        assert_eq!(figures("sc2000-128-ecb", false).watts[0].0, 179.0);
        assert_eq!(figures("sm4-ctr", false), Figures { bits_per_joule: &[], watts: &[] });
    }
}
