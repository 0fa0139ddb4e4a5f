//! The rows of a section as tables.

use std::collections::BTreeSet;

use cipherlane_record::{Energy, Interval, Measurement, Observation, Value};

use super::observed;
use super::scopes::Scopes;
use crate::machine::Machines;
use crate::row::Row;
use crate::subjects::Subjects;
use crate::table::{Column, Table};
use crate::{beside, ceiling, level, units};

/// What stands in place of numbers of wrong results.
const WRONG: &str = "WRONG";

/// The table of measurements; columns that say nothing are left out.
pub(super) fn measured(rows: &[Row<'_>], machines: &Machines<'_>, scopes: &Scopes) -> Table {
    let columns = vec![
        Column::words("machine"),
        Column::words("does"),
        Column::number("message"),
        Column::words("device"),
        Column::number("threads"),
        Column::number("GB/s (95 %)"),
        Column::number("of ceiling"),
        Column::words("best rival GB/s"),
        Column::words("ratio (95 %)"),
        Column::words("scope"),
        Column::number("messages"),
        Column::number("messages/s"),
        Column::number("cycles/B"),
        Column::words("launch"),
        Column::number("Gbit/J (net)"),
        Column::words("load"),
    ];
    let rows = rows.iter().map(|row| cells(row, machines, scopes).to_vec()).collect();
    Table { columns, rows }.without_empty_columns()
}

fn cells(row: &Row<'_>, machines: &Machines<'_>, scopes: &Scopes) -> [String; 16] {
    // What follows from a wrong output is no figure either.
    let right = |text: String| if row.verified { text } else { String::new() };
    let best = row.best_rival.as_ref().filter(|_| row.verified);
    [
        if machines.several() { Machines::letter(row.machine) } else { String::new() },
        row.job().label(),
        units::bytes(row.message_bytes),
        row.contender(),
        row.threads.to_string(),
        rate(row),
        right(row.ceiling.as_ref().map_or_else(String::new, |one| ceiling::part(one.share))),
        best.map_or_else(String::new, |best| {
            format!("{} {}", units::significant(best.rival_bytes_per_second / 1e9), best.rival_name)
        }),
        best.zip(row.verdict()).map_or_else(String::new, |(best, verdict)| {
            let ends = row.ratio_interval().map(|ends| format!(" ({:.2}–{:.2})", ends.low, ends.high));
            format!("{:.2}{} {}", best.ratio, ends.unwrap_or_default(), verdict.name())
        }),
        scopes.letter(row),
        row.messages.to_string(),
        right(units::per_second(row.messages_per_second)),
        right(row.cycles_per_byte.map_or_else(String::new, units::significant)),
        launch(row),
        row.energy.as_ref().map_or_else(String::new, per_joule),
        load(row),
    ]
}

/// The rate with its interval; a row with a wrong output has none.
fn rate(row: &Row<'_>) -> String {
    if !row.verified {
        return format!("WRONG: {} of {} outputs", row.checks.unexpected, row.checks.messages);
    }
    let text = |value: f64| units::significant(value / 1e9);
    with_interval(text(row.bytes_per_second), row.interval(), text)
}

fn launch(row: &Measurement) -> String {
    row.geometry.as_ref().map_or_else(String::new, |one| {
        format!("{} × {}, streams {}", one.blocks, one.threads_per_block, one.streams)
    })
}

fn per_joule(energy: &Energy) -> String {
    let net = energy.net_bits_per_joule().map(|bits| format!(" ({})", units::significant(bits / 1e9)));
    format!("{}{}", units::significant(energy.bits_per_joule() / 1e9), net.unwrap_or_default())
}

fn load(row: &Measurement) -> String {
    let Some(load) = row.load else { return String::new() };
    let part = |name: &str, share: Option<cipherlane_record::Share>| {
        share.map(|share| {
            format!("{name} {} of {} asked", units::percent(share.achieved), units::percent(share.requested))
        })
    };
    part("CPU", load.cpu).into_iter().chain(part("GPU", load.gpu)).collect::<Vec<_>>().join(", ")
}

/// The table of observations: where, what, and beside it what studies published.
pub(super) fn observed(rows: &[(usize, &Observation)], machines: &Machines<'_>) -> Table {
    let axes: BTreeSet<&str> = rows.iter().flat_map(|(_, row)| row.axes.keys().map(String::as_str)).collect();
    let mut values: Vec<&Value> = Vec::new();
    for value in rows.iter().flat_map(|(_, row)| &row.values) {
        if values.iter().all(|known| (&known.name, &known.unit) != (&value.name, &value.unit)) {
            values.push(value);
        }
    }
    let mut columns = vec![Column::words("machine"), Column::words("subject")];
    columns.extend(axes.iter().map(|axis| Column::words(axis)));
    for value in &values {
        columns.push(Column::number(&observed::title(value)));
        columns.push(Column::words("published for the like"));
    }
    columns.push(Column::words("checked"));
    let subjects = Subjects::of(rows);
    let cells = |&(machine, row): &(usize, &Observation)| {
        let mut cells = vec![
            if machines.several() { Machines::letter(machine) } else { String::new() },
            subjects.name((machine, row)),
        ];
        cells.extend(
            axes.iter().map(|axis| row.axes.get(*axis).map_or_else(String::new, ToString::to_string)),
        );
        for wanted in &values {
            let value = row.values.iter().find(|one| (&one.name, &one.unit) == (&wanted.name, &wanted.unit));
            cells.push(value.map_or_else(String::new, |value| value_text(row, value)));
            cells.push(value.map_or_else(String::new, published));
        }
        cells.push(row.verified.map_or("", |right| if right { "right" } else { WRONG }).to_owned());
        cells
    };
    Table { columns, rows: rows.iter().map(cells).collect() }.without_empty_columns()
}

fn value_text(row: &Observation, value: &Value) -> String {
    let Some(number) = value.value else {
        return format!("not observed: {}", value.reason.as_deref().unwrap_or("no reason is given"));
    };
    if beside::is_wrong(row) {
        return WRONG.to_owned();
    }
    with_interval(units::significant(number), level::interval(row, value), units::significant)
}

/// `16.3 (16.2–16.4)`; the number alone where nobody can tell how sure it is.
fn with_interval(number: String, ends: Option<Interval>, text: impl Fn(f64) -> String) -> String {
    match ends {
        Some(ends) => format!("{number} ({}–{})", text(ends.low), text(ends.high)),
        None => number,
    }
}

fn published(value: &Value) -> String {
    let figure = |one: &cipherlane_record::Published| {
        format!("{} {} [{}]", units::significant(one.value), one.on, one.source)
    };
    value.published.iter().map(figure).collect::<Vec<_>>().join("; ")
}
