//! The default kernels of a GPU: what they consist of, by its instructions' rates, and what they reach.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use cipherlane::{Algorithm, Device, Geometry, Mode, Shape, Wish};
use cipherlane_kernels::probe::Steps;
use cipherlane_record::{Axis, Keys, Value};

use super::{EXPLAINED, Foretold, Mixes, axes, messages_axes, row};
use crate::ceiling::gpu::{Bench, Effort, Load};
use crate::ceiling::mix::gpu::{Mix, Rates, Waits};
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

/// Parts of the threads of a block that are tried where a kernel is slower than foretold; which a kernel takes depends on
/// how its blocks share their work.
const FEWER: [[usize; 2]; 3] = [[1, 2], [2, 3], [1, 3]];

fn shape(work: &Work) -> Shape {
    let shared = work.keys == Keys::Same;
    let (messages, bytes) = (work.messages.unwrap_or(1), work.message_bytes as u64);
    Shape::uniform(work.algorithm, work.operation, messages, bytes, shared)
}

/// The mix of the default kernel of `work`, where one is stated.
fn mix(device: &dyn Device, work: &Work) -> Option<Mix> {
    let shape = shape(work);
    Mix::of(&shape, &device.kernels(&shape).first()?.name)
}

impl Mixes {
    /// Bytes per second of each run, on a device that has kernels run alone.
    fn measure(&self, setting: &Setting<'_>, steady: &mut Steady) -> Result<Vec<f64>, String> {
        let spans = steady.repeat(setting, self.often())?;
        Ok(spans.iter().map(|spans| steady.bytes() as f64 / spans.execute.as_secs_f64()).collect())
    }

    /// The default kernel of each algorithm on a GPU, and of each other kind of messages.
    pub(super) fn gpu(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let works = self.gpu_works();
        // Probes take a minute where each is compiled first.
        if works.iter().all(|(work, _)| mix(device, work).is_none()) {
            setting.skip(observer, device, None, "no mix is stated for any of its kernels".to_owned());
            return Ok(());
        }
        let probed = match self.probe(&device.info().id) {
            Ok(probed) => probed,
            Err(reason) => {
                setting.skip(observer, device, None, reason);
                return Ok(());
            }
        };
        let on = On { setting, device, probed: &probed };
        works.into_iter().try_for_each(|(work, place)| self.kernel(on, work, place, observer))
    }

    /// What is run, and where it stands in the records.
    fn gpu_works(&self) -> Vec<(Work, BTreeMap<String, Axis>)> {
        // One message would be one chain of CBC encryption, and take a minute.
        let is_chain = |algorithm: &Algorithm| matches!(algorithm, Algorithm::Cipher(_, Mode::Cbc));
        let algorithms = self.algorithms.iter().filter(|algorithm| !is_chain(algorithm));
        let plain = algorithms.map(|&algorithm| (self.gpu_work(algorithm), BTreeMap::new()));
        let others = self.gpu_messages.iter().flat_map(|messages| {
            messages.algorithms.iter().map(|&algorithm| {
                let work = messages.work(algorithm, self.gpu_batch_bytes);
                let axes = messages_axes(&work);
                (work, axes)
            })
        });
        plain.chain(others).collect()
    }

    /// The default kernel of one kind of messages.
    fn kernel(
        &self,
        on: On<'_>,
        work: Work,
        mut place: BTreeMap<String, Axis>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let On { setting, device, probed } = on;
        let shape = shape(&work);
        let Some(kernel) = device.kernels(&shape).into_iter().next() else { return Ok(()) };
        place.extend(axes(work.algorithm, &kernel.name));
        let make = || {
            let mix = Mix::of(&shape, &kernel.name);
            let mix = mix.ok_or_else(|| format!("{}: no mix is stated for it", kernel.name))?;
            let batch = work.batch(setting, setting.host.logical_cores)?;
            let wish = Wish { kernel: Some(kernel.name.clone()), ..Wish::default() };
            let mut steady = batch.resident(device, &wish)?;
            let hertz = clock(setting, &mut steady, &device.info().id)?.unwrap_or(probed.hertz);
            let rates = self.measure(setting, &mut steady)?;
            let launch = steady.plan().geometry;
            let foretold = probed.foretell(&mix, &shape, launch, hertz);
            let mut row = row(
                &kernel.name,
                (&rates, steady.verified()),
                &foretold,
                parts(work.algorithm, &mix),
                setting.seed,
            );
            row.values.push(value("clock", "GHz", 1e-9 * hertz));
            let rate = statistics::median(&rates);
            if rate < (1.0 - EXPLAINED) * foretold.rate {
                // What lies on the device has room once.
                drop(steady);
                let threads = launch.map_or(0, |launch| launch.threads_per_block);
                let fewer = |threads| {
                    let wish = Wish { threads_per_block: Some(threads), ..wish.clone() };
                    let mut steady = batch.resident(device, &wish)?;
                    Ok(statistics::median(&self.measure(setting, &mut steady)?))
                };
                let (value, note) = waiting(threads, rate, fewer);
                row.values.extend(value);
                row.notes.push(note);
            }
            Ok(row)
        };
        setting.point(observer, device, Some(work.algorithm), place, make)
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
        // In a second: a probe's clocks can be fewer than those that passed, and its clock slower by as much.
        let (mut rates, mut hertz) = (BTreeMap::new(), 0.0_f64);
        for steps in Rates::PROBES {
            match bench.measure(steps, Load::Full, effort) {
                Ok(found) if !found.verified => {
                    return Err(format!("the probe of {} gives wrong words", steps.name()));
                }
                Ok(found) => {
                    let clock = statistics::median(&found.hertz);
                    rates.insert(steps, statistics::median(&found.per_clock) * clock);
                    hertz = hertz.max(clock);
                }
                // Tensor cores are the one resource that a device need not have.
                Err(_) if steps.is_of_matrices() => {}
                Err(reason) => return Err(format!("{}: {reason}", steps.name())),
            }
        }
        let of = |steps: Steps| rates.get(&steps).map(|rate| rate / hertz);
        let rate = |steps: Steps| of(steps).ok_or_else(|| format!("{} was not measured", steps.name()));
        let rates = Rates {
            local: rate(Steps::LocalFree)?,
            logic: rate(Steps::Lop3)?,
            long_sum: rate(Steps::AddLong)?,
            product: rate(Steps::Mad)?,
            wide: rate(Steps::Wide)?,
            any: rate(Steps::F32Fma)?,
            matrix_bits: of(Steps::MatrixBits),
            matrix_bits_local: of(Steps::MatrixBitsLocal),
        };
        let mut alone = |steps: Steps| {
            let found = bench.measure(steps, Load::Alone, effort);
            found.map(|found| statistics::median(&found.step_clocks))
        };
        let [local, logic, permutation] = Waits::PROBES;
        let waits = Waits { local: alone(local)?, logic: alone(logic)?, permutation: alone(permutation)? };
        Ok(Probed { rates, waits, hertz, units: bench.units() as f64 })
    }
}

/// Where kernels are run, and what its instructions cost.
#[derive(Clone, Copy)]
struct On<'a> {
    setting: &'a Setting<'a>,
    device: &'a dyn Device,
    probed: &'a Probed,
}

/// A GPU's rates and latencies, its units, and the clock that probes ran at.
struct Probed {
    rates: Rates,
    waits: Waits,
    hertz: f64,
    units: f64,
}

impl Probed {
    fn foretell(&self, mix: &Mix, shape: &Shape, launch: Option<Geometry>, hertz: f64) -> Foretold {
        let mut bounds: Vec<(f64, &str)> = Vec::new();
        for (clocks, by) in mix.clocks(&self.rates) {
            bounds.push((mix.bytes / clocks * self.units * hertz, by));
        }
        if let (Some(chain), Some(launch)) = (mix.chain, launch) {
            let held = launch.blocks * launch.threads_per_block / chain.threads;
            let chains = held.min(shape.messages) as f64;
            let rate = chains * mix.bytes / chain.clocks(&self.waits) * hertz;
            bounds.push((rate, "the chain from block to block, each step of which waits"));
            bounds.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        }
        let (rate, by) = bounds[0];
        let next = bounds.get(1).map(|(next, by)| (rate / next, (*by).to_owned()));
        Foretold { rate, by: by.to_owned(), next, leaves_out: LEFT }
    }
}

/// The clock that the device keeps up while it runs a kernel for a while, by its own sensor: at the limit of its power it
/// is less than that of probes. `None` where there is no sensor.
fn clock(setting: &Setting<'_>, steady: &mut Steady, id: &str) -> Result<Option<f64>, String> {
    const WHILE: Duration = Duration::from_millis(800);
    let mark = setting.sampler.mark();
    steady.until(setting, Instant::now() + WHILE)?;
    let timeline = setting.sampler.since(mark);
    let read = timeline.channel(&format!("{id}.frequency")).map_or(&[][..], |channel| &channel.values);
    // The first readings are of what was before.
    let read: Vec<f64> =
        read[read.len() / 2..].iter().copied().flatten().filter(|hertz| *hertz > 0.0).collect();
    Ok((!read.is_empty()).then(|| statistics::median(&read)))
}

/// What part of its time a kernel waits for results, by what it takes with fewer threads: the part that the pipes work is
/// the same then, and what is waited for is shared by fewer.
fn waiting(
    threads: usize,
    rate: f64,
    mut with: impl FnMut(usize) -> Result<f64, String>,
) -> (Option<Value>, String) {
    let mut refused = String::new();
    for [part, of] in FEWER {
        let fewer = threads * part / of;
        match with(fewer) {
            Ok(slower) => {
                let times = rate / slower;
                let waits = ((times - 1.0) / (threads as f64 / fewer as f64 - 1.0)).clamp(0.0, 1.0);
                let note = format!(
                    "with {fewer} threads of a block instead of {threads} it takes {times:.2} times as long, as if \
                     waiting for results were {:.0} % of its time",
                    100.0 * waits
                );
                return (Some(value("waiting", "1", waits)), note);
            }
            Err(reason) => refused = reason,
        }
    }
    (None, format!("how long it waits was not measured: {refused}"))
}

/// What a mix consists of.
fn parts(algorithm: Algorithm, mix: &Mix) -> Vec<Value> {
    let others =
        mix.logic + mix.permutations + mix.shifts + mix.sums + mix.long_sums + mix.products + mix.wide;
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

    const RATES: Rates = Rates {
        local: 32.0,
        logic: 64.0,
        long_sum: 32.0,
        product: 64.0,
        wide: 25.0,
        any: 128.0,
        matrix_bits: None,
        matrix_bits_local: None,
    };
    const WAITS: Waits = Waits { local: 30.0, logic: 5.0, permutation: 5.0 };

    fn foretold(algorithm: &str, kernel: &str, messages: usize) -> Foretold {
        let probed = Probed { rates: RATES, waits: WAITS, hertz: 1e9, units: 10.0 };
        let algorithm: Algorithm = algorithm.parse().unwrap();
        let shape = Shape::uniform(algorithm, algorithm.forward(), messages, 16_384, true);
        let launch = Geometry { blocks: 10, threads_per_block: 1024, streams: None };
        probed.foretell(&Mix::of(&shape, kernel).unwrap(), &shape, Some(launch), probed.hertz)
    }

    #[test]
    fn the_busiest_resource_foretells() {
        let foretold = foretold("aes-128-ecb", "aes-ecb/banked4/x1", 1000);
        // 160 look-ups and eight words of text, 32 in a clock.
        assert!((foretold.rate - 16.0 * 32.0 / 168.0 * 1e10).abs() < 1.0, "{}", foretold.rate);
        assert_eq!(foretold.by, "shared memory");
        let (share, next) = foretold.next.unwrap();
        assert!((0.5..1.0).contains(&share) && next == "the pipe for logic", "{share} {next}");
    }

    #[test]
    fn few_messages_wait_for_their_blocks() {
        let of = |messages| foretold("aes-128-cbc", "aes-cbc/banked4-quad/x1", messages);
        // Ten rounds of two words that are waited for, twenty sums and twelve permutations.
        let one = 16e9 / (20.0 * 30.0 + 20.0 * 5.0 + 12.0 * 5.0);
        assert!((of(100).rate - 100.0 * one).abs() < 1.0, "{}", of(100).rate);
        // 2560 are held at a time.
        assert!((of(1 << 20).rate - 2560.0 * one).abs() < 1.0 || of(1 << 20).by == "shared memory");
    }

    #[test]
    fn what_fewer_threads_take_tells_waiting_from_working() {
        let of = |slower: f64| waiting(768, 100.0, |_| Ok(slower)).0.unwrap().value.unwrap();
        assert!((of(50.0) - 1.0).abs() < 1e-9 && of(100.0).abs() < 1e-9);
        // Two thirds of the threads, where half of them are refused.
        let two_thirds = |threads| if threads == 512 { Ok(80.0) } else { Err("no".to_owned()) };
        let (value, note) = waiting(768, 100.0, two_thirds);
        assert!((value.unwrap().value.unwrap() - 0.5).abs() < 1e-9 && note.contains("512"), "{note}");
        assert!(waiting(768, 100.0, |_| Err("refused".to_owned())).1.contains("refused"));
    }
}
