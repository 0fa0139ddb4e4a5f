//! One thread of the CPU against one of a GPU, and all of the one against all of the other (study 000).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device, Geometry, Shape, Wish};
use cipherlane_record::{Axis, Keys, Value};
use serde::Deserialize;

use crate::experiment::setting::{Row, Run, Setting, beside, median, value};
use crate::experiment::steady::{Often, Prepared, Work};
use crate::observer::Observer;
use crate::statistics;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Cores {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithm")]
    algorithm: Algorithm,
    /// Bytes of a message.
    message_bytes: usize,
    /// One key for all messages, or one each.
    keys: Keys,
    /// Messages of the batch on one thread of either.
    messages_of_one: usize,
    /// Messages of the batch on all of the GPU.
    messages_of_gpu: usize,
    /// Messages for each thread of the CPU where all work.
    messages_of_thread: usize,
    /// Runs of each of the four.
    runs: usize,
    /// Seconds after which each ends, however many runs there were.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
}

/// Why the CPU takes no part.
const NO_PART: &str = "the CPU is one side, and a GPU must be the other";

const STUDY: &str = "000.6";
/// One core of the CPU by one of the GPU, and the GPU by the CPU.
const CORE: [(f64, &str); 1] = [(30.0, "the study's CPU and GPU, plain code")];
const TOTAL: [(f64, &str); 1] = [(9.0, "the study's CPU and GPU, plain code")];
/// MB/s of one thread of the study's GPU, and of all.
const STUDY_TABLES: &str = "000.7";
const GPU_ONE: [(f64, &str); 1] = [(1.4, "RTX 4070")];
const GPU_ALL: [(f64, &str); 1] = [(4200.0, "RTX 4070")];
/// The same of its CPU by plain code, and of all of it with special instructions.
const CPU_ONE: [(f64, &str); 1] = [(42.3, "i7-12700H")];
const CPU_ALL: [(f64, &str); 1] = [(493.0, "i7-12700H, 20 threads")];
const CPU_ALL_SPECIAL: [(f64, &str); 1] = [(2000.0, "i7-12700H, 20 threads")];
/// The CPU's kernels, by their names on the axis.
const PLAIN: &str = "plain";
const BEST: &str = "best";

/// Most threads that a block has on any GPU.
const MOST_THREADS: usize = 1024;

/// Rates in MB/s of one of the four, and who made them.
struct Rates {
    samples: Vec<f64>,
    verified: bool,
    kernel: String,
    geometry: Option<Geometry>,
}

impl Rates {
    fn median(&self) -> f64 {
        statistics::median(&self.samples)
    }

    /// The rate of one of `threads` threads that work in step.
    fn each_of(self, threads: usize) -> Self {
        let samples = self.samples.iter().map(|rate| rate / threads as f64).collect();
        Self { samples, ..self }
    }
}

impl Cores {
    fn batch(&self, setting: &Setting<'_>, messages: usize) -> Result<Prepared, String> {
        let work = Work::forward(self.algorithm, self.message_bytes, Some(messages));
        Work { keys: self.keys, ..work }.batch(setting, 1)
    }

    /// Times `batch` where it lies in the memory of `device`: kernels alone.
    fn rates(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        batch: &Prepared,
        wish: &Wish,
    ) -> Result<Rates, String> {
        let mut steady = batch.resident(device, wish)?;
        let often = Often { runs: self.runs, dropped: 1, most: Duration::from_secs_f64(self.seconds) };
        let spans = steady.repeat(setting, often)?;
        let rate = |seconds: f64| 1e-6 * steady.bytes() as f64 / seconds;
        Ok(Rates {
            samples: spans.iter().map(|spans| rate(spans.execute.as_secs_f64())).collect(),
            verified: steady.verified(),
            kernel: steady.plan().kernel.clone(),
            geometry: steady.plan().geometry,
        })
    }

    /// The CPU's kernels: with tables, as the study's, and the best; each by its name on the axis.
    fn kernels(&self, setting: &Setting<'_>) -> Vec<(&'static str, Wish)> {
        let all = setting.cpu.kernels(&Shape::uniform(self.algorithm, self.algorithm.forward(), 1, 1, true));
        let plain = all.iter().find(|kernel| !kernel.constant_time);
        let plain = plain.map(|kernel| Wish { kernel: Some(kernel.name.clone()), ..Wish::default() });
        [(PLAIN, plain), (BEST, Some(Wish::default()))]
            .into_iter()
            .filter_map(|(name, wish)| Some((name, wish?)))
            .collect()
    }

    fn axes(&self, kernel: &str) -> BTreeMap<String, Axis> {
        BTreeMap::from([
            ("algorithm".to_owned(), Axis::Name(self.algorithm.to_string())),
            ("CPU kernel".to_owned(), Axis::from(kernel)),
            ("keys".to_owned(), Axis::from(self.keys.name())),
            ("message bytes".to_owned(), Axis::Number(self.message_bytes as f64)),
        ])
    }

    /// The GPU's two, which stand beside each of the CPU's kernels: a thread, and all.
    fn gpu(&self, setting: &Setting<'_>, device: &dyn Device) -> Result<[Rates; 2], String> {
        let batch = self.batch(setting, self.messages_of_one)?;
        let one = smallest(device, &batch.shape)?;
        let threads = one.threads_per_block.unwrap_or(1);
        let one = self.rates(setting, device, &batch, &one)?.each_of(threads);
        let all = self.batch(setting, self.messages_of_gpu)?;
        Ok([one, self.rates(setting, device, &all, &Wish::default())?])
    }

    /// The CPU's two.
    fn cpu(&self, setting: &Setting<'_>, wish: &Wish) -> Result<[Rates; 2], String> {
        let logical = setting.host.logical_cores;
        let on = |threads, messages| {
            let wish = Wish { threads: Some(threads), ..wish.clone() };
            self.rates(setting, setting.cpu, &self.batch(setting, messages)?, &wish)
        };
        Ok([on(1, self.messages_of_one)?, on(logical, self.messages_of_thread.saturating_mul(logical))?])
    }

    fn row(
        &self,
        setting: &Setting<'_>,
        kernel: &str,
        cpu: &[Rates; 2],
        gpu: &[Rates; 2],
        timeline: cipherlane_record::Timeline,
    ) -> Row {
        let [cpu_one, cpu_all] = cpu;
        let [gpu_one, gpu_all] = gpu;
        let rate = |name: &str, rates: &Rates| median(name, "MB/s", &rates.samples, setting.seed);
        let [of_one, of_all] = of_cpu(kernel);
        let values: Vec<Value> = vec![
            beside(value("CPU thread by GPU thread", "1", cpu_one.median() / gpu_one.median()), STUDY, &CORE),
            beside(value("GPU by CPU", "1", gpu_all.median() / cpu_all.median()), STUDY, &TOTAL),
            beside(rate("CPU thread", cpu_one), STUDY_TABLES, of_one),
            beside(rate("GPU thread", gpu_one), STUDY_TABLES, &GPU_ONE),
            beside(rate("CPU", cpu_all), STUDY_TABLES, of_all),
            beside(rate("GPU", gpu_all), STUDY_TABLES, &GPU_ALL),
        ];
        let geometry = |rates: &Rates| {
            rates.geometry.map_or_else(
                || "without a geometry".to_owned(),
                |geometry| format!("{} blocks of {} threads", geometry.blocks, geometry.threads_per_block),
            )
        };
        Row {
            values,
            verified: Some(cpu.iter().chain(gpu).all(|rates| rates.verified)),
            timeline: Some(timeline),
            notes: vec![
                format!("CPU: {}, {} threads in all", cpu_one.kernel, setting.host.logical_cores),
                format!("GPU: {} as {}, {} as {}", gpu_one.kernel, geometry(gpu_one), gpu_all.kernel, geometry(gpu_all)),
                "GPU thread: one block of the fewest threads that its kernel takes, alone on the GPU, by the number of \
                 these threads, which work in step; data in the device's memory, no transfers"
                    .to_owned(),
            ],
            ..Row::default()
        }
    }

    fn device(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let mark = setting.sampler.mark();
        let gpu = self.gpu(setting, device);
        for (name, wish) in self.kernels(setting) {
            setting.point(observer, device, Some(self.algorithm), self.axes(name), || {
                let gpu = gpu.as_ref().map_err(Clone::clone)?;
                let cpu = self.cpu(setting, &wish)?;
                Ok(self.row(setting, name, &cpu, gpu, setting.sampler.since(mark)))
            })?;
        }
        Ok(())
    }
}

/// MB/s of one thread of the study's CPU and of all, by the like of `kernel`.
fn of_cpu(kernel: &str) -> [&'static [(f64, &'static str)]; 2] {
    // Of one thread with special instructions it has none.
    if kernel == PLAIN { [&CPU_ONE, &CPU_ALL] } else { [&[], &CPU_ALL_SPECIAL] }
}

/// One block of the fewest threads that a kernel for `shape` takes.
fn smallest(device: &dyn Device, shape: &Shape) -> Result<Wish, String> {
    let wish = |threads| Wish { blocks: Some(1), threads_per_block: Some(threads), ..Wish::default() };
    let mut refusal = String::new();
    for threads in 1..=MOST_THREADS {
        match device.plan(shape, &wish(threads)) {
            Ok(_) => return Ok(wish(threads)),
            Err(reason) => refusal = reason.to_string(),
        }
    }
    Err(format!("no block of 1 to {MOST_THREADS} threads: {refusal}"))
}

impl Run for Cores {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let time = Duration::from_secs_f64(self.seconds);
        let parts = u32::try_from(2 + 2 * self.kernels(setting).len()).unwrap_or(u32::MAX);
        let gpus = setting.devices.iter().filter(|device| !setting.is_cpu(**device));
        gpus.map(|gpu| {
            (format!("{} on one thread and on all, CPU and {}", self.algorithm, gpu.info().id), time * parts)
        })
        .collect()
    }

    fn nothing(&self, setting: &Setting<'_>) -> Option<String> {
        setting.without_gpus(NO_PART)
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for device in setting.gpus(observer, NO_PART) {
            let done = |(name, _): &(&str, Wish)| setting.is_done(device, &self.axes(name));
            if !setting.stopped() && !self.kernels(setting).iter().all(done) {
                self.device(setting, device, observer)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_stands_beside_the_like_of_its_kernel() {
        assert_eq!(of_cpu(PLAIN), [&CPU_ONE[..], &CPU_ALL[..]]);
        assert_eq!(of_cpu(BEST), [&[][..], &CPU_ALL_SPECIAL[..]]);
    }
}
