//! A comparison as a table, for people, as CSV and as Markdown.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use cipherlane_lab::compare::{Alone, Compared, Comparison, Row};
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
    write_sum(&mut text, "", comparison, false);
    if comparison.rivals_geometric_mean.is_some() {
        write_sum(&mut text, " of other libraries", comparison, true);
    }
    let too_few = comparison.too_few();
    if too_few > 0 {
        let _ = writeln!(
            text,
            "{too_few} of them have too few rounds or samples to tell: more --time makes more"
        );
    }
    for refused in &comparison.refused {
        let _ =
            writeln!(text, "not compared: {}", on_one_line(&format!("{}: {}", refused.row, refused.reason)));
    }
    if comparison.refused.iter().any(|refused| refused.reason.contains("scopes differ")) {
        let _ = writeln!(text, "--across-scopes compares them all the same");
    }
    for (path, rows) in [(base, &comparison.only_base), (new, &comparison.only_new)] {
        for Alone { row, fault } in rows {
            let fault = fault.as_ref().map_or_else(String::new, |fault| format!(": {fault}"));
            let _ = writeln!(text, "only in {path}: {}", on_one_line(&format!("{row}{fault}")));
        }
    }
    text
}

/// How many rows of other libraries, or of our own devices, are faster and slower, and how much all of them are.
fn write_sum(text: &mut String, whose: &str, comparison: &Comparison, of_rivals: bool) {
    let rows = || comparison.compared.iter().filter(|row| row.row.is_of_a_rival() == of_rivals);
    let count = |verdict| rows().filter(|row| row.verdict == verdict).count();
    let _ = write!(
        text,
        "{} rows{whose} compared: {} faster, {} slower, {} ambiguous",
        rows().count(),
        count(Verdict::Faster),
        count(Verdict::Slower),
        count(Verdict::Ambiguous)
    );
    let mean = if of_rivals { comparison.rivals_geometric_mean } else { comparison.geometric_mean };
    let mean = mean.map(|mean| format!("; geometric mean: B is {mean:.3} times as fast as A"));
    let _ = writeln!(text, "{}", mean.unwrap_or_default());
}

/// The columns for people.
const COLUMNS: [Column; 7] = [
    Column::Words("row"),
    Column::Number("A GB/s"),
    Column::Number("B GB/s"),
    Column::Number("ratio (95 %)"),
    Column::Words("verdict"),
    Column::Words("compared by"),
    Column::Words("differs"),
];

/// What people see of a row that was compared.
fn shown(row: &Compared) -> [String; 7] {
    let why = row.too_few().map_or_else(String::new, |reason| format!(": {reason}"));
    [
        row.row.to_string(),
        units::gigabytes(row.base_bytes_per_second),
        units::gigabytes(row.new_bytes_per_second),
        ratio(row),
        format!("{}{why}", row.verdict.name()),
        by(row).to_owned(),
        row.differs.join("; "),
    ]
}

fn ratio(row: &Compared) -> String {
    let ends = row.interval().map(|ends| format!(" ({:.3}–{:.3})", ends.low, ends.high));
    format!("{:.3}{}", row.ratio, ends.unwrap_or_default())
}

fn to_table(rows: &[Compared]) -> Table {
    let mut table = table::new(COLUMNS);
    for row in rows {
        let painted = match row.verdict {
            Verdict::Faster => table::good,
            Verdict::Slower => table::bad,
            Verdict::Ambiguous => table::plain,
        };
        let [name, base, new, ratio, verdict, by, differs] = shown(row);
        let [name, base, new, ratio] = [name, base, new, ratio].map(table::plain);
        table.add_row([name, base, new, ratio, painted(verdict), table::plain(by), table::plain(differs)]);
    }
    table
}

const fn by(row: &Compared) -> &'static str {
    if row.paired { "rounds" } else { "samples" }
}

/// Verdicts of rows without a partner.
const NOT_COMPARED: &str = "NOT COMPARED";
const ONLY_IN_A: &str = "ONLY IN A";
const ONLY_IN_B: &str = "ONLY IN B";

/// The columns of CSV.
const HEADERS: [&str; 21] = [
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
    "compared_by",
    "samples",
];

/// The values of a row; without numbers and with a reason as verdict where there is no partner.
fn cells(row: &Row, numbers: [Option<f64>; 5], verdict: &str, rest: [String; 3]) -> Vec<String> {
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
    let numbers = numbers.map(|number| number.map_or_else(String::new, |number| number.to_string()));
    of_row.into_iter().chain(numbers).chain([verdict.to_owned()]).chain(rest).collect()
}

/// What is wrong with a row that has no partner; nothing as a rule.
fn fault(alone: &Alone) -> &str {
    alone.fault.as_deref().unwrap_or_default()
}

/// All rows: those that were compared, then those that were not, whose verdict says so. Reasons stand before what differs.
fn lines(comparison: &Comparison) -> Vec<Vec<String>> {
    let compared = comparison.compared.iter().map(|row| {
        let ends = row.interval();
        let (low, high) = (ends.map(|ends| ends.low), ends.map(|ends| ends.high));
        let (base, new) = (row.base_bytes_per_second, row.new_bytes_per_second);
        let numbers = [Some(base), Some(new), Some(row.ratio), low, high];
        let differs: Vec<String> = row.too_few().into_iter().chain(row.differs.iter().cloned()).collect();
        let rest = [differs.join("; "), by(row).to_owned(), row.samples.to_string()];
        cells(&row.row, numbers, row.verdict.name(), rest)
    });
    let none = [None; 5];
    let for_reason = |reason: &str| [reason.to_owned(), String::new(), String::new()];
    let refused = comparison
        .refused
        .iter()
        .map(|refused| cells(&refused.row, none, NOT_COMPARED, for_reason(&refused.reason)));
    let only = |rows: &[Alone], verdict| {
        let line = |alone: &Alone| cells(&alone.row, none, verdict, for_reason(fault(alone)));
        rows.iter().map(line).collect::<Vec<_>>()
    };
    compared
        .chain(refused)
        .chain(only(&comparison.only_base, ONLY_IN_A))
        .chain(only(&comparison.only_new, ONLY_IN_B))
        .collect()
}

/// Writes a header and a line a row.
pub(super) fn csv(sink: impl Write, comparison: &Comparison) -> io::Result<()> {
    csv::write_table(sink, &HEADERS, lines(comparison))
}

/// Writes a Markdown table of all rows, as people see them.
pub(super) fn markdown(sink: impl Write, comparison: &Comparison) -> io::Result<()> {
    let compared = comparison.compared.iter().map(shown);
    let alone = |row: &Row, verdict: &str, reason: &str| {
        let none = String::new;
        [row.to_string(), none(), none(), none(), verdict.to_owned(), none(), reason.to_owned()]
    };
    let refused = comparison.refused.iter().map(|refused| alone(&refused.row, NOT_COMPARED, &refused.reason));
    let only_base = comparison.only_base.iter().map(|row| alone(&row.row, ONLY_IN_A, fault(row)));
    let only_new = comparison.only_new.iter().map(|row| alone(&row.row, ONLY_IN_B, fault(row)));
    let all = compared.chain(refused).chain(only_base).chain(only_new).map(Vec::from);
    markdown::write_table(sink, &COLUMNS.map(Column::header), all)
}
