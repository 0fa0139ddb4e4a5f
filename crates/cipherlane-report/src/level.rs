//! Who is faster, where things were not timed in the same rounds: what may be chance is level.

use cipherlane_record::{FEWEST_ROUNDS, Interval, Observation, Value, Verdict};

/// Less may be chance, as between rows of one round (docs/MEASURING.md, comparisons).
const CLEAR: f64 = 1.01;

/// Why there is no verdict on fewer than [`FEWEST_ROUNDS`].
pub(crate) const TOO_FEW: &str = "fewer than six rounds";

/// The interval of an observed value, if samples enough are behind it. A row without samples keeps what its experiment
/// wrote: there nobody can tell. So do rows over visits, which have the samples of all visits.
pub(crate) fn interval(row: &Observation, value: &Value) -> Option<Interval> {
    value.ci95.filter(|_| !is_short(row))
}

/// Whether an observation is of some samples, and of too few to tell how sure it is.
pub(crate) fn is_short(row: &Observation) -> bool {
    (1..FEWEST_ROUNDS).contains(&row.samples.len())
}

/// A rate in any unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) median: f64,
    /// Its 95 % interval; without one nobody can tell how it compares.
    pub(crate) interval: Option<Interval>,
}

impl Rate {
    /// The rate of what takes this time of a row, for one of it in the time's unit.
    pub(crate) fn of_time(row: &Observation, time: &Value) -> Option<Self> {
        let interval =
            interval(row, time).map(|ends| Interval { low: 1.0 / ends.high, high: 1.0 / ends.low });
        Some(Self { median: 1.0 / time.value?, interval })
    }

    /// How it compares with another: by the far ends of the intervals.
    pub(crate) fn against(self, other: Self) -> Standing {
        match self.interval.zip(other.interval) {
            None => Standing::Untold,
            Some((ours, theirs)) if ours.low > CLEAR * theirs.high => Standing::Faster,
            Some((ours, theirs)) if CLEAR * ours.high < theirs.low => Standing::Slower,
            Some(_) => Standing::Level,
        }
    }
}

/// How a rate compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// Clearly faster.
    Faster,
    /// Clearly slower.
    Slower,
    /// Rounds enough are behind both, and the difference may be chance.
    Level,
    /// Nobody can tell, for want of rounds.
    Untold,
}

impl Standing {
    /// The same as rows of one run have it.
    pub(crate) const fn verdict(self) -> Verdict {
        match self {
            Self::Faster => Verdict::Faster,
            Self::Slower => Verdict::Slower,
            Self::Level | Self::Untold => Verdict::Ambiguous,
        }
    }
}

/// The fastest of some, who is level with it, and of whom nobody can tell.
#[derive(Clone, Debug)]
pub(crate) struct Fastest<T> {
    pub(crate) best: T,
    /// Those of other names that are neither clearly slower nor untold.
    pub(crate) level: Vec<T>,
    /// Those of other names of which nobody can tell whether they are slower, for want of rounds.
    pub(crate) untold: Vec<T>,
}

impl<T> Fastest<T> {
    /// The fastest, if every other is clearly slower.
    pub(crate) fn clear(&self) -> Option<&T> {
        (self.level.is_empty() && self.untold.is_empty()).then_some(&self.best)
    }

    /// Whether nothing but a want of rounds keeps it from being the fastest.
    pub(crate) fn is_untold(&self) -> bool {
        self.level.is_empty() && !self.untold.is_empty()
    }
}

/// The fastest of `all`. Those of one `name` do not compete: the faster of them counts.
pub(crate) fn fastest<T: Clone, N: PartialEq>(
    all: &[T],
    rate: impl Fn(&T) -> Rate,
    name: impl Fn(&T) -> N,
) -> Option<Fastest<T>> {
    let best = all.iter().max_by(|one, other| rate(one).median.total_cmp(&rate(other).median))?;
    let others = || all.iter().filter(|one| name(one) != name(best));
    let that_are = |wanted: &[Standing]| {
        let found = others().filter(|one| wanted.contains(&rate(best).against(rate(one))));
        found.cloned().collect::<Vec<T>>()
    };
    // The best has the highest median, so that a slower one is level at least.
    Some(Fastest {
        best: best.clone(),
        level: that_are(&[Standing::Level, Standing::Slower]),
        untold: that_are(&[Standing::Untold]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(median: f64, half: f64) -> Rate {
        Rate { median, interval: Some(Interval { low: median - half, high: median + half }) }
    }

    #[test]
    fn what_overlaps_or_nearly_does_is_level() {
        let of = |ours: Rate, theirs: Rate| (ours.against(theirs), theirs.against(ours));
        assert_eq!(of(rate(12.0, 0.5), rate(10.0, 0.5)), (Standing::Faster, Standing::Slower));
        for theirs in [rate(10.0, 2.0), rate(11.95, 0.0)] {
            assert_eq!(of(rate(12.0, 0.0), theirs), (Standing::Level, Standing::Level), "{theirs:?}");
        }
    }

    #[test]
    fn what_has_no_interval_is_not_level() {
        let short = Rate { interval: None, ..rate(1.0, 0.0) };
        let of = |ours: Rate, theirs: Rate| (ours.against(theirs), theirs.against(ours));
        assert_eq!(of(rate(12.0, 0.0), short), (Standing::Untold, Standing::Untold));
        let all = [("a", rate(12.0, 0.5)), ("b", rate(11.9, 0.5)), ("c", short)];
        let found = fastest(&all, |one| one.1, |one| one.0).unwrap();
        assert_eq!((found.level, found.untold), (vec![all[1]], vec![all[2]]));
        let found = fastest(&[all[0], all[2]], |one| one.1, |one| one.0).unwrap();
        assert!(found.clear().is_none() && found.is_untold());
    }

    #[test]
    fn others_of_its_name_take_nothing_from_the_fastest() {
        let fastest = |all: &[(&'static str, f64)]| {
            let found = fastest(all, |one| rate(one.1, 0.5), |one| one.0).unwrap();
            (found.clear().copied(), found.best, found.level)
        };
        let (best, second) = (("a", 12.0), ("a", 11.9));
        assert_eq!(fastest(&[second, best, ("b", 10.0)]), (Some(best), best, Vec::new()));
        assert_eq!(fastest(&[best, ("b", 11.5), ("c", 10.0)]), (None, best, vec![("b", 11.5)]));
    }
}
