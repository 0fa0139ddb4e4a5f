//! Each tier's default kernel on one thread: what it executes, what that costs here, and what it reaches.

use std::io;

use cipherlane::{Device, Kernel, Shape, Wish};
use cipherlane_record::Value;

use super::{EXPLAINED, Foretold, Mixes, axes, row};
use crate::experiment::setting::{Row, Setting, value};
use crate::experiment::steady::{Steady, Work};
use crate::measure::calibrate;
use crate::measure::clock::core_clock_hertz;
use crate::observer::Observer;
use crate::trace::{self, Cost, Probe};
use crate::{Ceilings, ceiling, statistics};

/// Messages of a hash function: as many as any kernel has lanes.
const MESSAGES: usize = 16;
/// Text that a run by single steps has, by what the kernel has in flight: some take two groups at a time.
const GROUPS: usize = 4;
/// Bytes of a block of a cipher.
const BLOCK: usize = 16;
/// A wait that takes this much longer than the ports is what bounds.
const WAITS: f64 = 1.1;

/// What the cost of a kernel does not count.
const LEFT: &str =
    "code longer than the caches of instructions, branches that are not foreseen, later caches";

/// What is known of this core before the kernels are run.
struct Known<'a> {
    ceilings: &'a Ceilings,
    /// What a look at the clock costs.
    look_seconds: f64,
}

impl Mixes {
    /// Every tier of the CPU, on one thread and from the cache of the first level.
    pub(super) fn cpu(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let ceilings = match Ceilings::measure() {
            Ok(ceilings) => ceilings,
            Err(reason) => {
                setting.skip(observer, device, None, reason);
                return Ok(());
            }
        };
        let known = Known { ceilings: &ceilings, look_seconds: calibrate().timer_call_seconds };
        for &algorithm in &self.algorithms {
            let work = match algorithm.hash() {
                Some(_) => Work::forward(algorithm, self.hash_message_bytes, Some(MESSAGES)),
                None => Work::forward(algorithm, self.cpu_message_bytes, Some(1)),
            };
            let shape = match work.batch(setting, 1) {
                Ok(batch) => batch.shape,
                Err(reason) => {
                    setting.skip(observer, device, Some(algorithm), reason);
                    continue;
                }
            };
            for kernel in tiers(device, &shape) {
                let make = || self.tier(setting, device, &known, work, &kernel);
                setting.point(observer, device, Some(algorithm), axes(algorithm, &kernel.name), make)?;
            }
        }
        Ok(())
    }

    /// One kernel.
    fn tier(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        known: &Known<'_>,
        work: Work,
        kernel: &Kernel,
    ) -> Result<Row, String> {
        let wish = Wish { kernel: Some(kernel.name.clone()), threads: Some(1), ..Wish::default() };
        let open = |message_bytes| Work { message_bytes, ..work }.batch(setting, 1)?.open(device, &wish);
        let step = match work.algorithm.hash() {
            Some(hash) => hash.block_bytes(),
            None => GROUPS * BLOCK * kernel.lanes.max(1),
        };
        let [mut less, mut more] = [open(step)?, open(2 * step)?];
        let (cost, mut probe) = cost_of(&mut less, &mut more, self.most_steps)?;
        let mut steady = open(work.message_bytes)?;
        let before = core_clock_hertz()?;
        let runs = steady.repeat(setting, self.often())?;
        let hertz = f64::midpoint(before, core_clock_hertz()?);
        let bytes = steady.bytes() as f64;
        let seconds =
            |spans: &cipherlane::Spans| (spans.execute.as_secs_f64() - known.look_seconds).max(1e-9);
        let rates: Vec<f64> = runs.iter().map(|spans| bytes / seconds(spans)).collect();
        let rate = bytes / cost.of_run(bytes) * hertz;
        let foretold = Foretold { rate, by: bound_by(&cost), next: None, leaves_out: LEFT };
        let mut values = parts(&cost);
        let bound = ceiling::mix::bound(known.ceilings, work.algorithm, &kernel.tier);
        values.extend(
            bound.map(|bound| value("bound by least mix", "GB/s", 1e-9 * bound.bytes_per_clock * hertz)),
        );
        let mut row = row(&kernel.name, (&rates, steady.verified()), &foretold, values, setting.seed);
        row.notes.extend(rest(statistics::median(&rates) / rate, &mut probe, hertz)?);
        Ok(row)
    }
}

/// What the kernel of two sessions costs, by single steps of both.
fn cost_of(less: &mut Steady, more: &mut Steady, most: usize) -> Result<(Cost, Probe), String> {
    let (mut first, mut second) = (Ok(()), Ok(()));
    let bytes = [less.bytes() as f64, more.bytes() as f64];
    let found = trace::cost(
        [
            trace::Work { bytes: bytes[0], run: &mut || first = less.once().map(drop) },
            trace::Work { bytes: bytes[1], run: &mut || second = more.once().map(drop) },
        ],
        most,
    );
    first.and(second)?;
    less.look()?;
    more.look()?;
    if !less.verified() || !more.verified() {
        return Err("its outputs are wrong when it runs by single steps".to_owned());
    }
    found
}

/// What takes the time that was foretold.
fn bound_by(cost: &Cost) -> String {
    let (name, share) = &cost.busiest;
    let ports = format!("{name}, without which its instructions take {:.0} % less", 100.0 * share);
    let waiting = cost.clocks / cost.ordered_clocks;
    let turns = cost.ordered_clocks / cost.free_clocks;
    if waiting < WAITS && turns > WAITS {
        return format!(
            "ports that are busy by turns, {turns:.2} times the clocks of an even mix, which {name} bounds"
        );
    }
    if waiting < WAITS {
        return if *share < 1.0 { ports } else { name.clone() };
    }
    format!(
        "waiting for results: {waiting:.2} times the clocks of the same instructions with nothing to wait for, which \
         {name} bounds"
    )
}

/// What a block consists of, 16 bytes of text, and what it costs.
fn parts(cost: &Cost) -> Vec<Value> {
    let of_block = |name, count: f64| value(name, "1", count / cost.bytes * BLOCK as f64);
    vec![
        of_block("instructions of a block", cost.instructions),
        of_block("loads", cost.loads),
        of_block("stores", cost.stores),
        of_block("on the stack", cost.on_stack),
        of_block("clocks of the ports", cost.free_clocks),
        of_block("clocks in order", cost.ordered_clocks),
        of_block("clocks with waiting", cost.clocks),
        value("clocks of a start", "1", cost.start_clocks),
        value("code", "B", cost.code_bytes),
    ]
}

/// What else a gap can be: a core that somebody else uses as well, which the kernel's own instructions show.
fn rest(ratio: f64, probe: &mut Probe, hertz: f64) -> Result<Option<String>, String> {
    if (1.0 - EXPLAINED..=1.0 + EXPLAINED).contains(&ratio) {
        return Ok(None);
    }
    let (disturbed, now) = (probe.disturbed()?, core_clock_hertz()?);
    Ok(Some(format!(
        "beside the measured runs the kernel's instructions with nothing to wait for took {disturbed:.2} times their \
         clocks at {:.2} GHz ({:.2} before): what is more than 1 is of others on this core",
        1e-9 * now,
        1e-9 * hertz
    )))
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
