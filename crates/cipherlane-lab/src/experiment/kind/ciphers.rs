//! Block ciphers with nothing around them: kernels alone, each way to write a cipher, on GPUs and CPU (study 001).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device, Geometry, Kernel, Shape, Wish};
use cipherlane_record::{Axis, Value};
use serde::Deserialize;

use crate::experiment::setting::{Row, Run, Setting, beside, median, value};
use crate::experiment::steady::{Often, Prepared, Steady, Work};
use crate::observer::Observer;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Ciphers {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithms")]
    algorithms: Vec<Algorithm>,
    /// Every kernel of a GPU, and those of the CPU with tables, or the default alone.
    every_kernel: bool,
    /// Bytes of a message.
    message_bytes: usize,
    /// Bytes that lie in the memory of a GPU; the CPU works from its caches.
    batch_bytes: usize,
    /// Runs that count.
    runs: usize,
    /// Runs before them, which do not.
    dropped: usize,
    /// Seconds after which a point ends, however many runs there were.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
}

/// Figures of a study with what they were measured on, by the begin of an algorithm's name.
pub(super) type OfCiphers = [(&'static str, &'static [(f64, &'static str)])];

/// Those of the cipher of `algorithm` in `table`.
pub(super) fn of_cipher(table: &OfCiphers, algorithm: Algorithm) -> &'static [(f64, &'static str)] {
    let name = algorithm.to_string();
    table.iter().find(|(cipher, _)| name.starts_with(cipher)).map_or(&[], |(_, figures)| figures)
}

/// Gbit/s with keys of 128 bits (study 001, figure 1; kernels alone).
const STUDY: &str = "001.1";
/// What the text says of Camellia and SC2000 is the CPU's share of the HD 7970: the figures follow from it.
const PUBLISHED: &OfCiphers = &[
    (
        "aes-128",
        &[
            (205.0, "an HD 7970, AES"),
            (75.8, "a GTX 580, AES"),
            (63.9, "a GTX 680, AES"),
            (38.5, "an HD 6770, AES"),
        ],
    ),
    ("camellia-128", &[(219.0, "an HD 7970, Camellia (from 6.8 Gbit/s being 3.1 % of it)")]),
    ("sc2000-128", &[(339.0, "an HD 7970, SC2000 (from 7.8 Gbit/s being 2.3 % of it)")]),
];
/// The same on a CPU, six threads.
const STUDY_CPU: &str = "001.3";
const PUBLISHED_CPU: &OfCiphers = &[
    ("aes-128", &[(8.3, "six threads of a Phenom II X6, AES")]),
    ("camellia-128", &[(6.8, "six threads of a Phenom II X6, Camellia")]),
    ("sc2000-128", &[(7.8, "six threads of a Phenom II X6, SC2000")]),
];

/// What the CPU does of what a GPU does, in percent.
const PUBLISHED_PART: &OfCiphers = &[
    ("aes-128", &[(4.0, "a Phenom II X6 of an HD 7970, AES")]),
    ("camellia-128", &[(3.1, "a Phenom II X6 of an HD 7970, Camellia")]),
    ("sc2000-128", &[(2.3, "a Phenom II X6 of an HD 7970, SC2000")]),
];

/// `value` beside the figures in `table` for `algorithm`: the study measured ECB, and says that CTR and XTS are the same.
fn published(value: Value, source: &str, table: &OfCiphers, algorithm: Algorithm) -> Value {
    let is_measured = algorithm.to_string().ends_with("-ecb");
    beside(value, source, if is_measured { of_cipher(table, algorithm) } else { &[] })
}

fn axes(algorithm: Algorithm, kernel: &Kernel) -> BTreeMap<String, Axis> {
    let timing = if kernel.constant_time { "constant" } else { "tells of secrets" };
    BTreeMap::from([
        ("algorithm".to_owned(), Axis::Name(algorithm.to_string())),
        ("kernel".to_owned(), Axis::Name(kernel.name.clone())),
        ("timing".to_owned(), timing.into()),
    ])
}

impl Ciphers {
    /// The batch of a GPU, which fills it, or that of the CPU, which fits its caches.
    fn work(&self, algorithm: Algorithm, cpu: bool) -> Work {
        let messages = (self.batch_bytes / self.message_bytes.max(1)).max(1);
        Work::forward(algorithm, self.message_bytes, (!cpu).then_some(messages))
    }

    /// The kernels of `device` that are run: of the CPU's the default and those with tables, as the study's CPU had
    /// them; its other tiers are another experiment's.
    fn kernels(&self, setting: &Setting<'_>, device: &dyn Device, algorithm: Algorithm) -> Vec<Kernel> {
        let messages = (self.batch_bytes / self.message_bytes.max(1)).max(1);
        let bytes = self.message_bytes as u64;
        let shape = Shape::uniform(algorithm, algorithm.forward(), messages, bytes, true);
        let mut kernels = device.kernels(&shape);
        if !self.every_kernel {
            kernels.truncate(1);
        } else if setting.is_cpu(device) {
            let default = kernels.first().map(|kernel| kernel.name.clone());
            kernels.retain(|kernel| !kernel.constant_time || Some(&kernel.name) == default.as_ref());
        }
        kernels
    }

    fn point(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        batch: &Prepared,
        kernel: &Kernel,
        of_cpu: Option<f64>,
    ) -> Result<Row, String> {
        let (cpu, algorithm) = (setting.is_cpu(device), batch.shape.algorithm);
        let (table, source) = if cpu { (PUBLISHED_CPU, STUDY_CPU) } else { (PUBLISHED, STUDY) };
        let threads = cpu.then_some(setting.host.logical_cores);
        let wish = Wish { kernel: Some(kernel.name.clone()), threads, ..Wish::default() };
        let mark = setting.sampler.mark();
        let mut steady = batch.resident(device, &wish)?;
        let most = Duration::from_secs_f64(self.seconds);
        let spans = steady.repeat(setting, Often { runs: self.runs, dropped: self.dropped, most })?;
        let seconds: Vec<f64> = spans.iter().map(|spans| spans.execute.as_secs_f64()).collect();
        let rates: Vec<f64> = seconds.iter().map(|seconds| 8e-9 * steady.bytes() as f64 / seconds).collect();
        let mean = 8e-9 * steady.bytes() as f64 * seconds.len() as f64 / seconds.iter().sum::<f64>();
        let mut values = vec![
            median("median", "Gbit/s", &rates, setting.seed),
            published(value("mean", "Gbit/s", mean), source, table, algorithm),
        ];
        if let Some(of_cpu) = of_cpu.filter(|_| !cpu) {
            let part = value("the CPU does of it", "%", 100.0 * of_cpu / mean);
            values.push(published(part, STUDY_CPU, PUBLISHED_PART, algorithm));
        }
        values.extend(launched(&steady));
        values.push(value("runs", "1", seconds.len() as f64));
        Ok(Row {
            values,
            samples: rates,
            verified: Some(steady.verified()),
            timeline: Some(setting.sampler.since(mark)),
            notes: vec![self.note(cpu)],
            ..Row::default()
        })
    }

    fn note(&self, cpu: bool) -> String {
        let dropped = self.dropped;
        if cpu {
            format!("from the caches, on all logical cores; the first {dropped} runs do not count")
        } else {
            format!(
                "kernels alone, in the device's own time, on data in its memory; the first {dropped} runs do not \
                 count; the study had its tables in local memory, and so have kernels that are called banked"
            )
        }
    }
}

/// In how many blocks of how many threads, or on how many threads of the CPU.
fn launched(steady: &Steady) -> Vec<Value> {
    match steady.plan().geometry {
        Some(Geometry { blocks, threads_per_block, .. }) => vec![
            value("blocks", "1", blocks as f64),
            value("threads per block", "1", threads_per_block as f64),
        ],
        None => vec![value("threads", "1", steady.plan().threads as f64)],
    }
}

impl Run for Ciphers {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let time = Duration::from_secs_f64(self.seconds);
        let mut points = Vec::new();
        for &algorithm in &self.algorithms {
            for &device in setting.devices {
                let id = &device.info().id;
                let kernels = self.kernels(setting, device, algorithm).into_iter();
                points
                    .extend(kernels.map(|kernel| (format!("{algorithm} by {} on {id}", kernel.name), time)));
            }
        }
        points
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for &algorithm in &self.algorithms {
            // What comes out has to be computed first, which takes longer than the runs: once for all kernels.
            let (mut on_cpu, mut on_gpus) = (None, None);
            // The CPU comes first, since others are held against its default kernel.
            let mut devices = setting.devices.to_vec();
            devices.sort_by_key(|&device| !setting.is_cpu(device));
            let mut of_cpu = None;
            for device in devices {
                let cpu = setting.is_cpu(device);
                let batch = if cpu { &mut on_cpu } else { &mut on_gpus };
                for kernel in self.kernels(setting, device, algorithm) {
                    let axes = axes(algorithm, &kernel);
                    let mut mean = setting.found(device, &axes).and_then(|row| row.value("mean"));
                    let make = || {
                        let batch = batch.get_or_insert_with(|| {
                            self.work(algorithm, cpu).batch(setting, setting.host.logical_cores)
                        });
                        let batch = batch.as_ref().map_err(Clone::clone)?;
                        let found = self.point(setting, device, batch, &kernel, of_cpu);
                        let row = found.map_err(|reason| format!("{}: {reason}", kernel.name))?;
                        mean =
                            row.values.iter().find(|value| value.name == "mean").and_then(|mean| mean.value);
                        Ok(row)
                    };
                    setting.point(observer, device, Some(algorithm), axes, make)?;
                    if cpu && kernel.constant_time {
                        of_cpu = of_cpu.or(mean);
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_study_are_those_of_its_key_length() {
        let figures = |name: &str, cpu| {
            let (table, source) = if cpu { (PUBLISHED_CPU, STUDY_CPU) } else { (PUBLISHED, STUDY) };
            let value = published(value("mean", "Gbit/s", 1.0), source, table, name.parse().unwrap());
            value.published.into_iter().map(|figure| (figure.value, figure.source)).collect::<Vec<_>>()
        };
        assert_eq!(figures("aes-128-ecb", false)[0], (205.0, STUDY.to_owned()));
        assert_eq!(figures("sc2000-128-ecb", true), [(7.8, STUDY_CPU.to_owned())]);
        assert!(figures("aes-256-ecb", false).is_empty() && figures("sm4-ecb", true).is_empty());
        assert!(figures("aes-128-ctr", false).is_empty());
    }
}
