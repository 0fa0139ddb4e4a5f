//! Shares the time of a run among its points.

use std::time::{Duration, Instant};

/// The time of a run, and how much of it each point may take.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    start: Instant,
    budget: Duration,
    weights: Vec<f64>,
}

impl Schedule {
    /// A run that starts now, with a point of each of `weights`.
    pub(crate) fn new(budget: Duration, weights: Vec<f64>) -> Self {
        Self { start: Instant::now(), budget, weights }
    }

    /// When `point` must end, if it starts now: its share of what is left, so that a point that is done early
    /// leaves its time to those that follow.
    pub(crate) fn deadline(&self, point: usize) -> Instant {
        self.deadline_at(point, Instant::now())
    }

    fn deadline_at(&self, point: usize, now: Instant) -> Instant {
        let left = self.budget.saturating_sub(now.saturating_duration_since(self.start));
        let after: f64 = self.weights[point..].iter().sum();
        now + left.mul_f64((self.weights[point] / after).clamp(0.0, 1.0))
    }

    /// What is done of the run when `within` of `point` is done.
    pub(crate) fn fraction(&self, point: usize, within: f64) -> f64 {
        let total: f64 = self.weights.iter().sum();
        let before: f64 = self.weights[..point].iter().sum();
        ((before + within * self.weights[point]) / total).clamp(0.0, 1.0)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Time left at `fraction`: by the pace so far once there is one, and never more than the budget.
    pub(crate) fn left(&self, fraction: f64) -> Duration {
        let (elapsed, of_budget) = (self.elapsed(), self.budget.saturating_sub(self.elapsed()));
        if fraction < 0.05 {
            return of_budget;
        }
        of_budget.min(elapsed.mul_f64((1.0 - fraction) / fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_share_what_is_left() {
        let schedule = Schedule::new(Duration::from_secs(100), vec![1.0, 3.0, 1.0]);
        for (point, passed, share) in [(0, 0, 20.0), (1, 0, 75.0), (2, 0, 100.0), (1, 60, 30.0)] {
            let now = schedule.start + Duration::from_secs(passed);
            let given = (schedule.deadline_at(point, now) - now).as_secs_f64();
            assert!((given - share).abs() < 1e-6, "point {point} after {passed} s: {given} s");
        }
        assert!((schedule.fraction(1, 0.5) - 0.5).abs() < 1e-9);
        assert!(schedule.left(0.0) > Duration::ZERO);
    }

    #[test]
    fn a_late_point_has_no_time() {
        let schedule = Schedule::new(Duration::ZERO, vec![1.0]);
        assert!(schedule.deadline(0) <= Instant::now());
        assert_eq!(schedule.left(0.5), Duration::ZERO);
    }
}
