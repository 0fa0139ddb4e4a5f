//! The loop that keeps a load at its share of the time.

use std::time::Duration;

/// What a generator owes: its share of the time that passed, less the work that it did.
///
/// An integral controller whose gain follows from the units: what is owed is worked off, so that whatever steals or
/// adds time (late wake-ups, other programs, kernels of uneven length) is made up for, and the mean comes out at the
/// share without any tuning.
#[derive(Clone, Copy, Debug)]
pub struct Debt {
    share: f64,
    /// What is forgiven beyond: a generator that did not get its time for a while does not catch up for as long
    /// afterwards.
    most: Duration,
    forgiven: Duration,
}

impl Debt {
    /// Nothing is owed yet. `share` is a part of 1; more than `most` is never owed.
    #[must_use]
    pub const fn new(share: f64, most: Duration) -> Self {
        Self { share, most, forgiven: Duration::ZERO }
    }

    /// What is owed after `passed`, of which `done` was worked. Both count from the same start.
    pub fn owed(&mut self, passed: Duration, done: Duration) -> Duration {
        let due = passed.mul_f64(self.share);
        let owed = due.saturating_sub(done + self.forgiven);
        self.forgiven += owed.saturating_sub(self.most);
        owed.min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(20);

    /// Plays `periods` periods; in each, the generator does what is owed as far as `can` of the period lets it, and
    /// `late` more because it does not stop in time. The share of the last half.
    fn play(share: f64, periods: u32, can: impl Fn(u32) -> f64, late: Duration) -> f64 {
        let mut debt = Debt::new(share, 5 * PERIOD);
        let (mut done, mut half) = (Duration::ZERO, Duration::ZERO);
        for period in 0..periods {
            if period == periods / 2 {
                half = done;
            }
            let owed = debt.owed(PERIOD * (period + 1), done);
            if !owed.is_zero() {
                done += (owed + late).min(PERIOD.mul_f64(can(period)));
            }
        }
        (done - half).as_secs_f64() / (PERIOD * (periods - periods / 2)).as_secs_f64()
    }

    #[test]
    fn the_share_is_reached_at_every_target() {
        for share in [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] {
            let reached = play(share, 100, |_| 1.0, Duration::ZERO);
            assert!((reached - share).abs() < 1e-9, "{reached} for {share}");
        }
    }

    #[test]
    fn stopping_late_is_made_up_for() {
        let reached = play(0.4, 1000, |_| 1.0, Duration::from_millis(3));
        assert!((reached - 0.4).abs() < 0.01, "{reached}");
    }

    #[test]
    fn a_share_that_cannot_be_had_comes_as_close_as_it_can() {
        let reached = play(0.8, 100, |_| 0.5, Duration::ZERO);
        assert!((reached - 0.5).abs() < 1e-9, "{reached}");
    }

    #[test]
    fn a_long_theft_is_not_caught_up_with() {
        // Nothing for 50 periods, then everything: a generator without the limit would run at 1 for 100 more.
        let reached = play(0.4, 100, |period| if period < 50 { 0.0 } else { 1.0 }, Duration::ZERO);
        // 50 periods at 0.4, and the five that are owed at most.
        assert!((reached - (0.4 + 5.0 / 50.0)).abs() < 0.02, "{reached}");
    }
}
