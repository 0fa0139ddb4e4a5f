//! Records as comma-separated values (RFC 4180), one line for each quantity: measurements and observations fit one
//! table, and every program that reads tables can select what it wants.

use cipherlane_record::{Host, Interval, Load, Observation, Record, Share, StreamTimes, csv};

use crate::level;
use crate::machine::Machines;
use crate::row::Row;
use crate::section::Placed;

/// Of which record and machine a line is. Machines have the letters that they have on the page: several may have one name.
const HEAD: [&str; 4] = ["record", "experiment", "machine", "machine_name"];
/// What the quantity is of, what the number covers, and the number.
const LINE: [&str; 14] = [
    "subject",
    "subject_name",
    "where",
    "transfer",
    "cache",
    "key_setup",
    "load",
    "quantity",
    "unit",
    "value",
    "low_95",
    "high_95",
    "verified",
    "published",
];

/// What makes it citable, and stands last, for those who know the columns before: beside whom it was measured and what
/// that says, from how many samples, and by which build.
const SOURCE: [&str; 5] = ["rival", "verdict", "samples", "git_hash", "git_dirty"];

type Line = [String; LINE.len()];
type Source = [String; SOURCE.len()];

/// The header, and the lines of every record.
pub(crate) fn text(records: &[Placed<'_>], machines: &Machines<'_>) -> String {
    let mut text = csv::line(HEAD.into_iter().chain(LINE).chain(SOURCE).map(str::to_owned));
    for (number, &(machine, record)) in records.iter().enumerate() {
        let lines: Vec<(Line, Source)> = match record {
            Record::Measurement(row) => of_measurement(&Row::new(machine, row)),
            Record::Observation(row) => of_observation(row),
        };
        let head: [String; HEAD.len()] = [
            (number + 1).to_string(),
            record.experiment().to_owned(),
            Machines::letter(machine),
            machines.all()[machine].name(),
        ];
        let line =
            |(line, source): (Line, Source)| csv::line(head.clone().into_iter().chain(line).chain(source));
        text.extend(lines.into_iter().map(line));
    }
    text
}

/// A quantity: its name, unit, value and interval.
type Quantity = (&'static str, &'static str, Option<f64>, Option<Interval>);

/// Quantities that are of a row and its best rival.
const OF_BOTH: [&str; 2] = ["best rival", "ratio to best rival"];

fn of_measurement(row: &Row<'_>) -> Vec<(Line, Source)> {
    let place = format!(
        "{} {} {}, {} B, {} messages, keys {}, {} threads, {}",
        row.workload,
        row.algorithm,
        row.operation,
        row.message_bytes,
        row.messages,
        row.keys.name(),
        row.threads,
        row.kernel
    );
    let energy = row.energy.as_ref();
    let quantities: [Quantity; 12] = [
        ("throughput", "B/s", Some(row.bytes_per_second), row.interval()),
        ("messages", "1/s", Some(row.messages_per_second), None),
        ("cycles per byte", "1/B", row.cycles_per_byte, None),
        ("ceiling", "B/s", row.ceiling.as_ref().map(|one| one.bytes_per_second), None),
        (OF_BOTH[0], "B/s", row.best_rival.as_ref().map(|best| best.rival_bytes_per_second), None),
        (OF_BOTH[1], "1", row.best_rival.as_ref().map(|best| best.ratio), row.ratio_interval()),
        ("time to device", "s", row.times.map(|times| times.to_device_seconds), None),
        ("time of kernel", "s", row.times.map(|times| times.kernel_seconds), None),
        ("time to host", "s", row.times.map(|times| times.to_host_seconds), None),
        ("power", "W", energy.map(cipherlane_record::Energy::watts), None),
        ("bits per joule", "bit/J", energy.map(cipherlane_record::Energy::bits_per_joule), None),
        (
            "bits per joule without idle",
            "bit/J",
            energy.and_then(cipherlane_record::Energy::net_bits_per_joule),
            None,
        ),
    ];
    let line = |place: &str, (name, unit, value, interval): Quantity| {
        let value = value?;
        let ends =
            interval.map_or_else(Default::default, |ends| [ends.low.to_string(), ends.high.to_string()]);
        let [low, high] = ends;
        let line = [
            row.device.clone(),
            row.device_name.clone(),
            place.to_owned(),
            row.scope.transfer.name().to_owned(),
            row.scope.cache.name().to_owned(),
            row.scope.key_setup.name().to_owned(),
            row.load.as_ref().map_or_else(String::new, requested),
            name.to_owned(),
            unit.to_owned(),
            value.to_string(),
            low,
            high,
            row.verified.to_string(),
            String::new(),
        ];
        let best = row.best_rival.as_ref().zip(row.verdict()).filter(|_| OF_BOTH.contains(&name));
        let said = best.map_or_else(Default::default, |(best, verdict)| {
            [best.rival_name.clone(), verdict.name().to_owned()]
        });
        Some((line, source(said, row.summary.n, &row.host)))
    };
    let whole = quantities.into_iter().filter_map(|quantity| line(&place, quantity));
    let streams = row.streams.iter().flat_map(|stream| {
        let place = format!("{place}, stream {} of {}", stream.stream, stream.device);
        of_stream(stream).into_iter().filter_map(move |quantity| line(&place, quantity))
    });
    whole.chain(streams).collect()
}

/// The load that was asked for, as places on axes are written: `cpu=0.2; gpu=0.5`.
fn requested(load: &Load) -> String {
    let part = |name: &str, share: Option<Share>| Some(format!("{name}={}", share?.requested));
    part("cpu", load.cpu).into_iter().chain(part("gpu", load.gpu)).collect::<Vec<_>>().join("; ")
}

fn of_stream(stream: &StreamTimes) -> [Quantity; 4] {
    let times = stream.times;
    #[allow(clippy::cast_precision_loss)] // chunks of a batch
    let chunks = stream.chunks as f64;
    [
        ("chunks", "1", Some(chunks), None),
        ("time to device", "s", Some(times.to_device_seconds), None),
        ("time of kernel", "s", Some(times.kernel_seconds), None),
        ("time to host", "s", Some(times.to_host_seconds), None),
    ]
}

/// What observations cover stands in their axes.
fn of_observation(row: &Observation) -> Vec<(Line, Source)> {
    let axes: Vec<String> = row.axes.iter().map(|(name, place)| format!("{name}={place}")).collect();
    let line = |value: &cipherlane_record::Value| {
        let ends = level::interval(row, value);
        let end = |of: fn(Interval) -> f64| ends.map_or_else(String::new, |ends| of(ends).to_string());
        let figure =
            |one: &cipherlane_record::Published| format!("{} {} [{}]", one.value, one.on, one.source);
        let line = [
            row.subject.clone(),
            row.subject_name.clone(),
            axes.join("; "),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            value.name.clone(),
            value.unit.clone(),
            value.value.map_or_else(String::new, |number| number.to_string()),
            end(|ends| ends.low),
            end(|ends| ends.high),
            row.verified.map_or_else(String::new, |right| right.to_string()),
            value.published.iter().map(figure).collect::<Vec<_>>().join("; "),
        ];
        (line, source(Default::default(), row.samples.len(), &row.host))
    };
    row.values.iter().map(line).collect()
}

/// Rows without samples of their own say nothing of how many there were.
fn source([rival, verdict]: [String; 2], samples: usize, host: &Host) -> Source {
    let samples = if samples > 0 { samples.to_string() } else { String::new() };
    let dirty = host.tool.git_dirty.map_or_else(String::new, |dirty| dirty.to_string());
    [rival, verdict, samples, host.tool.git_hash.clone(), dirty]
}
