//! Where the time of a GPU goes: kernels, copies there, copies back, call by call (study 004).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device, Operation};
use cipherlane_offload::calls::{Calls, Watch};
use cipherlane_record::{Axis, Value};
use serde::Deserialize;

use super::streams::{OF_THE_LINK, keyed, of_the_link, wish};
use crate::experiment::setting::{Row, Run, Setting, beside, value};
use crate::experiment::steady::{Often, Prepared};
use crate::experiment::units::link_gigabytes;
use crate::observer::Observer;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Breakdown {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithm")]
    algorithm: Algorithm,
    /// And how.
    #[serde(deserialize_with = "super::super::fields::operations")]
    operations: Vec<Operation>,
    /// Queues on which copies and kernels overlap.
    #[serde(deserialize_with = "super::super::fields::counts")]
    streams: Vec<usize>,
    /// Bytes of a message.
    message_bytes: usize,
    /// Messages of a batch: the calls of all these batches are taken together.
    #[serde(deserialize_with = "super::super::fields::counts")]
    messages: Vec<usize>,
    /// Runs of each batch.
    runs: usize,
    /// Seconds after which a batch ends, however many runs there were.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
}

/// Why the CPU takes no part.
const NO_PART: &str = "the CPU copies nothing and launches no kernels";

const TO_DEVICE: &str = "to device";
const TO_HOST: &str = "to host";

const STUDY: &str = "004.3";
/// Percent of the time in kernels, in copies to the device, and to the host.
const PUBLISHED: [(Operation, usize, [f64; 3]); 3] = [
    (Operation::Encrypt, 1, [84.92, 7.85, 7.23]),
    (Operation::Encrypt, 4, [88.10, 6.07, 5.83]),
    (Operation::Decrypt, 4, [48.74, 27.28, 23.98]),
];

fn axes(operation: Operation, streams: usize, activity: &str) -> BTreeMap<String, Axis> {
    BTreeMap::from([
        ("operation".to_owned(), operation.name().into()),
        ("streams".to_owned(), Axis::Number(streams as f64)),
        ("activity".to_owned(), activity.into()),
    ])
}

/// What was seen of the calls of one case.
struct Seen {
    calls: Calls,
    verified: bool,
    /// Bytes of text of all runs.
    bytes: u64,
    /// What the device's link carries each way, in 1e9 bytes a second, where it is known.
    link: Option<f64>,
}

impl Seen {
    /// The part of the link that texts took in the `seconds` of all copies one way.
    fn of_the_link(&self, seconds: f64) -> Option<Value> {
        let megabits = 8e-6 * self.bytes as f64 / seconds;
        self.link.map(|link| value(OF_THE_LINK, "%", of_the_link(megabits, link)))
    }
}

impl Breakdown {
    /// Every call of all batches under `operation`.
    fn watch(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        batches: &[Prepared],
        streams: usize,
    ) -> Result<Seen, String> {
        let link = link_gigabytes(device).ok();
        let mut seen = Seen { calls: Calls::default(), verified: true, bytes: 0, link };
        for (batch, &messages) in batches.iter().zip(&self.messages) {
            let mut steady = batch.open(device, &wish(messages, self.message_bytes, streams))?;
            let most = Duration::from_secs_f64(self.seconds);
            let watch = Watch::start().ok_or("the calls of this program are watched already")?;
            let runs = steady.repeat(setting, Often { runs: self.runs, dropped: 0, most })?;
            let calls = watch.take();
            // One more, whose outputs were looked at.
            seen.bytes += steady.bytes() * (runs.len() as u64 + 1);
            seen.calls.kernels.extend(calls.kernels);
            seen.calls.to_device.extend(calls.to_device);
            seen.calls.to_host.extend(calls.to_host);
            seen.verified &= steady.verified();
        }
        Ok(seen)
    }

    /// Whether it is texts that `activity` copies: of a hash digests come back.
    fn moves_texts(&self, activity: &str) -> bool {
        activity == TO_DEVICE || activity == TO_HOST && self.algorithm.hash().is_none()
    }

    /// The rows of a case: one for each activity.
    fn rows(&self, operation: Operation, streams: usize, seen: &Seen) -> Vec<Row> {
        let Calls { kernels, to_device, to_host } = &seen.calls;
        let activities = [("kernels", kernels), (TO_DEVICE, to_device), (TO_HOST, to_host)];
        let sum = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64();
        let all: f64 = activities.iter().map(|(_, times)| sum(times)).sum();
        let published = PUBLISHED.iter().find(|row| (row.0, row.1) == (operation, streams));
        let published = published.filter(|_| self.algorithm.to_string() == "aes-128-cbc");
        let row = |place: usize| {
            let (activity, times) = activities[place];
            let microseconds: Vec<f64> = times.iter().map(|time| 1e6 * time.as_secs_f64()).collect();
            let figures: Vec<(f64, &str)> =
                published.iter().map(|row| (row.2[place], "a Tesla C2075")).collect();
            let low = microseconds.iter().copied().fold(f64::INFINITY, f64::min);
            let high = microseconds.iter().copied().fold(0.0, f64::max);
            let mut values = vec![
                beside(value("share", "%", 100.0 * sum(times) / all), STUDY, &figures),
                value("calls", "1", microseconds.len() as f64),
                value("average", "µs", 1e6 * sum(times) / microseconds.len() as f64),
                value("minimum", "µs", low),
                value("maximum", "µs", high),
            ];
            values.extend(seen.of_the_link(sum(times)).filter(|_| self.moves_texts(activity)));
            Row {
                axes: axes(operation, streams, activity),
                values,
                verified: Some(seen.verified),
                notes: vec![format!(
                    "{} by the device's own times of each copy and each launch; keys and IVs are copied apart from \
                     texts, and expanding keys is a launch of its own; shares are of the sum of the three, which \
                     overlap on several streams; of the link: bytes of texts in the time of copies that way; batches of \
                     {:?} messages",
                    self.algorithm, self.messages
                )],
                ..Row::default()
            }
        };
        (0..activities.len()).filter(|&place| !activities[place].1.is_empty()).map(row).collect()
    }

    fn case(
        &self,
        setting: &Setting<'_>,
        observer: &mut dyn Observer,
        device: &dyn Device,
        batches: &Result<Vec<Prepared>, String>,
        (operation, streams): (Operation, usize),
    ) -> io::Result<()> {
        let found = batches.as_ref().map_err(Clone::clone);
        match found.and_then(|batches| self.watch(setting, device, batches, streams)) {
            Ok(_) if setting.stopped() => {}
            Ok(seen) => {
                for row in self.rows(operation, streams, &seen) {
                    observer.observed(&setting.observation(device, row))?;
                }
            }
            Err(reason) => {
                let reason = format!("{operation} on {streams} streams: {reason}");
                setting.skip(observer, device, Some(self.algorithm), reason);
            }
        }
        Ok(())
    }
}

impl Run for Breakdown {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let time = Duration::from_secs_f64(self.seconds * self.messages.len() as f64);
        let mut cases = Vec::new();
        for device in setting.devices.iter().filter(|device| !setting.is_cpu(**device)) {
            for (operation, streams) in
                self.operations.iter().flat_map(|operation| self.streams.iter().map(move |n| (operation, n)))
            {
                cases.push((format!("{operation} on {streams} streams of {}", device.info().id), time));
            }
        }
        cases
    }

    fn nothing(&self, setting: &Setting<'_>) -> Option<String> {
        setting.without_gpus(NO_PART)
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let devices = setting.gpus(observer, NO_PART);
        for &operation in &self.operations {
            let mut batches = None;
            for (&device, &streams) in
                devices.iter().flat_map(|device| self.streams.iter().map(move |streams| (device, streams)))
            {
                if setting.stopped() || setting.is_done(device, &axes(operation, streams, "kernels")) {
                    continue;
                }
                let batches = batches.get_or_insert_with(|| {
                    let work = |&messages| keyed(self.algorithm, operation, self.message_bytes, messages);
                    self.messages.iter().map(|messages| work(messages).batch(setting, 1)).collect()
                });
                self.case(setting, observer, device, batches, (operation, streams))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_calls_and_averages_of_one() {
        let breakdown = Breakdown {
            algorithm: "aes-128-cbc".parse().unwrap(),
            operations: vec![Operation::Encrypt],
            streams: vec![4],
            message_bytes: 16,
            messages: vec![1],
            runs: 1,
            seconds: 1.0,
        };
        let times = |all: &[u64]| all.iter().copied().map(Duration::from_micros).collect::<Vec<_>>();
        let calls = Calls { kernels: times(&[60, 20]), to_device: times(&[15]), to_host: times(&[5]) };
        let rows = breakdown.rows(
            Operation::Encrypt,
            4,
            &Seen { calls, verified: true, bytes: 60_000, link: Some(8.0) },
        );
        let numbers = |row: &Row| row.values.iter().filter_map(|value| value.value).collect::<Vec<_>>();
        assert_eq!(rows.iter().map(|row| row.values[0].value.unwrap()).sum::<f64>(), 100.0);
        let close =
            numbers(&rows[0]).iter().zip([80.0, 2.0, 40.0, 20.0, 60.0]).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(close, "{:?}", rows[0]);
        assert_eq!(rows[0].values[0].published[0].value, 88.10);
        assert_eq!(rows[2].values[0].published[0].value, 5.83);
        // 60 kB in 15 µs are 4 GB/s, and in 5 µs 12: half of the link's 8, and more than it carries.
        let link: Vec<_> = rows.iter().map(|row| row.values.get(5).and_then(|value| value.value)).collect();
        let [kernels, Some(there), Some(back)] = link[..] else { panic!("{link:?}") };
        assert!(kernels.is_none() && (there - 50.0).abs() < 1e-9 && (back - 150.0).abs() < 1e-9, "{link:?}");
    }
}
