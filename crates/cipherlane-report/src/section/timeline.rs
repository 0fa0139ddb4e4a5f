//! What sensors said while rows were measured: clocks, temperatures, power, and when the machine throttled.

use std::collections::BTreeSet;

use cipherlane_record::{Timeline, throttle};

use super::grouped;
use crate::chart::{Axis, Chart, Lines, Look, MOST_SERIES, Mark, Plot, Point, Series};
use crate::machine::Machines;
use crate::units;

/// Readings of a series that a chart shows; more fall on the same pixels.
const MOST_POINTS: usize = 120;
/// Fewer readings have markers.
const DENSE: usize = 24;
/// Stretches of throttling that are marked; the text counts all readings.
const MOST_STRETCHES: usize = 12;
/// Readings further apart, in seconds, belong to different stretches.
const STRETCH: f64 = 1.5;

/// A reading: its channel's name and unit, when, and what.
struct Reading<'a> {
    name: &'a str,
    unit: &'a str,
    seconds: f64,
    value: f64,
}

/// A chart for each machine and quantity, over all rows of an experiment.
pub(super) fn charts(timelines: &[(usize, &Timeline)], machines: &Machines<'_>) -> Vec<Chart> {
    let of_machines = grouped(timelines.iter().copied(), |(machine, _)| *machine);
    let of_machine = |(machine, timelines): (usize, Vec<(usize, &Timeline)>)| {
        let title =
            if machines.several() { format!(" of {}", Machines::letter(machine)) } else { String::new() };
        of_machine(&timelines, &title)
    };
    of_machines.into_iter().flat_map(of_machine).collect()
}

fn of_machine(timelines: &[(usize, &Timeline)], title: &str) -> Vec<Chart> {
    let begin = timelines.iter().map(|(_, timeline)| timeline.unix_seconds).fold(f64::INFINITY, f64::min);
    let readings: Vec<Reading<'_>> = timelines
        .iter()
        .flat_map(|(_, timeline)| readings(timeline, timeline.unix_seconds - begin))
        .collect();
    let (states, readings): (Vec<_>, Vec<_>) =
        readings.into_iter().partition(|reading| throttle::is_channel(reading.name));
    let throttled = Throttled::of(&states);
    let told = readings.into_iter().filter_map(|reading| Some((quantity(&reading)?, reading)));
    let quantities = grouped(told, |(quantity, reading)| (*quantity, reading.unit));
    quantities
        .into_iter()
        .filter_map(|((quantity, unit), readings)| {
            let readings = readings.into_iter().map(|(_, reading)| reading).collect();
            chart((quantity, title), unit, readings, &throttled)
        })
        .collect()
}

/// When a device was held back, and by what.
struct Throttled {
    /// By rising time.
    seconds: Vec<f64>,
    reasons: BTreeSet<&'static str>,
    /// Readings in all.
    readings: usize,
}

impl Throttled {
    fn of(states: &[Reading<'_>]) -> Self {
        let mut all = Self { seconds: Vec::new(), reasons: BTreeSet::new(), readings: states.len() };
        for state in states {
            let reasons = throttle::reasons(state.name, state.value);
            if !reasons.is_empty() {
                all.seconds.push(state.seconds);
                all.reasons.extend(reasons);
            }
        }
        all.seconds.sort_by(f64::total_cmp);
        all
    }

    /// ` Throttled at 213 of 346 readings, between 6 and 26.8 s: power limit.`
    fn text(&self) -> String {
        let (Some(first), Some(last)) = (self.seconds.first(), self.seconds.last()) else {
            return String::new();
        };
        let (count, all) = (self.seconds.len(), units::count(self.readings, "reading"));
        let [first, last] = [first, last].map(|seconds| units::significant(*seconds));
        format!(" Throttled at {count} of {all}, between {first} and {last} s: {}.", self.why())
    }

    fn why(&self) -> String {
        self.reasons.iter().copied().collect::<Vec<_>>().join(", ")
    }

    /// A mark where each stretch begins, and one where it ends; those of the first say what they are.
    fn marks(&self) -> Vec<Mark> {
        let stretches = self.seconds.chunk_by(|one, next| next - one <= STRETCH);
        let mark = |x: f64, label: &str| Mark { x, label: label.to_owned() };
        let of_stretch = |(place, stretch): (usize, &[f64])| {
            let (first, last) = (stretch[0], stretch[stretch.len() - 1]);
            let (from, to) = if place == 0 {
                (format!("throttled: {}", self.why()), "until here")
            } else {
                (String::new(), "")
            };
            let end = (last > first).then(|| mark(last, to));
            std::iter::once(mark(first, &from)).chain(end)
        };
        stretches.take(MOST_STRETCHES).enumerate().flat_map(of_stretch).collect()
    }
}

/// What a channel tells; those of one unit that tell the same are in one chart. A counter of energy is no line to look
/// at: the power is.
fn quantity<'a>(reading: &Reading<'a>) -> Option<&'a str> {
    match reading.unit {
        "Hz" => Some("Clock"),
        "°C" => Some("Temperature"),
        "W" => Some("Power"),
        "V" => Some("Voltage"),
        // GPUs tell the speed of a fan as a part of the most.
        "1" if reading.name.ends_with("fan") => Some("Fans"),
        "1" => Some("Load"),
        "1/s" | "1/min" if reading.name.ends_with("fan") => Some("Fan speed"),
        "J" => None,
        other => Some(other),
    }
}

fn readings(timeline: &Timeline, from: f64) -> impl Iterator<Item = Reading<'_>> {
    timeline.channels.iter().flat_map(move |channel| {
        let values = channel.values.iter().zip(&timeline.seconds);
        values.filter_map(move |(value, seconds)| {
            let value = value.filter(|value| value.is_finite())?;
            Some(Reading { name: &channel.name, unit: &channel.unit, seconds: from + seconds, value })
        })
    })
}

/// The unit that people read, and how many of the record's it is.
fn unit_of(unit: &str) -> (f64, &str) {
    match unit {
        "Hz" => (1e9, "GHz"),
        "1" => (0.01, "%"),
        // Turns of fans.
        "1/s" => (1.0 / 60.0, "1/min"),
        other => (1.0, other),
    }
}

fn chart(
    (name, of): (&str, &str),
    unit: &str,
    readings: Vec<Reading<'_>>,
    throttled: &Throttled,
) -> Option<Chart> {
    let (factor, unit) = unit_of(unit);
    let channels = grouped(readings, |reading| reading.name.to_owned());
    let series: Vec<Series> = channels
        .iter()
        .take(MOST_SERIES)
        .map(|(name, readings)| {
            let points = thinned(readings, factor);
            let look = if points.len() > DENSE { Look::Dense } else { Look::Measured };
            Series { name: name.replacen('.', " ", 1).replace('_', " "), points, look }
        })
        .collect();
    // A single reading is no line in time; the table of rows has what matters of it.
    if series.iter().all(|one| one.points.len() < 2) {
        return None;
    }
    let values = |one: &Series| one.points.iter().map(|point| point.y).collect::<Vec<_>>();
    let range = |one: &Series| {
        let values = values(one);
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{} {} to {} {unit}", one.name, units::significant(low), units::significant(high))
    };
    let ranges: Vec<String> = series.iter().map(range).collect();
    Some(Chart {
        title: format!("{name}{of}"),
        finding: format!("{}.{}", ranges.join("; "), throttled.text()),
        plot: Plot::Lines(Lines {
            x: Axis::linear("Time since the first reading (s)"),
            y: Axis::linear(&format!("{name} ({unit})")),
            series,
            marks: throttled.marks(),
        }),
    })
}

/// Means over as many stretches as a chart can show.
#[allow(clippy::cast_precision_loss)] // readings
fn thinned(readings: &[Reading<'_>], factor: f64) -> Vec<Point> {
    let mut sorted: Vec<(f64, f64)> =
        readings.iter().map(|reading| (reading.seconds, reading.value / factor)).collect();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    // Rows of one run, ours and the rivals', have the same readings.
    sorted.dedup();
    let stretch = sorted.len().div_ceil(MOST_POINTS).max(1);
    let mean = |part: &[(f64, f64)]| {
        let sum = part.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let count = part.len() as f64;
        Point { x: sum.0 / count, y: sum.1 / count, interval: None }
    };
    sorted.chunks(stretch).map(mean).collect()
}
