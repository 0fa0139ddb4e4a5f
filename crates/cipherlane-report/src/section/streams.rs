//! What each stream did while a batch went to the device and back.

use cipherlane_record::StreamTimes;

use super::conditions::{MOST_BARS, label, more};
use super::grouped;
use crate::chart::{Axis, Bar, Bars, Chart, Group, Plot};
use crate::machine::Machines;
use crate::row::Row;
use crate::units;

/// The streams of the fastest row of each contender, as parts of a pass. What is missing from 100 % a stream has waited.
pub(super) fn chart(rows: &[Row<'_>], machines: &Machines<'_>) -> Option<Chart> {
    // One stream, or one that had it all, shares nothing.
    let worked = |row: &Row<'_>| row.streams.iter().filter(|stream| stream.chunks > 0).count();
    let several = rows.iter().filter(|row| row.verified && worked(row) > 1).copied();
    let mut fastest: Vec<Row<'_>> = grouped(several, |row| (row.machine, row.contender()))
        .into_iter()
        .filter_map(|(_, rows)| {
            rows.into_iter().max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))
        })
        .collect();
    fastest.sort_by(|one, other| other.bytes_per_second.total_cmp(&one.bytes_per_second));
    let groups: Vec<Group> = fastest
        .iter()
        .flat_map(|row| row.streams.iter().map(|stream| group(row, stream, machines)))
        .collect();
    let first = fastest.first()?;
    let parts = first
        .streams
        .iter()
        .map(|stream| 100.0 * stream.times.total_seconds() / first.summary.median_seconds);
    let (least, most) =
        parts.fold((f64::INFINITY, 0.0_f64), |(least, most), part| (least.min(part), most.max(part)));
    let shown = groups.len().min(MOST_BARS);
    Some(Chart {
        title: "What each stream does".to_owned(),
        finding: format!(
            "{}: the busiest of {} works for {most:.0} % of a pass, the least busy for {least:.0} %.{}",
            label(first, machines),
            units::count(first.streams.len(), "stream"),
            more(groups.len(), shown)
        ),
        plot: Plot::Bars(Bars {
            value: Axis::linear("Part of a pass (%)"),
            series: ["to device", "kernel", "to host"].map(str::to_owned).to_vec(),
            groups: groups[..shown].to_vec(),
            stacked: true,
            whole: true,
        }),
    })
}

fn group(row: &Row<'_>, stream: &StreamTimes, machines: &Machines<'_>) -> Group {
    let bar = |seconds: f64| {
        let value = 100.0 * seconds / row.summary.median_seconds;
        Some(Bar { value, interval: None, note: units::seconds(seconds) })
    };
    let of = if stream.device == row.device { String::new() } else { format!(", {}", stream.device) };
    let chunks = units::count(usize::try_from(stream.chunks).unwrap_or(usize::MAX), "chunk");
    let times = stream.times;
    Group {
        label: format!("{}{of}, stream {}, {chunks}", label(row, machines), stream.stream),
        bars: [times.to_device_seconds, times.kernel_seconds, times.to_host_seconds].map(bar).to_vec(),
        published: Vec::new(),
    }
}
