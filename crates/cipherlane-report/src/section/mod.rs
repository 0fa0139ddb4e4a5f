//! Sections: one for each experiment that the records hold.

mod conditions;
mod geometry;
mod load;
mod observed;
mod overview;
mod rows;
mod scopes;
mod streams;
mod stretches;
pub(crate) mod sweep;
pub(crate) mod threads;
mod timeline;
mod warnings;

use std::collections::{BTreeMap, BTreeSet};

use cipherlane_record::{Observation, Record, Timeline};

pub(crate) use scopes::Scopes;
pub(crate) use warnings::Warning;

use crate::chart::Chart;
use crate::machine::Machines;
use crate::row::{Job, Row};
use crate::table::Table;
use crate::units;
use warnings::Kind;

/// Charts of one section; what is not drawn is in the table.
const MOST_CHARTS: usize = 24;

/// Charts of sensors of one section: loads, clocks, temperatures, power, voltages and fans of a machine, those of GPUs by
/// parts of their most and those of CPUs by turns. The records have all readings.
const MOST_SENSORS: usize = 7;

/// Letters of a command that are shown; the records have all.
const LONGEST_COMMAND: usize = 160;

/// Experiments that ask what the sensors say.
const OF_SENSORS: [&str; 2] = ["thermal", "energy"];

/// All that is said about an experiment.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) name: String,
    /// The question that the experiment answers, where it is known.
    pub(crate) question: Option<String>,
    /// How many rows, where from, when.
    pub(crate) origin: String,
    pub(crate) charts: Vec<Chart>,
    /// Charts that would have been too many.
    pub(crate) left_out: usize,
    /// What the sensors said meanwhile.
    pub(crate) sensors: Vec<Chart>,
    /// Whether the sensors are what matters here: what is asked about, or something held the machine back.
    pub(crate) watched: bool,
    /// Titles and tables, the most important first.
    pub(crate) tables: Vec<(String, Table)>,
    /// What the numbers cover.
    pub(crate) scopes: Scopes,
    /// What differs from the studies, and what else was noted.
    pub(crate) notes: Vec<String>,
    pub(crate) warnings: Vec<Warning>,
}

/// A record with its machine.
pub(crate) type Placed<'a> = (usize, &'a Record);

/// The sections: measurements first, in the order in which they come, then experiments in the order of the studies.
pub(crate) fn all(
    records: &[Placed<'_>],
    machines: &Machines<'_>,
    questions: &BTreeMap<String, String>,
) -> Vec<Section> {
    let mut experiments = grouped(records.iter().copied(), |(_, record)| record.experiment());
    experiments.sort_by_key(|(name, records)| {
        let measures = records.iter().any(|(_, record)| matches!(record, Record::Measurement(_)));
        (!measures).then(|| observed::rank(name))
    });
    experiments
        .into_iter()
        .map(|(name, records)| section(name, &records, machines, questions.get(name).cloned()))
        .collect()
}

fn section(name: &str, records: &[Placed<'_>], machines: &Machines<'_>, question: Option<String>) -> Section {
    let (measured, observed) = apart(records);
    let mut charts = charts_of(&measured, machines);
    charts.extend(observed::charts(name, &observed));
    let mut sensors = timeline::charts(&timelines(&measured, &observed), machines);
    let beyond = |charts: &[Chart], most: usize| charts.len().saturating_sub(most);
    let left_out = beyond(&charts, MOST_CHARTS) + beyond(&sensors, MOST_SENSORS);
    charts.truncate(MOST_CHARTS);
    sensors.truncate(MOST_SENSORS);
    let scopes = Scopes::of(&measured);
    let (rivals, own): (Vec<Row<'_>>, Vec<Row<'_>>) = measured.iter().partition(|row| row.is_rival());
    let mut tables = Vec::new();
    let mut add = |title: &str, table: Table| {
        if !table.rows.is_empty() {
            tables.push((format!("{title} ({})", units::count(table.rows.len(), "row")), table));
        }
    };
    add("Measurements", rows::measured(&own, machines, &scopes));
    add("Observations", rows::observed(&observed, machines));
    add("Rivals in the same runs", rows::measured(&rivals, machines, &scopes));
    let mut warnings = warnings::of_measured(&measured, machines);
    let (more, notes) = warnings::of_observed(&observed);
    warnings.extend(more);
    warnings.sort();
    let throttled = warnings.iter().any(|warning| warning.kind == Kind::Throttled);
    Section {
        name: name.to_owned(),
        question,
        origin: origin(records, machines),
        charts,
        left_out,
        sensors,
        watched: throttled || OF_SENSORS.contains(&name),
        tables,
        scopes,
        notes,
        warnings,
    }
}

/// Measurements and observations.
pub(crate) fn apart<'a>(records: &[Placed<'a>]) -> (Vec<Row<'a>>, Vec<(usize, &'a Observation)>) {
    let mut measured = Vec::new();
    let mut observed: Vec<(usize, &Observation)> = Vec::new();
    for &(machine, record) in records {
        match record {
            Record::Measurement(row) => measured.push(Row::new(machine, row)),
            Record::Observation(row) => observed.push((machine, row)),
        }
    }
    (measured, observed)
}

/// The charts that measurements call for: what was swept first, then rows side by side, then conditions.
fn charts_of(rows: &[Row<'_>], machines: &Machines<'_>) -> Vec<Chart> {
    let mut charts: Vec<Chart> = overview::machines(rows).into_iter().collect();
    charts.extend(sweep::charts(rows, sweep::Swept::Size));
    charts.extend(threads::charts(rows));
    charts.extend(geometry::charts(rows));
    charts.extend(load::charts(rows));
    charts.extend(overview::rivals(&not_swept(rows), machines));
    charts.extend(conditions::transfers(rows, machines));
    charts.extend(conditions::times(rows, machines));
    charts.extend(streams::chart(rows, machines));
    charts.extend(conditions::energy(rows, machines));
    charts.extend(overview::ceilings(rows, machines));
    charts
}

/// Rows of jobs of which no curve shows the rivals.
fn not_swept<'a>(rows: &[Row<'a>]) -> Vec<Row<'a>> {
    let by_size = sweep::groups(rows, sweep::Swept::Size).into_iter().map(|(_, rows)| rows);
    let by_threads = threads::groups(rows).into_iter();
    let mut swept: BTreeSet<Job<'_>> = BTreeSet::new();
    swept.extend(
        by_size.filter(|rows| !sweep::series(rows, sweep::Swept::Size).is_empty()).map(|rows| rows[0].job()),
    );
    swept.extend(by_threads.filter(|rows| !threads::series(rows).is_empty()).map(|rows| rows[0].job()));
    let is_plain =
        |row: &&Row<'_>| row.geometry.is_none() && row.load.is_none() && !swept.contains(&row.job());
    rows.iter().filter(is_plain).copied().collect()
}

fn timelines<'a>(measured: &[Row<'a>], observed: &[(usize, &'a Observation)]) -> Vec<(usize, &'a Timeline)> {
    let measured = measured.iter().filter_map(|row| Some((row.machine, row.measured().timeline.as_ref()?)));
    let observed = observed.iter().filter_map(|(machine, row)| Some((*machine, row.timeline.as_ref()?)));
    measured.chain(observed).collect()
}

/// `102 rows on A, 2026-01-31, by: cipherlane bench`.
fn origin(records: &[Placed<'_>], machines: &Machines<'_>) -> String {
    let when = |record: &Record| match record {
        Record::Measurement(row) => row.unix_seconds,
        Record::Observation(row) => row.unix_seconds,
    };
    let command = |record: &Record| match record {
        Record::Measurement(row) => row.argv.join(" "),
        Record::Observation(row) => row.argv.join(" "),
    };
    let days: BTreeSet<String> =
        records.iter().map(|(_, record)| cipherlane_record::date::day(when(record))).collect();
    let commands: BTreeSet<String> = records.iter().map(|(_, record)| command(record)).collect();
    let mut text = units::count(records.len(), "row");
    if machines.several() {
        let places: BTreeSet<String> =
            records.iter().map(|(machine, _)| Machines::letter(*machine)).collect();
        text.push_str(&format!(" on {}", places.into_iter().collect::<Vec<_>>().join(", ")));
    }
    match (days.first(), days.last()) {
        (Some(first), Some(last)) if first != last => text.push_str(&format!(", {first} to {last}")),
        (Some(day), _) => text.push_str(&format!(", {day}")),
        _ => {}
    }
    match commands.len() {
        1 => text.push_str(&format!(", by: {}", shortened(&commands.into_iter().collect::<String>()))),
        count => text.push_str(&format!(", by {count} commands")),
    }
    text
}

/// A command of many files, cut.
fn shortened(command: &str) -> String {
    match command.char_indices().nth(LONGEST_COMMAND) {
        Some((end, _)) => format!("{}…", &command[..end]),
        None => command.to_owned(),
    }
}

/// `items` by key, in the order in which the keys come first.
pub(crate) fn grouped<K: Ord + Clone, T>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let key = key(&item);
        let place = *places.entry(key.clone()).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(item);
    }
    groups
}
