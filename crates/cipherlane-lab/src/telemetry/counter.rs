//! Counters that rise until they wrap, and what they say in a second.

use std::time::Duration;

/// Readings closer together than this are not divided: counters step (RAPL each millisecond, `/proc/stat` each
/// hundredth of a second, NVML's energy each tenth), and a quotient of one step by a moment is noise.
const SHORTEST: Duration = Duration::from_millis(80);

/// Adds up what a counter that wraps has counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter {
    /// The highest value, after which it begins at 0; none where it does not wrap in a lifetime.
    highest: Option<u64>,
    last: Option<u64>,
    total: u64,
}

impl Counter {
    /// A counter that goes up to `highest` and then begins at 0.
    #[must_use]
    pub const fn wrapping(highest: u64) -> Self {
        Self { highest: Some(highest), last: None, total: 0 }
    }

    /// What was counted since the first reading, if it reads `reading` now. At most one wrap may lie between two
    /// readings. A counter that does not wrap and falls was reset: what it counted before stays.
    pub fn advance(&mut self, reading: u64) -> u64 {
        let last = self.last.replace(reading).unwrap_or(reading);
        self.total += match (reading.checked_sub(last), self.highest) {
            (Some(step), _) => step,
            // From `last` up to the highest, one step to 0, and up to the reading.
            (None, Some(highest)) => highest.saturating_sub(last).saturating_add(1).saturating_add(reading),
            (None, None) => reading,
        };
        self.total
    }
}

/// How fast a total rises.
#[derive(Clone, Copy, Debug, Default)]
pub struct Speed {
    last: Option<(Duration, f64)>,
}

impl Speed {
    /// Units of `total` a second since the last call that told one; `None` at the first call, and where so little
    /// time has passed that the steps of the counter would show.
    pub fn of(&mut self, now: Duration, total: f64) -> Option<f64> {
        let Some((before, last)) = self.last else {
            self.last = Some((now, total));
            return None;
        };
        let passed = now.saturating_sub(before);
        if passed < SHORTEST {
            return None;
        }
        self.last = Some((now, total));
        Some((total - last) / passed.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_followed_through_its_wraps() {
        let mut counter = Counter::wrapping(99);
        let totals = [90, 95, 3, 99, 0, 0].map(|reading| counter.advance(reading));
        assert_eq!(totals, [0, 5, 13, 109, 110, 110]);
    }

    #[test]
    fn a_reset_takes_nothing_away() {
        let mut counter = Counter::default();
        assert_eq!([1000, 1500, 20, 30].map(|reading| counter.advance(reading)), [0, 500, 520, 530]);
    }

    #[test]
    fn a_speed_needs_two_readings_apart() {
        let mut speed = Speed::default();
        let at = Duration::from_millis;
        assert_eq!(speed.of(at(0), 10.0), None);
        assert_eq!(speed.of(at(10), 11.0), None);
        // What came in between is counted, not lost.
        assert_eq!(speed.of(at(100), 12.0), Some(20.0));
        assert_eq!(speed.of(at(300), 12.0), Some(0.0));
    }
}
