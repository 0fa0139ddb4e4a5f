//! What a GPU's instructions allow: probes of its operations, launched and counted.

use cipherlane_kernels::probe::{Kernel, LANES, STEPS_OF_A_TURN, Steps};
use cipherlane_offload::backend::Fault;
use cipherlane_offload::probe::{Launched, Prober};
use cipherlane_offload::{Accelerator, Provider};

use crate::statistics;

/// Most turns of a launch: what is known beforehand has to be computed, too.
const MOST_TURNS: u32 = 4096;
/// Launches of the empty kernel.
const EMPTY: usize = 3;
/// Most threads that a block is given, where the device takes so many.
const THREADS: usize = 1024;

/// A GPU on which probes are timed.
#[derive(Debug)]
pub(crate) struct Bench {
    prober: Box<dyn Prober>,
}

/// How long and how often a probe is launched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Seconds of a launch, about.
    pub(crate) seconds: f64,
    /// Launches that count.
    pub(crate) launches: usize,
}

/// Threads on a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// One group with one chain: every step waits.
    Alone,
    /// So many groups of 32 threads.
    Groups(usize),
    /// As many as a unit holds.
    Full,
}

/// What came of a probe.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Operations that a unit started in a clock, by launch.
    pub(crate) per_clock: Vec<f64>,
    /// Clocks from a step of a chain to the next, by launch.
    pub(crate) step_clocks: Vec<f64>,
    /// The clock in hertz, by launch.
    pub(crate) hertz: Vec<f64>,
    /// Whether the device counted clocks; else they are of the driver's highest.
    pub(crate) counted: bool,
    /// Groups on a unit.
    pub(crate) groups: usize,
    /// Whether every thread of every launch gave what it must.
    pub(crate) verified: bool,
}

impl Bench {
    /// The device of this identifier.
    pub(crate) fn open(id: &str) -> Result<Self, String> {
        let opened = match id.split_once(':') {
            Some(("cuda", _)) => prober(&cipherlane_cuda::devices()?, id),
            Some(("opencl", _)) => prober(&cipherlane_opencl::devices()?, id),
            _ => None,
        };
        let prober = opened.ok_or("no probe is launched on it; name a single GPU, as cuda:0 or opencl:0")?;
        Ok(Self { prober: prober.map_err(|fault| fault.to_string())? })
    }

    /// Multiprocessors or compute units.
    pub(crate) fn units(&self) -> usize {
        self.prober.limits().units
    }

    /// Times `steps` under `load`.
    ///
    /// # Errors
    /// What the device lacks, or failed by.
    pub(crate) fn measure(&mut self, steps: Steps, load: Load, effort: Effort) -> Result<Found, String> {
        let (threads, blocks) = self.place(load);
        let kernel = Kernel::new(steps, load == Load::Alone, u32::try_from(threads).unwrap_or(u32::MAX));
        let held = self.prober.load(kernel).map_err(|fault| fault.to_string())?;
        let blocks = blocks.unwrap_or(held);
        if blocks > held {
            return Err(format!("a unit holds {held} blocks of {threads} threads, not {blocks}"));
        }
        let timed = Timed { kernel, blocks, units: self.units() };
        self.repeat(timed, effort)
    }

    /// Threads of a block, and its blocks on a unit; none for as many as fit.
    fn place(&self, load: Load) -> (usize, Option<usize>) {
        let most = self.prober.limits().threads_per_block.min(THREADS) / LANES * LANES;
        match load {
            Load::Alone => (LANES, Some(1)),
            Load::Groups(groups) => {
                let blocks = (groups * LANES).div_ceil(most);
                (groups.div_ceil(blocks) * LANES, Some(blocks))
            }
            Load::Full => (most, None),
        }
    }

    fn repeat(&mut self, timed: Timed, effort: Effort) -> Result<Found, String> {
        let turns = self.turns(timed, effort.seconds)?;
        let empty = (0..EMPTY).map(|_| self.launch(timed, 0)).collect::<Result<Vec<_>, _>>()?;
        let median = |of: fn(&Launched) -> f64| statistics::median(&empty.iter().map(of).collect::<Vec<_>>());
        let (empty_seconds, empty_clocks) = (median(seconds), median(clocks));
        let answer = timed.kernel.answer(turns);
        let highest = self.prober.limits().clock_hertz as f64;
        let mut found = Found {
            per_clock: Vec::new(),
            step_clocks: Vec::new(),
            hertz: Vec::new(),
            counted: true,
            groups: timed.kernel.threads() as usize * timed.blocks / LANES,
            verified: true,
        };
        for _ in 0..effort.launches.max(1) {
            let launched = self.launch(timed, turns)?;
            found.verified &= launched.words.chunks(LANES).all(|group| group == answer);
            let time = seconds(&launched) - empty_seconds;
            let counted = clocks(&launched) - empty_clocks;
            found.counted &= counted > 0.0;
            let clocks = if found.counted { counted } else { time * highest };
            if time <= 0.0 || clocks <= 0.0 {
                return Err(
                    "a launch takes no longer than an empty one, or the driver names no clock".to_owned()
                );
            }
            found.per_clock.push(timed.operations(turns) / clocks);
            found.step_clocks.push(clocks / timed.steps_of_a_chain(turns));
            found.hertz.push(clocks / time);
        }
        Ok(found)
    }

    /// Turns that take about `target` seconds.
    fn turns(&mut self, timed: Timed, target: f64) -> Result<u32, String> {
        let mut turns = 1;
        // The first launch is slower than those that follow.
        self.launch(timed, turns)?;
        loop {
            let took = seconds(&self.launch(timed, turns)?).max(1e-9);
            let wanted = f64::from(turns) * target / took;
            if took > target / 8.0 || turns == MOST_TURNS {
                return Ok((wanted as u32).clamp(1, MOST_TURNS));
            }
            turns = (4 * turns).min(MOST_TURNS);
        }
    }

    fn launch(&mut self, timed: Timed, turns: u32) -> Result<Launched, String> {
        self.prober.launch(timed.blocks * timed.units, turns).map_err(|fault| fault.to_string())
    }
}

/// The prober of the device with this identifier.
fn prober<P: Provider>(devices: &[Accelerator<P>], id: &str) -> Option<Result<Box<dyn Prober>, Fault>> {
    devices.iter().find(|device| device.provider().info().id == id).map(Accelerator::prober)
}

/// A kernel, with its blocks on each unit.
#[derive(Clone, Copy, Debug)]
struct Timed {
    kernel: Kernel,
    blocks: usize,
    units: usize,
}

impl Timed {
    /// Operations of a unit in so many turns.
    fn operations(self, turns: u32) -> f64 {
        let threads = self.blocks as u64 * u64::from(self.kernel.threads());
        (u64::from(turns) * STEPS_OF_A_TURN * threads * self.kernel.steps().operations()) as f64
    }

    /// Steps of one chain in so many turns.
    fn steps_of_a_chain(self, turns: u32) -> f64 {
        (u64::from(turns) * STEPS_OF_A_TURN / u64::from(self.kernel.chains())) as f64
    }
}

fn seconds(launched: &Launched) -> f64 {
    launched.time.as_secs_f64()
}

/// Clocks of the block that took longest.
fn clocks(launched: &Launched) -> f64 {
    launched.clocks.iter().copied().max().unwrap_or(0) as f64
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cipherlane_offload::backend::Limits;

    use super::*;

    /// A GPU of four units that start 64 operations in a clock of 1 GHz, after 100 clocks to begin; it may be wrong.
    #[derive(Debug)]
    struct Ideal {
        limits: Limits,
        kernel: Option<Kernel>,
        wrong: bool,
        counts: bool,
    }

    fn ideal(wrong: bool, counts: bool) -> Bench {
        let limits = Limits {
            units: 4,
            lanes: 32,
            threads_per_block: 512,
            shared_per_block: 0,
            memory_bytes: 0,
            allocation_bytes: 0,
            alignment: 16,
            clock_hertz: 1_000_000_000,
        };
        Bench { prober: Box::new(Ideal { limits, kernel: None, wrong, counts }) }
    }

    impl Prober for Ideal {
        fn limits(&self) -> &Limits {
            &self.limits
        }

        fn load(&mut self, kernel: Kernel) -> Result<usize, Fault> {
            self.kernel = Some(kernel);
            Ok(2048 / kernel.threads() as usize)
        }

        fn launch(&mut self, blocks: usize, turns: u32) -> Result<Launched, Fault> {
            let kernel = self.kernel.ok_or_else(|| Fault(String::new()))?;
            let threads = blocks / self.limits.units * kernel.threads() as usize;
            let clocks = u64::from(turns) * STEPS_OF_A_TURN * threads as u64 / 64;
            let words = kernel.answer(turns + u32::from(self.wrong));
            Ok(Launched {
                time: Duration::from_nanos(100 + clocks),
                words,
                clocks: vec![if self.counts { 20 + clocks } else { 0 }; blocks],
            })
        }
    }

    const EFFORT: Effort = Effort { seconds: 1e-4, launches: 3 };

    #[test]
    fn rates_are_those_of_the_device() {
        for counts in [true, false] {
            let found = ideal(false, counts).measure(Steps::Xor, Load::Full, EFFORT).unwrap();
            assert!(found.per_clock.iter().all(|rate| (rate - 64.0).abs() < 1e-6), "{found:?}");
            assert!(found.hertz.iter().all(|hertz| (hertz - 1e9).abs() < 1.0), "{found:?}");
            assert_eq!((found.counted, found.verified, found.groups), (counts, true, 64));
        }
    }

    #[test]
    fn a_wrong_word_is_noticed() {
        let found = ideal(true, true).measure(Steps::Mad, Load::Full, EFFORT).unwrap();
        assert!(!found.verified);
    }

    #[test]
    fn groups_are_spread_over_blocks() {
        let mut bench = ideal(false, true);
        for (groups, most) in [(1, 32), (16, 512), (32, 512), (64, 512)] {
            let (threads, blocks) = bench.place(Load::Groups(groups));
            assert!(
                threads <= most && threads * blocks.unwrap() == 32 * groups,
                "{groups}: {threads}, {blocks:?}"
            );
        }
        assert!(bench.measure(Steps::Xor, Load::Groups(80), EFFORT).unwrap_err().contains("holds"));
    }

    #[test]
    fn the_cpu_launches_no_probes() {
        assert!(Bench::open("cpu").unwrap_err().contains("cuda:0"));
        assert!(Bench::open("cuda:all").is_err());
    }
}
