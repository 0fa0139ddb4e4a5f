//! Rows side by side: beside the best rival, beside the ceiling, on one machine and another.

use std::collections::BTreeSet;

use cipherlane_record::Verdict;

use super::conditions::{MOST_BARS, more};
use super::grouped;
use crate::chart::{Axis, Bar, Bars, Chart, Group, MOST_SERIES, Plot};
use crate::machine::Machines;
use crate::row::Row;
use crate::units;

/// Ours, verified: the only rows that are shown beside something.
fn ours<'a>(rows: &[Row<'a>]) -> impl Iterator<Item = Row<'a>> + Clone {
    rows.iter().filter(|row| row.verified && !row.is_rival()).copied()
}

/// A row in words: what it does and where.
fn label(row: &Row<'_>, machines: &Machines<'_>) -> String {
    let machine =
        if machines.several() { format!("{}: ", Machines::letter(row.machine)) } else { String::new() };
    let threads =
        if row.is_offload() { String::new() } else { format!(", {}", units::count(row.threads, "thread")) };
    format!("{machine}{}, {}{threads}", row.does(), row.contender())
}

/// Throughput beside the best rival's.
pub(super) fn rivals(rows: &[Row<'_>], machines: &Machines<'_>) -> Option<Chart> {
    let all: Vec<Row<'_>> = ours(rows).collect();
    let shown = &all[..all.len().min(MOST_BARS)];
    let most = shown.iter().map(|row| row.bytes_per_second).fold(0.0, f64::max);
    let (factor, unit) = units::rate_unit(most);
    let group = |row: &Row<'_>| {
        let interval = row.bytes_per_second_ci95;
        let own = Bar {
            value: row.bytes_per_second / factor,
            interval: Some((interval.low / factor, interval.high / factor)),
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
    let verdicts = || all.iter().filter_map(|row| Some(row.best_rival.as_ref()?.verdict));
    let (faster, met) =
        (verdicts().filter(|verdict| *verdict == Verdict::Faster).count(), verdicts().count());
    let finding = if met > 0 {
        format!("Faster than the best rival in {faster} of {}.", units::count(met, "row"))
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

/// What part of the machine's ceiling the fastest row of each job and size reaches.
pub(super) fn ceilings(rows: &[Row<'_>], machines: &Machines<'_>) -> Option<Chart> {
    let bound = ours(rows).filter(|row| row.ceiling.is_some());
    let jobs = grouped(bound, |row| (row.machine, row.job(), row.message_bytes));
    let best = |rows: &[Row<'_>]| {
        let share = |row: &Row<'_>| row.ceiling.as_ref().map_or(0.0, |ceiling| ceiling.share);
        let row = rows.iter().max_by(|one, other| share(one).total_cmp(&share(other)))?;
        let group = Group {
            label: format!("{} · {}", label(row, machines), row.ceiling.as_ref()?.bound),
            bars: vec![Some(Bar { value: 100.0 * share(row), interval: None, note: "%".to_owned() })],
            published: Vec::new(),
        };
        Some((share(row), group))
    };
    let all: Vec<(f64, Group)> = jobs.iter().filter_map(|(_, rows)| best(rows)).collect();
    let shown = all.len().min(MOST_BARS);
    let (share, group) = all.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Chart {
        title: "Beside the ceiling".to_owned(),
        finding: format!(
            "Closest to what the machine allows: {} with {}.{}",
            group.label,
            units::percent(*share),
            more(all.len(), shown)
        ),
        plot: Plot::Bars(Bars {
            value: Axis::linear("Part of the ceiling (%)"),
            series: vec!["reached".to_owned()],
            groups: all[..shown].iter().map(|(_, group)| group.clone()).collect(),
            stacked: false,
            whole: true,
        }),
    })
}

/// The fastest row of each job and size on each machine that has it.
pub(super) fn machines(rows: &[Row<'_>], machines: &Machines<'_>) -> Option<Chart> {
    let jobs = grouped(ours(rows), |row| (row.job(), row.message_bytes));
    let met = |rows: &[Row<'_>]| rows.iter().map(|row| row.machine).collect::<BTreeSet<_>>().len() > 1;
    let jobs: Vec<_> = jobs.into_iter().filter(|(_, rows)| met(rows)).collect();
    let most = jobs.iter().flat_map(|(_, rows)| rows).map(|row| row.bytes_per_second).fold(0.0, f64::max);
    let (factor, unit) = units::rate_unit(most);
    let places = machines.all().len().min(MOST_SERIES);
    let bar = |rows: &[Row<'_>], machine: usize| {
        let there = rows.iter().filter(|row| row.machine == machine);
        let best = there.max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))?;
        let note = format!("{}, {}", best.contender(), units::count(best.threads, "thread"));
        Some(Bar { value: best.bytes_per_second / factor, interval: None, note })
    };
    let group = |(_, rows): &(_, Vec<Row<'_>>)| Group {
        label: rows[0].does(),
        bars: (0..places).map(|machine| bar(rows, machine)).collect(),
        published: Vec::new(),
    };
    let values = jobs.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.bytes_per_second / factor));
    let value = Axis::lengths(&format!("Throughput of the fastest row ({unit})"), values);
    let shown = jobs.len().min(MOST_BARS);
    (!jobs.is_empty()).then(|| Chart {
        title: "Machines side by side".to_owned(),
        finding: format!(
            "Jobs that were measured on more than one machine: {}.{}",
            jobs.len(),
            more(jobs.len(), shown)
        ),
        plot: Plot::Bars(Bars {
            value,
            series: (0..places).map(Machines::letter).collect(),
            groups: jobs[..shown].iter().map(group).collect(),
            stacked: false,
            whole: false,
        }),
    })
}
