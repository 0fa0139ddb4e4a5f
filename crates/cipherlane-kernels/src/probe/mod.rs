//! Probes: chains of one operation, timed to learn how many of it a device starts in a clock.
//!
//! The study that this goes back to repeats `a ^= b; b ^= a` 256 times in a loop. So does `c/probe`, for each operation
//! in that way, with several chains side by side so that none waits for another. A kernel is launched twice, with many
//! turns of its loop and with none, and the difference counts. Every thread's word in the output is known beforehand
//! ([`Kernel::answer`]): what was folded away, or computed wrongly, shows.

mod answer;
mod seeds;
mod steps;

pub use steps::Steps;

use crate::flatten;

/// Lanes of a group: they start from rows of their own, and all groups start alike.
pub const LANES: usize = 32;
/// Steps of all chains in a turn: 256 repetitions of two.
pub const STEPS_OF_A_TURN: u64 = 512;
/// The entry point of every kernel. Its arguments: rows of words in, words out, clocks out by block, turns by value.
pub const ENTRY: &str = "probe";
/// Most chains of a thread.
pub const MOST_CHAINS: u32 = 8;

/// Words of a lane's row: two that its chains share, two of none, and four for each chain.
pub(crate) const ROW: usize = 4 + 4 * MOST_CHAINS as usize;

/// A probe as it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    steps: Steps,
    chains: u32,
    threads: u32,
}

impl Kernel {
    /// The probe of `steps` in blocks of `threads` threads, with as many chains as a thread needs so that none of them
    /// waits; or with one chain, all of whose steps wait.
    #[must_use]
    pub const fn new(steps: Steps, one_chain: bool, threads: u32) -> Self {
        let chains = match (one_chain, steps.is_of_operands()) {
            (true, _) => 1,
            (false, false) => 4,
            (false, true) => MOST_CHAINS,
        };
        Self { steps, chains, threads }
    }

    /// What is repeated.
    #[must_use]
    pub const fn steps(&self) -> Steps {
        self.steps
    }

    /// Chains of a thread.
    #[must_use]
    pub const fn chains(&self) -> u32 {
        self.chains
    }

    /// Threads of a block.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        self.threads
    }

    /// Bytes of shared memory of a block.
    #[must_use]
    pub const fn shared_bytes(&self) -> u32 {
        if self.steps.is_local() { seeds::SHARED_ROWS * 4 * LANES as u32 } else { 0 }
    }

    /// The whole text to compile.
    #[must_use]
    pub fn text(&self) -> String {
        let flag = |holds: bool| u32::from(holds).to_string();
        let defines = [
            ("PROBE", self.steps.in_c().to_owned()),
            ("CHAINS", self.chains.to_string()),
            ("THREADS", self.threads.to_string()),
            ("SHARED_BYTES", self.shared_bytes().to_string()),
            ("CONSTANT_LINKS", flag(self.steps.is_constant())),
            ("MATRICES", flag(self.steps.is_of_matrices())),
            ("NEEDS_F64", flag(self.steps.is_of_doubles())),
        ];
        flatten::source("probe/chains.c", &defines)
    }

    /// What the lanes start from: the rows of all, one after the other.
    #[must_use]
    pub fn input(&self) -> Vec<u32> {
        (0..LANES).flat_map(|lane| seeds::row(self.steps, lane)).collect()
    }

    /// The word that each lane of every group must give after `turns` turns.
    #[must_use]
    pub fn answer(&self, turns: u32) -> Vec<u32> {
        let pairs = turns * (STEPS_OF_A_TURN as u32 / 2) / self.chains;
        answer::of(self.steps, self.chains as usize, pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_and_every_turn_counts() {
        for steps in Steps::ALL {
            let kernel = Kernel::new(steps, false, 64);
            let answer = kernel.answer(1);
            assert_eq!((answer.len(), kernel.input().len()), (LANES, LANES * ROW));
            let mut different = answer.clone();
            different.sort_unstable();
            different.dedup();
            // Lanes that look up the same word are alike, and so are rows of products with the same factors.
            if steps != Steps::ConstantSame {
                assert!(different.len() > 1, "{steps:?}: all lanes give the same");
            }
            assert_ne!(answer, kernel.answer(0), "{steps:?}: a turn changes nothing");
        }
    }

    #[test]
    fn a_chain_alone_takes_all_repetitions() {
        let (many, one) = (Kernel::new(Steps::Mul, false, 32), Kernel::new(Steps::Mul, true, 32));
        assert_eq!((many.chains(), one.chains()), (4, 1));
        assert_ne!(many.answer(1), one.answer(1));
        assert!(one.text().contains("#define CHAINS 1"));
    }

    #[test]
    fn texts_name_steps_that_there_are() {
        let header = flatten::file("probe/steps.h").unwrap();
        for steps in Steps::ALL {
            let what = if steps.is_of_matrices() { "PRODUCT" } else { "SECOND" };
            assert!(header.contains(&format!("#define {what}_{}(", steps.in_c())), "{steps:?}");
        }
    }
}
