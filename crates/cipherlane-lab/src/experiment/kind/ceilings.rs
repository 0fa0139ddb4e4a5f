//! What the instructions of a core, and its memory, allow.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane_record::Axis;
use serde::Deserialize;

use crate::ceiling::{Ceilings, Effort, Level, Rate};
use crate::experiment::setting::{Row, Run, Setting, value};
use crate::observer::Observer;

/// The experiment's parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Measured {
    /// Loops of each instruction that are timed; the fastest counts.
    loops: usize,
    /// Walks through each level of the memory that are timed; the fastest counts.
    walks: usize,
}

impl Run for Measured {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        vec![(format!("instructions and memory of {}", setting.cpu.info().id), Duration::from_secs(3))]
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for &device in setting.devices.iter().filter(|device| !setting.is_cpu(**device)) {
            setting.skip(observer, device, None, "what a core allows is measured on the CPU".to_owned());
        }
        let ceilings = match Ceilings::with(Effort { loops: self.loops, walks: self.walks }) {
            Ok(ceilings) => ceilings,
            Err(reason) => {
                setting.skip(observer, setting.cpu, None, reason);
                return Ok(());
            }
        };
        let [before, after] = ceilings.clock_hertz.map(|hertz| hertz / 1e9);
        let note = format!(
            "in clocks of the core, which a chain of additions measured at {before:.3} GHz before and {after:.3} GHz \
             after; one thread"
        );
        let instructions =
            ceilings.rates.iter().map(|rate| instruction(rate, ceilings.clock_hertz[0], &note));
        for row in instructions.chain(ceilings.memory.iter().map(memory)) {
            if !setting.stopped() && !setting.is_done(setting.cpu, &row.axes) {
                observer.observed(&setting.observation(setting.cpu, row))?;
            }
        }
        for missing in ceilings.not_measured {
            setting.skip(observer, setting.cpu, None, missing);
        }
        Ok(())
    }
}

fn instruction(rate: &Rate, hertz: f64, note: &str) -> Row {
    let axes = BTreeMap::from([
        ("instruction".to_owned(), Axis::Name(rate.mnemonic.clone())),
        ("does".to_owned(), Axis::Name(rate.name.clone())),
        ("bits".to_owned(), Axis::Number(rate.bits.into())),
    ]);
    let values = vec![
        value("rate", "1/clk", rate.per_clock),
        value("at this clock", "G/s", 1e-9 * rate.per_clock * hertz),
        value("latency", "clk", rate.latency_clocks),
    ];
    Row { axes, values, notes: vec![note.to_owned()], ..Row::default() }
}

fn memory(level: &Level) -> Row {
    let axes = BTreeMap::from([
        ("memory".to_owned(), Axis::Name(level.name.clone())),
        ("bytes walked".to_owned(), Axis::Number(level.bytes as f64)),
    ]);
    let values = vec![
        value("copy", "GB/s", 1e-9 * level.copy_bytes_per_second),
        value("read", "GB/s", 1e-9 * level.read_bytes_per_second),
    ];
    Row { axes, values, notes: vec!["GB/s = 1e9 bytes per second, one thread".to_owned()], ..Row::default() }
}
