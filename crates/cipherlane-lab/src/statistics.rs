//! What samples add up to. Outliers are counted, never removed.

pub use cipherlane_record::FEWEST_ROUNDS;
pub use cipherlane_record::statistics::{median, quantile, sorted};
use cipherlane_record::{Interval, Verdict};

use crate::random::Random;

/// Resamples of a bootstrap. With 2000, an end of the interval moves by less than a twentieth of its width from
/// seed to seed.
const RESAMPLES: usize = 2000;
/// Ratios closer to 1 than this are no difference: where code and buffers happen to lie moves a result as much.
pub const NOISE: f64 = 0.01;

/// Median absolute deviation from the median, not scaled.
///
/// # Panics
/// If there are no samples.
#[must_use]
pub fn mad(samples: &[f64]) -> f64 {
    let center = median(samples);
    median(&samples.iter().map(|sample| (sample - center).abs()).collect::<Vec<_>>())
}

/// 95 % interval of the median by percentile bootstrap (Efron 1979): the middle 95 % of the medians of resamples.
///
/// # Panics
/// If there are no samples.
#[must_use]
pub fn median_interval(samples: &[f64], seed: u64) -> Interval {
    let mut random = Random::new(seed);
    let mut resample = vec![0.0; samples.len()];
    let mut medians = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        resample.fill_with(|| samples[random.below(samples.len())]);
        resample.sort_unstable_by(f64::total_cmp);
        medians.push(quantile(&resample, 0.5));
    }
    medians.sort_by(f64::total_cmp);
    Interval { low: quantile(&medians, 0.025), high: quantile(&medians, 0.975) }
}

/// Width of the distribution-free 95 % interval of the median, by the median. Cheap enough to ask after every round
/// whether there are samples enough.
///
/// The interval reaches from order statistic n/2 - 0.98 sqrt(n) to n/2 + 0.98 sqrt(n): ranks of the median are
/// binomial with standard deviation sqrt(n)/2. `None` where there are too few samples for both ends to exist.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
pub fn relative_width(samples: &[f64]) -> Option<f64> {
    let count = samples.len() as f64;
    let reach = 0.98 * count.sqrt();
    let (low, high) = ((count / 2.0 - reach).floor(), (count / 2.0 + reach).ceil());
    if low < 0.0 || high > count - 1.0 {
        return None;
    }
    let sorted = sorted(samples);
    let middle = quantile(&sorted, 0.5);
    Some((sorted[high as usize] - sorted[low as usize]) / middle)
}

/// How many samples lie beyond Tukey's inner fences (mild), and beyond the outer ones (severe).
///
/// # Panics
/// If there are no samples.
#[must_use]
pub fn outliers(samples: &[f64]) -> (usize, usize) {
    let sorted = sorted(samples);
    let (first, third) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    let range = third - first;
    let beyond = |factor: f64| {
        let (low, high) = (first - factor * range, third + factor * range);
        sorted.iter().filter(|&&sample| sample < low || sample > high).count()
    };
    let severe = beyond(3.0);
    (beyond(1.5) - severe, severe)
}

/// A ratio with its 95 % interval and what it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Median of the rounds' ratios.
    pub median: f64,
    /// 95 % interval, by bootstrap over the rounds.
    pub interval: Interval,
    /// What the interval says.
    pub verdict: Verdict,
}

/// How many times as fast as `theirs` are `ours`, which were timed in the same rounds.
///
/// A ratio per round, so that what slows a whole round down slows both and cancels.
///
/// # Panics
/// If there are no rounds, or not as many of theirs.
#[must_use]
pub fn speed_ratio(ours: &[f64], theirs: &[f64], seed: u64) -> Ratio {
    assert_eq!(ours.len(), theirs.len(), "a round has a time of each");
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| theirs / ours).collect();
    let interval = median_interval(&ratios, seed);
    Ratio { median: median(&ratios), interval, verdict: verdict(interval, ratios.len()) }
}

/// How many times as fast as `theirs` are `ours`, which were timed apart: the ratio of the medians. Its interval is by
/// bootstrap of both sides, each resampled by itself.
///
/// # Panics
/// If a side has no samples.
#[must_use]
pub fn speed_ratio_apart(ours: &[f64], theirs: &[f64], seed: u64) -> Ratio {
    let mut random = Random::new(seed);
    let mut resampled = |samples: &[f64]| {
        let resample: Vec<f64> = samples.iter().map(|_| samples[random.below(samples.len())]).collect();
        median(&resample)
    };
    let mut ratios: Vec<f64> = (0..RESAMPLES).map(|_| resampled(theirs) / resampled(ours)).collect();
    ratios.sort_by(f64::total_cmp);
    let interval = Interval { low: quantile(&ratios, 0.025), high: quantile(&ratios, 0.975) };
    let fewest = ours.len().min(theirs.len());
    Ratio { median: median(theirs) / median(ours), interval, verdict: verdict(interval, fewest) }
}

/// What the interval of a ratio of `count` samples says.
const fn verdict(interval: Interval, count: usize) -> Verdict {
    match interval {
        _ if count < FEWEST_ROUNDS => Verdict::Ambiguous,
        Interval { low, .. } if low > 1.0 + NOISE => Verdict::Faster,
        Interval { high, .. } if high < 1.0 - NOISE => Verdict::Slower,
        Interval { .. } => Verdict::Ambiguous,
    }
}

/// The geometric mean, which for ratios is the fair one: it says the same whichever side is the base (Fleming and
/// Wallace 1986). `None` without values.
#[must_use]
#[allow(clippy::cast_precision_loss)] // counts
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (logarithms / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` numbers around `center`, up to `spread` of it away.
    fn noisy(center: f64, spread: f64, count: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| center * (1.0 + spread * (random.below(2_000_001) as f64 / 1e6 - 1.0))).collect()
    }

    #[test]
    fn quantiles_interpolate() {
        let samples = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(&samples), 2.5);
        assert_eq!(quantile(&sorted(&samples), 0.25), 1.75);
        assert_eq!(quantile(&sorted(&samples), 1.0), 4.0);
        assert_eq!(median(&[7.0]), 7.0);
    }

    #[test]
    fn mad_ignores_one_wild_sample() {
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), 1.0);
        assert_eq!(mad(&[1.0, 2.0, 3.0, 4.0, 1e9]), 1.0);
    }

    #[test]
    fn outliers_are_labelled_by_tukeys_fences() {
        // Quartiles 2 and 6: inner fences -4 and 12, outer -10 and 18.
        let mut samples = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        assert_eq!(outliers(&samples), (0, 0));
        samples[8] = 13.0;
        assert_eq!(outliers(&samples), (1, 0));
        samples[8] = 19.0;
        assert_eq!(outliers(&samples), (0, 1));
    }

    #[test]
    fn an_interval_holds_the_median_and_narrows_with_samples() {
        let few = noisy(1.0, 0.1, 20, 1);
        let many = noisy(1.0, 0.1, 500, 1);
        let width = |samples: &[f64]| {
            let interval = median_interval(samples, 3);
            assert!(interval.low <= median(samples) && median(samples) <= interval.high);
            interval.high - interval.low
        };
        assert!(width(&many) < width(&few) / 2.0);
        let same = median_interval(&[2.0; 9], 1);
        assert_eq!((same.low, same.high), (2.0, 2.0));
    }

    /// Of 400 sets of samples from a known distribution, about 95 in 100 intervals must hold its median.
    #[test]
    fn an_interval_covers_the_true_median() {
        let covered = (0..400)
            .filter(|&seed| {
                let interval = median_interval(&noisy(1.0, 0.1, 31, seed), seed);
                interval.low <= 1.0 && 1.0 <= interval.high
            })
            .count();
        assert!((368..=396).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn relative_width_needs_samples_and_matches_the_bootstrap() {
        assert_eq!(relative_width(&[1.0; 3]), None);
        assert_eq!(relative_width(&[1.0; 30]), Some(0.0));
        let samples = noisy(1.0, 0.1, 200, 5);
        let interval = median_interval(&samples, 5);
        let quick = relative_width(&samples).unwrap();
        let full = (interval.high - interval.low) / median(&samples);
        assert!(quick / full > 0.5 && quick / full < 2.0, "{quick} {full}");
    }

    #[test]
    fn one_against_itself_is_ambiguous() {
        for seed in 0..50 {
            let (a, b) = (noisy(1.0, 0.02, 60, 2 * seed), noisy(1.0, 0.02, 60, 2 * seed + 1));
            assert_eq!(speed_ratio(&a, &b, seed).verdict, Verdict::Ambiguous, "seed {seed}");
        }
    }

    #[test]
    fn a_tenth_faster_or_slower_is_seen_through_common_drift() {
        // Every round is slowed by the same drift for both.
        let drift: Vec<f64> = (0..40).map(|round| 1.0 + f64::from(round) / 20.0).collect();
        let ours: Vec<f64> =
            noisy(1.0, 0.02, 40, 1).iter().zip(&drift).map(|(time, drift)| time * drift).collect();
        let theirs: Vec<f64> =
            noisy(1.1, 0.02, 40, 2).iter().zip(&drift).map(|(time, drift)| time * drift).collect();
        let ratio = speed_ratio(&ours, &theirs, 1);
        assert_eq!(ratio.verdict, Verdict::Faster);
        assert!((ratio.median - 1.1).abs() < 0.02, "{ratio:?}");
        assert_eq!(speed_ratio(&theirs, &ours, 1).verdict, Verdict::Slower);
        assert_eq!(speed_ratio(&ours[..5], &theirs[..5], 1).verdict, Verdict::Ambiguous);
        let enough = ..FEWEST_ROUNDS;
        assert_eq!(speed_ratio(&ours[enough], &theirs[enough], 1).verdict, Verdict::Faster);
    }

    #[test]
    fn sides_timed_apart_are_told_apart() {
        let (ours, theirs) = (noisy(1.0, 0.02, 40, 1), noisy(1.1, 0.02, 60, 2));
        let ratio = speed_ratio_apart(&ours, &theirs, 1);
        assert_eq!(ratio.verdict, Verdict::Faster);
        assert!((ratio.median - 1.1).abs() < 0.02, "{ratio:?}");
        assert!(ratio.interval.low < ratio.median && ratio.median < ratio.interval.high);
        assert_eq!(speed_ratio_apart(&theirs, &ours, 1).verdict, Verdict::Slower);
        assert_eq!(speed_ratio_apart(&ours[..5], &theirs, 1).verdict, Verdict::Ambiguous);
    }

    /// The true ratio of two sets from one distribution is 1: about 95 in 100 intervals must hold it.
    #[test]
    fn an_interval_of_sides_timed_apart_covers_the_true_ratio() {
        let covered = (0..200)
            .filter(|&seed| {
                let (a, b) = (noisy(1.0, 0.1, 31, 2 * seed), noisy(1.0, 0.1, 31, 2 * seed + 1));
                let interval = speed_ratio_apart(&a, &b, seed).interval;
                interval.low <= 1.0 && 1.0 <= interval.high
            })
            .count();
        assert!((183..=199).contains(&covered), "{covered} of 200");
    }

    #[test]
    fn a_geometric_mean_does_not_care_for_the_base() {
        let mean = geometric_mean(&[2.0, 8.0]).unwrap();
        assert!((mean - 4.0).abs() < 1e-12);
        assert!((geometric_mean(&[0.5, 0.125]).unwrap() - 1.0 / mean).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }
}
