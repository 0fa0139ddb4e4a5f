//! What sensors said while rows were measured: clocks, temperatures, power, and when the machine throttled.

use std::collections::{BTreeSet, HashSet};

use cipherlane_record::{Timeline, throttle};

use super::grouped;
use super::stretches::Stretches;
use crate::chart::{Axis, Chart, Lines, Look, MOST_SERIES, Mark, Plot, Point, Series};
use crate::machine::Machines;
use crate::units;

/// Readings of a series that a chart shows; more fall on the same pixels.
const MOST_POINTS: usize = 120;
/// Fewer readings have markers.
const DENSE: usize = 24;
/// Spells of throttling that are marked; the text counts all readings.
const MOST_SPELLS: usize = 12;
/// Times of throttling that the text names; it counts the others.
const MOST_TIMES: usize = 3;
/// Readings further apart, in seconds, belong to different spells.
const SPELL: f64 = 1.5;

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
    let stretches = Stretches::of(timelines);
    let readings =
        timelines.iter().flat_map(|(_, timeline)| readings(timeline, stretches.place(timeline.unix_seconds)));
    // Rows of one run, ours and the rivals', have the same.
    let mut known = HashSet::new();
    let (states, readings): (Vec<_>, Vec<_>) = readings
        .filter(|reading| known.insert((reading.name, reading.seconds.to_bits(), reading.value.to_bits())))
        .partition(|reading| throttle::is_channel(reading.name));
    let axis = stretches.axis();
    let throttled = Throttled::of(&states, &axis);
    let told_of_time = format!("{}{}", throttled.text(), stretches.text());
    let told = readings.into_iter().filter_map(|reading| Some((quantity(&reading)?, reading)));
    let quantities = grouped(told, |(quantity, reading)| (*quantity, reading.unit));
    quantities
        .into_iter()
        .filter_map(|((quantity, unit), readings)| {
            let readings = readings.into_iter().map(|(_, reading)| reading).collect();
            let mut chart = chart((quantity, title), unit, readings, &axis)?;
            chart.finding.push_str(&told_of_time);
            if let Plot::Lines(lines) = &mut chart.plot {
                lines.marks = throttled.marks();
            }
            Some(chart)
        })
        .collect()
}

/// When a device was held back, and by what.
struct Throttled {
    /// By rising time, those together between which nothing is left out.
    seconds: Vec<Vec<f64>>,
    reasons: BTreeSet<&'static str>,
    /// Readings in all.
    readings: usize,
}

impl Throttled {
    fn of(states: &[Reading<'_>], axis: &Axis) -> Self {
        let (mut seconds, mut reasons) = (Vec::new(), BTreeSet::new());
        for state in states {
            let found = throttle::reasons(state.name, state.value);
            if !found.is_empty() {
                seconds.push(state.seconds);
                reasons.extend(found);
            }
        }
        seconds.sort_by(f64::total_cmp);
        let whole = |one: &f64, next: &f64| !axis.is_broken_between(*one, *next);
        let seconds = seconds.chunk_by(whole).map(<[f64]>::to_vec).collect();
        Self { seconds, reasons, readings: states.len() }
    }

    /// ` Throttled at 213 of 346 readings, between 6 and 26.8 s: power limit.`
    fn text(&self) -> String {
        if self.seconds.is_empty() {
            return String::new();
        }
        let between = |one: &Vec<f64>| {
            let [first, last] = [one[0], one[one.len() - 1]].map(units::significant);
            format!("between {first} and {last} s")
        };
        let mut times: Vec<String> = self.seconds.iter().take(MOST_TIMES).map(between).collect();
        let more = self.seconds.len().saturating_sub(MOST_TIMES);
        times.extend((more > 0).then(|| format!("and {} more", units::count(more, "time"))));
        let (count, all) = (self.seconds.concat().len(), units::count(self.readings, "reading"));
        format!(" Throttled at {count} of {all}, {}: {}.", times.join(", "), self.why())
    }

    fn why(&self) -> String {
        self.reasons.iter().copied().collect::<Vec<_>>().join(", ")
    }

    /// A mark where each spell begins, and one where it ends; those of the first say what they are.
    fn marks(&self) -> Vec<Mark> {
        let spells = self.seconds.iter().flat_map(|all| all.chunk_by(|one, next| next - one <= SPELL));
        let mark = |x: f64, label: &str| Mark { x, label: label.to_owned() };
        let of_spell = |(place, spell): (usize, &[f64])| {
            let (first, last) = (spell[0], spell[spell.len() - 1]);
            let (from, to) = if place == 0 {
                (format!("throttled: {}", self.why()), "until here")
            } else {
                (String::new(), "")
            };
            let end = (last > first).then(|| mark(last, to));
            std::iter::once(mark(first, &from)).chain(end)
        };
        spells.take(MOST_SPELLS).enumerate().flat_map(of_spell).collect()
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

fn chart((name, of): (&str, &str), unit: &str, readings: Vec<Reading<'_>>, axis: &Axis) -> Option<Chart> {
    let (factor, unit) = unit_of(unit);
    let channels = grouped(readings, |reading| reading.name.to_owned());
    let all = channels.len();
    let shown: Vec<(String, Vec<(f64, f64)>)> = channels
        .into_iter()
        .take(MOST_SERIES)
        .map(|(name, readings)| (name.replacen('.', " ", 1).replace('_', " "), sorted(&readings, factor)))
        .collect();
    let series = |(name, readings): &(String, Vec<(f64, f64)>)| {
        let points = thinned(readings, axis);
        let look = if points.len() > DENSE { Look::Dense } else { Look::Measured };
        Series { name: name.clone(), points, look }
    };
    let series: Vec<Series> = shown.iter().map(series).collect();
    // A single reading is no line in time; the table of rows has what matters of it.
    if series.iter().all(|one| one.points.len() < 2) {
        return None;
    }
    Some(Chart {
        title: format!("{name}{of}"),
        finding: finding(&shown, all, unit),
        plot: Plot::Lines(Lines {
            x: axis.clone(),
            y: Axis::linear(&format!("{name} ({unit})")),
            series,
            marks: Vec::new(),
        }),
    })
}

/// From where to where each sensor read, of `all` that there are. Means of readings, which points can be, hide how far
/// these go.
fn finding(shown: &[(String, Vec<(f64, f64)>)], all: usize, unit: &str) -> String {
    let range = |(name, readings): &(String, Vec<(f64, f64)>)| {
        let values = || readings.iter().map(|(_, value)| *value);
        let [low, high] =
            [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)];
        format!("{name} {} to {} {unit}", units::significant(low), units::significant(high))
    };
    let ranges: Vec<String> = shown.iter().map(range).collect();
    let means = match shown.iter().map(|(_, readings)| together(readings.len())).max() {
        Some(several @ 2..) => format!(" Points are means of up to {several} readings."),
        _ => String::new(),
    };
    let left_out = match all - shown.len() {
        0 => String::new(),
        more => format!(" In the records only: {}.", units::count(more, "sensor")),
    };
    format!("{}.{means}{left_out}", ranges.join("; "))
}

/// What was read and when, by rising time.
fn sorted(readings: &[Reading<'_>], factor: f64) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> =
        readings.iter().map(|reading| (reading.seconds, reading.value / factor)).collect();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    sorted
}

/// How many of so many readings a point stands for, so that there are no more points than a chart can show.
fn together(readings: usize) -> usize {
    readings.div_ceil(MOST_POINTS).max(1)
}

/// Means of readings; between pauses there are two at least.
#[allow(clippy::cast_precision_loss)] // readings
fn thinned(sorted: &[(f64, f64)], axis: &Axis) -> Vec<Point> {
    let most = together(sorted.len());
    let mean = |part: &[(f64, f64)]| {
        let sum = part.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let count = part.len() as f64;
        Point { x: sum.0 / count, y: sum.1 / count, interval: None }
    };
    let whole = |one: &(f64, f64), next: &(f64, f64)| !axis.is_broken_between(one.0, next.0);
    let means = |part: &[(f64, f64)]| {
        let together = most.min(part.len().div_ceil(2));
        part.chunks(together).map(mean).collect::<Vec<_>>()
    };
    sorted.chunk_by(whole).flat_map(means).collect()
}
