//! What study 003 prints: efficiencies and rates by the state of the machine and by threads.

/// A row of the study's table.
pub(super) struct Printed {
    turbo: bool,
    smt: bool,
    /// Whether all logical CPUs work, or a thread on each core.
    all: bool,
    /// What tells it from the other rows wherever its figures stand.
    on: &'static str,
    /// Efficiency in percent of each tier.
    efficiency: [(&'static str, f64); 4],
    /// Mbit/s of AVX-512, where the study names it.
    avx512: Option<f64>,
}

/// What the study prints for its cipher, on 8 cores with 16 logical CPUs.
const PRINTED: [Printed; 3] = [
    Printed {
        turbo: true,
        smt: true,
        all: true,
        on: "the study's cipher, turbo and hyper-threading on, 16 threads on 8 cores",
        efficiency: [("portable", 75.8), ("sse", 72.3), ("avx2", 53.7), ("avx512", 47.4)],
        avx512: Some(104_483.0),
    },
    Printed {
        turbo: true,
        smt: true,
        all: false,
        on: "the study's cipher, turbo and hyper-threading on, 8 threads on 8 cores",
        efficiency: [("portable", 89.5), ("sse", 90.1), ("avx2", 88.8), ("avx512", 82.5)],
        avx512: Some(90_999.0),
    },
    Printed {
        turbo: false,
        smt: true,
        all: true,
        on: "the study's cipher, turbo off, hyper-threading on, 16 threads on 8 cores",
        efficiency: [("portable", 84.0), ("sse", 80.5), ("avx2", 62.9), ("avx512", 59.4)],
        avx512: None,
    },
];

impl Printed {
    /// The row of a state in which several threads work: on all logical CPUs, or one on each core.
    pub(super) fn of(turbo: bool, smt: bool, all: bool) -> Option<&'static Self> {
        PRINTED.iter().find(|row| (row.turbo, row.smt, row.all) == (turbo, smt, all))
    }

    /// The efficiency of `tier`, and on what.
    pub(super) fn efficiency(&self, tier: &str) -> Option<(f64, &'static str)> {
        let (_, figure) = self.efficiency.iter().find(|(name, _)| *name == tier)?;
        Some((*figure, self.on))
    }

    /// The Mbit/s of `tier`, and on what.
    pub(super) fn rate(&self, tier: &str) -> Option<(f64, &'static str)> {
        Some((self.avx512.filter(|_| tier == "avx512")?, self.on))
    }
}

/// One of the two machines with which the study begins (003.1): 8 cores with 16 logical CPUs.
pub(super) struct Machine {
    /// Mbit/s of one thread, and on what.
    one: (f64, &'static str),
    /// Mbit/s of 16 threads, and on what.
    all: (f64, &'static str),
    /// Percent of one thread's rate that each of 16 has.
    efficiency: f64,
}

/// Where the figures of [`MACHINES`] stand.
pub(super) const STUDY_OF_MACHINES: &str = "003.1";
/// The tier is ours to name: the later machine's efficiency is the one that the study's table has for AVX.
const TIER_OF_MACHINES: &str = "avx2";
const MACHINES: [Machine; 2] = [
    Machine {
        one: (7342.0, "the study's cipher, an i7 of the 10th generation, 1 thread"),
        all: (73_658.0, "the study's cipher, an i7 of the 10th generation, 16 threads on 8 cores"),
        efficiency: 62.7,
    },
    Machine {
        one: (9790.0, "the study's cipher, an i7 of the 11th generation, 1 thread"),
        all: (84_156.0, "the study's cipher, an i7 of the 11th generation, 16 threads on 8 cores"),
        efficiency: 53.7,
    },
];

/// What a cell may be beside of [`MACHINES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Threads {
    One,
    /// On all logical CPUs, some of which share a core.
    All,
}

impl Machine {
    /// The rates of both machines on so many threads of `tier`, and their efficiencies.
    pub(super) fn figures(tier: &str, threads: Threads) -> [Vec<(f64, &'static str)>; 2] {
        let machines = if tier == TIER_OF_MACHINES { &MACHINES[..] } else { &[] };
        match threads {
            Threads::One => [machines.iter().map(|machine| machine.one).collect(), Vec::new()],
            Threads::All => [
                machines.iter().map(|machine| machine.all).collect(),
                machines.iter().map(|machine| (machine.efficiency, machine.all.1)).collect(),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_machines_stand_beside_the_tier_that_they_had() {
        let figures = |tier, threads| {
            Machine::figures(tier, threads)
                .map(|found| found.into_iter().map(|(figure, _)| figure).collect::<Vec<_>>())
        };
        assert_eq!(figures("avx2", Threads::One), [vec![7342.0, 9790.0], Vec::new()]);
        assert_eq!(figures("avx2", Threads::All), [vec![73_658.0, 84_156.0], vec![62.7, 53.7]]);
        assert_eq!(figures("sse", Threads::All), [Vec::<f64>::new(), Vec::new()]);
        // What the study divides gives what it prints, and the later machine is that of its table.
        for machine in &MACHINES {
            let efficiency = 100.0 * machine.all.0 / 16.0 / machine.one.0;
            assert!((efficiency - machine.efficiency).abs() < 0.1, "{efficiency}");
        }
        let (table, _) =
            Printed::of(true, true, true).and_then(|row| row.efficiency(TIER_OF_MACHINES)).unwrap();
        assert_eq!(table, MACHINES[1].efficiency);
    }

    #[test]
    fn figures_of_different_states_and_threads_have_different_names() {
        let mut names: Vec<_> = PRINTED.iter().map(|row| row.on).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PRINTED.len());
        for (turbo, all, words) in
            [(true, true, "16 threads"), (true, false, "8 threads"), (false, true, "turbo off")]
        {
            let (_, on) = Printed::of(turbo, true, all).and_then(|row| row.efficiency("avx2")).unwrap();
            assert!(on.contains(words), "{on}");
        }
    }

    #[test]
    fn figures_are_those_of_the_state_and_the_tier() {
        let row = |turbo, smt, all| Printed::of(turbo, smt, all).unwrap();
        assert_eq!(row(true, true, false).efficiency("sse").unwrap().0, 90.1);
        assert_eq!(row(true, true, false).rate("avx512").unwrap().0, 90_999.0);
        assert_eq!(row(true, true, true).rate("avx2"), None);
        assert_eq!(row(false, true, true).rate("avx512"), None);
        assert!(Printed::of(false, false, true).is_none());
    }
}
