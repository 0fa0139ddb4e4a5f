//! Throughput against threads: how far from linear, what Amdahl's law says, where cores end and their second
//! threads begin.

use cipherlane_record::Host;

use super::conditions::more;
use super::grouped;
use super::sweep::FEWEST;
use crate::chart::{Axis, Chart, Form, Lines, Look, MOST_SERIES, Mark, Plot, Point, Series};
use crate::row::{self, Kind, Row, Trait};
use crate::units;

/// Series beside the measured ones: linear, and the fit.
const COMPUTED: usize = 2;

/// A chart for each job and size whose rows sweep threads.
pub(super) fn charts(rows: &[Row<'_>]) -> Vec<Chart> {
    groups(rows).iter().filter_map(|group| chart(group)).collect()
}

/// Rows of one job and size on devices whose threads matter. Messages without a byte have no throughput, which threads
/// could raise.
pub(crate) fn groups<'a>(rows: &[Row<'a>]) -> Vec<Vec<Row<'a>>> {
    let counts = |row: &Row<'_>| row.verified && !row.is_offload() && row.bytes_per_second > 0.0;
    let on_cpus = rows.iter().filter(|row| counts(row)).copied();
    let groups = grouped(on_cpus, |row| (row.job(), row.message_bytes));
    groups.into_iter().map(|(_, rows)| rows).collect()
}

/// Rows by what differs but the threads, ours first; the fastest for each number of threads.
pub(crate) fn series<'a>(rows: &[Row<'a>]) -> Vec<(Vec<Trait>, Vec<Row<'a>>)> {
    let kinds = [Kind::Rival, Kind::Machine, Kind::Device, Kind::Tier, Kind::Cache, Kind::Load];
    let mut series = grouped(rows.iter().copied(), |row| row.traits(&kinds));
    for (_, rows) in &mut series {
        rows.sort_by(|one, other| {
            one.threads.cmp(&other.threads).then(other.bytes_per_second.total_cmp(&one.bytes_per_second))
        });
        rows.dedup_by_key(|row| row.threads);
    }
    series.retain(|(_, rows)| rows.len() >= FEWEST);
    let most = |rows: &[Row<'_>]| rows.iter().map(|row| row.bytes_per_second).fold(0.0, f64::max);
    series.sort_by(|(_, one), (_, other)| {
        one[0].is_rival().cmp(&other[0].is_rival()).then(most(other).total_cmp(&most(one)))
    });
    series
}

fn chart(rows: &[Row<'_>]) -> Option<Chart> {
    let mut all = series(rows);
    let count = all.len();
    all.truncate(MOST_SERIES - COMPUTED);
    let (_, first) = all.first()?;
    let most = all.iter().flat_map(|(_, rows)| rows).map(|row| row.bytes_per_second).fold(0.0, f64::max);
    let (factor, unit) = units::rate_unit(most);
    let traits: Vec<Vec<Trait>> = all.iter().map(|(traits, _)| traits.clone()).collect();
    let names = row::names(&traits);
    let measured = names.iter().zip(&all).map(|(name, (_, rows))| Series {
        name: name.clone(),
        points: rows.iter().map(|row| point(row, factor)).collect(),
        look: Look::Measured,
    });
    let mut series: Vec<Series> = measured.collect();
    let counts: Vec<f64> = first.iter().map(threads).collect();
    let fewest = first[0].bytes_per_second / factor;
    series.push(linear(&counts, fewest / counts[0]));
    let fit = fit(first);
    series.extend(fit.map(|serial| amdahl(&counts, fewest, serial)));
    let host = &first[0].host;
    let most_threads = first.last().map_or(0, |row| row.threads);
    let x = Axis { form: Form::Count, ..Axis::linear("Threads") };
    let y = Axis::linear(&format!("Throughput ({unit})"));
    Some(Chart {
        title: first[0].does(),
        finding: format!("{}{}", finding(&names[0], first, fit), more(count, all.len())),
        plot: Plot::Lines(Lines { x, y, series, marks: marks(host, most_threads) }),
    })
}

fn point(row: &Row<'_>, factor: f64) -> Point {
    Point { x: threads(row), y: row.bytes_per_second / factor, interval: row.ends(factor) }
}

#[allow(clippy::cast_precision_loss)] // threads
fn threads(row: &Row<'_>) -> f64 {
    row.threads as f64
}

/// What as many threads would reach if each added what `one` does.
pub(super) fn linear(counts: &[f64], one: f64) -> Series {
    computed("linear".to_owned(), counts, |n| one * n)
}

/// What Amdahl's law makes of one thread's rate: the serial part of its work is not shared.
pub(super) fn amdahl(counts: &[f64], one: f64, serial: f64) -> Series {
    let name = format!("Amdahl, serial part {:.1} %", 100.0 * serial);
    computed(name, counts, |n| one / (serial + (1.0 - serial) / n))
}

fn computed(name: String, counts: &[f64], value: impl Fn(f64) -> f64) -> Series {
    let points = counts.iter().map(|&x| Point { x, y: value(x), interval: None }).collect();
    Series { name, points, look: Look::Computed }
}

/// The serial part by Amdahl's law, least squares over the rows with no more threads than cores: with t(n) the time of
/// n threads by that of one, t(n) - 1/n = s (1 - 1/n).
fn fit(rows: &[Row<'_>]) -> Option<f64> {
    let one = rows.first().filter(|row| row.threads == 1)?.bytes_per_second;
    let cores = rows[0].host.physical_cores.unwrap_or(usize::MAX);
    let within: Vec<_> = rows.iter().filter(|row| row.threads > 1 && row.threads <= cores).collect();
    if within.len() + 1 < FEWEST {
        return None;
    }
    let terms = within.iter().map(|row| {
        let part = 1.0 - 1.0 / threads(row);
        ((one / row.bytes_per_second - 1.0 / threads(row)) * part, part * part)
    });
    let (above, below) = terms.fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1));
    Some((above / below).clamp(0.0, 1.0))
}

/// Where cores end, and where their second threads do, if a sweep up to `most` threads gets there.
#[allow(clippy::cast_precision_loss)] // cores
pub(super) fn marks(host: &Host, most: usize) -> Vec<Mark> {
    let mark = |count: usize, label: &str| Mark { x: count as f64, label: format!("{count} {label}") };
    let ends = match host.physical_cores {
        Some(cores) if cores < host.logical_cores => {
            vec![mark(cores, "cores"), mark(host.logical_cores, "logical CPUs")]
        }
        Some(cores) => vec![mark(cores, "cores, one logical CPU each")],
        None => vec![mark(host.logical_cores, "logical CPUs")],
    };
    ends.into_iter().filter(|end| end.x <= most as f64).collect()
}

fn finding(name: &str, rows: &[Row<'_>], fit: Option<f64>) -> String {
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    let gain = last.bytes_per_second / first.bytes_per_second;
    let share = gain * threads(first) / threads(last);
    let mut text = format!(
        "{name}: {} are {} times as fast as {}, {} of linear.",
        units::count(last.threads, "thread"),
        units::significant(gain),
        first.threads,
        units::percent(share)
    );
    if let Some(serial) = fit {
        text.push_str(&format!(
            " Up to all cores, Amdahl's law fits with a serial part of {:.1} %.",
            100.0 * serial
        ));
    }
    text
}
