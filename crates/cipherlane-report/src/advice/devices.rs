//! Which device and tier.

use std::collections::BTreeSet;

use cipherlane_record::Transfer;

use super::{Rule, Tally};
use crate::crossover::{self, Lead};
use crate::level::{self, Fastest};
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
    grouped(whole, |row| (row.job(), row.message_bytes, row.is_flushed()))
        .into_iter()
        .map(|(_, rows)| rows)
        .collect()
}

/// The fastest row of each job, and those of other names that are level with it.
fn fastest<'a, N: PartialEq>(jobs: &[Vec<Row<'a>>], name: impl Fn(&Row<'a>) -> N) -> Vec<Fastest<Row<'a>>> {
    jobs.iter().filter_map(|rows| level::fastest(rows, Row::rate, &name)).collect()
}

/// What wins most often.
pub(super) fn best(own: &[Row<'_>]) -> Option<Rule> {
    let mut jobs = jobs(own);
    let several = own.iter().any(|row| row.contender() != own[0].contender());
    if several {
        // Where nobody else ran, nobody was slower.
        jobs.retain(|rows| rows.iter().any(|row| row.contender() != rows[0].contender()));
    }
    let tally = Tally::of(&fastest(&jobs, Row::contender), Row::contender);
    let all = units::count(jobs.len(), "job");
    let with = if own.iter().any(Row::is_offload) { ", transfers included" } else { "" };
    let text = match &tally.most {
        None if tally.level == 0 => return None,
        None => format!(
            "None of ours is clearly the fastest for any of {all} that several did, by job and size{with}: the \
             fastest are level."
        ),
        Some((contender, won)) if several => format!(
            "{contender}: the fastest of ours for {won} of {all} that several did, by job and size{with}.{}",
            tally.level_text("ones")
        ),
        // What it is worth beside the CPU, other rules tell.
        Some(_) if own[0].is_offload() => return None,
        Some((contender, _)) => {
            format!("{contender}, for all of {all}; no other tier or device of ours was measured.")
        }
    };
    Some(Rule { title: "Device", text })
}

/// From where on a GPU pays.
pub(super) fn crossover(own: &[Row<'_>]) -> Option<Rule> {
    let has = |offload: bool| own.iter().any(|row| row.is_offload() == offload);
    if !(has(true) && has(false)) {
        return None;
    }
    let (mut found, mut unsettled, mut level) = (Vec::new(), Vec::new(), Vec::new());
    for swept in [Swept::Size, Swept::Messages] {
        for ((job, _), rows) in sweep::groups(own, swept) {
            match crossover::of(&sweep::series(&rows, swept), swept) {
                Some((_, Lead::From(from))) => {
                    found.push(format!("{} from {}", job.label(), swept.text(from)));
                }
                Some((_, Lead::Unsettled)) => unsettled.push(job.label()),
                Some((_, Lead::Level)) => level.push(job.label()),
                _ => {}
            }
        }
    }
    let text = if found.is_empty() {
        without_crossover(own, &unsettled, &level)
    } else {
        format!("The GPU is faster than the CPU, transfers included: {}.", listed(&found))
    };
    Some(Rule { title: "CPU or GPU", text })
}

/// Who leads where there is no size from which on the GPU does; of `unsettled` jobs it does at smaller ones, of `level`
/// ones it is level at some.
fn without_crossover(own: &[Row<'_>], unsettled: &[String], level: &[String]) -> String {
    let mut jobs = jobs(own);
    let on = |rows: &[Row<'_>], offload: bool| rows.iter().any(|row| row.is_offload() == offload);
    jobs.retain(|rows| on(rows, true) && on(rows, false));
    let fastest = fastest(&jobs, Row::is_offload);
    let gpu = fastest.iter().filter_map(Fastest::clear).filter(|row| row.is_offload()).count();
    let told = [
        ("The GPU is faster at some sizes, but not at the largest", unsettled),
        ("The GPU is level with the CPU at some sizes, and faster at none", level),
    ];
    let told = told.into_iter().filter(|(_, jobs)| !jobs.is_empty());
    let mut lead: Vec<String> = told.map(|(what, jobs)| format!("{what}: {}.", listed(jobs))).collect();
    if lead.is_empty() {
        lead.push("No size was measured at which the lead changes.".to_owned());
    }
    let even = match fastest.iter().filter(|one| !one.level.is_empty()).count() {
        0 => String::new(),
        even => format!(", and level with the CPU for {even}"),
    };
    format!(
        "{} With the way there and back, the GPU is the fastest for {gpu} of {} that both did{even}.",
        lead.join(" "),
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
    let points = grouped(on_cpu, |row| (row.job(), row.message_bytes, row.threads, row.is_flushed()));
    let several: Vec<Vec<Row<'_>>> = points
        .into_iter()
        .map(|(_, rows)| rows)
        .filter(|rows| rows.iter().any(|row| row.tier != rows[0].tier))
        .collect();
    let tier = |row: &Row<'_>| row.tier.clone();
    let all = format!("{} where tiers were compared", units::count(several.len(), "point"));
    super::tier(&Tally::of(&fastest(&several, tier), tier), "at", &all)
}

/// The fastest for each job and size.
pub(super) fn table(own: &[Row<'_>]) -> Table {
    let columns = vec![
        Column::words("job"),
        Column::number("message"),
        Column::words("use"),
        Column::words("level with"),
        Column::number("threads"),
        Column::number("GB/s"),
        Column::words("kernel"),
    ];
    let row = |Fastest { best: row, level }: &Fastest<Row<'_>>| {
        let level: BTreeSet<String> = level.iter().map(Row::contender).collect();
        vec![
            format!("{}{}", row.job().label(), row.flushed_text()),
            units::bytes(row.message_bytes),
            row.contender(),
            level.into_iter().collect::<Vec<_>>().join(", "),
            row.threads.to_string(),
            units::significant(row.bytes_per_second / 1e9),
            row.kernel.clone(),
        ]
    };
    let rows = fastest(&jobs(own), Row::contender).iter().map(row).collect();
    Table { columns, rows }.without_empty_columns()
}
