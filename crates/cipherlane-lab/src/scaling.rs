//! How a rate grows with the number of threads, as two laws have it.
//!
//! Gunther's Universal Scalability Law (N. J. Gunther, *Guerrilla Capacity Planning*, 2007, chapter 4) says that `n`
//! threads have a gain of `n / (1 + sigma (n - 1) + kappa n (n - 1))` over one: `sigma` is what they wait for each other,
//! `kappa` what it costs to keep them agreed. Amdahl's law (1967) is the same with a `kappa` of 0; its serial part of the
//! work is `sigma`.

/// A law with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// Contention: the serial part of the work.
    pub sigma: f64,
    /// Coherency.
    pub kappa: f64,
    /// How far the law is from the gains: root of the mean square of the relative deviations.
    pub residual: f64,
}

/// A gain over one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// Threads.
    pub threads: usize,
    /// Their rate by that of one thread.
    pub gain: f64,
}

impl Law {
    /// The gain of `threads` threads.
    #[must_use]
    pub fn gain(&self, threads: f64) -> f64 {
        threads / (1.0 + self.sigma * (threads - 1.0) + self.kappa * threads * (threads - 1.0))
    }

    /// Amdahl's law by least squares; `None` without a gain of several threads.
    #[must_use]
    pub fn amdahl(gains: &[Gain]) -> Option<Self> {
        let sums = Sums::of(gains);
        (sums.aa > 0.0).then(|| Self::fitted((sums.ay / sums.aa).max(0.0), 0.0, gains))
    }

    /// The Universal Scalability Law by least squares. `None` where gains of fewer than two numbers of threads above
    /// one are known, which do not fix two parameters.
    #[must_use]
    pub fn usl(gains: &[Gain]) -> Option<Self> {
        let sums = Sums::of(gains);
        let determinant = sums.aa * sums.bb - sums.ab * sums.ab;
        // Of the squares' size, so that rounding is not taken for information.
        if determinant <= 1e-9 * sums.aa * sums.bb {
            return None;
        }
        let sigma = (sums.ay * sums.bb - sums.by * sums.ab) / determinant;
        let kappa = (sums.by * sums.aa - sums.ay * sums.ab) / determinant;
        // Neither is below 0. Where the best fit has one there, the best that is allowed has it at 0.
        match (sigma < 0.0, kappa < 0.0) {
            (false, false) => Some(Self::fitted(sigma, kappa, gains)),
            (false, true) => Self::amdahl(gains),
            (true, _) => Some(Self::fitted(0.0, (sums.by / sums.bb).max(0.0), gains)),
        }
    }

    /// Threads beyond which the gain falls; `None` where it never does.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0))
    }

    fn fitted(sigma: f64, kappa: f64, gains: &[Gain]) -> Self {
        let law = Self { sigma, kappa, residual: 0.0 };
        let square = |gain: &Gain| (law.gain(gain.threads as f64) / gain.gain - 1.0).powi(2);
        let residual = (gains.iter().map(square).sum::<f64>() / gains.len() as f64).sqrt();
        Self { residual, ..law }
    }
}

/// Sums of the normal equations of `y = sigma a + kappa b` with `a = n - 1`, `b = n (n - 1)` and `y = n / gain - 1`, which
/// is the law made linear. Each equation is weighted by `gain / n`, so that what is made small are relative errors of
/// the gains, whatever the number of threads.
#[derive(Default)]
struct Sums {
    aa: f64,
    ab: f64,
    bb: f64,
    ay: f64,
    by: f64,
}

impl Sums {
    fn of(gains: &[Gain]) -> Self {
        gains.iter().fold(Self::default(), |sums, gain| {
            let n = gain.threads as f64;
            let weight = gain.gain / n;
            let (a, b, y) = (weight * (n - 1.0), weight * n * (n - 1.0), weight * (n / gain.gain - 1.0));
            Self {
                aa: sums.aa + a * a,
                ab: sums.ab + a * b,
                bb: sums.bb + b * b,
                ay: sums.ay + a * y,
                by: sums.by + b * y,
            }
        })
    }
}

/// What each thread beyond the first adds, in rates of one thread: the slope of the line through one thread that fits
/// best. `None` without a gain of several threads.
#[must_use]
pub fn slope(gains: &[Gain]) -> Option<f64> {
    let more = |gain: &Gain| gain.threads as f64 - 1.0;
    let squares: f64 = gains.iter().map(|gain| more(gain).powi(2)).sum();
    let products: f64 = gains.iter().map(|gain| more(gain) * (gain.gain - 1.0)).sum();
    (squares > 0.0).then(|| products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains(law: Law, threads: impl IntoIterator<Item = usize>) -> Vec<Gain> {
        threads.into_iter().map(|threads| Gain { threads, gain: law.gain(threads as f64) }).collect()
    }

    fn law(sigma: f64, kappa: f64) -> Law {
        Law { sigma, kappa, residual: 0.0 }
    }

    #[test]
    fn the_parameters_of_a_law_are_found_again() {
        let found = Law::usl(&gains(law(0.03, 0.0005), 1..=32)).unwrap();
        assert!((found.sigma - 0.03).abs() < 1e-9 && (found.kappa - 0.0005).abs() < 1e-9, "{found:?}");
        assert!(found.residual < 1e-9);
        assert!((found.peak().unwrap() - (0.97_f64 / 0.0005).sqrt()).abs() < 1e-3);
        let found = Law::amdahl(&gains(law(0.1, 0.0), 1..=8)).unwrap();
        assert!((found.sigma - 0.1).abs() < 1e-12 && found.peak().is_none());
    }

    /// Gains that rise faster than the threads, or fall late, would have parameters below 0.
    #[test]
    fn no_parameter_is_below_zero() {
        let above: Vec<Gain> = (1..=8).map(|threads| Gain { threads, gain: threads as f64 * 1.05 }).collect();
        let found = Law::usl(&above).unwrap();
        assert_eq!((found.sigma, found.kappa), (0.0, 0.0));
        assert!(found.residual > 0.03);
        let found = Law::usl(&gains(law(0.2, 0.0), [1, 2, 4, 8, 16])).unwrap();
        assert!((found.sigma - 0.2).abs() < 1e-9 && (0.0..1e-9).contains(&found.kappa));
    }

    #[test]
    fn noise_shows_in_the_residual_and_moves_the_parameters_little() {
        let mut noisy = gains(law(0.05, 0.001), 1..=16);
        for (place, gain) in noisy.iter_mut().enumerate().skip(1) {
            gain.gain *= if place % 2 == 0 { 1.02 } else { 0.98 };
        }
        let found = Law::usl(&noisy).unwrap();
        assert!((found.sigma - 0.05).abs() < 0.01 && (found.kappa - 0.001).abs() < 0.0005, "{found:?}");
        assert!((0.01..0.03).contains(&found.residual), "{found:?}");
    }

    #[test]
    fn two_parameters_need_two_gains() {
        let two = gains(law(0.1, 0.0), 1..=2);
        assert_eq!(Law::usl(&two), None);
        assert!((Law::amdahl(&two).unwrap().sigma - 0.1).abs() < 1e-12);
        assert_eq!(Law::amdahl(&two[..1]), None);
    }

    #[test]
    fn a_slope_is_what_a_thread_adds() {
        let half: Vec<Gain> =
            (1..=20).map(|threads| Gain { threads, gain: 1.0 + 0.5 * (threads - 1) as f64 }).collect();
        assert!((slope(&half).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(slope(&half[..1]), None);
    }
}
