//! Batches on several queues: latency and throughput by the number of messages and of streams (study 004).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device, Operation, Spans, StreamSpans, Wish};
use cipherlane_record::{Axis, Keys, Value};
use serde::Deserialize;

use crate::experiment::setting::{Row, Run, Setting, beside, median, value};
use crate::experiment::steady::{Often, Prepared, Work};
use crate::experiment::units::link_gigabytes;
use crate::observer::Observer;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Streams {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithm")]
    algorithm: Algorithm,
    /// And how.
    #[serde(deserialize_with = "super::super::fields::operations")]
    operations: Vec<Operation>,
    /// Bytes of a message.
    message_bytes: usize,
    /// Messages of a batch.
    #[serde(deserialize_with = "super::super::fields::counts")]
    messages: Vec<usize>,
    /// Queues on which copies and kernels overlap.
    #[serde(deserialize_with = "super::super::fields::counts")]
    streams: Vec<usize>,
    /// Runs of each point.
    runs: usize,
    /// Seconds after which a point ends, however many runs there were.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
}

/// Why the CPU takes no part.
const NO_PART: &str = "the CPU has no streams";

/// The table of encryption, and what the text says of decryption.
const STUDY: &str = "004.1";
const STUDY_DECRYPTION: &str = "004.2";
/// The link that the study holds its throughput against: PCIe 2.0 with sixteen lanes, GB/s each way.
const STUDY_LINK: &str = "004.4";
const LINK_OF_THE_STUDY: f64 = 8.0;

/// The study's card, by the streams on which a figure was measured.
const fn card(streams: usize) -> &'static str {
    match streams {
        1 => "a Tesla C2075, 1 stream",
        _ => "a Tesla C2075, 4 streams",
    }
}

/// A point of the study: messages and streams, then microseconds, where it gives them, and Mbit/s.
struct Figures {
    operation: Operation,
    point: (usize, usize),
    microseconds: Option<f64>,
    megabits: f64,
}

const fn figures(
    operation: Operation,
    point: (usize, usize),
    microseconds: Option<f64>,
    megabits: f64,
) -> Figures {
    Figures { operation, point, microseconds, megabits }
}

const PUBLISHED: [Figures; 8] = [
    figures(Operation::Encrypt, (1, 1), Some(7363.0), 17.0),
    figures(Operation::Encrypt, (4096, 1), Some(63_400.0), 8467.0),
    figures(Operation::Encrypt, (1, 4), Some(2199.0), 59.0),
    figures(Operation::Encrypt, (4096, 4), Some(27_270.0), 19_687.0),
    figures(Operation::Decrypt, (1, 4), Some(46.0), 2849.0),
    figures(Operation::Decrypt, (8, 4), None, 18_396.0),
    figures(Operation::Decrypt, (64, 4), None, 19_195.0),
    figures(Operation::Decrypt, (4096, 4), None, 18_926.0),
];

/// What a message takes of a chunk beside its text, at most: its key, its IV, its offset.
const ROW_BYTES: usize = 96;

/// The chunk that spreads `messages` messages of `message_bytes` bytes evenly over `streams` streams.
const fn chunk(messages: usize, message_bytes: usize, streams: usize) -> usize {
    // Messages that no memory holds are refused where the batch is made, and have no chunk that could wrap.
    messages.div_ceil(streams).saturating_mul(message_bytes.saturating_add(ROW_BYTES))
}

/// What spreads a batch of `messages` messages over `streams` streams.
pub(super) fn wish(messages: usize, message_bytes: usize, streams: usize) -> Wish {
    let chunk = Some(chunk(messages, message_bytes, streams));
    Wish { streams: Some(streams), chunk, ..Wish::default() }
}

/// Messages with a key each, as the records of different connections have.
pub(super) fn keyed(
    algorithm: Algorithm,
    operation: Operation,
    message_bytes: usize,
    messages: usize,
) -> Work {
    Work { operation, keys: Keys::Distinct, ..Work::forward(algorithm, message_bytes, Some(messages)) }
}

/// The value of which part of its link a device makes use.
pub(super) const OF_THE_LINK: &str = "of the link";

/// Percent of a link, `gigabytes` a second each way, that `megabits` of text a second take each way.
pub(super) fn of_the_link(megabits: f64, gigabytes: f64) -> f64 {
    100.0 * 1e6 / 8.0 * megabits / (1e9 * gigabytes)
}

/// Latency, throughput and its part of the link, beside the study's of the same point.
fn published(
    algorithm: Algorithm,
    operation: Operation,
    point: (usize, usize),
    values: Vec<Value>,
) -> Vec<Value> {
    let source = if operation == Operation::Encrypt { STUDY } else { STUDY_DECRYPTION };
    let is_same = |of: &&Figures| of.operation == operation && of.point == point;
    let figures = PUBLISHED.iter().find(is_same).filter(|_| algorithm.to_string() == "aes-128-cbc");
    let Some(figures) = figures else { return values };
    let (on, megabits) = (card(point.1), figures.megabits);
    let latencies: Vec<(f64, &str)> = figures.microseconds.iter().map(|&found| (found, on)).collect();
    let with_figures = |value: Value| match value.name.as_str() {
        "latency" => beside(value, source, &latencies),
        "throughput" => beside(value, source, &[(megabits, on)]),
        OF_THE_LINK => beside(value, STUDY_LINK, &[(of_the_link(megabits, LINK_OF_THE_STUDY), on)]),
        _ => value,
    };
    values.into_iter().map(with_figures).collect()
}

/// What each stream did in `runs`: medians. Where devices share out the batch, which are not the `subject`, streams are
/// told apart by them as well.
fn of_streams(
    subject: &str,
    axes: &BTreeMap<String, Axis>,
    runs: &[(Spans, Vec<StreamSpans>)],
    seed: u64,
) -> Vec<Row> {
    let Some((_, last)) = runs.last() else { return Vec::new() };
    let row = |(index, stream): (usize, &StreamSpans)| {
        let time = |name: &str, of: fn(&StreamSpans) -> Duration| {
            let streams = runs.iter().filter_map(|(_, streams)| streams.get(index));
            let microseconds: Vec<f64> = streams.map(|one| 1e6 * of(one).as_secs_f64()).collect();
            median(name, "µs", &microseconds, seed)
        };
        let mut axes = axes.clone();
        axes.insert("stream".to_owned(), Axis::Number(stream.stream as f64));
        if stream.device != subject {
            axes.insert("device".to_owned(), stream.device.as_str().into());
        }
        Row {
            axes,
            values: vec![
                value("chunks", "1", stream.chunks as f64),
                time("to device", |one| one.load),
                time("kernels", |one| one.execute),
                time("to host", |one| one.store),
            ],
            notes: vec![
                "rows of a stream are of the largest batch, by the device's events; streams run side by side"
                    .to_owned(),
            ],
            ..Row::default()
        }
    };
    last.iter().enumerate().map(row).collect()
}

/// What came of a point.
struct Found {
    row: Row,
    /// Of the largest batch, stream by stream.
    streams: Vec<Row>,
}

impl Streams {
    fn axes(operation: Operation, (messages, streams): (usize, usize)) -> BTreeMap<String, Axis> {
        BTreeMap::from([
            ("operation".to_owned(), operation.name().into()),
            ("messages".to_owned(), Axis::Number(messages as f64)),
            ("streams".to_owned(), Axis::Number(streams as f64)),
        ])
    }

    fn point(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        batch: &Prepared,
        operation: Operation,
        (messages, streams): (usize, usize),
    ) -> Result<Found, String> {
        let mark = setting.sampler.mark();
        let mut steady = batch.open(device, &wish(messages, self.message_bytes, streams))?;
        let most = Duration::from_secs_f64(self.seconds);
        let runs = steady.repeat_by_stream(setting, Often { runs: self.runs, dropped: 2, most })?;
        let latencies: Vec<f64> = runs.iter().map(|(spans, _)| 1e6 * spans.wall.as_secs_f64()).collect();
        let bits = 8.0 * steady.bytes() as f64;
        let rates: Vec<f64> = latencies.iter().map(|microseconds| bits / microseconds).collect();
        let mut values = vec![
            median("latency", "µs", &latencies, setting.seed),
            median("throughput", "Mbit/s", &rates, setting.seed),
        ];
        // Digests do not fill the way back: what is read of the link is that of texts which go both ways.
        let link = link_gigabytes(device).ok().filter(|_| self.algorithm.hash().is_none());
        values.extend(link.map(|link| {
            let parts: Vec<f64> = rates.iter().map(|&rate| of_the_link(rate, link)).collect();
            median(OF_THE_LINK, "%", &parts, setting.seed)
        }));
        let row = Row {
            values: published(self.algorithm, operation, (messages, streams), values),
            samples: latencies,
            verified: Some(steady.verified()),
            timeline: Some(setting.sampler.since(mark)),
            notes: vec![format!(
                "{}, messages of {} B with a key each, from the host's memory and back to it, by way of staging: the \
                 batch is cut into as many parts as there are streams; latency is that of the whole batch; of the \
                 link: texts each way in that time, by what the link carries each way at its highest",
                self.algorithm, self.message_bytes
            )],
            ..Row::default()
        };
        let mut of_each = Vec::new();
        if self.messages.iter().all(|&other| other <= messages) {
            let axes = Self::axes(operation, (messages, streams));
            of_each = of_streams(&device.info().id, &axes, &runs, setting.seed);
            of_each.iter_mut().for_each(|one| one.verified = row.verified);
        }
        Ok(Found { row, streams: of_each })
    }

    fn points(&self) -> impl Iterator<Item = (Operation, usize)> {
        self.operations
            .iter()
            .flat_map(|&operation| self.messages.iter().map(move |&messages| (operation, messages)))
    }
}

impl Run for Streams {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let time = Duration::from_secs_f64(self.seconds);
        let mut points = Vec::new();
        for (operation, messages) in self.points() {
            for device in setting.devices.iter().filter(|device| !setting.is_cpu(**device)) {
                let id = &device.info().id;
                points.extend(self.streams.iter().map(|streams| {
                    (format!("{operation} {messages} messages on {streams} streams of {id}"), time)
                }));
            }
        }
        points
    }

    fn nothing(&self, setting: &Setting<'_>) -> Option<String> {
        setting.without_gpus(NO_PART)
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let devices = setting.gpus(observer, NO_PART);
        for (operation, messages) in self.points() {
            let mut batch = None;
            for (&device, &streams) in
                devices.iter().flat_map(|device| self.streams.iter().map(move |streams| (device, streams)))
            {
                let axes = Self::axes(operation, (messages, streams));
                let mut of_each = Vec::new();
                let make = || {
                    let batch = batch.get_or_insert_with(|| {
                        keyed(self.algorithm, operation, self.message_bytes, messages).batch(setting, 1)
                    });
                    let batch = batch.as_ref().map_err(Clone::clone)?;
                    let found = self.point(setting, device, batch, operation, (messages, streams));
                    let found = found
                        .map_err(|reason| format!("{messages} messages, streams {streams}: {reason}"))?;
                    of_each = found.streams;
                    Ok(found.row)
                };
                setting.point(observer, device, Some(self.algorithm), axes, make)?;
                for row in of_each {
                    let axes = row.axes.clone();
                    setting.point(observer, device, Some(self.algorithm), axes, || Ok(row))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cipherlane_record::Value;

    use super::*;

    #[test]
    fn a_chunk_is_a_stream_s_part_of_the_batch() {
        assert_eq!(chunk(4096, 16_384, 4), 1024 * (16_384 + ROW_BYTES));
        assert_eq!(chunk(1, 16_384, 8), 16_384 + ROW_BYTES);
        assert_eq!(chunk(5, 16_384, 2), 3 * (16_384 + ROW_BYTES));
        assert_eq!(chunk(1000, usize::MAX / 4, 1), usize::MAX);
    }

    #[test]
    fn streams_have_rows_of_their_own() {
        let stream = |device: &str, stream, microseconds| StreamSpans {
            chunks: 3,
            load: Duration::from_micros(microseconds),
            ..StreamSpans::idle(device, stream)
        };
        let run = |times: [u64; 2]| {
            (Spans::default(), vec![stream("cuda:0", 0, times[0]), stream("cuda:1", 0, times[1])])
        };
        let axes = Streams::axes(Operation::Encrypt, (64, 1));
        let rows = of_streams("cuda:0", &axes, &[run([5, 60]), run([9, 20]), run([7, 40])], 1);
        let found: Vec<_> = rows
            .iter()
            .map(|row| {
                (row.axes.get("device").map(Axis::to_string), row.values[0].value, row.values[1].value)
            })
            .collect();
        assert_eq!(found, [(None, Some(3.0), Some(7.0)), (Some("cuda:1".to_owned()), Some(3.0), Some(40.0))]);
        assert!(
            rows.iter().all(|row| row.axes["stream"] == Axis::Number(0.0) && row.axes.len() > axes.len())
        );
        assert!(of_streams("cuda:0", &axes, &[], 1).is_empty());
    }

    #[test]
    fn the_study_s_figures_agree_with_each_other() {
        for figures in PUBLISHED {
            let (Some(microseconds), (messages, _)) = (figures.microseconds, figures.point) else { continue };
            let megabits = 8.0 * 16_384.0 * messages as f64 / microseconds;
            assert!((megabits / figures.megabits - 1.0).abs() < 0.05, "{megabits} {}", figures.megabits);
        }
    }

    #[test]
    fn figures_stand_beside_the_point_that_they_are_of() {
        let values = || {
            [("latency", "µs"), ("throughput", "Mbit/s"), (OF_THE_LINK, "%")]
                .map(|(name, unit)| value(name, unit, 1.0))
                .to_vec()
        };
        let of = |algorithm: &str, operation, point| {
            let values = published(algorithm.parse().unwrap(), operation, point, values());
            let figures = |value: &Value| value.published.first().map(|figure| figure.value.round());
            values.iter().map(figures).collect::<Vec<_>>()
        };
        // 19,687 Mbit/s are 2.46 GB/s.
        let best = of("aes-128-cbc", Operation::Encrypt, (4096, 4));
        assert_eq!(best, [Some(27_270.0), Some(19_687.0), Some(31.0)]);
        let decrypted = of("aes-128-cbc", Operation::Decrypt, (64, 4));
        assert_eq!(decrypted, [None, Some(19_195.0), Some(30.0)]);
        assert_eq!(of("aes-128-cbc", Operation::Decrypt, (64, 1)), [None; 3]);
        assert_eq!(of("aes-256-cbc", Operation::Encrypt, (4096, 4)), [None; 3]);
    }

    #[test]
    fn figures_of_one_and_of_four_streams_have_names_of_their_own() {
        let on = |streams| {
            let values = vec![value("latency", "µs", 1.0)];
            let algorithm = "aes-128-cbc".parse().unwrap();
            published(algorithm, Operation::Encrypt, (4096, streams), values)[0].published[0].on.clone()
        };
        assert_eq!((&*on(1), &*on(4)), ("a Tesla C2075, 1 stream", "a Tesla C2075, 4 streams"));
        assert!(PUBLISHED.iter().all(|figures| [1, 4].contains(&figures.point.1)));
    }
}
