//! What sensors said while rows were measured: clocks, temperatures, power, and when the machine throttled.

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
const MOST_MARKS: usize = 12;
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
    let held_back = |reading: &&Reading<'_>| !throttle::reasons(reading.name, reading.value).is_empty();
    let throttled: Vec<f64> = states.iter().filter(held_back).map(|reading| reading.seconds).collect();
    let quantities = grouped(readings, |reading| reading.unit.to_owned());
    quantities
        .into_iter()
        .filter_map(|(unit, readings)| chart((quantity(&unit)?, title), &unit, readings, &throttled))
        .collect()
}

/// What channels of a unit tell; one chart has them all. A counter of energy is no line to look at: the power is.
fn quantity(unit: &str) -> Option<&str> {
    match unit {
        "Hz" => Some("Clock"),
        "°C" => Some("Temperature"),
        "W" => Some("Power"),
        "V" => Some("Voltage"),
        "1" => Some("Load"),
        "1/min" => Some("Fans"),
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
        other => (1.0, other),
    }
}

fn chart(
    (name, of): (&str, &str),
    unit: &str,
    readings: Vec<Reading<'_>>,
    throttled: &[f64],
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
    let held_back = match throttled.len() {
        0 => String::new(),
        count => format!(" Throttled at {}.", units::count(count, "reading")),
    };
    Some(Chart {
        title: format!("{name}{of}"),
        finding: format!("{}.{held_back}", ranges.join("; ")),
        plot: Plot::Lines(Lines {
            x: Axis::linear("Time since the first reading (s)"),
            y: Axis::linear(&format!("{name} ({unit})")),
            series,
            marks: marks_of(throttled),
        }),
    })
}

/// A mark where each stretch of throttling begins; the first says what they are.
fn marks_of(throttled: &[f64]) -> Vec<Mark> {
    let mut moments = throttled.to_vec();
    moments.sort_by(f64::total_cmp);
    let apart = |pair: &&[f64]| pair[1] - pair[0] > STRETCH;
    let begins =
        moments.first().copied().into_iter().chain(moments.windows(2).filter(apart).map(|pair| pair[1]));
    let label = |place: usize| if place == 0 { "throttled".to_owned() } else { String::new() };
    begins.take(MOST_MARKS).enumerate().map(|(place, x)| Mark { x, label: label(place) }).collect()
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
