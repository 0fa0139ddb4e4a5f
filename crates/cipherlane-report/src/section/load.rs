//! What other work on the machine cost.

use cipherlane_record::{Load, Share};

use super::conditions::more;
use super::grouped;
use crate::chart::{Axis, Chart, Lines, Look, MOST_SERIES, Plot, Point, Series};
use crate::row::{self, Kind, Row};

/// In what rows of one job and size must be alike to differ by the load alone.
const ALIKE: [Kind; 8] = [
    Kind::Machine,
    Kind::Device,
    Kind::Threads,
    Kind::Transfer,
    Kind::Cache,
    Kind::Messages,
    Kind::Kernel,
    Kind::Launch,
];

/// Throughput under load, as a part of that without: a chart for each thing that was loaded.
pub(super) fn charts(rows: &[Row<'_>]) -> Vec<Chart> {
    let cpu = |load: &Load| (load.cpu, load.gpu);
    let gpu = |load: &Load| (load.gpu, load.cpu);
    [under(rows, "CPU", cpu), under(rows, "GPU", gpu)].into_iter().flatten().collect()
}

/// The rows in which only this was loaded, against the load that was reached. The row without load is the whole.
fn under(
    rows: &[Row<'_>],
    name: &str,
    of: impl Fn(&Load) -> (Option<Share>, Option<Share>),
) -> Option<Chart> {
    let achieved = |row: &Row<'_>| match row.load.as_ref().map(&of) {
        None => Some(0.0),
        Some((this, other)) if other.is_none_or(|share| share.requested <= 0.0) => {
            Some(this.map_or(0.0, |share| if share.requested > 0.0 { share.achieved } else { 0.0 }))
        }
        Some(_) => None,
    };
    let alone = rows.iter().filter(|row| row.verified).filter_map(|row| Some((achieved(row)?, *row)));
    let curves = grouped(alone, |(_, row)| (row.job(), row.message_bytes, row.traits(&ALIKE)));
    let mut curves: Vec<(Row<'_>, Vec<Point>)> =
        curves.iter().filter_map(|(_, rows)| Some((rows[0].1, points(rows)?))).collect();
    let all = curves.len();
    curves.truncate(MOST_SERIES);
    let names = names(&curves.iter().map(|(row, _)| *row).collect::<Vec<_>>());
    let series = names.into_iter().zip(curves).map(|(name, (_, points))| Series {
        name,
        points,
        look: Look::Measured,
    });
    let series: Vec<Series> = series.collect();
    let last = series.first()?.points.last()?;
    let finding = format!(
        "{}: {:.0} % of the throughput is left at a load of {:.0} %.{}",
        series[0].name,
        last.y,
        last.x,
        more(all, series.len())
    );
    Some(Chart {
        title: format!("Under load of the {name}"),
        finding,
        plot: Plot::Lines(Lines {
            x: Axis::linear(&format!("Load of the {name}, as it was (%)")),
            y: Axis::linear("Throughput (% of that without load)"),
            series,
            marks: Vec::new(),
        }),
    })
}

/// Rows by the load that was reached, if there are some with and one without.
fn points(rows: &[(f64, Row<'_>)]) -> Option<Vec<Point>> {
    let (_, whole) = rows.iter().find(|(load, _)| *load == 0.0)?;
    let part = |rate: f64| 100.0 * rate / whole.bytes_per_second;
    let point = |(load, row): &(f64, Row<'_>)| Point {
        x: 100.0 * load,
        y: part(row.bytes_per_second),
        interval: row.interval().map(|ends| (part(ends.low), part(ends.high))),
    };
    let mut points: Vec<Point> = rows.iter().map(point).collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    points.iter().any(|point| point.x > 0.0).then_some(points)
}

/// What each does and on what; where several do the same there, what else tells them apart.
fn names(rows: &[Row<'_>]) -> Vec<String> {
    let name = |row: &Row<'_>| {
        let is_like = |other: &&Row<'_>| other.does() == row.does() && other.contender() == row.contender();
        let alike: Vec<_> = rows.iter().filter(is_like).map(|other| other.traits(&ALIKE)).collect();
        let own = row.traits(&ALIKE);
        let place = alike.iter().position(|traits| *traits == own).unwrap_or(0);
        format!("{} on {}", row.does(), row::names(&alike)[place])
    };
    rows.iter().map(name).collect()
}
