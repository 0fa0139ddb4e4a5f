//! Time without its pauses: runs that lie days apart are shown behind one another, as long as somebody measured.

use cipherlane_record::Timeline;

use crate::chart::Axis;
use crate::units;

/// Pauses up to this many seconds are part of the time: rows of one run follow one another.
const PAUSE: f64 = 30.0;
/// How much of the axis stands for a longer one, in seconds, so that what is apart does not meet.
const GAP: f64 = 2.0;

/// When somebody measured.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretches(Vec<Stretch>);

/// A time without a long pause, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    /// Since 1970-01-01 UTC.
    from: f64,
    to: f64,
    /// Where it begins on the axis.
    at: f64,
}

impl Stretches {
    /// Those that time lines tell of.
    pub(super) fn of(timelines: &[(usize, &Timeline)]) -> Self {
        let span = |&(_, timeline): &(usize, &Timeline)| {
            let length = timeline.seconds.iter().copied().fold(0.0, f64::max);
            (timeline.unix_seconds, timeline.unix_seconds + length)
        };
        let mut spans: Vec<(f64, f64)> = timelines.iter().map(span).collect();
        spans.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut all: Vec<Stretch> = Vec::new();
        for (from, to) in spans {
            match all.last_mut() {
                Some(last) if from - last.to <= PAUSE => last.to = last.to.max(to),
                last => {
                    let at = last.map_or(0.0, |last| last.at + (last.to - last.from) + GAP);
                    all.push(Stretch { from, to, at });
                }
            }
        }
        Self(all)
    }

    /// Where a moment stands on the axis.
    pub(super) fn place(&self, unix_seconds: f64) -> f64 {
        let stretch = self.0.iter().rfind(|stretch| stretch.from <= unix_seconds);
        stretch.map_or(0.0, |stretch| stretch.at + (unix_seconds - stretch.from))
    }

    /// The axis, broken where a pause is left out.
    pub(super) fn axis(&self) -> Axis {
        let breaks: Vec<f64> = self.0.iter().skip(1).map(|stretch| stretch.at).collect();
        let title = match breaks.len() {
            0 => "Time since the first reading (s)".to_owned(),
            pauses => format!("Time of measuring (s), pauses left out: {pauses}"),
        };
        Axis { breaks, ..Axis::linear(&title) }
    }

    /// ` 2 pauses without readings are left out, the longest of 4.69 days.`
    pub(super) fn text(&self) -> String {
        let pauses = self.0.windows(2).map(|pair| pair[1].from - pair[0].to);
        let longest = units::duration(pauses.fold(0.0, f64::max));
        match self.0.len().saturating_sub(1) {
            0 => String::new(),
            1 => format!(" A pause of {longest} without readings is left out."),
            several => format!(" {several} pauses without readings are left out, the longest of {longest}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(spans: &[(f64, f64)]) -> Stretches {
        let timelines: Vec<Timeline> = spans
            .iter()
            .map(|&(unix_seconds, length)| Timeline {
                unix_seconds,
                seconds: vec![0.0, length],
                ..Timeline::default()
            })
            .collect();
        Stretches::of(&timelines.iter().map(|timeline| (0, timeline)).collect::<Vec<_>>())
    }

    #[test]
    fn time_goes_on_where_a_pause_is_left_out() {
        let days = stretches(&[(500_000.0, 10.0), (1000.0, 40.0), (1020.0, 50.0)]);
        assert_eq!([1000.0, 1070.0, 500_000.0, 500_004.0].map(|at| days.place(at)), [0.0, 70.0, 72.0, 76.0]);
        assert_eq!(days.axis().breaks, [72.0]);
        assert_eq!(days.text(), " A pause of 5.77 days without readings is left out.");
    }

    #[test]
    fn rows_that_follow_one_another_are_one_stretch() {
        let run = stretches(&[(1000.0, 40.0), (1070.0, 40.0)]);
        assert_eq!((run.place(1070.0), run.axis().breaks.len(), run.text()), (70.0, 0, String::new()));
        assert!(run.axis().title.contains("since the first reading"));
    }
}
