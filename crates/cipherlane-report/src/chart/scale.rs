//! Axes: from values to places on the paper, and where the ticks stand.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::units;

/// An axis: its title with the unit, how far apart values stand, and how they are written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) title: String,
    /// Whether equal ratios are equally far apart.
    pub(crate) logarithmic: bool,
    pub(crate) form: Form,
    /// Before which values something is left out: no line leads there from what lies before.
    pub(crate) breaks: Vec<f64>,
}

/// How the values of an axis are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are.
    Plain,
    /// Sizes in bytes, ticks at powers of two.
    Bytes,
    /// Counts, ticks at powers of two where logarithmic.
    Count,
}

impl Form {
    /// The value as text, in full.
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::Plain => units::significant(value),
            Self::Count => value.to_string(),
            Self::Bytes => units::bytes(whole(value)),
        }
    }

    /// The value beside a tick, where room is scarce.
    fn tick(self, value: f64) -> String {
        match self {
            Self::Bytes => units::bytes(whole(value)).replace("iB", "").replace(" B", "").replace(' ', ""),
            Self::Plain | Self::Count if value.abs() >= 1e4 => {
                let (factor, prefix) = if value.abs() >= 1e6 { (1e6, "M") } else { (1e3, "k") };
                format!("{}{prefix}", value / factor)
            }
            // Ticks are few digits times a power of ten: the shortest text is exact, but for the last bit.
            Self::Plain | Self::Count => ((value * 1e9).round() / 1e9).to_string(),
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sizes, below 2^53
fn whole(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

impl Axis {
    /// An axis on which equal differences are equally far apart.
    pub(crate) fn linear(title: &str) -> Self {
        Self { title: title.to_owned(), logarithmic: false, form: Form::Plain, breaks: Vec::new() }
    }

    /// An axis for counts that double: equal ratios are equally far apart.
    pub(crate) fn doubling(title: &str, form: Form) -> Self {
        Self { logarithmic: true, form, ..Self::linear(title) }
    }

    /// For curves: equal ratios equally far apart if `values` span more than a hundredfold, equal differences if not.
    pub(crate) fn spanning(title: &str, values: impl Iterator<Item = f64>) -> Self {
        Self { logarithmic: spans(values, 100.0), ..Self::linear(title) }
    }

    /// For curves over an axis on which ratios are equally far apart: there growth is a line on such an axis as well.
    pub(crate) fn growing(title: &str, values: impl Iterator<Item = f64>) -> Self {
        Self { logarithmic: spans(values, 20.0), ..Self::linear(title) }
    }

    /// For bars, whose lengths are compared: equal differences, unless the small ones would not be seen at all.
    pub(crate) fn lengths(title: &str, values: impl Iterator<Item = f64>) -> Self {
        Self { logarithmic: spans(values, 1000.0), ..Self::linear(title) }
    }

    /// Whether `value` has a place on it: where equal ratios are equally far apart, nothing is as little as zero.
    pub(crate) fn has(&self, value: f64) -> bool {
        !self.logarithmic || value > 0.0
    }

    /// Whether something is left out between these values.
    pub(crate) fn is_broken_between(&self, low: f64, high: f64) -> bool {
        self.breaks.iter().any(|&at| low < at && at <= high)
    }

    /// The scale for those of `values` that have a place. Of a linear axis with `from_zero`, zero is part.
    pub(super) fn scale(&self, values: impl Iterator<Item = f64>, from_zero: bool) -> Scale {
        let (mut low, mut high) = extent(values.filter(|&value| self.has(value)));
        if self.logarithmic {
            if low <= 0.0 {
                // Nothing has a place.
                low = high;
            }
            // Room for the outermost markers.
            return Scale { axis: self.clone(), low: low / 1.15, high: high * 1.15 };
        }
        if from_zero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if high <= low {
            (low, high) = if from_zero { (0.0, 1.0) } else { (low - 1.0, low + 1.0) };
        }
        let room = 0.05 * (high - low);
        Scale {
            axis: self.clone(),
            low: if from_zero && low >= 0.0 { 0.0 } else { low - room },
            high: high + room,
        }
    }
}

/// Whether the largest is more than `times` the smallest.
fn spans(values: impl Iterator<Item = f64>, times: f64) -> bool {
    let (low, high) = extent(values);
    low > 0.0 && high > times * low
}

/// Smallest and largest; 0 and 1 where there is none.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high { (0.0, 1.0) } else { (low, high) }
}

/// An axis with its ends, as the plotting library takes it.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    axis: Axis,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Scale {
    /// Where `value` stands: 0 at the low end, 1 at the high one.
    fn part(&self, value: f64) -> f64 {
        if self.axis.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Values at which ticks stand, at most about `most`.
    fn ticks(&self, most: usize) -> Vec<f64> {
        let most = most.max(2);
        match (self.axis.logarithmic, self.axis.form) {
            (true, Form::Plain) => self.decades(most),
            (true, _) => self.powers_of_two(most),
            (false, _) => self.even(most),
        }
    }

    fn powers_of_two(&self, most: usize) -> Vec<f64> {
        let ends = self.low.log2().ceil()..=self.high.log2().floor();
        let mut step = 1.0;
        while (ends.end() - ends.start()) / step + 1.0 > count(most) {
            step *= 2.0;
        }
        // Multiples of the step, so that 1 KiB and 1 MiB are among them.
        steps((ends.start() / step).ceil(), ends.end() / step).map(|power| (power * step).exp2()).collect()
    }

    fn decades(&self, most: usize) -> Vec<f64> {
        let ends = self.low.log10().floor()..=self.high.log10().ceil();
        let span = (self.high / self.low).log10();
        let digits: &[f64] = if span * 3.0 <= count(most + 1) { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let all = steps(*ends.start(), *ends.end())
            .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powf(power)));
        all.filter(|value| (self.low..=self.high).contains(value)).collect()
    }

    /// Multiples of 1, 2 or 5 times a power of ten.
    fn even(&self, most: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / count(most);
        let power = 10f64.powf(rough.log10().floor());
        let nice = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
        let mut step = nice.into_iter().find(|&step| step >= rough).unwrap_or(10.0 * power);
        if self.axis.form != Form::Plain {
            step = step.max(1.0);
        }
        steps((self.low / step).ceil(), self.high / step).map(|place| place * step).collect()
    }
}

/// `first`, and one more each, up to `last`; bounded, should the ends be odd.
fn steps(first: f64, last: f64) -> impl Iterator<Item = f64> + Clone {
    (0..1000).map(move |place| first + f64::from(place)).take_while(move |&value| value <= last + 1e-9)
}

#[allow(clippy::cast_precision_loss)] // a number of ticks
fn count(most: usize) -> f64 {
    most as f64
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[allow(clippy::cast_possible_truncation)] // kept within the paper and its surroundings
    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let part = self.part(*value);
        let part = if part.is_nan() { 0.0 } else { part.clamp(-0.5, 1.5) };
        limit.0 + (part * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks(hint.max_num_points()) }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        self.axis.form.tick(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(axis: &Axis, low: f64, high: f64, most: usize) -> Vec<String> {
        let scale = Scale { axis: axis.clone(), low, high };
        scale.ticks(most).iter().map(|&tick| axis.form.tick(tick)).collect()
    }

    #[test]
    fn ticks_stand_at_round_values() {
        assert_eq!(ticks(&Axis::linear(""), 0.0, 17.3, 6), ["0", "5", "10", "15"]);
        assert_eq!(ticks(&Axis::linear(""), 0.0, 0.4, 5), ["0", "0.1", "0.2", "0.3", "0.4"]);
        let sizes = Axis::doubling("", Form::Bytes);
        assert_eq!(ticks(&sizes, 14.0, 18e6, 7), ["16", "256", "4K", "64K", "1M", "16M"]);
        let threads = Axis { form: Form::Count, ..Axis::linear("") };
        assert_eq!(ticks(&threads, 0.0, 2.2, 8), ["0", "1", "2"]);
        let wide = Axis { logarithmic: true, ..Axis::linear("") };
        assert_eq!(ticks(&wide, 0.5, 2000.0, 6), ["1", "10", "100", "1000"]);
    }

    #[test]
    fn values_that_span_a_hundredfold_are_spread_by_ratio() {
        assert!(Axis::spanning("", [1.0, 101.0].into_iter()).logarithmic);
        assert!(!Axis::spanning("", [1.0, 99.0].into_iter()).logarithmic);
        assert!(!Axis::spanning("", [0.0, 99.0].into_iter()).logarithmic);
        assert!(!Axis::spanning("", std::iter::empty()).logarithmic);
    }

    #[test]
    fn odd_values_stay_on_the_paper() {
        let scale = Axis::linear("").scale([f64::NAN, 1.0, f64::INFINITY].into_iter(), true);
        assert!(scale.low.is_finite() && scale.high > scale.low);
        assert!((-500..=1500).contains(&scale.map(&f64::NAN, (0, 1000))));
        assert!((-500..=1500).contains(&scale.map(&1e300, (0, 1000))));
        let sizes = Axis::doubling("", Form::Bytes);
        let scale = sizes.scale([0.0, 16.0, -1.0, 1024.0].into_iter(), false);
        assert!((10.0..16.0).contains(&scale.low) && scale.high > 1024.0, "{scale:?}");
        let scale = sizes.scale([0.0].into_iter(), false);
        assert!(scale.low > 0.0 && scale.high > scale.low, "{scale:?}");
        let same = Axis::linear("").scale([5.0, 5.0].into_iter(), false);
        assert!(same.high > same.low);
    }
}
