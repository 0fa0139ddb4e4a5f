//! Rows as a Markdown table for people: decimal GB/s (1e9 bytes per second).

use std::io::{self, Write};

use crate::measurement::Measurement;
use crate::summary::{Ceiling, Comparison};

const HEADERS: [&str; 11] = [
    "workload",
    "algorithm",
    "operation",
    "message B",
    "threads",
    "kernel",
    "GB/s (95 %)",
    "of ceiling",
    "best rival GB/s",
    "ratio (95 %)",
    "scope",
];

/// Writes the table. A row that is not verified says so in place of its number.
///
/// # Errors
/// If the sink fails.
pub fn write(sink: impl Write, rows: &[Measurement]) -> io::Result<()> {
    write_table(sink, &HEADERS, rows.iter().map(cells))
}

/// Writes `headers` and `lines`, each a cell for every header.
///
/// # Errors
/// If the sink fails.
pub fn write_table(
    mut sink: impl Write,
    headers: &[&str],
    lines: impl IntoIterator<Item = impl IntoIterator<Item = String>>,
) -> io::Result<()> {
    write_line(&mut sink, headers.iter().map(|&header| header.to_owned()))?;
    write_line(&mut sink, headers.iter().map(|_| "---".to_owned()))?;
    for line in lines {
        write_line(&mut sink, line)?;
    }
    sink.flush()
}

fn cells(row: &Measurement) -> [String; 11] {
    [
        row.workload.clone(),
        row.algorithm.clone(),
        row.operation.clone(),
        row.message_bytes.to_string(),
        row.threads.to_string(),
        if row.device == "cpu" { row.kernel.clone() } else { row.device_name.clone() },
        rate(row),
        row.ceiling.as_ref().map_or_else(String::new, ceiling),
        row.best_rival.as_ref().map_or_else(String::new, rival),
        row.best_rival.as_ref().map_or_else(String::new, ratio),
        row.scope.to_string(),
    ]
}

fn rate(row: &Measurement) -> String {
    if !row.verified {
        return format!("WRONG: {} of {} outputs", row.checks.unexpected, row.checks.messages);
    }
    let interval = row.bytes_per_second_ci95;
    format!("{:.3} ({:.3} to {:.3})", row.bytes_per_second / 1e9, interval.low / 1e9, interval.high / 1e9)
}

fn ceiling(ceiling: &Ceiling) -> String {
    format!("{:.0} % of {:.1} ({})", 100.0 * ceiling.share, ceiling.bytes_per_second / 1e9, ceiling.bound)
}

fn rival(best: &Comparison) -> String {
    format!("{:.3} {}", best.rival_bytes_per_second / 1e9, best.rival_name)
}

fn ratio(best: &Comparison) -> String {
    let interval = best.ratio_ci95;
    format!("{:.2} ({:.2} to {:.2}) {}", best.ratio, interval.low, interval.high, best.verdict.name())
}

fn write_line(mut sink: impl Write, cells: impl IntoIterator<Item = String>) -> io::Result<()> {
    let escaped: Vec<String> = cells.into_iter().map(|cell| cell.replace('|', "\\|")).collect();
    writeln!(sink, "| {} |", escaped.join(" | "))
}
