//! What came of it: counts by source, algorithm and tier.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cipherlane::verify::exam::{self, Counts};
use cipherlane::verify::{conformance, vectors::Case};
use cipherlane_lab::Contender;
use comfy_table::{Cell, CellAlignment, Table};
use serde::Serialize;

use super::super::shared;
use super::answers::Answers;
use crate::render::{table, units};

/// The name of the batches against the reference, beside those of collections of vectors.
const CONFORMANCE: &str = "batches against the reference";
/// What stands for the algorithm of a failure that ended a conformance run.
const ALL: &str = "all";
/// Failures that are printed; JSON has all.
const PRINTED: usize = 20;

/// Everything that came of it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Whether nothing was wrong.
    pub(super) verified: bool,
    counts: Vec<Row>,
    failures: Vec<String>,
    /// Cases outside what a batch can express, by reason; the largest count of any seat.
    not_applicable: BTreeMap<String, usize>,
    not_run: Vec<NotRun>,
    #[serde(skip)]
    seats: Vec<String>,
}

/// Counts of one source and algorithm at one seat.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(skip)]
    seat: String,
    device: String,
    tier: Option<String>,
    source: String,
    algorithm: String,
    passed: usize,
    failed: usize,
    not_applicable: usize,
}

#[derive(Debug, Serialize)]
struct NotRun {
    set: String,
    reason: String,
}

impl Report {
    pub(super) fn new(seats: &[Contender<'_>], answers: &Answers) -> Self {
        let not_run = answers.not_run.iter().cloned();
        Self {
            verified: true,
            counts: Vec::new(),
            failures: Vec::new(),
            not_applicable: BTreeMap::new(),
            not_run: not_run.map(|(set, reason)| NotRun { set, reason }).collect(),
            seats: seats.iter().map(shared::label).collect(),
        }
    }

    /// Puts `cases` to `seat`.
    pub(super) fn vectors(&mut self, seat: &Contender<'_>, cases: &[Case]) {
        let tally = match exam::run(seat.device, &seat.wish, cases) {
            Ok(tally) => tally,
            // The exam could not be sat, which is no pass.
            Err(error) => return self.fail(seat, "known answers", &error.to_string()),
        };
        for ((source, algorithm), counts) in tally.counts {
            self.add(seat, &source, &algorithm.to_string(), counts);
        }
        for failure in tally.failures {
            self.failures.push(failure.to_string());
        }
        for (reason, count) in tally.reasons {
            let most = self.not_applicable.entry(reason).or_default();
            *most = count.max(*most);
        }
    }

    /// Puts batches of all shapes to `seat`, and compares with the reference.
    pub(super) fn conformance(&mut self, seat: &Contender<'_>) {
        match conformance::check_with(seat.device, &seat.wish) {
            Ok(report) => {
                for (algorithm, checks) in report.checks {
                    let passed = usize::try_from(checks).unwrap_or(usize::MAX);
                    let counts = Counts { passed, ..Counts::default() };
                    self.add(seat, CONFORMANCE, &algorithm.to_string(), counts);
                }
            }
            Err(failure) => self.fail(seat, CONFORMANCE, &failure.to_string()),
        }
    }

    fn fail(&mut self, seat: &Contender<'_>, source: &str, reason: &str) {
        self.add(seat, source, ALL, Counts { failed: 1, ..Counts::default() });
        self.failures.push(format!("{}: {source}: {reason}", shared::label(seat)));
    }

    fn add(&mut self, seat: &Contender<'_>, source: &str, algorithm: &str, counts: Counts) {
        self.verified &= counts.failed == 0;
        self.counts.push(Row {
            seat: shared::label(seat),
            device: seat.device.info().id.clone(),
            tier: seat.wish.tier.clone(),
            source: source.to_owned(),
            algorithm: algorithm.to_owned(),
            passed: counts.passed,
            failed: counts.failed,
            not_applicable: counts.not_applicable,
        });
    }

    /// The table, and under it what was wrong or left out.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{}\n", table::text(&self.to_table()));
        for (reason, count) in &self.not_applicable {
            let _ = writeln!(text, "n/a: {} cases: {reason}", units::count(*count));
        }
        for (reason, sets) in self.not_run_by_reason() {
            let _ = writeln!(text, "NOT RUN: {}: {reason}", sets.join(", "));
        }
        for failure in self.failures.iter().take(PRINTED) {
            let _ = writeln!(text, "WRONG: {failure}");
        }
        if self.failures.len() > PRINTED {
            let more = self.failures.len() - PRINTED;
            let _ = writeln!(text, "WRONG: {} more; --json FILE lists them all", units::count(more));
        }
        let _ = writeln!(text, "{}", self.verdict());
        text
    }

    /// The sets that were not run, those together that one thing is missing for.
    fn not_run_by_reason(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for NotRun { set, reason } in &self.not_run {
            sets.entry(reason).or_default().push(set);
        }
        sets
    }

    fn verdict(&self) -> String {
        let passed = units::count(self.counts.iter().map(|row| row.passed).sum());
        let failed: usize = self.counts.iter().map(|row| row.failed).sum();
        if failed > 0 {
            return format!("MISMATCH: {} wrong, {passed} right", units::count(failed));
        }
        match self.not_run.len() {
            0 => format!("verified: all {passed} right"),
            sets => format!("verified as far as it went: all {passed} right, {sets} sets not run"),
        }
    }

    fn to_table(&self) -> Table {
        let words = ["source", "algorithm"].map(|header| (header.to_owned(), CellAlignment::Left));
        let numbers = self.seats.iter().map(|seat| (seat.clone(), CellAlignment::Right));
        let mut table = table::with_columns(&words.into_iter().chain(numbers).collect::<Vec<_>>());
        let mut lines: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
        for row in &self.counts {
            lines.entry((&row.source, &row.algorithm)).or_default().push(row);
        }
        for ((source, algorithm), rows) in &lines {
            table.add_row(
                self.line(source, algorithm, |seat| {
                    rows.iter().filter(move |row| row.seat == *seat).copied()
                }),
            );
        }
        for NotRun { set, .. } in &self.not_run {
            let cells = self.seats.iter().map(|_| table::bad("NOT RUN"));
            table.add_row([table::plain(set), table::plain("")].into_iter().chain(cells));
        }
        table.add_row(self.line("total", "", |seat| self.counts.iter().filter(move |row| row.seat == *seat)));
        table
    }

    /// A line of the table: the sums of the rows of each seat.
    fn line<'a, Rows: Iterator<Item = &'a Row>>(
        &'a self,
        source: &str,
        algorithm: &str,
        rows: impl Fn(&'a String) -> Rows,
    ) -> Vec<Cell> {
        let mut cells = vec![table::plain(source), table::plain(algorithm)];
        for seat in &self.seats {
            let mut sum = Counts::default();
            for row in rows(seat) {
                sum.passed += row.passed;
                sum.failed += row.failed;
                sum.not_applicable += row.not_applicable;
            }
            cells.push(cell(sum));
        }
        cells
    }
}

fn cell(counts: Counts) -> Cell {
    let Counts { passed, failed, not_applicable } = counts;
    if failed > 0 {
        return table::bad(format!("{} of {} WRONG", units::count(failed), units::count(passed + failed)));
    }
    match (passed, not_applicable) {
        (0, 0) => table::faint("-"),
        (passed, 0) => table::plain(units::count(passed)),
        (passed, other) => table::plain(format!("{} + {} n/a", units::count(passed), units::count(other))),
    }
}
