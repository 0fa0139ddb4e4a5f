//! Throughput against a number that was swept: the size of messages, or how many there are.

use std::collections::{BTreeMap, BTreeSet};

use super::grouped;
use crate::chart::{Axis, Chart, Form, Lines, Look, MOST_SERIES, Mark, Plot, Point, Series};
use crate::crossover::{self, Lead};
use crate::row::{self, Job, Kind, Row, Trait};
use crate::units;

/// What was swept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swept {
    /// Bytes of a message.
    Size,
    /// Messages of a batch, of one size.
    Messages,
}

/// Fewer places make no curve.
pub(crate) const FEWEST: usize = 3;

impl Swept {
    #[allow(clippy::cast_precision_loss)] // sizes and counts, below 2^53
    pub(crate) fn of(self, row: &Row<'_>) -> f64 {
        match self {
            Self::Size => row.message_bytes as f64,
            Self::Messages => row.messages as f64,
        }
    }

    fn axis(self) -> Axis {
        match self {
            Self::Size => Axis::doubling("Message size (bytes)", Form::Bytes),
            Self::Messages => Axis::doubling("Messages per batch", Form::Count),
        }
    }

    /// The value with its unit.
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::Size => Form::Bytes.text(value),
            Self::Messages => format!("{} messages", Form::Count.text(value)),
        }
    }
}

/// A chart for each job whose rows sweep `swept`.
pub(super) fn charts(rows: &[Row<'_>], swept: Swept) -> Vec<Chart> {
    let chart = |(key, rows): ((Job<'_>, u64), Vec<Row<'_>>)| chart(key, &rows, swept);
    groups(rows, swept).into_iter().filter_map(chart).collect()
}

/// Rows of one job; where messages are counted, of one size as well.
pub(crate) fn groups<'a>(rows: &[Row<'a>], swept: Swept) -> Vec<((Job<'a>, u64), Vec<Row<'a>>)> {
    let verified = rows.iter().filter(|row| row.verified).copied();
    grouped(verified, |row| (row.job(), if swept == Swept::Size { 0 } else { row.message_bytes }))
}

/// Rows by what differs but the swept number, ours first; one row for each place, the fastest.
pub(crate) fn series<'a>(rows: &[Row<'a>], swept: Swept) -> Vec<(Vec<Trait>, Vec<Row<'a>>)> {
    let threads: BTreeSet<usize> = rows.iter().map(|row| row.threads).collect();
    let mut kinds =
        vec![Kind::Rival, Kind::Machine, Kind::Device, Kind::Tier, Kind::Transfer, Kind::Cache, Kind::Load];
    // Where threads are swept as well, the best number of them is meant.
    if threads.len() < FEWEST {
        kinds.push(Kind::Threads);
    }
    let mut series: BTreeMap<Vec<Trait>, Vec<Row<'_>>> = BTreeMap::new();
    for row in rows {
        series.entry(row.traits(&kinds)).or_default().push(*row);
    }
    let mut series: Vec<_> =
        series.into_iter().map(|(traits, rows)| (traits, fastest_at_each(rows, swept))).collect();
    series.retain(|(_, rows)| rows.len() >= FEWEST);
    let most = |rows: &[Row<'_>]| rows.iter().map(|row| row.bytes_per_second).fold(0.0, f64::max);
    series.sort_by(|(_, one), (_, other)| {
        let rivals = one[0].is_rival().cmp(&other[0].is_rival());
        rivals.then(most(other).total_cmp(&most(one)))
    });
    series
}

fn fastest_at_each(mut rows: Vec<Row<'_>>, swept: Swept) -> Vec<Row<'_>> {
    rows.sort_by(|one, other| {
        let places = swept.of(one).total_cmp(&swept.of(other));
        places.then(other.bytes_per_second.total_cmp(&one.bytes_per_second))
    });
    rows.dedup_by(|one, other| swept.of(one).total_cmp(&swept.of(other)).is_eq());
    rows
}

fn chart((job, bytes): (Job<'_>, u64), rows: &[Row<'_>], swept: Swept) -> Option<Chart> {
    let all = series(rows, swept);
    let left_out = all.len().saturating_sub(MOST_SERIES);
    let shown = &all[..all.len().min(MOST_SERIES)];
    let (first, _) = shown.split_first()?;
    let most = shown.iter().flat_map(|(_, rows)| rows).map(|row| row.bytes_per_second).fold(0.0, f64::max);
    let (factor, unit) = units::rate_unit(most);
    let point = |row: &Row<'_>| Point {
        x: swept.of(row),
        y: row.bytes_per_second / factor,
        interval: row.ends(factor),
    };
    let traits: Vec<Vec<Trait>> = shown.iter().map(|(traits, _)| traits.clone()).collect();
    let named = row::names(&traits).into_iter().zip(shown);
    let series: Vec<Series> = named
        .map(|(name, (_, rows))| Series {
            name,
            points: rows.iter().map(point).collect(),
            look: Look::Measured,
        })
        .collect();
    let marks = crossover::of(&all, swept).and_then(|(device, lead)| {
        let Lead::From(x) = lead else { return None };
        Some(Mark { x, label: format!("{device} faster from {}", swept.text(x)) })
    });
    let x = swept.axis();
    let drawn = series.iter().flat_map(|one| &one.points).filter(|point| x.has(point.x));
    let y = Axis::spanning(&format!("Throughput ({unit})"), drawn.map(|point| point.y));
    let empty = shown.iter().flat_map(|(_, rows)| rows).any(|row| !x.has(swept.of(row)));
    let size = if bytes > 0 { format!(", {}", units::bytes(bytes)) } else { String::new() };
    Some(Chart {
        title: format!("{}{size}", job.label()),
        finding: finding(&series[0].name, &first.1, swept, left_out, empty),
        plot: Plot::Lines(Lines { x, y, marks: marks.into_iter().collect(), series }),
    })
}

/// The best of the first series, and what is not drawn.
fn finding(name: &str, rows: &[Row<'_>], swept: Swept, left_out: usize, empty: bool) -> String {
    let best = rows.iter().max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second));
    let mut text = best.map_or_else(String::new, |row| {
        format!("{name} reaches {} at {}.", units::rate(row.bytes_per_second), swept.text(swept.of(row)))
    });
    if left_out > 0 {
        text.push_str(&format!(" {left_out} more series are in the table only."));
    }
    if empty {
        text.push_str(" Messages without a byte are in the table only.");
    }
    text
}
