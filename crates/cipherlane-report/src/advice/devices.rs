//! Which device and tier.

use cipherlane_record::Transfer;

use super::Rule;
use crate::crossover::{self, Lead};
use crate::row::Row;
use crate::section::grouped;
use crate::section::sweep::{self, Swept};
use crate::table::{Column, Table};
use crate::units;

/// Jobs that a rule names; it counts the others.
const NAMED: usize = 3;

/// The rows of each job and size, whose transfers are part of the time.
fn jobs<'a>(own: &[Row<'a>]) -> Vec<Vec<Row<'a>>> {
    let whole = own.iter().filter(|row| row.scope.transfer != Transfer::Excluded).copied();
    grouped(whole, |row| (row.job(), row.message_bytes)).into_iter().map(|(_, rows)| rows).collect()
}

/// The fastest row of each job.
fn fastest<'a>(jobs: &[Vec<Row<'a>>]) -> Vec<Row<'a>> {
    let best = |rows: &Vec<Row<'a>>| {
        rows.iter().max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second)).copied()
    };
    jobs.iter().filter_map(best).collect()
}

/// What wins most often.
pub(super) fn best(own: &[Row<'_>]) -> Option<Rule> {
    let mut jobs = jobs(own);
    let several = own.iter().any(|row| row.contender() != own[0].contender());
    if several {
        // Where nobody else ran, nobody was slower.
        jobs.retain(|rows| rows.iter().any(|row| row.contender() != rows[0].contender()));
    }
    let fastest = fastest(&jobs);
    let mut winners = grouped(fastest.iter().copied(), Row::contender);
    winners.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    let (contender, rows) = winners.first()?;
    let all = units::count(fastest.len(), "job");
    let text = if several {
        let with = if own.iter().any(Row::is_offload) { ", transfers included" } else { "" };
        let count = rows.len();
        format!(
            "{contender}: the fastest of ours for {count} of {all} that several did, by job and size{with}."
        )
    } else if rows[0].is_offload() {
        // What it is worth beside the CPU, other rules tell.
        return None;
    } else {
        format!("{contender}, for all of {all}; no other tier or device of ours was measured.")
    };
    Some(Rule { title: "Device", text })
}

/// From where on a GPU pays.
pub(super) fn crossover(own: &[Row<'_>]) -> Option<Rule> {
    let has = |offload: bool| own.iter().any(|row| row.is_offload() == offload);
    if !(has(true) && has(false)) {
        return None;
    }
    let (mut found, mut unsettled) = (Vec::new(), Vec::new());
    for swept in [Swept::Size, Swept::Messages] {
        for ((job, _), rows) in sweep::groups(own, swept) {
            match crossover::of(&sweep::series(&rows, swept), swept) {
                Some((_, Lead::From(from))) => {
                    found.push(format!("{} from {}", job.label(), swept.text(from)));
                }
                Some((_, Lead::Unsettled)) => unsettled.push(job.label()),
                _ => {}
            }
        }
    }
    let text = if found.is_empty() {
        without_crossover(own, &unsettled)
    } else {
        format!("The GPU is faster than the CPU, transfers included: {}.", listed(&found))
    };
    Some(Rule { title: "CPU or GPU", text })
}

/// Who leads where there is no size from which on the GPU does; of `unsettled` jobs it does at smaller ones.
fn without_crossover(own: &[Row<'_>], unsettled: &[String]) -> String {
    let mut jobs = jobs(own);
    let on = |rows: &[Row<'_>], offload: bool| rows.iter().any(|row| row.is_offload() == offload);
    jobs.retain(|rows| on(rows, true) && on(rows, false));
    let gpu = fastest(&jobs).iter().filter(|row| row.is_offload()).count();
    let lead = if unsettled.is_empty() {
        "No size was measured at which the lead changes.".to_owned()
    } else {
        format!("The GPU is faster at some sizes, but not at the largest: {}.", listed(unsettled))
    };
    format!(
        "{lead} With the way there and back, the GPU is the fastest for {gpu} of {} that both did.",
        units::count(jobs.len(), "job")
    )
}

fn listed(all: &[String]) -> String {
    let named = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    let more = all.len().saturating_sub(NAMED);
    if more > 0 { format!("{named}; and {more} more") } else { named }
}

/// What the best tier gains, where several were measured.
pub(super) fn tiers(own: &[Row<'_>]) -> Option<Rule> {
    let on_cpu = own.iter().filter(|row| row.device == "cpu").copied();
    let points = grouped(on_cpu, |row| (row.job(), row.message_bytes, row.threads));
    let several: Vec<Vec<Row<'_>>> = points
        .into_iter()
        .map(|(_, rows)| rows)
        .filter(|rows| rows.iter().any(|row| row.tier != rows[0].tier))
        .collect();
    let best = |rows: &Vec<Row<'_>>| {
        let best = rows.iter().max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second));
        best.map_or_else(String::new, |row| row.tier.clone())
    };
    let mut winners = grouped(several.iter(), |rows| best(rows));
    winners.sort_by_key(|(_, points)| std::cmp::Reverse(points.len()));
    let (tier, points) = winners.first()?;
    let text = format!(
        "{tier} is the fastest tier at {} of {} where tiers were compared.",
        points.len(),
        units::count(several.len(), "point")
    );
    Some(Rule { title: "Tier", text })
}

/// The fastest for each job and size.
pub(super) fn table(own: &[Row<'_>]) -> Table {
    let columns = vec![
        Column::words("job"),
        Column::number("message"),
        Column::words("use"),
        Column::number("threads"),
        Column::number("GB/s"),
        Column::words("kernel"),
    ];
    let row = |row: &Row<'_>| {
        vec![
            row.job().label(),
            units::bytes(row.message_bytes),
            row.contender(),
            row.threads.to_string(),
            units::significant(row.bytes_per_second / 1e9),
            row.kernel.clone(),
        ]
    };
    Table { columns, rows: fastest(&jobs(own)).iter().map(row).collect() }
}
