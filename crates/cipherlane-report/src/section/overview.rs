//! Rows side by side: beside the best rival, beside the ceiling, on one machine and another.

use std::collections::BTreeSet;

use cipherlane_record::Transfer;

use super::conditions::{MOST_BARS, more};
use super::grouped;
use crate::against::Against;
use crate::chart::{Axis, Bar, Bars, Chart, Group, MOST_SERIES, Plot};
use crate::machine::Machines;
use crate::row::Row;
use crate::{beside, ceiling, units};

/// Ours, verified: the only rows that are shown beside something.
fn ours<'a>(rows: &[Row<'a>]) -> impl Iterator<Item = Row<'a>> + Clone {
    rows.iter().filter(|row| row.verified && !row.is_rival()).copied()
}

/// A row in words: what it does and where.
fn label(row: &Row<'_>, machines: &Machines<'_>) -> String {
    let machine = machines.prefix(row.machine);
    let threads =
        if row.is_offload() { String::new() } else { format!(", {}", units::count(row.threads, "thread")) };
    format!("{machine}{}, {}{threads}{}", row.does(), row.contender(), row.disturbed_text())
}

/// Throughput beside the best rival's.
pub(super) fn rivals(rows: &[Row<'_>], machines: &Machines<'_>) -> Option<Chart> {
    let all: Vec<Row<'_>> = ours(rows).collect();
    let shown = &all[..all.len().min(MOST_BARS)];
    let most = shown.iter().map(|row| row.bytes_per_second).fold(0.0, f64::max);
    let (factor, unit) = units::rate_unit(most);
    let group = |row: &Row<'_>| {
        let own = Bar {
            value: row.bytes_per_second / factor,
            interval: row.ends(factor),
            note: row.best_rival.as_ref().map_or_else(String::new, |best| format!("(× {:.2})", best.ratio)),
        };
        let rival = row.best_rival.as_ref().map(|best| Bar {
            value: best.rival_bytes_per_second / factor,
            interval: None,
            note: best.rival_name.clone(),
        });
        Group { label: label(row, machines), bars: vec![Some(own), rival], published: Vec::new() }
    };
    // As the recommendation counts: a ratio above 1 may be chance.
    let against = Against::of(&all);
    let finding = if against.met > 0 {
        format!("Ours is {}.", against.text())
    } else {
        "No rival ran beside these rows.".to_owned()
    };
    let values = shown.iter().map(|row| row.bytes_per_second / factor);
    (!all.is_empty()).then(|| Chart {
        title: "Beside the best rival".to_owned(),
        finding: format!("{finding}{}", more(all.len(), shown.len())),
        plot: Plot::Bars(Bars {
            value: Axis::lengths(&format!("Throughput ({unit})"), values),
            series: ["cipherlane", "best rival"].map(str::to_owned).to_vec(),
            groups: shown.iter().map(group).collect(),
            stacked: false,
            whole: false,
        }),
    })
}

/// What part of the machine's ceiling the fastest row of each job and size reaches, of those under no load where there
/// are some.
pub(super) fn ceilings<'a>(rows: &[Row<'a>], machines: &Machines<'_>) -> Option<Chart> {
    let bound = ours(rows).filter(|row| row.ceiling.is_some());
    let jobs = grouped(bound, |row| (row.machine, row.job(), row.message_bytes, row.is_flushed()));
    let of_job = |(_, rows): (_, Vec<Row<'a>>)| beside::preferred(rows, Row::is_undisturbed);
    let jobs: Vec<Vec<Row<'_>>> = jobs.into_iter().map(of_job).collect();
    let best = |rows: &[Row<'_>]| {
        let row = *rows.iter().max_by(|one, other| share(one).total_cmp(&share(other)))?;
        let note = if ceiling::is_passed(share(&row)) {
            format!("% ({})", ceiling::TOO_LOW)
        } else {
            "%".to_owned()
        };
        let group = Group {
            label: format!("{} · {}", label(&row, machines), row.ceiling.as_ref()?.bound),
            bars: vec![Some(Bar { value: 100.0 * share(&row), interval: None, note })],
            published: Vec::new(),
        };
        Some(group)
    };
    let all: Vec<Group> = jobs.iter().filter_map(|rows| best(rows)).collect();
    let shown = all.len().min(MOST_BARS);
    (!all.is_empty()).then(|| Chart {
        title: "Beside the ceiling".to_owned(),
        finding: format!("{}{}", closest(&jobs.concat(), machines), more(all.len(), shown)),
        plot: Plot::Bars(Bars {
            value: Axis::linear("Part of the ceiling (%)"),
            series: vec!["reached".to_owned()],
            groups: all[..shown].to_vec(),
            stacked: false,
            whole: true,
        }),
    })
}

fn share(row: &Row<'_>) -> f64 {
    row.ceiling.as_ref().map_or(0.0, |ceiling| ceiling.share)
}

/// The row that comes closest to its bound, of those that their bounds allow, and how many theirs do not.
fn closest(bound: &[Row<'_>], machines: &Machines<'_>) -> String {
    let (passed, within): (Vec<Row<'_>>, Vec<Row<'_>>) =
        bound.iter().partition(|row| ceiling::is_passed(share(row)));
    let best = within.iter().max_by(|one, other| share(one).total_cmp(&share(other)));
    let best = best.and_then(|row| {
        let (label, bound) = (label(row, machines), &row.ceiling.as_ref()?.bound);
        Some(format!(
            "Closest to what the machine allows: {label} · {bound} with {}.",
            units::percent(share(row))
        ))
    });
    let passed = match passed.len() {
        0 => None,
        1 => Some("1 row exceeds its bound, which is too low.".to_owned()),
        several => Some(format!("{several} rows exceed their bounds, which are too low.")),
    };
    best.into_iter().chain(passed).collect::<Vec<_>>().join(" ")
}

/// The fastest row of each job and size on each machine that has it under the same load. Kernels alone, of data in a
/// device's memory, are set beside nothing else.
pub(super) fn machines(rows: &[Row<'_>]) -> Option<Chart> {
    let is_alone = |row: &Row<'_>| row.scope.transfer == Transfer::Excluded;
    let jobs = grouped(ours(rows), |row| {
        (row.job(), row.message_bytes, row.is_flushed(), row.load_text(), is_alone(row))
    });
    let there = |rows: &[Row<'_>]| rows.iter().map(|row| row.machine).collect::<BTreeSet<usize>>();
    let jobs: Vec<_> = jobs.into_iter().filter(|(_, rows)| there(rows).len() > 1).collect();
    let all: Vec<usize> =
        jobs.iter().flat_map(|(_, rows)| there(rows)).collect::<BTreeSet<_>>().into_iter().collect();
    let places = &all[..all.len().min(MOST_SERIES)];
    let left_out = match all.len() - places.len() {
        0 => String::new(),
        more => format!(" In the table only: {}.", units::count(more, "machine")),
    };
    let most = jobs.iter().flat_map(|(_, rows)| rows).map(|row| row.bytes_per_second).fold(0.0, f64::max);
    let (factor, unit) = units::rate_unit(most);
    let bar = |rows: &[Row<'_>], machine: usize| {
        let there = rows.iter().filter(|row| row.machine == machine);
        let best = there.max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))?;
        let note = format!("{}, {}", best.contender(), units::count(best.threads, "thread"));
        Some(Bar { value: best.bytes_per_second / factor, interval: best.ends(factor), note })
    };
    let group = |(_, rows): &(_, Vec<Row<'_>>)| {
        let alone = if is_alone(&rows[0]) { ", data in the memory of the device" } else { "" };
        Group {
            label: format!("{}{}{alone}", rows[0].does(), rows[0].disturbed_text()),
            bars: places.iter().map(|&machine| bar(rows, machine)).collect(),
            published: Vec::new(),
        }
    };
    let values = jobs.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.bytes_per_second / factor));
    let value = Axis::lengths(&format!("Throughput of the fastest row ({unit})"), values);
    let shown = jobs.len().min(MOST_BARS);
    (!jobs.is_empty()).then(|| Chart {
        title: "Machines side by side".to_owned(),
        finding: format!(
            "Jobs that were measured on more than one machine: {}.{}{left_out}",
            jobs.len(),
            more(jobs.len(), shown)
        ),
        plot: Plot::Bars(Bars {
            value,
            series: places.iter().map(|&machine| Machines::letter(machine)).collect(),
            groups: jobs[..shown].iter().map(group).collect(),
            stacked: false,
            whole: false,
        }),
    })
}
