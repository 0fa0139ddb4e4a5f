//! Records as comma-separated values (RFC 4180), one line for each quantity: measurements and observations fit one
//! table, and every program that reads tables can select what it wants.

use std::fmt::Write as _;

use cipherlane_record::{Interval, Measurement, Observation, Record, StreamTimes};

const HEADER: &str = "record,experiment,machine,subject,subject_name,where,quantity,unit,value,low_95,high_95,\
                      verified,published";

/// The header, and the lines of every record.
pub(crate) fn text(records: &[Record]) -> String {
    let mut text = format!("{HEADER}\r\n");
    for (number, record) in records.iter().enumerate() {
        let lines = match record {
            Record::Measurement(row) => of_measurement(row),
            Record::Observation(row) => of_observation(row),
        };
        let machine = record.host().cpu_model.clone().unwrap_or_default();
        for line in lines {
            let head = [(number + 1).to_string(), record.experiment().to_owned(), machine.clone()];
            let cells: Vec<String> = head.into_iter().chain(line).map(quote).collect();
            let _ = write!(text, "{}\r\n", cells.join(","));
        }
    }
    text
}

/// A quantity: its name, unit, value and interval.
type Quantity = (&'static str, &'static str, Option<f64>, Option<Interval>);

fn of_measurement(row: &Measurement) -> Vec<[String; 10]> {
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
        ("throughput", "B/s", Some(row.bytes_per_second), Some(row.bytes_per_second_ci95)),
        ("messages", "1/s", Some(row.messages_per_second), None),
        ("cycles per byte", "1/B", row.cycles_per_byte, None),
        ("ceiling", "B/s", row.ceiling.as_ref().map(|one| one.bytes_per_second), None),
        ("best rival", "B/s", row.best_rival.as_ref().map(|best| best.rival_bytes_per_second), None),
        (
            "ratio to best rival",
            "1",
            row.best_rival.as_ref().map(|best| best.ratio),
            row.best_rival.as_ref().map(|best| best.ratio_ci95),
        ),
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
        Some([
            row.device.clone(),
            row.device_name.clone(),
            place.to_owned(),
            name.to_owned(),
            unit.to_owned(),
            value.to_string(),
            low,
            high,
            row.verified.to_string(),
            String::new(),
        ])
    };
    let whole = quantities.into_iter().filter_map(|quantity| line(&place, quantity));
    let streams = row.streams.iter().flat_map(|stream| {
        let place = format!("{place}, stream {} of {}", stream.stream, stream.device);
        of_stream(stream).into_iter().filter_map(move |quantity| line(&place, quantity))
    });
    whole.chain(streams).collect()
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

fn of_observation(row: &Observation) -> Vec<[String; 10]> {
    let axes: Vec<String> = row.axes.iter().map(|(name, place)| format!("{name}={place}")).collect();
    let line = |value: &cipherlane_record::Value| {
        let end = |of: fn(Interval) -> f64| value.ci95.map_or_else(String::new, |ends| of(ends).to_string());
        let figure =
            |one: &cipherlane_record::Published| format!("{} {} [{}]", one.value, one.on, one.source);
        [
            row.subject.clone(),
            row.subject_name.clone(),
            axes.join("; "),
            value.name.clone(),
            value.unit.clone(),
            value.value.map_or_else(String::new, |number| number.to_string()),
            end(|ends| ends.low),
            end(|ends| ends.high),
            row.verified.map_or_else(String::new, |right| right.to_string()),
            value.published.iter().map(figure).collect::<Vec<_>>().join("; "),
        ]
    };
    row.values.iter().map(line).collect()
}

/// RFC 4180 section 2, rules 6 and 7.
fn quote(value: String) -> String {
    if value.contains([',', '"', '\r', '\n']) { format!("\"{}\"", value.replace('"', "\"\"")) } else { value }
}
