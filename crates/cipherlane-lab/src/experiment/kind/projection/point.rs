//! Throughputs that are known: the studies', those of records, and those that are measured here.

use std::collections::BTreeMap;

use cipherlane_record::{Axis, Keys, Measurement, Observation, Record, Transfer};

/// One job's throughput on one GPU.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    /// The GPU by name.
    pub(super) card: String,
    /// The job: the same words on every GPU.
    pub(super) job: String,
    pub(super) gigabits: f64,
    /// The part of the time in kernels, the rest being on the link; of kernels alone all of it. None where it is not
    /// told.
    pub(super) kernels: Option<f64>,
    /// Where the figure is from.
    pub(super) source: String,
}

/// Jobs that studies and records share.
pub(super) const ECB: &str = "AES-128-ECB, kernels alone";
pub(super) const GCM: &str = "AES-128-GCM of 128 B, a key each, kernels alone";

/// CBC of records, there and back.
pub(super) fn cbc(operation: &str, streams: usize) -> String {
    format!("AES-128-CBC {operation}, 4096 x 16 KiB there and back, streams: {streams}")
}

/// The studies' figures.
pub(super) fn published() -> Vec<Point> {
    let point = |card: &str, job: &str, gigabits: f64, kernels: f64, source: &str| Point {
        card: card.to_owned(),
        job: job.to_owned(),
        gigabits,
        kernels: Some(kernels),
        source: format!("study {source}"),
    };
    let mut points = Vec::new();
    for (operation, streams, gigabits, kernels) in
        [("encrypt", 1, 8.467, 0.8492), ("encrypt", 4, 19.687, 0.8810), ("decrypt", 4, 18.926, 0.4874)]
    {
        points.push(point("Tesla C2075", &cbc(operation, streams), gigabits, kernels, "004.1 to 004.3"));
    }
    for (card, gigabits) in [("HD 6770", 38.5), ("GTX 580", 75.8), ("GTX 680", 63.9), ("HD 7970", 205.0)] {
        points.push(point(card, ECB, gigabits, 1.0, "001.1"));
    }
    for (card, megabytes) in
        [("RTX 3050 (laptop)", 903.0), ("RTX 4060 (laptop)", 3100.0), ("RTX 4070 (laptop)", 4200.0)]
    {
        points.push(point(card, GCM, 8e-3 * megabytes, 1.0, "000.7"));
    }
    points
}

/// The throughputs in `records` of GPUs, each job of each GPU once: its best.
pub(super) fn recorded(records: &[Record]) -> Vec<Point> {
    let mut best: BTreeMap<(String, String), Point> = BTreeMap::new();
    for point in records.iter().flat_map(of_record) {
        let place = best.entry((point.card.clone(), point.job.clone())).or_insert_with(|| point.clone());
        if point.gigabits > place.gigabits {
            *place = point;
        }
    }
    best.into_values().collect()
}

fn of_record(record: &Record) -> Vec<Point> {
    match record {
        Record::Measurement(row) => of_measurement(row),
        Record::Observation(row) => of_observation(row).into_iter().collect(),
    }
}

fn of_measurement(row: &Measurement) -> Vec<Point> {
    let Some(times) = row.times.filter(|_| row.verified && row.geometry.is_some()) else { return Vec::new() };
    let alone = row.scope.transfer == Transfer::Excluded;
    let all = times.total_seconds();
    let way = if alone { "kernels alone" } else { "there and back" };
    let (algorithm, operation, messages, bytes) =
        (&row.algorithm, &row.operation, row.messages, row.message_bytes);
    let keys = format!("{:?}", row.keys).to_lowercase();
    let point = |job: String| Point {
        card: row.device_name.clone(),
        job,
        gigabits: 8e-9 * row.bytes_per_second,
        kernels: Some(if alone { 1.0 } else { times.kernel_seconds / all }),
        source: format!("records of {}", row.experiment),
    };
    let mut points =
        vec![point(format!("{algorithm} {operation}, {messages} x {bytes} B, keys: {keys}, {way}"))];
    if alone && algorithm == "aes-128-ecb" && operation == "encrypt" {
        points.push(point(ECB.to_owned()));
    }
    if alone
        && algorithm == "aes-128-gcm"
        && operation == "seal"
        && bytes == 128
        && row.keys == Keys::Distinct
    {
        points.push(point(GCM.to_owned()));
    }
    points
}

fn of_observation(row: &Observation) -> Option<Point> {
    let name = |axis: &str| match row.axes.get(axis)? {
        Axis::Name(name) => Some(name.as_str()),
        Axis::Number(_) => None,
    };
    let number = |axis: &str| match row.axes.get(axis)? {
        Axis::Number(number) => Some(*number),
        Axis::Name(_) => None,
    };
    let (job, gigabits) = match row.experiment.as_str() {
        "streams" if number("messages")? == 4096.0 => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few
            let streams = number("streams")? as usize;
            (cbc(name("operation")?, streams), 1e-3 * row.value("throughput")?)
        }
        "block-ciphers" if row.subject != "cpu" && name("algorithm")? == "aes-128-ecb" => {
            (ECB.to_owned(), row.value("mean")?)
        }
        // Keys change from record to record in the study's file.
        "gpu-grid" if name("keys")? == "one each" => (GCM.to_owned(), 8e-3 * row.value("throughput")?),
        _ => return None,
    };
    (row.verified == Some(true)).then(|| Point {
        card: row.subject_name.clone(),
        job,
        gigabits,
        kernels: (row.experiment != "streams").then_some(1.0),
        source: format!("records of {}", row.experiment),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_have_the_same_words_on_several_cards() {
        let points = published();
        let cards = |job: &str| points.iter().filter(|point| point.job == job).count();
        assert_eq!((cards(ECB), cards(GCM), cards(&cbc("encrypt", 4))), (4, 3, 1));
    }
}
