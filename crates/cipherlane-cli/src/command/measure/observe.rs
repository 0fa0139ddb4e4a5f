//! Running an experiment that makes observations: its plan, its run, its tables.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use anyhow::{Context, Result};
use cipherlane::verify::Reference;
use cipherlane_lab::experiment::{Run, Setting};
use cipherlane_lab::resume::{Done, Missing};
use cipherlane_lab::telemetry::{MOST_HERTZ, Sampler, Sensors};
use cipherlane_lab::workload::Choice;
use cipherlane_lab::{Judges, Point};
use cipherlane_record::text::on_one_line;
use cipherlane_record::{Host, Keys, Observation, Record, Value, csv, markdown};

use super::store::Store;
use super::watch::Watch;
use super::{How, STOP, argv, is_stopped, show, show_page, stop_on_ctrl_c, stopped};
use crate::command::shared::Roster;
use crate::exit::Exit;
use crate::render::complain;
use crate::render::table::{self, Column};
use crate::render::units;

/// What of a run is asked for beside how to measure.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// Rows that need no measuring.
    pub(crate) done: Done,
    /// Say what would be done, and do nothing.
    pub(crate) dry: bool,
    /// Settings of the machine may be changed.
    pub(crate) change_machine: bool,
    /// Records to conclude from.
    pub(crate) records: &'a [Record],
}

/// Runs `run` under the experiment's `name` on devices of `roster`, or says what it would do.
pub(crate) fn observe(
    name: &str,
    run: &dyn Run,
    how: &How,
    asked: &Asked<'_>,
    (roster, host): (&Roster, &Host),
) -> Result<Exit> {
    let &Asked { ref done, dry, change_machine, records } = asked;
    let stdout_taken = how.takes_stdout()?;
    let devices = roster.choose(&how.device)?;
    let cpu = roster.engine.device("cpu")?;
    let reference = Reference::new();
    let judges = Judges::new(&**cpu, &reference);
    // Meters of energy and clocks that change want as many readings as may be had, unless fewer are asked for.
    let hertz = how.sensors.unwrap_or(MOST_HERTZ);
    let sensors = if hertz > 0.0 && !dry { Sensors::of_this_machine(&devices) } else { Sensors::default() };
    let sampler = Sampler::start(sensors, hertz).context(
        "no thread for the sensors; end other programs, or raise the limit of processes (`ulimit -u`)",
    )?;
    let setting = Setting {
        experiment: name,
        devices: &devices,
        cpu: &**cpu,
        judges: &judges,
        sampler: &sampler,
        host,
        stop: &STOP,
        done,
        records,
        change_machine,
        seed: how.seed,
        argv: &argv(),
    };
    if dry {
        return foretell(name, run, &setting, stdout_taken);
    }
    stop_on_ctrl_c()?;
    let mut watch = Watch::new(Store::open(how, name)?, how.no_progress);
    watch.say(name);
    run.run(&setting, &mut Missing::new(done, &mut watch))?;
    watch.clear();
    let (store, rows, skipped) = watch.into_parts();
    let mut text = tables(&rows);
    for reason in &skipped {
        let _ = writeln!(text, "not measured: {reason}");
    }
    if let Some(told) = store.told(rows.len(), "") {
        let _ = writeln!(text, "{told}");
    }
    // Shown before anything else can fail: it is what the run was for.
    show(&text, stdout_taken)?;
    how.write_tables(&rows, |sink, rows| write_csv(sink, rows), |sink, rows| write_markdown(sink, rows))?;
    show_page(how, &store, !rows.is_empty(), stdout_taken)?;
    // What a file to go on with lacks is measured, or skipped for a reason.
    let had_all = how.records.resumed().is_some() && skipped.is_empty();
    Ok(exit(&rows, had_all))
}

fn exit(rows: &[Observation], had_all: bool) -> Exit {
    if rows.iter().any(|row| row.verified == Some(false)) {
        Exit::Mismatch
    } else if is_stopped() {
        stopped()
    } else if rows.is_empty() && !had_all {
        Exit::NothingToRun
    } else {
        Exit::Success
    }
}

/// Says what would be run, or why nothing would: the exit code is that of the run.
fn foretell(name: &str, run: &dyn Run, setting: &Setting<'_>, stdout_taken: bool) -> Result<Exit> {
    if let Some(reason) = run.nothing(setting) {
        complain("nothing to run", &format!("{name}: {reason}"));
        return Ok(Exit::NothingToRun);
    }
    show(&plan(name, run, setting), stdout_taken)?;
    Ok(Exit::Success)
}

/// What would be run, and how long it would take.
fn plan(name: &str, run: &dyn Run, setting: &Setting<'_>) -> String {
    let steps = run.plan(setting);
    let mut text = String::new();
    for (what, time) in &steps {
        let _ = writeln!(text, "{name}: {what}: {}", units::seconds(*time));
    }
    let total = steps.iter().map(|(_, time)| *time).sum();
    let _ = writeln!(
        text,
        "{name}: {} steps, about {} in all; nothing was run",
        steps.len(),
        units::seconds(total)
    );
    text
}

/// A table for each subject and set of values: the axes, then the values, with the study's figures below ours.
fn tables(rows: &[Observation]) -> String {
    let mut text = String::new();
    let mut rest: Vec<&Observation> = rows.iter().collect();
    while let Some(first) = rest.first().copied() {
        let (alike, other): (Vec<_>, Vec<_>) = rest.into_iter().partition(|row| is_like(row, first));
        let subject = format!("{}: {}", first.subject, first.subject_name);
        let _ = writeln!(text, "{}", on_one_line(&subject));
        let _ = writeln!(text, "{}", table::text(&table_of(&alike)));
        notes(&mut text, &alike);
        rest = other;
    }
    text
}

/// Whether two rows stand in one table.
fn is_like(row: &Observation, other: &Observation) -> bool {
    row.subject == other.subject
        && row.axes.keys().eq(other.axes.keys())
        && row.values.iter().map(|value| &value.name).eq(other.values.iter().map(|value| &value.name))
}

fn table_of(rows: &[&Observation]) -> comfy_table::Table {
    use comfy_table::CellAlignment::{Left, Right};
    let first = rows[0];
    let axes = first.axes.keys().map(|name| (name.clone(), Left));
    let unit = |value: &Value| if value.unit == "1" { String::new() } else { format!(" {}", value.unit) };
    let values = first.values.iter().map(|value| (format!("{}{}", value.name, unit(value)), Right));
    let columns: Vec<_> = axes.chain(values).chain([("verified".to_owned(), Left)]).collect();
    let mut table = table::with_columns(&columns);
    for row in rows {
        let axes = row.axes.values().map(|place| table::plain(place.to_string()));
        let values = row.values.iter().map(|value| match value.value {
            Some(_) => table::plain(cell(value)),
            None => table::faint("-"),
        });
        let verified = match row.verified {
            Some(true) => table::good("yes"),
            Some(false) => table::bad("NO"),
            None => table::faint("-"),
        };
        table.add_row(axes.chain(values).chain([verified]).collect::<Vec<_>>());
    }
    table
}

/// A value with the study's figure behind it.
fn cell(value: &Value) -> String {
    let ours = value.value.map_or_else(|| "-".to_owned(), |found| figure(found, &value.unit));
    match value.published.first() {
        Some(published) => format!("{ours} (study: {})", figure(published.value, &value.unit)),
        None => ours,
    }
}

/// A figure as tables have it: counts whole, all else with three significant digits.
fn figure(found: f64, unit: &str) -> String {
    if unit == "1" && found.fract() == 0.0 { format!("{found:.0}") } else { units::significant(found) }
}

/// Under a table: why values are missing, the study's figures with what they were measured on, and notes; each once.
fn notes(text: &mut String, rows: &[&Observation]) {
    let mut said: Vec<String> = Vec::new();
    let mut say = |line: String| {
        let line = on_one_line(&line);
        if !said.contains(&line) {
            let _ = writeln!(text, "{line}");
            said.push(line);
        }
    };
    let values = || rows.iter().flat_map(|row| &row.values);
    let reasons: BTreeSet<&String> = values().filter_map(|value| value.reason.as_ref()).collect();
    for reason in reasons {
        let of_reason = values().filter(|value| value.reason.as_ref() == Some(reason));
        let names: BTreeSet<&str> = of_reason.map(|value| value.name.as_str()).collect();
        say(format!("{} not known: {reason}", names.into_iter().collect::<Vec<_>>().join(", ")));
    }
    for value in values() {
        for figure in &value.published {
            let unit = if value.unit == "1" { String::new() } else { format!(" {}", value.unit) };
            let published = self::figure(figure.value, &value.unit);
            say(format!("study {}: {} {published}{unit} on {}", figure.source, value.name, figure.on));
        }
    }
    rows.iter().flat_map(|row| &row.notes).for_each(|note| say(note.clone()));
}

const HEADERS: [&str; 10] =
    ["experiment", "subject", "axes", "value", "unit", "found", "low", "high", "published", "verified"];

/// One line a value, for `--csv`.
fn write_csv(sink: impl Write, rows: &[Observation]) -> io::Result<()> {
    csv::write_table(sink, &HEADERS, lines(rows))
}

/// The same for `--md`.
fn write_markdown(sink: impl Write, rows: &[Observation]) -> io::Result<()> {
    markdown::write_table(sink, &HEADERS, lines(rows))
}

fn lines(rows: &[Observation]) -> impl Iterator<Item = [String; 10]> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    rows.iter().flat_map(move |row| {
        let axes: Vec<String> = row.axes.iter().map(|(name, place)| format!("{name}={place}")).collect();
        let axes = axes.join(" ");
        row.values.iter().map(move |value| {
            let published: Vec<String> =
                value.published.iter().map(|figure| format!("{} ({})", figure.value, figure.on)).collect();
            [
                row.experiment.clone(),
                row.subject.clone(),
                axes.clone(),
                value.name.clone(),
                value.unit.clone(),
                number(value.value),
                number(value.ci95.map(|interval| interval.low)),
                number(value.ci95.map(|interval| interval.high)),
                published.join("; "),
                row.verified.map_or_else(String::new, |verified| verified.to_string()),
            ]
        })
    })
}

/// The plan of a sweep: its rows, and the time that it is given.
pub(crate) fn plan_of(suite: &cipherlane_lab::Suite, seconds: f64) -> String {
    let mut table = table::new([
        Column::Words("workload"),
        Column::Words("does"),
        Column::Number("messages"),
        Column::Number("message"),
        Column::Number("threads"),
    ]);
    for Point { choice, threads, .. } in &suite.points {
        let none = || "-".to_owned();
        let (keys, messages, bytes) = match choice {
            Choice::Custom(custom) => (
                units::keys(custom.keys() == Keys::Distinct),
                custom.messages.map_or_else(none, units::count),
                custom.lengths.to_string(),
            ),
            Choice::Named(..) => ("", none(), none()),
        };
        let does = format!("{}{keys}", choice.job());
        table.add_row([choice.name().into_owned(), does, messages, bytes, threads.to_string()]);
    }
    let time = units::seconds(std::time::Duration::from_secs_f64(seconds));
    let (name, count) = (&suite.experiment, suite.points.len());
    format!("{}\n{name}: {count} points, about {time} in all; nothing was run\n", table::text(&table))
}
