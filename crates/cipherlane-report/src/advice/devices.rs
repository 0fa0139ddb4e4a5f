//! Which device and tier.

use std::collections::BTreeSet;

use cipherlane_record::Transfer;

use super::{Rule, Tally};
use crate::crossover::{self, Lead};
use crate::level::{self, Fastest, TOO_FEW};
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
        .map(|(_, rows)| on_alike_threads(rows))
        .collect()
}

/// Without the tiers of a device that ran on other numbers of threads than its fastest one: what more threads gain is
/// no merit of a tier.
fn on_alike_threads<'a>(rows: Vec<Row<'a>>) -> Vec<Row<'a>> {
    let threads = |rows: &[Row<'_>]| rows.iter().map(|row| row.threads).collect::<BTreeSet<usize>>();
    let most = |rows: &[Row<'_>]| rows.iter().map(|row| row.bytes_per_second).fold(0.0, f64::max);
    let of_device = |(_, rows): (&str, Vec<Row<'a>>)| {
        let mut contenders = grouped(rows, Row::contender);
        let best = contenders.iter().max_by(|(_, one), (_, other)| most(one).total_cmp(&most(other)));
        let tried = best.map(|(_, rows)| threads(rows));
        contenders.retain(|(_, rows)| Some(threads(rows)) == tried);
        contenders.into_iter().flat_map(|(_, rows)| rows).collect::<Vec<_>>()
    };
    grouped(rows, |row| row.measured().device.as_str()).into_iter().flat_map(of_device).collect()
}

/// `, on 1 to 16 threads`: with how many a contender won. Those of the host say nothing of a device with memory of its
/// own.
fn on_threads(won: &[Fastest<Row<'_>>], contender: &str) -> String {
    let won = won.iter().filter_map(Fastest::clear).filter(|row| row.contender() == contender);
    let threads: BTreeSet<usize> = won.filter(|row| !row.is_offload()).map(|row| row.threads).collect();
    match (threads.first(), threads.last()) {
        (Some(least), Some(most)) if least < most => format!(", on {least} to {most} threads"),
        (Some(&threads), _) => format!(", on {}", units::count(threads, "thread")),
        _ => String::new(),
    }
}

/// The fastest row of each job, those of other names that are level with it, and those of which nobody can tell.
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
    let fastest = fastest(&jobs, Row::contender);
    let tally = Tally::of(&fastest, Row::contender);
    let all = units::count(jobs.len(), "job");
    let transfers = if own.iter().any(Row::is_offload) { ", transfers included" } else { "" };
    let tiers: BTreeSet<&str> =
        own.iter().filter(|row| !row.is_offload()).map(|row| row.tier.as_str()).collect();
    let threads = if tiers.len() > 1 { ", tiers on the same threads" } else { "" };
    let with = format!("{transfers}{threads}");
    let text = match &tally.most {
        None if tally.is_empty() => return None,
        None => format!(
            "None of ours is clearly the fastest for any of {all} that several did, by job and size{with}: {}.",
            tally.why_nobody()
        ),
        Some((contender, won)) if several => format!(
            "{contender}{}: the fastest of ours for {won} of {all} that several did, by job and size{with}.{}",
            on_threads(&fastest, contender),
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
    let (mut found, mut unclear) = (Vec::new(), Unclear::default());
    for swept in [Swept::Size, Swept::Messages] {
        for ((job, _), rows) in sweep::groups(own, swept) {
            match crossover::of(&sweep::series(&rows, swept), swept) {
                Some((_, Lead::From(from))) => {
                    found.push(format!("{} from {}", job.label(), swept.text(from)));
                }
                Some((_, Lead::Unsettled)) => unclear.unsettled.push(job.label()),
                Some((_, Lead::Level)) => unclear.level.push(job.label()),
                Some((_, Lead::Untold)) => unclear.untold.push(job.label()),
                Some((_, Lead::Everywhere | Lead::Never)) | None => {}
            }
        }
    }
    let text = if found.is_empty() {
        without_crossover(own, &unclear)
    } else {
        format!("The GPU is faster than the CPU, transfers included: {}.", listed(&found))
    };
    Some(Rule { title: "CPU or GPU", text })
}

/// Jobs without a size from which on the GPU leads, where the CPU does not lead at all sizes.
#[derive(Default)]
struct Unclear {
    /// The GPU leads at smaller sizes.
    unsettled: Vec<String>,
    /// The GPU is level at some sizes.
    level: Vec<String>,
    /// Nobody can tell at some sizes.
    untold: Vec<String>,
}

/// Who leads where there is no size from which on the GPU does.
fn without_crossover(own: &[Row<'_>], unclear: &Unclear) -> String {
    let mut jobs = jobs(own);
    let on = |rows: &[Row<'_>], offload: bool| rows.iter().any(|row| row.is_offload() == offload);
    jobs.retain(|rows| on(rows, true) && on(rows, false));
    let fastest = fastest(&jobs, Row::is_offload);
    let gpu = fastest.iter().filter_map(Fastest::clear).filter(|row| row.is_offload()).count();
    let undecided = format!("Whether the GPU is faster is undecided for {TOO_FEW}");
    let told = [
        ("The GPU is faster at some sizes, but not at the largest", &unclear.unsettled),
        ("The GPU is level with the CPU at some sizes, and faster at none", &unclear.level),
        (undecided.as_str(), &unclear.untold),
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
    let untold = match fastest.iter().filter(|one| one.is_untold()).count() {
        0 => String::new(),
        untold => format!(", and {untold} undecided for {TOO_FEW}"),
    };
    format!(
        "{} With the way there and back, the GPU is the fastest for {gpu} of {} that both did{even}{untold}.",
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
        Column::words("undecided for few rounds"),
        Column::number("threads"),
        Column::number("GB/s"),
        Column::words("kernel"),
    ];
    let names = |rows: &[Row<'_>]| {
        let names: BTreeSet<String> = rows.iter().map(Row::contender).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    let row = |Fastest { best: row, level, untold }: &Fastest<Row<'_>>| {
        vec![
            format!("{}{}", row.job().label(), row.flushed_text()),
            units::bytes(row.message_bytes),
            row.contender(),
            names(level),
            names(untold),
            row.threads.to_string(),
            units::significant(row.bytes_per_second / 1e9),
            row.kernel.clone(),
        ]
    };
    let rows = fastest(&jobs(own), Row::contender).iter().map(row).collect();
    Table { columns, rows }.without_empty_columns()
}
