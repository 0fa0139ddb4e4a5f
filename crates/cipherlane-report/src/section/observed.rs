//! Charts of observations: a curve where a number was swept, a field where two were, bars where nothing was.

use std::collections::BTreeSet;

use cipherlane_record::{Axis as Place, Observation, Value};

use super::conditions::{MOST_BARS, more};
use super::grouped;
use super::sweep::FEWEST;
use crate::chart::{
    Axis, Bar, Bars, Chart, Form, Group, Heat, Lines, Look, MOST_SERIES, Plot, Point, Series,
};
use crate::machine::Machines;
use crate::units;

/// Quantities that get a chart; the table has all.
const MOST_QUANTITIES: usize = 4;
/// More curves than these are better seen as a field.
const MOST_CURVES: usize = 5;

/// An observed value with its row.
#[derive(Clone, Copy)]
struct Seen<'a> {
    machine: usize,
    row: &'a Observation,
    value: &'a Value,
    number: f64,
}

/// Charts of the quantities that matter most.
pub(super) fn charts(rows: &[(usize, &Observation)], machines: &Machines<'_>) -> Vec<Chart> {
    let seen = rows.iter().flat_map(|&(machine, row)| {
        row.values.iter().filter_map(move |value| {
            let number = value.value.filter(|number| number.is_finite())?;
            Some(Seen { machine, row, value, number })
        })
    });
    let quantities = grouped(seen, |seen| (seen.value.name.as_str(), seen.value.unit.as_str()));
    quantities.iter().take(MOST_QUANTITIES).flat_map(|(_, seen)| quantity(seen, machines)).collect()
}

/// `operations (1/clk)`.
pub(super) fn title(value: &Value) -> String {
    if value.unit == "1" { value.name.clone() } else { format!("{} ({})", value.name, value.unit) }
}

fn quantity(seen: &[Seen<'_>], machines: &Machines<'_>) -> Vec<Chart> {
    let Some(swept) = swept(seen) else { return bars(seen, machines).into_iter().collect() };
    let second =
        numeric_axes(seen).into_iter().find(|&axis| axis != swept && places(seen, axis).len() > MOST_CURVES);
    let heats: Vec<Chart> = match second {
        Some(second) => grouped(seen.iter().copied(), |seen| identity(seen, &[swept, second], machines))
            .iter()
            .filter_map(|(name, seen)| heat(name, seen, [swept, second]))
            .collect(),
        None => Vec::new(),
    };
    if heats.is_empty() { curves(seen, swept, machines).into_iter().collect() } else { heats }
}

fn number(row: &Observation, axis: &str) -> Option<f64> {
    match row.axes.get(axis)? {
        Place::Number(number) => Some(*number),
        Place::Name(_) => None,
    }
}

/// The axes on which every row has a number.
fn numeric_axes<'a>(seen: &[Seen<'a>]) -> Vec<&'a str> {
    let Some(first) = seen.first() else { return Vec::new() };
    let axes = first.row.axes.keys().map(String::as_str);
    axes.filter(|axis| seen.iter().all(|seen| number(seen.row, axis).is_some())).collect()
}

/// The places on an axis, by their bits: all are positive where the order matters.
fn places(seen: &[Seen<'_>], axis: &str) -> BTreeSet<u64> {
    seen.iter().filter_map(|seen| number(seen.row, axis)).map(f64::to_bits).collect()
}

/// The axis with the most places, if there are enough of them for a curve with everything else alike.
fn swept<'a>(seen: &[Seen<'a>]) -> Option<&'a str> {
    let longest = |axis: &&str| {
        let groups = grouped(seen.iter().copied(), |seen| key(seen, &[axis]));
        groups.iter().map(|(_, seen)| places(seen, axis).len()).max().unwrap_or(0)
    };
    let mut axes = numeric_axes(seen);
    axes.retain(|axis| longest(axis) >= FEWEST);
    axes.into_iter().max_by_key(longest)
}

/// All that is the same along `axes`.
fn key(seen: &Seen<'_>, axes: &[&str]) -> Vec<String> {
    let others = seen.row.axes.iter().filter(|(name, _)| !axes.contains(&name.as_str()));
    let mut key = vec![seen.machine.to_string(), seen.row.subject.clone(), seen.row.subject_name.clone()];
    key.extend(others.map(|(name, place)| format!("{name} {place}")));
    key
}

/// The same for people.
fn identity(seen: &Seen<'_>, axes: &[&str], machines: &Machines<'_>) -> String {
    let others = seen.row.axes.iter().filter(|(name, _)| !axes.contains(&name.as_str()));
    let mut parts: Vec<String> = others
        .map(|(name, place)| match place {
            Place::Number(number) => format!("{name} {number}"),
            Place::Name(text) => text.clone(),
        })
        .collect();
    parts.push(seen.row.subject_name.clone());
    if machines.several() {
        parts.push(Machines::letter(seen.machine));
    }
    parts.join(", ")
}

fn interval(value: &Value) -> Option<(f64, f64)> {
    value.ci95.map(|interval| (interval.low, interval.high))
}

/// The largest of them in words.
fn finding(seen: &[Seen<'_>], name: impl Fn(&Seen<'_>) -> String) -> String {
    let highest = seen.iter().max_by(|one, other| one.number.total_cmp(&other.number));
    let lowest = seen.iter().min_by(|one, other| one.number.total_cmp(&other.number));
    let (Some(highest), Some(lowest)) = (highest, lowest) else { return String::new() };
    let text = |seen: &Seen<'_>| format!("{} ({})", units::significant(seen.number), name(seen));
    let unit = if highest.value.unit == "1" { String::new() } else { format!(" {}", highest.value.unit) };
    if highest.number.total_cmp(&lowest.number).is_eq() {
        return format!("{}{unit}.", text(highest));
    }
    format!("From {} to {}{unit}.", text(lowest), text(highest))
}

fn curves(seen: &[Seen<'_>], swept: &str, machines: &Machines<'_>) -> Option<Chart> {
    let first = seen.first()?;
    let groups = grouped(seen.iter().copied(), |seen| identity(seen, &[swept], machines));
    let all = groups.len();
    let mut series: Vec<Series> = groups
        .into_iter()
        .take(MOST_SERIES)
        .map(|(name, seen)| {
            let point = |seen: &Seen<'_>| {
                Some(Point { x: number(seen.row, swept)?, y: seen.number, interval: interval(seen.value) })
            };
            Series { name, points: sorted(seen.iter().filter_map(point).collect()), look: Look::Measured }
        })
        .collect();
    series.extend(published(seen, swept).into_iter().take(MOST_SERIES - series.len()));
    let xs: Vec<f64> = series.iter().flat_map(|one| one.points.iter().map(|point| point.x)).collect();
    let whole = xs.iter().all(|x| x.fract() == 0.0);
    let (low, high) = xs.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &x| (low.min(x), high.max(x)));
    let form = if whole { Form::Count } else { Form::Plain };
    let x = Axis { form, logarithmic: low > 0.0 && high > 16.0 * low, ..Axis::linear(swept) };
    let ys = series.iter().flat_map(|one| one.points.iter().map(|point| point.y));
    let at = |seen: &Seen<'_>| number(seen.row, swept).map_or_else(String::new, |x| format!("{swept} {x}"));
    Some(Chart {
        title: first.value.name.clone(),
        finding: format!("{}{}", finding(seen, at), more(all, MOST_SERIES.min(all))),
        plot: Plot::Lines(Lines { x, y: Axis::spanning(&title(first.value), ys), series, marks: Vec::new() }),
    })
}

fn sorted(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    points
}

/// What others published along the same axis, a series for each thing that they measured.
fn published(seen: &[Seen<'_>], swept: &str) -> Vec<Series> {
    let figures = seen.iter().flat_map(|seen| {
        let x = number(seen.row, swept);
        seen.value.published.iter().filter_map(move |figure| Some((x?, figure)))
    });
    let things = grouped(figures, |(_, figure)| format!("{} ({})", figure.on, figure.source));
    things
        .into_iter()
        .map(|(name, figures)| {
            let mut points: Vec<Point> =
                figures.iter().map(|(x, figure)| Point { x: *x, y: figure.value, interval: None }).collect();
            points.sort_by(|one, other| one.x.total_cmp(&other.x).then(one.y.total_cmp(&other.y)));
            points.dedup();
            Series { name, points, look: Look::Published }
        })
        .collect()
}

/// A field of cells, if at least half of them were observed.
fn heat(name: &str, seen: &[Seen<'_>], [x, y]: [&str; 2]) -> Option<Chart> {
    let values = |axis: &str| -> Vec<f64> {
        let mut values: Vec<f64> = places(seen, axis).into_iter().map(f64::from_bits).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (xs, ys) = (values(x), values(y));
    if xs.len() < 2 || ys.len() < 2 || 2 * seen.len() < xs.len() * ys.len() {
        return None;
    }
    let at = |place: (f64, f64)| {
        let here = |seen: &&Seen<'_>| {
            number(seen.row, x).zip(number(seen.row, y)).is_some_and(|found| found == place)
        };
        seen.iter().find(here).map(|seen| seen.number)
    };
    let cells = ys.iter().map(|&y| xs.iter().map(|&x| at((x, y))).collect()).collect();
    let value = seen.first()?.value;
    let place = |seen: &Seen<'_>| {
        let text =
            |axis: &str| number(seen.row, axis).map_or_else(String::new, |place| format!("{axis} {place}"));
        format!("{}, {}", text(x), text(y))
    };
    Some(Chart {
        title: format!("{}: {name}", value.name),
        finding: finding(seen, place),
        plot: Plot::Heat(Heat { x: (x.to_owned(), xs), y: (y.to_owned(), ys), value: title(value), cells }),
    })
}

fn bars(seen: &[Seen<'_>], machines: &Machines<'_>) -> Option<Chart> {
    let first = seen.first()?;
    let name = |seen: &Seen<'_>| identity(seen, &[], machines);
    let group = |seen: &Seen<'_>| Group {
        label: name(seen),
        bars: vec![Some(Bar { value: seen.number, interval: interval(seen.value), note: String::new() })],
        published: seen.value.published.iter().map(|figure| (figure.on.clone(), figure.value)).collect(),
    };
    let groups: Vec<Group> = seen.iter().take(MOST_BARS).map(group).collect();
    let values = seen.iter().map(|seen| seen.number);
    Some(Chart {
        title: first.value.name.clone(),
        finding: format!("{}{}", finding(seen, name), more(seen.len(), groups.len())),
        plot: Plot::Bars(Bars {
            value: Axis::lengths(&title(first.value), values),
            series: vec!["observed".to_owned()],
            groups,
            stacked: false,
            whole: false,
        }),
    })
}
