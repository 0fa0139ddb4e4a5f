//! Throughput against the launch: blocks and threads of a block, streams and messages.

use std::collections::BTreeSet;

use cipherlane_record::Geometry;

use super::conditions::more;
use super::grouped;
use super::sweep::FEWEST;
use crate::chart::{Axis, Chart, Form, Heat, Lines, Look, MOST_SERIES, Plot, Point, Series};
use crate::row::{self, Kind, Row};
use crate::units;

/// In what rows of one job and size must be alike to differ by the launch alone. Kernels alone, of data in the memory
/// of the device, are set beside nothing that brings its data.
const ALIKE: [Kind; 6] = [Kind::Machine, Kind::Device, Kind::Transfer, Kind::Cache, Kind::Load, Kind::Kernel];
/// Which of these titles name where they tell charts of one job and size apart; the others they always say.
const TOLD: [Kind; 4] = [Kind::Machine, Kind::Device, Kind::Messages, Kind::Kernel];

/// What is to be seen, and what is drawn.
type Drawn = (String, Plot);

/// Charts of each job and size whose launch was swept.
pub(super) fn charts(rows: &[Row<'_>]) -> Vec<Chart> {
    let launched = rows.iter().filter(|row| row.verified && row.geometry.is_some()).copied();
    let jobs = grouped(launched, |row| (row.job(), row.message_bytes));
    // Along blocks and threads, batches of several sizes would be mixed.
    let of_one_batch = [&ALIKE[..], &[Kind::Messages]].concat();
    let of_job = |rows: &[Row<'_>]| {
        let grids = of_alike(rows, &of_one_batch, grid);
        grids.into_iter().chain(of_alike(rows, &ALIKE, streams)).collect::<Vec<_>>()
    };
    jobs.iter().flat_map(|(_, rows)| of_job(rows)).collect()
}

/// A chart for each set of rows that are alike in these traits.
fn of_alike(rows: &[Row<'_>], kinds: &[Kind], draw: impl Fn(&[Row<'_>]) -> Option<Drawn>) -> Vec<Chart> {
    let groups = grouped(rows.iter().copied(), |row| row.traits(kinds));
    let drawn: Vec<(Row<'_>, Drawn)> =
        groups.iter().filter_map(|(_, rows)| Some((rows[0], draw(rows)?))).collect();
    let told: Vec<Kind> = TOLD.into_iter().filter(|kind| kinds.contains(kind)).collect();
    let names = row::names(&drawn.iter().map(|(row, _)| row.traits(&told)).collect::<Vec<_>>());
    let chart = |(name, (row, (finding, plot))): (String, (Row<'_>, Drawn))| Chart {
        title: format!("{} on {name}{}{}", row.does(), row.transfer_text(), row.disturbed_text()),
        finding,
        plot,
    };
    names.into_iter().zip(drawn).map(chart).collect()
}

fn distinct(rows: &[Row<'_>], of: impl Fn(&Geometry) -> u64) -> Vec<u64> {
    let values: BTreeSet<u64> = rows.iter().filter_map(|row| row.geometry.as_ref()).map(of).collect();
    values.into_iter().collect()
}

fn best<'r, 'a>(rows: impl Iterator<Item = &'r Row<'a>>) -> Option<&'r Row<'a>>
where
    'a: 'r,
{
    rows.max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))
}

#[allow(clippy::cast_precision_loss)] // blocks, threads, messages
const fn number(value: u64) -> f64 {
    value as f64
}

/// Blocks against threads of a block: a field of cells, or a curve where only one of them was swept.
fn grid(rows: &[Row<'_>]) -> Option<Drawn> {
    let blocks = distinct(rows, |geometry| geometry.blocks);
    let threads = distinct(rows, |geometry| geometry.threads_per_block);
    if blocks.len() > 1 && threads.len() > 1 {
        return heat(rows, &blocks, &threads);
    }
    if blocks.len() >= FEWEST {
        return curve(rows, "Blocks", |geometry| geometry.blocks);
    }
    (threads.len() >= FEWEST)
        .then(|| curve(rows, "Threads per block", |geometry| geometry.threads_per_block))
        .flatten()
}

fn heat(rows: &[Row<'_>], blocks: &[u64], threads: &[u64]) -> Option<Drawn> {
    let top = best(rows.iter())?;
    let launch = top.geometry?;
    let (factor, unit) = units::rate_unit(top.bytes_per_second);
    let at = |blocks: u64, threads: u64| {
        let alike = rows.iter().filter(|row| {
            row.geometry.is_some_and(|one| (one.blocks, one.threads_per_block) == (blocks, threads))
        });
        best(alike).map(|row| row.bytes_per_second / factor)
    };
    let cells: Vec<Vec<Option<f64>>> =
        threads.iter().map(|&y| blocks.iter().map(|&x| at(x, y)).collect()).collect();
    let filled = cells.iter().flatten().flatten().count();
    // Launches that happened to differ in both are no sweep.
    if filled < FEWEST || 2 * filled < blocks.len() * threads.len() {
        return None;
    }
    let finding = format!(
        "Fastest: {} blocks of {} threads, {}.",
        launch.blocks,
        launch.threads_per_block,
        units::rate(top.bytes_per_second)
    );
    let axis = |title: &str, values: &[u64]| (title.to_owned(), values.iter().copied().map(number).collect());
    let plot = Plot::Heat(Heat {
        x: axis("Blocks", blocks),
        y: axis("Threads per block", threads),
        value: format!("Throughput ({unit})"),
        cells,
    });
    Some((finding, plot))
}

fn curve(rows: &[Row<'_>], name: &str, of: impl Fn(&Geometry) -> u64) -> Option<Drawn> {
    let top = best(rows.iter())?;
    let (factor, unit) = units::rate_unit(top.bytes_per_second);
    let at = |value: u64| {
        let alike = rows.iter().filter(|row| row.geometry.as_ref().is_some_and(|one| of(one) == value));
        best(alike).map(|row| point(row, number(value), factor))
    };
    let points = distinct(rows, &of).into_iter().filter_map(at).collect();
    let series = vec![Series { name: top.contender(), points, look: Look::Measured }];
    let finding = format!(
        "Fastest at {} {}: {}.",
        of(top.geometry.as_ref()?),
        name.to_lowercase(),
        units::rate(top.bytes_per_second)
    );
    let (x, y) = (Axis::doubling(name, Form::Count), Axis::linear(&format!("Throughput ({unit})")));
    Some((finding, Plot::Lines(Lines { x, y, series, marks: Vec::new() })))
}

fn point(row: &Row<'_>, x: f64, factor: f64) -> Point {
    Point { x, y: row.bytes_per_second / factor, interval: row.ends(factor) }
}

/// Messages of a batch against throughput, a curve for each number of streams.
fn streams(rows: &[Row<'_>]) -> Option<Drawn> {
    let counts = distinct(rows, |geometry| geometry.streams);
    let messages: BTreeSet<u64> = rows.iter().map(|row| row.messages).collect();
    if counts.len() < 2 || messages.len() < FEWEST {
        return None;
    }
    let top = best(rows.iter())?;
    let (factor, unit) = units::rate_unit(top.bytes_per_second);
    let curve = |&streams: &u64| {
        let of_count = |row: &&Row<'_>| row.geometry.is_some_and(|one| one.streams == streams);
        let at = |&count: &u64| {
            let alike = rows.iter().filter(of_count).filter(|row| row.messages == count);
            best(alike).map(|row| point(row, number(count), factor))
        };
        let name = units::count(usize::try_from(streams).unwrap_or(usize::MAX), "stream");
        Series { name, points: messages.iter().filter_map(at).collect(), look: Look::Measured }
    };
    let series: Vec<Series> = counts.iter().take(MOST_SERIES).map(curve).collect();
    let y = Axis::spanning(
        &format!("Throughput ({unit})"),
        series.iter().flat_map(|one| one.points.iter().map(|point| point.y)),
    );
    let finding = format!(
        "Fastest: {} messages in {}, {}.{}",
        top.messages,
        units::count(usize::try_from(top.geometry?.streams).unwrap_or(usize::MAX), "stream"),
        units::rate(top.bytes_per_second),
        more(counts.len(), series.len())
    );
    let x = Axis::doubling("Messages per batch", Form::Count);
    Some((finding, Plot::Lines(Lines { x, y, series, marks: Vec::new() })))
}
