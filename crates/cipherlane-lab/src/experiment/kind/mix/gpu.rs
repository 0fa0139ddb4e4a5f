//! The default kernels of a GPU: what they consist of, by its instructions' rates, and what they reach.

use std::collections::BTreeMap;
use std::io;

use cipherlane::{Algorithm, Device, Shape, Wish};
use cipherlane_kernels::probe::Steps;
use cipherlane_record::Value;

use super::{Foretold, Mixes, axes, row};
use crate::ceiling::gpu::{Bench, Effort, Load};
use crate::ceiling::mix::gpu::{Mix, Rates};
use crate::experiment::setting::{Setting, beside, value};
use crate::experiment::steady::{Steady, Work};
use crate::observer::Observer;
use crate::statistics;

/// What the study counts in a block of SC2000.
const STUDY: &str = "001.12";
const SC2000: [(&str, f64, &str); 2] = [
    ("look-ups", 72.0, "SC2000 as the study counts it"),
    ("others", 56.0 + 506.0, "SC2000 as the study counts it: 56 round keys and 506 others"),
];

/// What the mix of a kernel does not count.
const LEFT: &str = "memory, waiting for results, starting and ending";

impl Mixes {
    /// Bytes per second of each run, on a device that has kernels run alone.
    fn measure(&self, setting: &Setting<'_>, steady: &mut Steady) -> Result<Vec<f64>, String> {
        let spans = steady.repeat(setting, self.often())?;
        Ok(spans.iter().map(|spans| steady.bytes() as f64 / spans.execute.as_secs_f64()).collect())
    }

    /// The default kernel of each algorithm on a GPU.
    pub(super) fn gpu(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
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
        Foretold {
            rate: mix.bytes / most * self.units * self.hertz,
            by: by.to_owned(),
            next,
            leaves_out: LEFT,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
