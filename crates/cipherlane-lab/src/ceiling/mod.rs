//! What this machine's instructions allow: their rates and latencies, and the rates of its memory.
//!
//! Everything is said per clock of the core, which a chain of dependent additions measures at the same time: rates
//! then belong to the kind of core and not to the frequency of the moment.

mod copy;
pub(crate) mod gpu;
mod memory;
pub mod mix;
#[cfg(target_arch = "x86_64")]
mod probe;
mod read;

use serde::{Deserialize, Serialize};

use crate::measure::clock::core_clock_hertz;

/// One instruction at one width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// What it does, in words: `AES round`.
    pub name: String,
    /// Its mnemonic: `vaesenc`.
    pub mnemonic: String,
    /// Bits of its registers.
    pub bits: u32,
    /// How many the core starts in a clock, with independent operands.
    pub per_clock: f64,
    /// Clocks from operand to result.
    pub latency_clocks: f64,
}

/// One level of the memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Where the data fits: `L1`, `L2`, `L3`, `DRAM`.
    pub name: String,
    /// Bytes that were walked.
    pub bytes: u64,
    /// Bytes read and bytes written per second while one buffer of half that size is copied to another, counted once.
    pub copy_bytes_per_second: f64,
    /// Bytes read per second.
    pub read_bytes_per_second: f64,
}

/// What one core of this machine can do.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ceilings {
    /// The core's clock, before and after.
    pub clock_hertz: [f64; 2],
    /// Instructions that this CPU has.
    pub rates: Vec<Rate>,
    /// Instructions that it lacks, by mnemonic and bits, or why nothing was measured.
    pub not_measured: Vec<String>,
    /// The levels of its memory.
    pub memory: Vec<Level>,
    /// What mixes of instructions take, measured when one is asked for.
    #[serde(skip)]
    mixes: mix::Mixes,
    /// Copies that were measured again.
    #[serde(skip)]
    copies: memory::Copies,
}

/// How much is done to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Loops of each instruction that are timed; the fastest counts.
    pub loops: usize,
    /// Walks through each level of the memory that are timed; the fastest counts.
    pub walks: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { loops: 30, walks: 5 }
    }
}

impl Ceilings {
    /// Measures, in a second or so.
    ///
    /// # Errors
    /// Where the core's clock is not known.
    pub fn measure() -> Result<Self, String> {
        Self::with(Effort::default())
    }

    /// Measures with more or less effort.
    ///
    /// # Errors
    /// Where the core's clock is not known.
    pub fn with(effort: Effort) -> Result<Self, String> {
        let before = core_clock_hertz()?;
        let (rates, not_measured) = rates(before, effort.loops.max(1));
        let memory = memory::levels(effort.walks.max(1));
        let clock_hertz = [before, core_clock_hertz()?];
        Ok(Self {
            clock_hertz,
            rates,
            not_measured,
            memory,
            mixes: mix::Mixes::default(),
            copies: memory::Copies::default(),
        })
    }

    /// The rate of `mnemonic` at `bits`, if the CPU has it.
    #[must_use]
    pub fn rate(&self, mnemonic: &str, bits: u32) -> Option<f64> {
        self.rates
            .iter()
            .find(|rate| rate.mnemonic == mnemonic && rate.bits == bits)
            .map(|rate| rate.per_clock)
    }
}

#[cfg(target_arch = "x86_64")]
fn rates(mut hertz: f64, loops: usize) -> (Vec<Rate>, Vec<String>) {
    let (mut rates, mut absent) = (Vec::new(), Vec::new());
    for probe in probe::all() {
        if !(probe.present)() {
            absent.push(format!("{} at {} bits: this CPU lacks it", probe.mnemonic, probe.bits));
            continue;
        }
        // A clock of its own for each: boost comes and goes within a run.
        hertz = core_clock_hertz().unwrap_or(hertz);
        rates.push(Rate {
            name: probe.name.to_owned(),
            mnemonic: probe.mnemonic.to_owned(),
            bits: probe.bits,
            per_clock: 1.0 / (probe.seconds_between(loops) * hertz),
            latency_clocks: probe.seconds_of_one(loops) * hertz,
        });
    }
    (rates, absent)
}

/// A timed loop as it was written, for disassembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    /// The instruction, and the bits of its registers.
    pub(crate) mnemonic: &'static str,
    pub(crate) bits: u32,
    /// Where in memory the function with the loop lies.
    pub(crate) address: usize,
    /// How often the instruction stands in the loop.
    pub(crate) instructions: u32,
}

/// Every timed loop, whether this CPU has the instruction or not.
#[cfg(target_arch = "x86_64")]
pub(crate) fn loops() -> Vec<Loop> {
    let of = |probe: probe::Probe| {
        let (address, instructions) = probe.code();
        Loop { mnemonic: probe.mnemonic, bits: probe.bits, address, instructions }
    };
    probe::all().into_iter().map(of).collect()
}

/// None: no loops are written for this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn loops() -> Vec<Loop> {
    Vec::new()
}

#[cfg(not(target_arch = "x86_64"))]
fn rates(_: f64, _: usize) -> (Vec<Rate>, Vec<String>) {
    (Vec::new(), vec!["instructions: no loops are written for this architecture".to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn rates_are_ones_that_cores_have() {
        // A neighbour on the core slows some loops, but not all that are measured again.
        let mut found = check(&Ceilings::measure().unwrap());
        for _ in 0..4 {
            if found.is_err() {
                found = check(&Ceilings::measure().unwrap());
            }
        }
        assert_eq!(found, Ok(()));
    }

    #[cfg(target_arch = "x86_64")]
    fn check(ceilings: &Ceilings) -> Result<(), String> {
        let ensure = |holds: bool, what: String| if holds { Ok(()) } else { Err(what) };
        let add = ceilings.rate("add", 64).unwrap();
        ensure((1.5..12.0).contains(&add), format!("{add} additions per clock"))?;
        let chain = ceilings.rates.iter().find(|rate| rate.mnemonic == "add").unwrap().latency_clocks;
        // The clock is made of them.
        ensure((0.7..1.5).contains(&chain), format!("an addition takes {chain} clocks"))?;
        for rate in &ceilings.rates {
            ensure((0.05..12.0).contains(&rate.per_clock), format!("{rate:?}"))?;
            let is_plausible = rate.latency_clocks * rate.per_clock > 0.5;
            ensure(is_plausible, format!("{rate:?}: a chain beats independent ones"))?;
        }
        let levels: Vec<_> = ceilings.memory.iter().map(|level| level.read_bytes_per_second).collect();
        ensure(levels.iter().all(|rate| (1e8..1e13).contains(rate)), format!("{levels:?}"))
    }
}
