//! How observations are drawn: words for the table in `views.rs`.

use super::seen::Seen;

/// The pictures of an experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) experiment: &'static str,
    pub(super) pictures: &'static [Picture],
}

/// A picture, or one for each place on some axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picture {
    pub(super) title: &'static str,
    /// Names of quantities; they share an axis.
    pub(super) values: &'static [&'static str],
    /// What rows must be.
    pub(super) only: &'static [Only],
    /// A picture for each place on these axes.
    pub(super) each: &'static [&'static str],
    pub(super) form: Form,
}

/// What a row must be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Only {
    /// At this place on an axis.
    Is(&'static str, &'static str),
    /// Not there.
    Not(&'static str, &'static str),
    /// On this axis.
    Has(&'static str),
    /// Not on this axis.
    Lacks(&'static str),
    /// Of a larger value.
    Above(f64),
}

impl Only {
    pub(super) fn holds(self, one: &Seen<'_>) -> bool {
        match self {
            Self::Is(axis, place) => one.place(axis).is_some_and(|found| found == place),
            Self::Not(axis, place) => one.place(axis).is_none_or(|found| found != place),
            Self::Has(axis) => one.place(axis).is_some(),
            Self::Lacks(axis) => one.place(axis).is_none(),
            Self::Above(least) => one.number > least,
        }
    }
}

/// How it is drawn. Fewer places than make a curve are drawn as bars.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// Against a number.
    Curves { x: &'static str, marks: Marks },
    /// Against a number, as a rate: what the axis counts in the time that was observed.
    Rates { x: &'static str },
    /// Against another quantity of the same unit, which is the ceiling.
    Roof { ceiling: &'static str, by: &'static str },
    /// Against two numbers.
    Field { x: &'static str, y: &'static str },
    /// Side by side, a bar of a group for each place on an axis; `""` where each value stands alone.
    Bars { by: &'static str },
    /// The same in per cent of the best, with the study's times as per cent of its own best.
    Normalised { by: &'static str, times: &'static str },
    /// Parts of a whole, by their place on an axis.
    Stacked { parts: &'static str },
}

/// Places of an axis that matter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Marks {
    None,
    /// Where cores end, and where logical CPUs do; beside the curves stand linear gain and Amdahl's law.
    Cores,
    /// A value of another row of the experiment, and what it counts.
    At(&'static str),
    /// From where on a device is faster than a thread of the CPU, as the rows of a curve timed both.
    Faster,
}
