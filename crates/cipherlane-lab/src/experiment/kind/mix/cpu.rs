//! Each tier's default kernel on one thread: what it executes, what that costs here, and what it reaches.

use std::collections::BTreeMap;
use std::io;

use cipherlane::{Device, Kernel, Shape, Wish};
use cipherlane_record::{Axis, Value};

use super::{EXPLAINED, Foretold, Mixes, axes, messages_axes, row};
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

/// Looks at a kernel of which a part is left unexplained.
const LOOKS: usize = 3;

/// What the cost of a kernel does not count.
const LEFT: &str =
    "the order of its instructions, the fetching of its code, and later caches, told apart where they matter";

/// What one look at a kernel gives.
struct Look {
    row: Row,
    /// What it reaches by what it foretells.
    ratio: f64,
    /// The part of its time that neither the cost nor stretches of the kernel explain.
    unexplained: f64,
}

/// Where kernels are run, and what is known of this core before.
#[derive(Clone, Copy)]
struct On<'a> {
    setting: &'a Setting<'a>,
    device: &'a dyn Device,
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
        let look_seconds = calibrate().timer_call_seconds;
        let on = On { setting, device, ceilings: &ceilings, look_seconds };
        for &algorithm in &self.algorithms {
            let work = match algorithm.hash() {
                Some(_) => Work::forward(algorithm, self.hash_message_bytes, Some(MESSAGES)),
                None => Work::forward(algorithm, self.cpu_message_bytes, Some(1)),
            };
            self.tiers(on, work, &BTreeMap::new(), observer)?;
        }
        for messages in &self.cpu_messages {
            for &algorithm in &messages.algorithms {
                let work = messages.work(algorithm, self.cpu_message_bytes);
                self.tiers(on, work, &messages_axes(&work), observer)?;
            }
        }
        Ok(())
    }

    /// The default kernel of each tier for one kind of messages.
    fn tiers(
        &self,
        on: On<'_>,
        work: Work,
        place: &BTreeMap<String, Axis>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let On { setting, device, .. } = on;
        let shape = match work.batch(setting, 1) {
            Ok(batch) => batch.shape,
            Err(reason) => {
                setting.skip(observer, device, Some(work.algorithm), reason);
                return Ok(());
            }
        };
        for kernel in tiers(device, &shape) {
            let mut place = place.clone();
            place.extend(axes(work.algorithm, &kernel.name));
            let make = || self.tier(on, work, &kernel);
            setting.point(observer, device, Some(work.algorithm), place, make)?;
        }
        Ok(())
    }

    /// One kernel. What nothing explains may be of others on this core, so that it is looked at again.
    fn tier(&self, on: On<'_>, work: Work, kernel: &Kernel) -> Result<Row, String> {
        let mut looks: Vec<Look> = Vec::new();
        while looks.len() < LOOKS && looks.iter().all(|look| look.unexplained > EXPLAINED) {
            looks.push(self.look(on, work, kernel)?);
        }
        looks.sort_by(|one, other| one.unexplained.total_cmp(&other.unexplained));
        let others: Vec<String> = looks[1..].iter().map(|look| format!("{:.2}", look.ratio)).collect();
        let mut row = looks.swap_remove(0).row;
        if !others.is_empty() {
            row.notes.push(format!(
                "the look of {LOOKS} at most that leaves the least; others had {} times what they foretold",
                others.join(" and ")
            ));
        }
        Ok(row)
    }

    /// One look at a kernel: what it costs, and what it reaches.
    fn look(&self, on: On<'_>, work: Work, kernel: &Kernel) -> Result<Look, String> {
        let On { setting, device, ceilings, look_seconds } = on;
        let wish = Wish { kernel: Some(kernel.name.clone()), threads: Some(1), ..Wish::default() };
        let open = |work: Work| work.batch(setting, 1)?.open(device, &wish);
        let [less, more] = works(work, kernel.lanes.max(1));
        let (cost, mut probe) = cost_of(&mut open(less)?, &mut open(more)?, self.most_steps)?;
        let mut steady = open(work)?;
        let before = core_clock_hertz()?;
        let runs = steady.repeat(setting, self.often())?;
        let hertz = f64::midpoint(before, core_clock_hertz()?);
        let bytes = steady.bytes() as f64;
        let seconds = |spans: &cipherlane::Spans| (spans.execute.as_secs_f64() - look_seconds).max(1e-9);
        let rates: Vec<f64> = runs.iter().map(|spans| bytes / seconds(spans)).collect();
        let rate = bytes / cost.of_run(bytes) * hertz;
        let foretold = Foretold { rate, by: bound_by(&cost), next: None, leaves_out: LEFT };
        let mut values = parts(&cost);
        // The least mix knows neither keys nor the ends of messages.
        let bound = ceiling::mix::bound(ceilings, work.algorithm, &kernel.tier).filter(|_| is_long(work));
        values.extend(
            bound.map(|bound| value("bound by least mix", "GB/s", 1e-9 * bound.bytes_per_clock * hertz)),
        );
        let mut row = row(&kernel.name, (&rates, steady.verified()), &foretold, values, setting.seed);
        let ratio = statistics::median(&rates) / rate;
        let is_explained = (1.0 - EXPLAINED..=1.0 + EXPLAINED).contains(&ratio);
        let own = cost.replayed_clocks / cost.clocks;
        if !is_explained {
            row.notes.extend(rest(ratio, own, &mut probe, hertz)?);
        }
        Ok(Look {
            row,
            ratio,
            unexplained: if is_explained { 0.0 } else { (1.0 / (ratio * own) - 1.0).abs() },
        })
    }
}

/// Whether messages are so long that their keys and ends count for little.
fn is_long(work: Work) -> bool {
    work.algorithm.hash().is_some() || work.messages == Some(1)
}

/// Two works of which the second has twice as much text, and the rest alike: of long messages blocks, of others messages.
fn works(work: Work, lanes: usize) -> [Work; 2] {
    [1, 2].map(|times| match work.algorithm.hash() {
        Some(hash) => Work { message_bytes: times * hash.block_bytes(), ..work },
        None if is_long(work) => Work { message_bytes: times * GROUPS * BLOCK * lanes, ..work },
        None => Work { messages: Some(times * lanes), ..work },
    })
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
        of_block("clocks of stretches", cost.replayed_clocks),
        value("clocks of a start", "1", cost.start_clocks),
        value("code", "B", cost.code_bytes),
    ]
}

/// What explains a gap: what the core makes of the kernel's own order, what it takes to fetch it, and a core that somebody
/// else uses as well, which the kernel's own instructions show.
fn rest(ratio: f64, own: f64, probe: &mut Probe, hertz: f64) -> Result<[String; 2], String> {
    let (disturbed, now) = (probe.disturbed()?, core_clock_hertz()?);
    Ok([
        format!(
            "stretches of it alone, each result where it was, take {own:.2} times the clocks that are foretold: what is \
             more than 1 is of ports and queues that the core gives to instructions in their order; the whole kernel \
             takes {:.2} times as long as they: what is more than 1 is of fetching its code, of branches and of later \
             caches",
            1.0 / (ratio * own)
        ),
        format!(
            "beside the measured runs the kernel's instructions with nothing to wait for took {disturbed:.2} times their \
             clocks at {:.2} GHz ({:.2} before): what is more than 1 is of others on this core",
            1e-9 * now,
            1e-9 * hertz
        ),
    ])
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
