//! Throughput foretold from what kernels consist of and what instructions cost, beside the measured one (study 001).

mod cpu;
mod gpu;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device};
use cipherlane_record::{Axis, Keys, Value};
use serde::Deserialize;

use crate::experiment::setting::{Row, Run, Setting, median, value};
use crate::experiment::steady::{Often, Work};
use crate::observer::Observer;
use crate::statistics;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Mixes {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithms")]
    algorithms: Vec<Algorithm>,
    /// Bytes of the one message on the CPU: half of what its first cache holds, or less.
    cpu_message_bytes: usize,
    /// Bytes of a message of a hash function, where each has a lane.
    hash_message_bytes: usize,
    /// Bytes that lie in the memory of a GPU; of a cipher they are one message.
    gpu_batch_bytes: usize,
    /// Short messages on the CPU, whose keys and ends count.
    cpu_messages: Vec<Messages>,
    /// Messages of other lengths and keys on a GPU, for which it has other kernels.
    gpu_messages: Vec<Messages>,
    /// Runs of each point.
    runs: usize,
    /// Seconds after which a point ends, however many runs there were.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
    /// Launches of each probe.
    #[serde(deserialize_with = "super::super::fields::count")]
    probe_launches: usize,
    /// Seconds of each, about.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    probe_seconds: f64,
    /// Most instructions that a kernel is followed through, of the CPU.
    most_steps: usize,
}

/// Messages that are told by more than their algorithm.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Messages {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithms")]
    algorithms: Vec<Algorithm>,
    /// Bytes of each.
    message_bytes: usize,
    /// How many; else as many as the batch has bytes for.
    messages: Option<usize>,
    /// Whether each has its own key.
    #[serde(default)]
    own_keys: bool,
    /// Whether they are decrypted.
    #[serde(default)]
    back: bool,
}

impl Messages {
    /// A batch of them, of `batch_bytes` where it is not said how many they are.
    fn work(&self, algorithm: Algorithm, batch_bytes: usize) -> Work {
        let back = algorithm.backward().filter(|_| self.back);
        Work {
            algorithm,
            operation: back.unwrap_or_else(|| algorithm.forward()),
            message_bytes: self.message_bytes,
            messages: self.messages.or(Some((batch_bytes / self.message_bytes.max(1)).max(1))),
            keys: if self.own_keys { Keys::Distinct } else { Keys::Same },
        }
    }
}

/// A difference that is no longer explained by the bound alone.
const EXPLAINED: f64 = 0.15;

/// What is foretold: the rate in bytes per second, and why.
struct Foretold {
    rate: f64,
    by: String,
    /// By how much the next resource is less busy, and which it is.
    next: Option<(f64, String)>,
    /// What it does not count.
    leaves_out: &'static str,
}

fn axes(algorithm: Algorithm, kernel: &str) -> BTreeMap<String, Axis> {
    BTreeMap::from([
        ("algorithm".to_owned(), Axis::Name(algorithm.to_string())),
        ("kernel".to_owned(), Axis::from(kernel)),
    ])
}

/// What tells messages besides.
fn messages_axes(work: &Work) -> BTreeMap<String, Axis> {
    BTreeMap::from([
        ("message bytes".to_owned(), Axis::Number(work.message_bytes as f64)),
        ("operation".to_owned(), Axis::from(work.operation.name())),
        ("keys".to_owned(), Axis::from(work.keys.name())),
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
            "; {:.0} % more time is what this leaves out: {}",
            100.0 * (1.0 / ratio - 1.0),
            foretold.leaves_out
        );
    } else if ratio > 1.0 + EXPLAINED {
        note += "; faster than foretold, so this counts more than the kernel does";
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
}

impl Run for Mixes {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        /// For computing what must come out.
        const EXPECTED: f64 = 2.0;
        /// Tiers of a CPU, and what a step takes: of the most that are allowed, few kernels take an eighth.
        const TIERS: f64 = 4.0;
        const STEP: f64 = 0.6e-6;
        let of = |device: &&dyn Device| {
            let id = device.info().id.clone();
            let point = self.seconds + EXPECTED;
            let tiers = TIERS * (point + STEP * self.most_steps as f64);
            let time = Duration::from_secs_f64(if setting.is_cpu(*device) { tiers } else { point });
            let tiers = if setting.is_cpu(*device) { ", each tier," } else { "" };
            let point = move |algorithm: &Algorithm| (format!("{algorithm}{tiers} on {id}"), time);
            self.algorithms.iter().map(point).collect::<Vec<_>>()
        };
        let points = setting.devices.iter().flat_map(of);
        let more = setting.devices.iter().flat_map(|device| {
            let cpu = setting.is_cpu(*device);
            let id = device.info().id.clone();
            let point = self.seconds + EXPECTED;
            let time = if cpu { TIERS * (point + STEP * self.most_steps as f64) } else { point };
            let messages = if cpu { &self.cpu_messages } else { &self.gpu_messages };
            let name = move |algorithm: &Algorithm, bytes: usize| {
                (format!("{algorithm}, messages of {bytes} B, on {id}"), Duration::from_secs_f64(time))
            };
            messages.iter().flat_map(move |messages| {
                let name = name.clone();
                messages.algorithms.iter().map(move |algorithm| name(algorithm, messages.message_bytes))
            })
        });
        points.chain(more).collect()
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
        let foretold =
            Foretold { rate: 10e9, by: "shared memory".to_owned(), next: None, leaves_out: "memory" };
        let notes = |rate: f64| {
            let row = row("aes/x1", (&[rate], true), &foretold, Vec::new(), 1);
            row.notes[0].clone()
        };
        assert_eq!(notes(9.5e9), "aes/x1: bound by shared memory");
        assert!(notes(5e9).contains("100 % more time is what this leaves out: memory"), "{}", notes(5e9));
        assert!(notes(13e9).contains("faster than foretold"));
    }
}
