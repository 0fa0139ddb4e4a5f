//! A comparison as a table, for people, as CSV and as Markdown.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use cipherlane_lab::compare::{Compared, Comparison, Row};
use cipherlane_record::text::on_one_line;
use cipherlane_record::{Verdict, csv, markdown};
use comfy_table::Table;

use crate::render::table::{self, Column};
use crate::render::units;

/// The table, the sum, and what was not compared.
pub(super) fn text(comparison: &Comparison, base: &Path, new: &Path) -> String {
    let (base, new) = (base.display(), new.display());
    let mut text = String::new();
    if !comparison.compared.is_empty() {
        let _ = writeln!(text, "{}", table::text(&to_table(&comparison.compared)));
        let _ = writeln!(text, "A: {base}, B: {new}; GB/s = 1e9 bytes of message text per second.");
    }
    let of = |verdict| comparison.count(verdict);
    let _ = writeln!(
        text,
        "{} rows compared: {} faster, {} slower, {} ambiguous",
        comparison.compared.len(),
        of(Verdict::Faster),
        of(Verdict::Slower),
        of(Verdict::Ambiguous)
    );
    let too_few = comparison.too_few();
    if too_few > 0 {
        let _ = writeln!(
            text,
            "{too_few} of them have too few rounds or samples to tell: more --time makes more"
        );
    }
    if let Some(mean) = comparison.geometric_mean {
        let _ = writeln!(text, "geometric mean: B is {mean:.3} times as fast as A");
    }
    for refused in &comparison.refused {
        let _ =
            writeln!(text, "not compared: {}", on_one_line(&format!("{}: {}", refused.row, refused.reason)));
    }
    if comparison.refused.iter().any(|refused| refused.reason.contains("scopes differ")) {
        let _ = writeln!(text, "--across-scopes compares them all the same");
    }
    for (path, rows) in [(base, &comparison.only_base), (new, &comparison.only_new)] {
        for row in rows {
            let _ = writeln!(text, "only in {path}: {}", on_one_line(&row.to_string()));
        }
    }
    text
}

fn to_table(rows: &[Compared]) -> Table {
    let mut table = table::new([
        Column::Words("row"),
        Column::Number("A GB/s"),
        Column::Number("B GB/s"),
        Column::Number("ratio (95 %)"),
        Column::Words("verdict"),
        Column::Words("compared by"),
        Column::Words("differs"),
    ]);
    for row in rows {
        let verdict = row.verdict.name();
        table.add_row([
            table::plain(row.row.to_string()),
            table::plain(units::gigabytes(row.base_bytes_per_second)),
            table::plain(units::gigabytes(row.new_bytes_per_second)),
            table::plain(ratio(row)),
            match row.verdict {
                Verdict::Faster => table::good(verdict),
                Verdict::Slower => table::bad(verdict),
                Verdict::Ambiguous => {
                    let why = row.too_few().map_or_else(String::new, |reason| format!(": {reason}"));
                    table::plain(format!("{verdict}{why}"))
                }
            },
            table::plain(by(row)),
            table::plain(row.differs.join("; ")),
        ]);
    }
    table
}

fn ratio(row: &Compared) -> String {
    format!("{:.3} ({:.3}–{:.3})", row.ratio, row.ratio_ci95.low, row.ratio_ci95.high)
}

const fn by(row: &Compared) -> &'static str {
    if row.paired { "rounds" } else { "samples" }
}

/// The columns of CSV and Markdown.
const HEADERS: [&str; 19] = [
    "experiment",
    "workload",
    "algorithm",
    "operation",
    "device",
    "threads",
    "message_bytes",
    "keys",
    "cpu_load",
    "gpu_load",
    "kernel",
    "scope",
    "a_bytes_per_second",
    "b_bytes_per_second",
    "ratio",
    "ratio_low",
    "ratio_high",
    "verdict",
    "differs",
];

/// The values of a row; without numbers and with a reason as verdict where there is no partner.
fn cells(row: &Row, numbers: [String; 5], verdict: &str, differs: String) -> Vec<String> {
    let of_row = [
        row.experiment.clone(),
        row.workload.clone(),
        row.algorithm.clone(),
        row.operation.clone(),
        row.device.clone(),
        row.threads.to_string(),
        row.message_bytes.to_string(),
        row.keys.name().to_owned(),
        row.cpu_load.to_string(),
        row.gpu_load.to_string(),
        row.kernel.clone().unwrap_or_default(),
        row.scope.clone().unwrap_or_default(),
    ];
    of_row.into_iter().chain(numbers).chain([verdict.to_owned(), differs]).collect()
}

/// All rows: those that were compared, then those that were not, whose verdict says so. Reasons stand before what differs.
fn lines(comparison: &Comparison) -> Vec<Vec<String>> {
    let compared = comparison.compared.iter().map(|row| {
        let numbers = [
            row.base_bytes_per_second,
            row.new_bytes_per_second,
            row.ratio,
            row.ratio_ci95.low,
            row.ratio_ci95.high,
        ];
        let differs: Vec<String> = row.too_few().into_iter().chain(row.differs.iter().cloned()).collect();
        cells(&row.row, numbers.map(|number| number.to_string()), row.verdict.name(), differs.join("; "))
    });
    let none = || [const { String::new() }; 5];
    let refused = comparison
        .refused
        .iter()
        .map(|refused| cells(&refused.row, none(), "NOT COMPARED", refused.reason.clone()));
    let only = |rows: &[Row], verdict| {
        rows.iter().map(|row| cells(row, none(), verdict, String::new())).collect::<Vec<_>>()
    };
    compared
        .chain(refused)
        .chain(only(&comparison.only_base, "ONLY IN A"))
        .chain(only(&comparison.only_new, "ONLY IN B"))
        .collect()
}

/// Writes a header and a line a row.
pub(super) fn csv(sink: impl Write, comparison: &Comparison) -> io::Result<()> {
    csv::write_table(sink, &HEADERS, lines(comparison))
}

/// Writes a Markdown table of the rows.
pub(super) fn markdown(sink: impl Write, comparison: &Comparison) -> io::Result<()> {
    markdown::write_table(sink, &HEADERS, lines(comparison))
}
