//! The table of a run, and under it what each number covers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cipherlane_lab::{Outcome, Skipped};
use cipherlane_record::text::on_one_line;
use cipherlane_record::{Comparison, Geometry, Interval, Keys, Measurement, Transfer, Verdict};
use comfy_table::{Cell, Table};

use super::store::Store;
use super::{describe, is_lacking};
use crate::exit::Exit;
use crate::render::table::{self, Column};
use crate::render::units;

/// The table of the rows whose device is `shown`, with scope lines, warnings, and where the records are.
pub(super) fn of(outcome: &Outcome, shown: impl Fn(&str) -> bool, store: &Store) -> String {
    let rows: Vec<&Measurement> = outcome.rows.iter().filter(|row| shown(&row.device)).collect();
    let mut text = String::new();
    if !rows.is_empty() {
        let _ = writeln!(text, "{}", table::text(&to_table(&rows)));
        let _ =
            writeln!(text, "GB/s = 1e9 bytes of message text per second; B/clk per core clock and thread.");
        write_scopes(&mut text, &rows);
    }
    for line in left_out(&outcome.skipped) {
        let _ = writeln!(text, "not measured: {line}");
    }
    if outcome.stopped {
        let rows = outcome.rows.len();
        let _ = match super::stopped() {
            Exit::Interrupted => writeln!(text, "stopped: the {rows} rows that were finished are kept"),
            _ => writeln!(text, "stopped: nobody reads stdout any more, where {rows} rows were to go"),
        };
    }
    let has_rivals = outcome.rows.iter().any(Measurement::is_of_a_rival);
    let of = if has_rivals { ", rivals' included" } else { "" };
    if let Some(told) = store.told(outcome.rows.len(), of) {
        let _ = writeln!(text, "{told}");
    }
    if let Some(path) = store.path().filter(|_| !outcome.rows.is_empty()) {
        let _ = writeln!(text, "see: cipherlane report {} --open", path.display());
    }
    text
}

/// What was not measured: a line each, but for what rivals do not have, which is a line for each rival.
fn left_out(skipped: &[Skipped]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut lacking: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for skipped in skipped {
        match (&skipped.device, skipped.algorithm, skipped.operation) {
            (Some(device), Some(algorithm), Some(operation)) if is_lacking(skipped) => {
                let jobs = lacking.entry(device).or_default();
                let job = format!("{algorithm} {operation}");
                if !jobs.contains(&job) {
                    jobs.push(job);
                }
            }
            _ => lines.push(describe(skipped)),
        }
    }
    lines.extend(lacking.iter().map(|(device, jobs)| format!("{device} does not offer {}", jobs.join(", "))));
    lines
}

fn to_table(rows: &[&Measurement]) -> Table {
    let mut table = table::new([
        Column::Number("#"),
        Column::Words("does"),
        Column::Number("message"),
        Column::Number("threads"),
        Column::Words("tier"),
        Column::Number("GB/s (95 %)"),
        Column::Number("B/clk"),
        Column::Number("of ceiling"),
        Column::Words("best rival GB/s"),
        Column::Number("ratio (95 %)"),
        Column::Words("verified"),
    ]);
    for (place, row) in rows.iter().enumerate() {
        table.add_row(cells(place + 1, row));
    }
    table
}

fn cells(number: usize, row: &Measurement) -> [Cell; 11] {
    let none = || table::faint("-");
    let right = Some(row).filter(|row| row.verified);
    let per_clock = right.and_then(|row| row.cycles_per_byte);
    let ceiling = right.and_then(|row| row.ceiling.as_ref());
    [
        table::plain(number.to_string()),
        table::plain(does(row)),
        table::plain(units::bytes(row.message_bytes)),
        table::plain(row.threads.to_string()),
        table::plain(tier(row)),
        rate(row),
        per_clock.map_or_else(none, |cycles| table::plain(units::significant(1.0 / cycles))),
        ceiling.map_or_else(none, |ceiling| table::plain(format!("{:.0} %", 100.0 * ceiling.share))),
        row.best_rival.as_ref().map_or_else(none, rival),
        row.best_rival.as_ref().map_or_else(none, |best| ratio(best, row.ratio_interval())),
        if row.verified { table::good("yes") } else { table::bad("NO") },
    ]
}

/// What is wrong is no rate.
fn rate(row: &Measurement) -> Cell {
    if let Some(fault) = row.fault() {
        return table::bad(fault);
    }
    let ends = |ends: Interval| format!(" ({}–{})", units::gigabytes(ends.low), units::gigabytes(ends.high));
    let ends = row.interval().map_or_else(String::new, ends);
    table::plain(format!("{}{ends}", units::gigabytes(row.bytes_per_second)))
}

/// Workload, algorithm and operation, and whether each message has a key of its own; one's own workload has no name.
fn does(row: &Measurement) -> String {
    let workload = if row.workload == "custom" { String::new() } else { format!("{} ", row.workload) };
    let keys = units::keys(row.keys == Keys::Distinct);
    format!("{workload}{} {}{keys}", row.algorithm, row.operation)
}

/// The tier on this CPU, or the device, and whether the data lies there before the clock starts; the kernel's full name
/// stands below, in the row's scope.
fn tier(row: &Measurement) -> String {
    match (row.scope.transfer, row.device.as_str()) {
        (_, "cpu") => row.tier.clone(),
        (Transfer::Excluded, device) => format!("{device}, data there"),
        (Transfer::Included | Transfer::None, device) => device.to_owned(),
    }
}

fn rival(best: &Comparison) -> Cell {
    table::plain(format!("{} {}", units::gigabytes(best.rival_bytes_per_second), best.rival_name))
}

fn ratio(best: &Comparison, interval: Option<Interval>) -> Cell {
    let ends = interval.map_or_else(String::new, |ends| format!(" ({:.2}–{:.2})", ends.low, ends.high));
    let text = format!("{:.2}{ends}", best.ratio);
    match best.verdict {
        Verdict::Faster => table::good(text),
        Verdict::Slower => table::bad(text),
        Verdict::Ambiguous => table::plain(text),
    }
}

/// How kernels were launched, and where the time of a pass went.
fn write_launch(text: &mut String, row: &Measurement) {
    if let Some(Geometry { blocks, threads_per_block, streams }) = &row.geometry {
        let _ = write!(text, "; {blocks} blocks of {threads_per_block} threads, streams {streams}");
    }
    if let Some(times) = &row.times {
        let [there, kernels, back] =
            [times.to_device_seconds, times.kernel_seconds, times.to_host_seconds].map(milliseconds);
        let _ = write!(text, "; {there} ms there, {kernels} ms kernels, {back} ms back");
    }
    let busy = || row.streams.iter().map(|stream| stream.times.total_seconds());
    if row.streams.len() > 1 {
        let (least, most) = (busy().fold(f64::INFINITY, f64::min), busy().fold(0.0, f64::max));
        let _ = write!(text, "; streams busy for {} to {} ms", milliseconds(least), milliseconds(most));
    }
}

fn milliseconds(seconds: f64) -> String {
    units::significant(1e3 * seconds)
}

/// What each number covers, checks that were made, and what its reader should know.
fn write_scopes(text: &mut String, rows: &[&Measurement]) {
    for (place, row) in rows.iter().enumerate() {
        let (scope, checks) = (on_one_line(&row.scope.to_string()), row.checks);
        let _ = write!(text, "[{}] {scope}; {} outputs checked", place + 1, checks.messages);
        if checks.planned_rejects > 0 {
            let _ = write!(text, ", {} planned rejects", checks.planned_rejects);
        }
        let _ = write!(
            text,
            ", {} unexpected; {} messages",
            checks.unexpected,
            units::message_rate(row.messages_per_second)
        );
        write_launch(text, row);
        if let Some(ceiling) = &row.ceiling {
            let _ = write!(
                text,
                "; ceiling {} GB/s: {}",
                units::gigabytes(ceiling.bytes_per_second),
                on_one_line(&ceiling.bound)
            );
        }
        text.push('\n');
    }
    let mut warnings: Vec<(&str, Vec<String>)> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        for warning in &row.warnings {
            let number = (place + 1).to_string();
            match warnings.iter_mut().find(|(text, _)| text == warning) {
                Some((_, numbers)) => numbers.push(number),
                None => warnings.push((warning, vec![number])),
            }
        }
    }
    for (warning, numbers) in warnings {
        let _ = writeln!(text, "[{}] warning: {}", numbers.join(", "), on_one_line(warning));
    }
}
