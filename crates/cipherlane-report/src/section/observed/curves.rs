//! Observations against numbers.

use cipherlane_record::Interval;

use super::bars::finding;
use super::published::{self, Published};
use super::seen::{Names, Seen, axis_title, places, titled};
use super::view::Marks;
use crate::chart::{
    Axis, Chart, Form, Heat, Lines, Look, MOST_PUBLISHED, MOST_SERIES, Mark, Plot, Point, Series,
};
use crate::crossover::{self, Lead};
use crate::level::{Rate, Standing, TOO_FEW};
use crate::section::conditions::more;
use crate::section::{grouped, threads};
use crate::{beside, ceiling};

/// The curves of a picture, by name, with what was observed at each point.
type Curve<'a> = (String, Vec<Seen<'a>>);

/// Values against `axis`, a curve for each thing that is not swept.
pub(super) fn curves(
    title: &str,
    seen: &[Seen<'_>],
    axis: &str,
    marks: Marks,
    all: &[Seen<'_>],
) -> Option<Chart> {
    let names = Names::of(seen, &[axis]);
    let curves: Vec<Curve<'_>> = grouped(seen.iter().cloned(), |one| names.name(one));
    let count = curves.len();
    let mut series: Vec<Series> =
        curves.iter().take(MOST_SERIES).map(|curve| measured(curve, axis)).collect();
    let (mut marked, mut lawful) = (Vec::new(), Vec::new());
    match marks {
        Marks::None => {}
        Marks::Cores => {
            marked = boundaries(seen, axis);
            lawful = laws(&curves, axis, all);
        }
        Marks::At(name) => marked = at(all, name),
        Marks::Faster => marked = faster(&curves, axis),
    }
    // Where there are many curves, laws take the places of the last ones.
    series.truncate(MOST_SERIES - lawful.len());
    let shown = series.len();
    series.extend(lawful);
    let published = published(seen, axis);
    let left_out = published.len().saturating_sub(MOST_PUBLISHED);
    series.extend(published.into_iter().take(MOST_PUBLISHED));
    let first = seen.first()?;
    let alike = seen.iter().all(|one| one.value.name == first.value.name);
    let y_title = if alike { first.title() } else { titled(title, &first.unit) };
    let ys = series.iter().flat_map(|one| one.points.iter().map(|point| point.y));
    let x = x_axis(axis, &series);
    let y = if x.logarithmic { Axis::growing(&y_title, ys) } else { Axis::spanning(&y_title, ys) };
    let place = |one: &Seen<'_>| {
        let x = one.number_on(axis).map_or_else(String::new, |x| form(axis, &[x]).text(x));
        [names.name(one), format!("{axis} {x}")]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    };
    Some(Chart {
        title: title.to_owned(),
        finding: format!("{}{}{}", finding(seen, place), names.shared(), more(count + left_out, shown)),
        plot: Plot::Lines(Lines { x, y, series, marks: marked }),
    })
}

fn measured((name, seen): &Curve<'_>, axis: &str) -> Series {
    let point =
        |one: &Seen<'_>| Some(Point { x: one.number_on(axis)?, y: one.number, interval: one.interval });
    Series {
        name: name.clone(),
        points: sorted(seen.iter().filter_map(point).collect()),
        look: Look::Measured,
    }
}

fn sorted(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|one, other| one.x.total_cmp(&other.x).then(one.y.total_cmp(&other.y)));
    points.dedup();
    points
}

/// How the numbers of an axis are written.
fn form(axis: &str, xs: &[f64]) -> Form {
    match axis {
        _ if axis.ends_with("bytes") => Form::Bytes,
        _ if xs.iter().all(|x| x.fract() == 0.0) => Form::Count,
        _ => Form::Plain,
    }
}

fn x_axis(axis: &str, series: &[Series]) -> Axis {
    let xs: Vec<f64> = series.iter().flat_map(|one| one.points.iter().map(|point| point.x)).collect();
    let (low, high) = xs.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &x| (low.min(x), high.max(x)));
    let form = form(axis, &xs);
    let logarithmic = low > 0.0 && (high > 16.0 * low || form == Form::Bytes);
    Axis { logarithmic, form, ..Axis::linear(&axis_title(axis)) }
}

/// What others published along the same axis, a series for each thing that they measured.
fn published(seen: &[Seen<'_>], axis: &str) -> Vec<Series> {
    let series = |Published { name, figures }: Published<f64>| {
        let points = figures.iter().map(|&(x, y)| Point { x, y, interval: None }).collect();
        Series { name, points: sorted(points), look: Look::Published }
    };
    published::sets(seen, axis, |one| one.number_on(axis)).into_iter().map(series).collect()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // threads
fn boundaries(seen: &[Seen<'_>], axis: &str) -> Vec<Mark> {
    let most = places(seen, axis).last().map_or(0, |&most| most as usize);
    seen.first().map_or_else(Vec::new, |one| threads::marks(&one.row.host, most))
}

/// Linear gain, and Amdahl's law with the serial part that the experiment found, of the fastest curve.
#[allow(clippy::cast_precision_loss)] // logical CPUs
fn laws(curves: &[Curve<'_>], axis: &str, all: &[Seen<'_>]) -> Vec<Series> {
    let most = |seen: &[Seen<'_>]| seen.iter().map(|one| one.number).fold(0.0, f64::max);
    let fastest = curves.iter().max_by(|one, other| most(&one.1).total_cmp(&most(&other.1)));
    let Some((name, seen)) = fastest else { return Vec::new() };
    let Some(one) = seen.iter().find(|one| one.number_on(axis) == Some(1.0)) else { return Vec::new() };
    // Beyond the logical CPUs threads take turns, and no law holds.
    let most = one.row.host.logical_cores as f64;
    let xs: Vec<f64> = places(seen, axis).into_iter().filter(|&x| x <= most).collect();
    let of = if curves.len() > 1 { format!(" of {name}") } else { String::new() };
    let beside = |other: &&Seen<'_>| {
        let axes = one.row.axes.iter().filter(|(name, _)| name.as_str() != axis);
        other.value.name == "Amdahl sigma" && other.machine == one.machine && axes.eq(other.row.axes.iter())
    };
    let serial = all.iter().find(beside).map(|found| found.number);
    let named = |series: Series| Series { name: format!("{}{of}", series.name), ..series };
    std::iter::once(threads::linear(&xs, one.number))
        .chain(serial.map(|serial| threads::amdahl(&xs, one.number, serial)))
        .map(named)
        .collect()
}

/// Where a value of another row stands on the axis: `132 units`.
fn at(all: &[Seen<'_>], name: &str) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for one in all.iter().filter(|one| one.value.name == name) {
        let mark = Mark { x: one.number, label: format!("{} {name}", one.number) };
        if !marks.contains(&mark) {
            marks.push(mark);
        }
    }
    marks
}

/// From where on the device of each curve is faster, if it is not at first.
fn faster(curves: &[Curve<'_>], axis: &str) -> Vec<Mark> {
    let from = |(_, seen): &Curve<'_>| {
        let place = |one: &Seen<'_>| Some((one.number_on(axis)?, beside::offloaded(one.row)?));
        let mut places: Vec<(f64, Standing)> = seen.iter().filter_map(place).collect();
        places.sort_by(|(one, worse), (other, better)| {
            let faster = |standing: &Standing| *standing == Standing::Faster;
            one.total_cmp(other).then(faster(better).cmp(&faster(worse)))
        });
        if let Lead::From(x) = crossover::lead(&places)? { Some(x) } else { None }
    };
    let mut found: Vec<f64> = curves.iter().filter_map(from).collect();
    found.sort_by(f64::total_cmp);
    let mark = |(x, alike): (u64, Vec<f64>)| {
        let x = f64::from_bits(x);
        Mark { x, label: format!("{} of {} from {}", alike.len(), curves.len(), form(axis, &[x]).text(x)) }
    };
    grouped(found, |x| x.to_bits()).into_iter().map(mark).collect()
}

/// What is done in a time against how much there is to do: the first quantity is the device's, the second of what it
/// is compared with.
pub(super) fn rates(title: &str, seen: &[Seen<'_>], axis: &str) -> Option<Chart> {
    let rates: Vec<Seen<'_>> = seen.iter().cloned().filter_map(|one| one.rate_of(axis)).collect();
    let mut chart = curves(title, &super::seen::readable(rates), axis, Marks::None, &[])?;
    let Plot::Lines(lines) = &mut chart.plot else { return Some(chart) };
    lines.y.title = lines.y.title.replace(title, "Throughput");
    let lead = if let [device, other] = &lines.series[..] { lead_over(device, other) } else { None };
    let Some(lead) = lead else { return Some(chart) };
    let subject = &seen.first()?.subject;
    let found = match lead {
        Lead::From(x) => {
            let text = lines.x.form.text(x);
            lines.marks.push(Mark { x, label: format!("{subject} faster from {text}") });
            format!("{subject} is faster from {text} on.")
        }
        Lead::Everywhere => format!("{subject} is faster at every size that both did."),
        Lead::Unsettled => format!("There is no size from which on {subject} stays faster."),
        Lead::Untold => format!("Who is faster, {subject} or the CPU, is undecided for {TOO_FEW}."),
        Lead::Level => "The CPU is level or faster at every size that both did.".to_owned(),
        Lead::Never => "The CPU is faster at every size that both did.".to_owned(),
    };
    chart.finding = format!("{found} {}", chart.finding);
    Some(chart)
}

/// Where the first curve is above the other, of the places that both have.
fn lead_over(device: &Series, other: &Series) -> Option<Lead<f64>> {
    let rate = |point: &Point| Rate {
        median: point.y,
        interval: point.interval.map(|(low, high)| Interval { low, high }),
    };
    let standing = |point: &Point| {
        let there = other.points.iter().find(|one| one.x.total_cmp(&point.x).is_eq())?;
        Some((point.x, rate(point).against(rate(there))))
    };
    crossover::lead(&device.points.iter().filter_map(standing).collect::<Vec<_>>())
}

/// A quantity against its ceiling: nothing should stand above the roof.
pub(super) fn roof(title: &str, seen: &[Seen<'_>], allows: &str, by: &str) -> Option<Chart> {
    let below = seen.iter().filter(|one| one.value.name != allows);
    let allowed = |one: &Seen<'_>| one.row.values.iter().find(|value| value.name == allows)?.value;
    let points: Vec<(&Seen<'_>, Point)> = below
        .filter_map(|one| Some((one, Point { x: allowed(one)?, y: one.number, interval: one.interval })))
        .collect();
    let first = points.first()?.0;
    let groups = grouped(points.iter(), |(one, _)| one.place(by).unwrap_or_else(|| one.subject.clone()));
    let mut series: Vec<Series> = groups
        .into_iter()
        .map(|(name, points)| {
            let points = sorted(points.iter().map(|(_, point)| *point).collect());
            Series { name, points, look: Look::Scattered }
        })
        .collect();
    let count = series.len();
    series.truncate(MOST_SERIES - 1);
    let left_out = more(count, series.len());
    let xs = || points.iter().map(|(_, point)| point.x);
    let (low, high) = xs().fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    let corner = |x: f64| Point { x, y: x, interval: None };
    series.push(Series {
        name: "the roof".to_owned(),
        points: vec![corner(low), corner(high)],
        look: Look::Computed,
    });
    let share = |one: &(&Seen<'_>, Point)| one.1.y / one.1.x;
    let names = Names::of(seen, &[super::seen::VALUE]);
    let nearest = points.iter().max_by(|one, other| share(one).total_cmp(&share(other)))?;
    let farthest = points.iter().min_by(|one, other| share(one).total_cmp(&share(other)))?;
    let text = |one: &(&Seen<'_>, Point)| format!("{} ({})", ceiling::percent(share(one)), names.name(one.0));
    Some(Chart {
        title: title.to_owned(),
        finding: format!(
            "From {} to {} of what is allowed.{}{}{left_out}",
            text(farthest),
            text(nearest),
            above(points.iter().filter(|one| ceiling::is_passed(share(one))).count()),
            names.shared()
        ),
        plot: Plot::Lines(Lines {
            x: Axis::spanning(&format!("What the instructions allow ({})", first.unit), xs()),
            y: Axis::spanning(&first.title(), points.iter().map(|(_, point)| point.y)),
            series,
            marks: Vec::new(),
        }),
    })
}

/// How many values stand above their roof.
fn above(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " 1 stands above the roof, which is too low there.".to_owned(),
        several => format!(" {several} stand above the roof, which is too low there."),
    }
}

/// A field of cells, if at least half of them were observed.
pub(super) fn field(title: &str, seen: &[Seen<'_>], [x, y]: [&str; 2]) -> Option<Chart> {
    let (xs, ys) = (places(seen, x), places(seen, y));
    if xs.len() < 2 || ys.len() < 2 || 2 * seen.len() < xs.len() * ys.len() {
        return None;
    }
    let at = |place: (f64, f64)| {
        let here =
            |one: &&Seen<'_>| one.number_on(x).zip(one.number_on(y)).is_some_and(|found| found == place);
        seen.iter().find(here).map(|one| one.number)
    };
    let cells = ys.iter().map(|&y| xs.iter().map(|&x| at((x, y))).collect()).collect();
    let names = Names::of(seen, &[x, y]);
    let full = Names::of(seen, &[]);
    let value = seen.first()?.title();
    Some(Chart {
        title: title.to_owned(),
        finding: format!("{}{}", finding(seen, |one| full.name(one)), names.shared()),
        plot: Plot::Heat(Heat { x: (axis_title(x), xs), y: (axis_title(y), ys), value, cells }),
    })
}
