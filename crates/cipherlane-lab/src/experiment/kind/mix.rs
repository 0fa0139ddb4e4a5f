//! Throughput foretold from what kernels consist of and what instructions cost, beside the measured one (study 001).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device, Kernel, Shape, Wish};
use cipherlane_kernels::probe::Steps;
use cipherlane_record::{Axis, Value};
use serde::Deserialize;

use crate::ceiling::gpu::{Bench, Effort, Load};
use crate::ceiling::mix::gpu::{Mix, Rates};
use crate::ceiling::{Ceilings, mix};
use crate::experiment::setting::{Row, Run, Setting, beside, median, value};
use crate::experiment::steady::{Often, Steady, Work};
use crate::measure::clock::core_clock_hertz;
use crate::observer::Observer;
use crate::statistics;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Mixes {
    /// What is run.
    #[serde(deserialize_with = "super::super::algorithms")]
    algorithms: Vec<Algorithm>,
    /// Bytes of a message on the CPU, as many as fit its caches.
    cpu_message_bytes: usize,
    /// Bytes of a message of a hash function on a GPU, where each has a lane.
    hash_message_bytes: usize,
    /// Bytes that lie in the memory of a GPU; of a cipher they are one message.
    gpu_batch_bytes: usize,
    /// Runs of each point.
    runs: usize,
    /// Seconds after which a point ends, however many runs there were.
    seconds: f64,
    /// Launches of each probe.
    probe_launches: usize,
    /// Seconds of each, about.
    probe_seconds: f64,
}

/// A difference that is no longer explained by the bound alone.
const EXPLAINED: f64 = 0.15;
/// What the study counts in a block of SC2000.
const STUDY: &str = "001.12";
const SC2000: [(&str, f64, &str); 2] = [
    ("look-ups", 72.0, "SC2000 as the study counts it"),
    ("others", 56.0 + 506.0, "SC2000 as the study counts it: 56 round keys and 506 others"),
];

/// What is foretold: the rate in bytes per second, and why.
struct Foretold {
    rate: f64,
    by: String,
    /// By how much the next resource is less busy, and which it is.
    next: Option<(f64, String)>,
}

fn axes(algorithm: Algorithm, kernel: &str) -> BTreeMap<String, Axis> {
    BTreeMap::from([
        ("algorithm".to_owned(), Axis::Name(algorithm.to_string())),
        ("kernel".to_owned(), Axis::from(kernel)),
    ])
}

/// The row of what was measured beside what was foretold; `mix` is what a block consists of, where that is told.
fn row(
    kernel: &str,
    (rates, verified): (&[f64], bool),
    foretold: &Foretold,
    mix: Vec<Value>,
    seed: u64,
) -> Row {
    let gigabytes: Vec<f64> = rates.iter().map(|rate| 1e-9 * rate).collect();
    let ratio = statistics::median(rates) / foretold.rate;
    let mut values = vec![
        median("measured", "GB/s", &gigabytes, seed),
        value("foretold", "GB/s", 1e-9 * foretold.rate),
        value("measured by foretold", "1", ratio),
    ];
    values.extend(mix);
    let notes = notes(kernel, foretold, ratio);
    Row { values, samples: gigabytes, verified: Some(verified), notes, ..Row::default() }
}

/// What bounds the kernel, and what that leaves unexplained.
fn notes(kernel: &str, foretold: &Foretold, ratio: f64) -> Vec<String> {
    let mut note = format!("{kernel}: bound by {}", foretold.by);
    if let Some((share, resource)) = &foretold.next {
        note += &format!("; next {resource}, busy for {:.0} % of that time", 100.0 * share);
    }
    if ratio < 1.0 - EXPLAINED {
        note += &format!(
            "; {:.0} % more is what the mix leaves out: memory, waiting for results, starting and ending",
            100.0 * (1.0 / ratio - 1.0)
        );
    } else if ratio > 1.0 + EXPLAINED {
        note += "; faster than foretold, so the mix counts more than the kernel does";
    }
    let mut notes = vec![note];
    if cfg!(debug_assertions) {
        notes.push("this program was built without optimisation: its kernels on the CPU are slow".to_owned());
    }
    notes
}

impl Mixes {
    fn often(&self) -> Often {
        Often { runs: self.runs, dropped: 3, most: Duration::from_secs_f64(self.seconds) }
    }

    /// Bytes per second of each run, on a device that has kernels run alone.
    fn measure(&self, setting: &Setting<'_>, steady: &mut Steady) -> Result<Vec<f64>, String> {
        let spans = steady.repeat(setting, self.often())?;
        Ok(spans.iter().map(|spans| steady.bytes() as f64 / spans.execute.as_secs_f64()).collect())
    }

    /// Every tier of the CPU for which there is a mix, on one thread.
    fn cpu(&self, setting: &Setting<'_>, device: &dyn Device, observer: &mut dyn Observer) -> io::Result<()> {
        let ceilings = match Ceilings::measure() {
            Ok(ceilings) => ceilings,
            Err(reason) => {
                setting.skip(observer, device, None, reason);
                return Ok(());
            }
        };
        for &algorithm in &self.algorithms {
            let work = Work::forward(algorithm, self.cpu_message_bytes, None);
            let batch = match work.batch(setting, 1) {
                Ok(batch) => batch,
                Err(reason) => {
                    setting.skip(observer, device, Some(algorithm), reason);
                    continue;
                }
            };
            for kernel in tiers(device, &batch.shape) {
                let make = || {
                    let bound = mix::bound(&ceilings, algorithm, &kernel.tier);
                    let bound = bound.ok_or_else(|| format!("{}: no mix is stated for it", kernel.name))?;
                    let wish =
                        Wish { kernel: Some(kernel.name.clone()), threads: Some(1), ..Wish::default() };
                    let mut steady = batch.open(device, &wish)?;
                    let before = core_clock_hertz()?;
                    let rates = self.measure(setting, &mut steady)?;
                    let hertz = f64::midpoint(before, core_clock_hertz()?);
                    let foretold = Foretold { rate: bound.bytes_per_clock * hertz, by: bound.by, next: None };
                    let measured = (&rates[..], steady.verified());
                    Ok(row(&kernel.name, measured, &foretold, Vec::new(), setting.seed))
                };
                setting.point(observer, device, Some(algorithm), axes(algorithm, &kernel.name), make)?;
            }
        }
        Ok(())
    }

    /// The default kernel of each algorithm on a GPU.
    fn gpu(&self, setting: &Setting<'_>, device: &dyn Device, observer: &mut dyn Observer) -> io::Result<()> {
        let probed = match self.probe(&device.info().id) {
            Ok(probed) => probed,
            Err(reason) => {
                setting.skip(observer, device, None, reason);
                return Ok(());
            }
        };
        for &algorithm in &self.algorithms {
            let work = self.gpu_work(algorithm);
            let shape = Shape::uniform(
                algorithm,
                algorithm.forward(),
                work.messages.unwrap_or(1),
                work.message_bytes as u64,
                true,
            );
            let Some(kernel) = device.kernels(&shape).into_iter().next() else { continue };
            let make = || {
                let mix = Mix::of(algorithm, &kernel.name);
                let mix = mix.ok_or_else(|| format!("{}: no mix is stated for it", kernel.name))?;
                let batch = work.batch(setting, setting.host.logical_cores)?;
                let wish = Wish { kernel: Some(kernel.name.clone()), ..Wish::default() };
                let mut steady = batch.resident(device, &wish)?;
                let rates = self.measure(setting, &mut steady)?;
                let (foretold, parts) = (probed.foretell(&mix), parts(algorithm, &mix));
                Ok(row(&kernel.name, (&rates, steady.verified()), &foretold, parts, setting.seed))
            };
            setting.point(observer, device, Some(algorithm), axes(algorithm, &kernel.name), make)?;
        }
        Ok(())
    }

    fn gpu_work(&self, algorithm: Algorithm) -> Work {
        let message_bytes =
            if algorithm.hash().is_some() { self.hash_message_bytes } else { self.gpu_batch_bytes };
        Work::forward(algorithm, message_bytes, Some((self.gpu_batch_bytes / message_bytes.max(1)).max(1)))
    }

    /// What the instructions cost that mixes consist of.
    fn probe(&self, id: &str) -> Result<Probed, String> {
        let effort = Effort { seconds: self.probe_seconds, launches: self.probe_launches };
        let mut bench = Bench::open(id)?;
        let (mut rates, mut hertz) = (BTreeMap::new(), Vec::new());
        for steps in Rates::PROBES {
            match bench.measure(steps, Load::Full, effort) {
                Ok(found) if !found.verified => {
                    return Err(format!("the probe of {} gives wrong words", steps.name()));
                }
                Ok(found) => {
                    rates.insert(steps, statistics::median(&found.per_clock));
                    hertz.extend(found.hertz);
                }
                // Tensor cores are the one resource that a device need not have.
                Err(_) if steps.is_of_matrices() => {}
                Err(reason) => return Err(format!("{}: {reason}", steps.name())),
            }
        }
        let rates = Rates {
            local: rates[&Steps::LocalFree],
            logic: rates[&Steps::Lop3],
            product: rates[&Steps::Mad],
            any: rates[&Steps::F32Fma],
            matrix_bits: rates.get(&Steps::MatrixBits).copied(),
        };
        Ok(Probed { rates, hertz: statistics::median(&hertz), units: bench.units() as f64 })
    }
}

/// A GPU's rates, its clock and its units.
struct Probed {
    rates: Rates,
    hertz: f64,
    units: f64,
}

impl Probed {
    fn foretell(&self, mix: &Mix) -> Foretold {
        let clocks = mix.clocks(&self.rates);
        let (most, by) = clocks[0];
        let next = clocks.get(1).map(|(clocks, by)| (clocks / most, (*by).to_owned()));
        Foretold { rate: mix.bytes / most * self.units * self.hertz, by: by.to_owned(), next }
    }
}

/// What a mix consists of.
fn parts(algorithm: Algorithm, mix: &Mix) -> Vec<Value> {
    let others = mix.logic + mix.permutations + mix.shifts + mix.sums + mix.products;
    let parts = [("look-ups", mix.look_ups), ("others", others)];
    let of = |(name, count): (&str, f64)| {
        let figure = SC2000.iter().find(|(known, ..)| *known == name);
        match figure.filter(|_| algorithm.to_string().starts_with("sc2000")) {
            Some(&(_, figure, on)) => beside(value(name, "1", count), STUDY, &[(figure, on)]),
            None => value(name, "1", count),
        }
    };
    parts.into_iter().map(of).collect()
}

/// The best kernel of each tier that is told by its tier alone: those with tables are other kernels' rivals.
fn tiers(device: &dyn Device, shape: &Shape) -> Vec<Kernel> {
    let mut tiers: Vec<Kernel> = Vec::new();
    for kernel in device.kernels(shape) {
        if kernel.constant_time && tiers.iter().all(|known| known.tier != kernel.tier) {
            tiers.push(kernel);
        }
    }
    tiers
}

impl Run for Mixes {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        /// For computing what must come out.
        const EXPECTED: f64 = 2.0;
        let time = Duration::from_secs_f64(self.seconds + EXPECTED);
        let of = |device: &&dyn Device| {
            let id = device.info().id.clone();
            let tiers = if setting.is_cpu(*device) { ", each tier," } else { "" };
            let point = move |algorithm: &Algorithm| (format!("{algorithm}{tiers} on {id}"), time);
            self.algorithms.iter().map(point).collect::<Vec<_>>()
        };
        setting.devices.iter().flat_map(of).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for &device in setting.devices {
            if setting.is_cpu(device) {
                self.cpu(setting, device, observer)?;
            } else {
                self.gpu(setting, device, observer)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_explained_is_said() {
        let foretold = Foretold { rate: 10e9, by: "shared memory".to_owned(), next: None };
        let notes = |rate: f64| {
            let row = row("aes/x1", (&[rate], true), &foretold, Vec::new(), 1);
            row.notes[0].clone()
        };
        assert_eq!(notes(9.5e9), "aes/x1: bound by shared memory");
        assert!(notes(5e9).contains("100 % more is what the mix leaves out"), "{}", notes(5e9));
        assert!(notes(13e9).contains("faster than foretold"));
    }

    #[test]
    fn the_busiest_resource_foretells() {
        let rates = Rates { local: 32.0, logic: 64.0, product: 64.0, any: 128.0, matrix_bits: None };
        let probed = Probed { rates, hertz: 1e9, units: 10.0 };
        let mix = Mix::of("aes-128-ecb".parse().unwrap(), "aes-ecb/banked4/x1").unwrap();
        let foretold = probed.foretell(&mix);
        // 160 look-ups and eight words of text, 32 in a clock.
        assert!((foretold.rate - 16.0 * 32.0 / 168.0 * 1e10).abs() < 1.0, "{}", foretold.rate);
        assert_eq!(foretold.by, "shared memory");
        let (share, next) = foretold.next.unwrap();
        assert!((0.5..1.0).contains(&share) && next == "the pipe for logic", "{share} {next}");
    }
}
