//! Machines beside each other by their throughput of AES-GCM, from records (study 000).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::Tier;
use cipherlane_record::{Axis, Host, Keys, Measurement, Observation, Record, Transfer, Value};

use crate::experiment::setting::{Row, Run, Setting, beside, known};
use crate::observer::Observer;

/// The experiment; it has no parameters.
#[derive(Clone, Copy, Debug)]
pub(in crate::experiment) struct Generations;

const STUDY: &str = "000.7";
const ALGORITHM: &str = "aes-128-gcm";

/// A column of the study's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    PlainOne,
    PlainAll,
    SpecialOne,
    SpecialAll,
    GpuOne,
    GpuAll,
}

/// A column's name, the experiment that fills it, and the study's figures in MB/s.
type Head = (&'static str, &'static str, &'static [(f64, &'static str)]);

impl Column {
    const OF_CPUS: [Self; 4] = [Self::PlainOne, Self::PlainAll, Self::SpecialOne, Self::SpecialAll];
    const OF_GPUS: [Self; 2] = [Self::GpuOne, Self::GpuAll];

    const fn head(self) -> Head {
        match self {
            Self::PlainOne => (
                "one thread",
                "cpu-threads",
                &[(42.3, "i7-12700H"), (34.8, "i7-11370H"), (42.4, "i7-13620H")],
            ),
            Self::PlainAll => (
                "all CPUs",
                "cpu-threads",
                &[(493.0, "i7-12700H (20)"), (176.0, "i7-11370H (8)"), (480.0, "i7-13620H (16)")],
            ),
            Self::SpecialOne => ("one thread, special", "cpu-threads", &[]),
            Self::SpecialAll => (
                "all CPUs, special",
                "cpu-threads",
                &[(2000.0, "i7-12700H (20)"), (646.0, "i7-11370H (8)"), (1700.0, "i7-13620H (16)")],
            ),
            Self::GpuOne => (
                "one thread",
                "core-vs-core",
                &[(1.4, "RTX 4070 (36 x 128)"), (1.2, "RTX 3050 (16 x 128)"), (1.5, "RTX 4060 (24 x 128)")],
            ),
            Self::GpuAll => (
                "all threads",
                "core-vs-core",
                &[
                    (4200.0, "RTX 4070 (36 x 128)"),
                    (903.0, "RTX 3050 (16 x 128)"),
                    (3100.0, "RTX 4060 (24 x 128)"),
                ],
            ),
        }
    }

    /// Whether it stands in the table of CPUs.
    fn is_of_cpus(self) -> bool {
        Self::OF_CPUS.contains(&self)
    }
}

/// A rate in MB/s, and what it is of.
struct Found<'a> {
    host: &'a Host,
    /// The device for people.
    name: &'a str,
    message_bytes: u64,
    keys: String,
    column: Column,
    rate: f64,
}

/// What a record says for the tables.
fn found(record: &Record) -> Vec<Found<'_>> {
    match record {
        Record::Measurement(row) => measured(row).into_iter().collect(),
        Record::Observation(row) if row.experiment == "cpu-threads" => swept(row).into_iter().collect(),
        Record::Observation(row) if row.experiment == "core-vs-core" => compared(row),
        Record::Observation(_) => Vec::new(),
    }
}

/// A row of a suite: a CPU on one thread or on all, or a GPU without transfers.
fn measured(row: &Measurement) -> Option<Found<'_>> {
    let is_forward = row.algorithm == ALGORITHM && row.operation == "seal";
    if !is_forward || !row.verified || row.load.is_some() {
        return None;
    }
    let is_plain = row.parts.iter().any(|part| !part.constant_time);
    let column = if row.device == "cpu" {
        let special = row.tier != Tier::Portable.name();
        let one = row.threads == 1;
        // A CPU with one logical CPU has all of them at work in one thread; it stands in both columns as `one`.
        match (is_plain, special) {
            _ if !one && row.threads != row.host.logical_cores => return None,
            (true, _) => {
                if one {
                    Column::PlainOne
                } else {
                    Column::PlainAll
                }
            }
            (false, true) => {
                if one {
                    Column::SpecialOne
                } else {
                    Column::SpecialAll
                }
            }
            (false, false) => return None,
        }
    } else if row.scope.transfer == Transfer::Excluded {
        Column::GpuAll
    } else {
        return None;
    };
    Some(Found {
        host: &row.host,
        name: &row.device_name,
        message_bytes: row.message_bytes,
        keys: row.keys.name().to_owned(),
        column,
        rate: row.bytes_per_second * 1e-6,
    })
}

/// What names the work of an observation.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sizes of messages
fn work(row: &Observation) -> Option<(u64, String)> {
    let is_ours = row.axes.get("algorithm") == Some(&Axis::from(ALGORITHM)) && row.verified != Some(false);
    let keys = row.axes.get("keys").map_or_else(|| Keys::Same.name().to_owned(), ToString::to_string);
    is_ours.then_some((row.number("message bytes")? as u64, keys))
}

/// A row of `cpu-threads`.
fn swept(row: &Observation) -> Option<Found<'_>> {
    let (message_bytes, keys) = work(row)?;
    let (threads, all) = (row.number("threads")?, row.host.logical_cores as f64);
    let column = match row.axes.get("kernel")?.to_string().as_str() {
        "plain" if threads == 1.0 => Column::PlainOne,
        "plain" if threads == all => Column::PlainAll,
        "special" if threads == 1.0 => Column::SpecialOne,
        "special" if threads == all => Column::SpecialAll,
        _ => return None,
    };
    let rate = row.value("throughput")?;
    Some(Found { host: &row.host, name: &row.subject_name, message_bytes, keys, column, rate })
}

/// A row of `core-vs-core`: both columns of a GPU.
fn compared(row: &Observation) -> Vec<Found<'_>> {
    let Some((message_bytes, keys)) = work(row) else { return Vec::new() };
    let columns = [(Column::GpuOne, "GPU thread"), (Column::GpuAll, "GPU")];
    let of = |(column, name): (Column, &str)| {
        let (host, name, keys, rate) = (&row.host, row.subject_name.as_str(), keys.clone(), row.value(name)?);
        Some(Found { host, name, message_bytes, keys, column, rate })
    };
    columns.into_iter().filter_map(of).collect()
}

/// A row of a table on its way.
struct Line<'a> {
    first: Found<'a>,
    rates: BTreeMap<Column, f64>,
}

/// The lines of both tables: each device of each machine, by the kind of messages. Of several rates of one kind the
/// last counts.
fn lines(records: &[Record]) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for found in records.iter().flat_map(found) {
        let is_like = |line: &&mut Line<'_>| {
            let first = &line.first;
            first.host.is_machine_of(found.host)
                && (first.name, first.message_bytes, &first.keys)
                    == (found.name, found.message_bytes, &found.keys)
                && first.column.is_of_cpus() == found.column.is_of_cpus()
        };
        match lines.iter_mut().find(is_like) {
            Some(line) => {
                line.rates.insert(found.column, found.rate);
            }
            None => lines.push(Line { rates: BTreeMap::from([(found.column, found.rate)]), first: found }),
        }
    }
    // The tables apart, and in each of them the same messages together.
    lines.sort_by_key(|line| {
        let first = &line.first;
        (!first.column.is_of_cpus(), first.message_bytes, first.keys.clone())
    });
    lines
}

impl Line<'_> {
    fn values(&self) -> Vec<Value> {
        let columns: &[Column] =
            if self.first.column.is_of_cpus() { &Column::OF_CPUS } else { &Column::OF_GPUS };
        let value = |column: &Column| {
            let (name, experiment, figures) = column.head();
            let rate = self.rates.get(column).copied();
            let missing =
                || format!("no record has it; run `cipherlane lab run {experiment}` on that machine");
            beside(known(name, "MB/s", rate.ok_or_else(missing)), STUDY, figures)
        };
        columns.iter().map(value).collect()
    }

    /// Its machine for people.
    fn machine(&self) -> String {
        let Found { host, name, .. } = &self.first;
        if self.first.column.is_of_cpus() {
            format!("{name} ({})", host.logical_cores)
        } else {
            (*name).to_owned()
        }
    }

    /// The same, with what tells it from other machines of that name in `lines`.
    fn machine_among(&self, lines: &[Self]) -> String {
        let machine = self.machine();
        let is_other =
            |other: &Self| !other.first.host.is_machine_of(self.first.host) && other.machine() == machine;
        if !lines.iter().any(is_other) {
            return machine;
        }
        match &self.first.host.cpu_signature {
            Some(signature) => format!("{machine}, {signature}"),
            None => format!("{machine}, of a family that its record does not tell"),
        }
    }

    fn row(&self, lines: &[Self]) -> Row {
        let Found { message_bytes, keys, .. } = &self.first;
        Row {
            axes: BTreeMap::from([
                ("machine".to_owned(), Axis::Name(self.machine_among(lines))),
                ("message bytes".to_owned(), Axis::Number(*message_bytes as f64)),
                ("keys".to_owned(), Axis::Name(keys.clone())),
            ]),
            values: self.values(),
            notes: vec![format!(
                "{ALGORITHM}, data in memory, no transfers; the study's messages are said to have 128 B and are shorter \
                 (see cavp-mix), so rows of other messages stand beside it for their order alone"
            )],
            ..Row::default()
        }
    }
}

impl Run for Generations {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let step = (format!("reads {} records", setting.records.len()), Duration::ZERO);
        if self.nothing(setting).is_some() { Vec::new() } else { vec![step] }
    }

    fn nothing(&self, setting: &Setting<'_>) -> Option<String> {
        let is_none = setting.records.iter().flat_map(found).next().is_none();
        is_none.then(|| {
            format!(
                "of {} records none is of {ALGORITHM} on one thread or on all; name files of `lab run cpu-threads`, `lab run \
                 core-vs-core` or `bench`: cipherlane lab run generations one.jsonl another.jsonl",
                setting.records.len()
            )
        })
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let lines = lines(setting.records);
        if let Some(reason) = self.nothing(setting) {
            setting.skip(observer, setting.cpu, None, reason);
        }
        for line in &lines {
            let subject = if line.first.column.is_of_cpus() { "CPUs" } else { "GPUs" };
            let mut row = line.row(&lines);
            row.notes.extend(setting.doubts());
            let observed = setting.observation_of(line.first.host, (subject, "of the records"), row);
            observer.observed(&observed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn records_of(files: &[&str]) -> Vec<Record> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records");
        files.iter().flat_map(|file| cipherlane_record::read(&folder.join(file)).unwrap()).collect()
    }

    /// Two Intel CPUs that give themselves the same name.
    #[test]
    fn machines_of_one_name_are_told_apart() {
        let records = records_of(&["granite-rapids-vm/bench.jsonl", "emerald-rapids-vm/bench.jsonl"]);
        let lines = lines(&records);
        let places: Vec<_> = lines.iter().map(|line| line.row(&lines).axes).collect();
        for (index, place) in places.iter().enumerate() {
            assert!(!places[..index].contains(place), "{place:?}");
        }
        let is_signed = |place: &BTreeMap<String, Axis>| place["machine"].to_string().contains("model 207");
        assert!(places.iter().any(is_signed), "{places:?}");
        let alone = records_of(&["emerald-rapids-vm/bench.jsonl"]);
        let alone = self::lines(&alone);
        assert!(alone.iter().all(|line| !is_signed(&line.row(&alone).axes)));
    }

    /// Two machines of `records/`: rates of rows that were measured there.
    #[test]
    fn records_of_two_machines_make_both_tables() {
        let records = records_of(&["granite-rapids-vm/bench.jsonl", "h200/table.jsonl"]);
        let lines = lines(&records);
        let (cpus, gpus): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.first.column.is_of_cpus());
        let tls = |line: &&&Line<'_>| line.first.message_bytes == 16_384 && line.first.keys == "same";
        let cpu = cpus.iter().find(tls).unwrap();
        let gain = cpu.rates[&Column::SpecialAll] / cpu.rates[&Column::SpecialOne];
        assert!((1.0..2.0).contains(&gain), "{gain}");
        // Nobody ran plain code there: the figure is missing with its remedy, and not 0.
        let plain = &cpu.values()[1];
        assert!(plain.value.is_none() && plain.reason.as_ref().unwrap().contains("lab run cpu-threads"));
        let gpu = gpus.iter().find(tls).unwrap();
        assert!(gpu.rates[&Column::GpuAll] > 100.0 * cpu.rates[&Column::SpecialOne] / 10.0);
        assert!(gpus.iter().all(|line| line.first.name.contains("H200")));
    }
}
