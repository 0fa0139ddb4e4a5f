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

#[cfg(test)]
mod tests {
    use super::*;

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
