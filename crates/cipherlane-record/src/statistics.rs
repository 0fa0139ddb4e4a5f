//! Order statistics: what the laboratory makes of samples, and reports of rows.

/// Quantile `q` (0 to 1) of `sorted`, interpolated between neighbours (Hyndman and Fan, type 7).
///
/// # Panics
/// If `sorted` is empty.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// `samples` in rising order.
#[must_use]
pub fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The median.
///
/// # Panics
/// If there are no samples.
#[must_use]
pub fn median(samples: &[f64]) -> f64 {
    quantile(&sorted(samples), 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_ones() {
        for (samples, expected) in [(&[3.0][..], 3.0), (&[4.0, 1.0], 2.5), (&[9.0, 1.0, 2.0], 2.0)] {
            assert!((median(samples) - expected).abs() < 1e-12, "{samples:?}");
        }
    }
}
