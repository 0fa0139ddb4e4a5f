//! Rows as a Markdown table for people: decimal GB/s (1e9 bytes per second).

use std::io::{self, Write};

use crate::measurement::Measurement;
use crate::summary::{Ceiling, Comparison, Interval};
use crate::text::on_one_line;
use crate::units::significant;

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
        row.best_rival.as_ref().map_or_else(String::new, |best| ratio(best, row.ratio_interval())),
        row.scope.to_string(),
    ]
}

fn rate(row: &Measurement) -> String {
    if let Some(fault) = row.fault() {
        return fault;
    }
    let ends = |ends: Interval| format!(" ({} to {})", gigabytes(ends.low), gigabytes(ends.high));
    format!("{}{}", gigabytes(row.bytes_per_second), row.interval().map_or_else(String::new, ends))
}

/// GB/s, to three decimals; with three digits where these would be fewer.
fn gigabytes(bytes_per_second: f64) -> String {
    match bytes_per_second / 1e9 {
        rate if rate < 1.0 => significant(rate),
        rate => format!("{rate:.3}"),
    }
}

fn ceiling(ceiling: &Ceiling) -> String {
    format!("{:.0} % of {:.1} ({})", 100.0 * ceiling.share, ceiling.bytes_per_second / 1e9, ceiling.bound)
}

fn rival(best: &Comparison) -> String {
    format!("{} {}", gigabytes(best.rival_bytes_per_second), best.rival_name)
}

fn ratio(best: &Comparison, interval: Option<Interval>) -> String {
    let ends = |ends: Interval| format!(" ({:.2} to {:.2})", ends.low, ends.high);
    format!("{:.2}{} {}", best.ratio, interval.map_or_else(String::new, ends), best.verdict.name())
}

fn write_line(mut sink: impl Write, cells: impl IntoIterator<Item = String>) -> io::Result<()> {
    let escaped: Vec<String> = cells.into_iter().map(|cell| plain(&cell)).collect();
    writeln!(sink, "| {} |", escaped.join(" | "))
}

/// A record's text in Markdown: nothing in it is markup, and nothing ends the line or is obeyed by a terminal.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in on_one_line(text).chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '!' => {
                safe.push('\\');
                safe.push(letter);
            }
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_records_are_no_markup() {
        assert_eq!(plain("a|b\n<i>*x*"), "a\\|b &lt;i&gt;\\*x\\*");
        assert_eq!(plain("[x](y)"), "\\[x\\](y)");
        assert_eq!(plain("\u{1b}[2J"), " \\[2J");
    }

    #[test]
    fn cells_are_no_markup() {
        let mut table = Vec::new();
        let cells = ["`a`\\|b\r\n| <img src=x>", "![c](d)"].map(str::to_owned);
        write_table(&mut table, &["one_of", "two"], [cells]).unwrap();
        let expected = "| one\\_of | two |\n| --- | --- |\n\
            | \\`a\\`\\\\\\|b  \\| &lt;img src=x&gt; | \\!\\[c\\](d) |\n";
        assert_eq!(String::from_utf8(table).unwrap(), expected);
    }
}
