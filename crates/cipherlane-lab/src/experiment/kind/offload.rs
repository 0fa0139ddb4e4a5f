//! What a device takes off the CPU, against the size of the data (study 002).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device, Wish};
use cipherlane_record::{Axis, Value};
use serde::Deserialize;

use crate::experiment::setting::{Row, Run, Setting, beside, known, median, value};
use crate::experiment::steady::{Often, Steady, Work};
use crate::observer::Observer;
use crate::statistics::{self, FEWEST_ROUNDS};

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Offload {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithms")]
    pub(super) algorithms: Vec<Algorithm>,
    /// Bytes of the data.
    pub(super) sizes: Vec<usize>,
    /// The data is cut into messages of so many bytes; smaller data is one message.
    pub(super) message_bytes: usize,
    /// Runs of each point.
    pub(super) repetitions: usize,
    /// Seconds after which a point ends, however many runs there were.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    pub(super) seconds: f64,
}

/// Why the CPU takes no part.
const NO_PART: &str = "the CPU takes nothing off itself";

const STUDY: &str = "002.3";
/// From how many bytes on the study's GPU saves anything, which is 20 % at once: not told algorithm by algorithm.
const SAVES_FROM: [(f64, &str); 1] = [(262_144.0, "the study's GPU, its algorithms taken together")];
/// The most that it saves of all sizes and algorithms, and of which.
const MOST_SAVED: [(f64, &str); 1] = [(60.0, "the study's GPU, best of all sizes")];
const MOST_SAVED_OF: &str = "aes-256-ctr";

/// Times of the runs of a point, in seconds.
#[derive(Debug, Default)]
pub(super) struct Times {
    pub(super) total: Vec<f64>,
    pub(super) gpu: Vec<f64>,
}

impl Offload {
    /// A session of `device` for `size` bytes.
    pub(super) fn open(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        algorithm: Algorithm,
        size: usize,
    ) -> Result<Steady, String> {
        let message_bytes = size.min(self.message_bytes);
        let messages = Some((size / message_bytes.max(1)).max(1));
        let threads = setting.is_cpu(device).then_some(1);
        let work = Work::forward(algorithm, message_bytes, messages);
        Steady::open(setting, device, &work, &Wish { threads, ..Wish::default() })
    }

    /// Runs the batch as often as asked for, or until the time is up; the first and the last run are looked at.
    pub(super) fn times(&self, setting: &Setting<'_>, steady: &mut Steady) -> Result<Times, String> {
        let most = Duration::from_secs_f64(self.seconds);
        let spans = steady.repeat(setting, Often { runs: self.repetitions, dropped: 1, most })?;
        Ok(Times {
            total: spans.iter().map(|spans| spans.wall.as_secs_f64()).collect(),
            gpu: spans.iter().map(|spans| spans.execute.as_secs_f64()).collect(),
        })
    }

    /// What is timed in one of so many `visits`: its part of the runs and of the time.
    pub(super) fn shared_out(&self, visits: usize) -> Self {
        Self {
            repetitions: self.repetitions.div_ceil(visits),
            seconds: self.seconds / visits as f64,
            ..self.clone()
        }
    }

    pub(super) fn axes(algorithm: Algorithm, size: usize) -> BTreeMap<String, Axis> {
        BTreeMap::from([
            ("algorithm".to_owned(), Axis::Name(algorithm.to_string())),
            ("bytes".to_owned(), Axis::Number(size as f64)),
        ])
    }

    /// Points of all algorithms and sizes.
    pub(super) fn points(&self) -> impl Iterator<Item = (Algorithm, usize)> {
        self.algorithms.iter().flat_map(|&algorithm| self.sizes.iter().map(move |&size| (algorithm, size)))
    }

    fn point(
        &self,
        setting: &Setting<'_>,
        device: &dyn Device,
        algorithm: Algorithm,
        size: usize,
    ) -> Result<Row, String> {
        let mut theirs = self.open(setting, device, algorithm, size)?;
        let mut own = self.open(setting, setting.cpu, algorithm, size)?;
        let mark = setting.sampler.mark();
        let (part, mut visits) = (self.shared_out(VISITS), Vec::new());
        for visit in 0..VISITS {
            // Each second visit goes the other way round, so that a steady drift cancels.
            visits.push(if visit % 2 == 0 {
                let with = part.times(setting, &mut theirs)?;
                Visit { with, without: part.times(setting, &mut own)?.total }
            } else {
                let without = part.times(setting, &mut own)?.total;
                Visit { with: part.times(setting, &mut theirs)?, without }
            });
        }
        Ok(Row {
            values: values(&visits, setting.seed),
            samples: visits.iter().flat_map(|visit| &visit.with.total).map(|seconds| 1e6 * seconds).collect(),
            verified: Some(theirs.verified() && own.verified()),
            timeline: Some(setting.sampler.since(mark)),
            notes: vec![format!(
                "without the device: one thread of {}; a message has at most {} B; both took turns, {VISITS} times: \
                 intervals are over these visits",
                setting.cpu.info().name,
                self.message_bytes
            )],
            ..Row::default()
        })
    }
}

/// Turns of a device and of the CPU at one size, among which the runs of a point are shared out.
const VISITS: usize = FEWEST_ROUNDS;

/// What one of them saw.
struct Visit {
    with: Times,
    /// Seconds of the CPU's runs.
    without: Vec<f64>,
}

impl Visit {
    /// The study's four times in microseconds, by their medians, and the percent that is saved of the CPU's.
    fn found(&self) -> [f64; 5] {
        let Times { total, gpu } = &self.with;
        let median = |seconds: &[f64]| 1e6 * statistics::median(seconds);
        let on_cpu: Vec<f64> = total.iter().zip(gpu).map(|(total, gpu)| total - gpu).collect();
        let (on_cpu, without) = (median(&on_cpu), median(&self.without));
        [median(total), median(gpu), on_cpu, without, 100.0 * (without - on_cpu) / without]
    }
}

/// What is saved of the CPU's time, as values of a size have it.
const SAVED: &str = "t_saved";

/// The study's four times, and what is saved of the CPU's: medians over the visits.
fn values(visits: &[Visit], seed: u64) -> Vec<Value> {
    let found: Vec<[f64; 5]> = visits.iter().map(Visit::found).collect();
    let of = |place: usize| found.iter().map(|visit| visit[place]).collect::<Vec<_>>();
    [("t_total", "µs"), ("t_gpu", "µs"), ("t_cpu", "µs"), ("t_no_gpu", "µs"), (SAVED, "%")]
        .into_iter()
        .enumerate()
        .map(|(place, (name, unit))| median(name, unit, &of(place), seed))
        .collect()
}

/// What is saved at a size with these `values`, unless its outputs were wrong.
fn counted(verified: Option<bool>, values: &[Value]) -> Option<f64> {
    let saved = values.iter().find(|value| value.name == SAVED)?;
    saved.value.filter(|_| verified != Some(false))
}

/// The smallest size from which on more than `percent` is saved, of what is `saved` by sizes.
fn saves_from(saved: &BTreeMap<usize, f64>, percent: f64) -> Result<f64, String> {
    let saving = saved.iter().rev().take_while(|(_, saved)| **saved > percent);
    let from = saving.last().map(|(size, _)| *size as f64);
    from.ok_or_else(|| format!("not more than {percent} % is saved at the largest size"))
}

/// What the sizes of `algorithm` add up to.
fn summary(algorithm: Algorithm, saved: &BTreeMap<usize, f64>) -> Vec<Value> {
    let most = saved.values().copied().fold(f64::NEG_INFINITY, f64::max);
    let figures = if algorithm.to_string() == MOST_SAVED_OF { &MOST_SAVED[..] } else { &[] };
    vec![
        beside(known("saves from", "B", saves_from(saved, 0.0)), STUDY, &SAVES_FROM),
        beside(known("saves 20 % from", "B", saves_from(saved, 20.0)), STUDY, &SAVES_FROM),
        beside(value("most saved", "%", most), STUDY, figures),
    ]
}

impl Offload {
    /// The row of what is `saved` by the sizes of `algorithm`.
    fn summed_up(&self, algorithm: Algorithm, saved: &BTreeMap<usize, f64>) -> Result<Row, String> {
        if saved.is_empty() {
            return Err(format!("{algorithm}: no size was timed, so there is none to save from"));
        }
        let missing = self.sizes.len().saturating_sub(saved.len());
        let mut notes =
            vec!["saves from: the smallest size from which on all that are larger save as well".to_owned()];
        if missing > 0 {
            notes.push(format!(
                "{missing} of {} sizes have no time or wrong outputs, and are left out",
                self.sizes.len()
            ));
        }
        Ok(Row { values: summary(algorithm, saved), notes, ..Row::default() })
    }

    /// The rows of all sizes of `algorithm`, and what they add up to.
    fn sizes(
        &self,
        setting: &Setting<'_>,
        observer: &mut dyn Observer,
        device: &dyn Device,
        algorithm: Algorithm,
    ) -> io::Result<()> {
        let mut all = BTreeMap::new();
        for &size in &self.sizes {
            let axes = Self::axes(algorithm, size);
            let kept = setting.found(device, &axes);
            let mut saved = kept.and_then(|row| counted(row.verified, &row.values));
            let make = || {
                let row = self.point(setting, device, algorithm, size)?;
                saved = counted(row.verified, &row.values);
                Ok(row)
            };
            setting.point(observer, device, Some(algorithm), axes, make)?;
            all.extend(saved.map(|saved| (size, saved)));
        }
        let axes = BTreeMap::from([("algorithm".to_owned(), Axis::Name(algorithm.to_string()))]);
        setting.point(observer, device, Some(algorithm), axes, || self.summed_up(algorithm, &all))
    }
}

impl Run for Offload {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        // Two devices take turns: at most twice the time of a point.
        let time = Duration::from_secs_f64(2.0 * self.seconds);
        let of = |device: &&dyn Device| {
            let id = device.info().id.clone();
            let point = move |(algorithm, size): (Algorithm, usize)| {
                (format!("{algorithm}, {size} B, on {id}"), time)
            };
            self.points().map(point).collect::<Vec<_>>()
        };
        setting.devices.iter().filter(|device| !setting.is_cpu(**device)).flat_map(of).collect()
    }

    fn nothing(&self, setting: &Setting<'_>) -> Option<String> {
        setting.without_gpus(NO_PART)
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for device in setting.gpus(observer, NO_PART) {
            for &algorithm in &self.algorithms {
                self.sizes(setting, observer, device, algorithm)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_the_part_of_the_cpus_time_that_is_left_over() {
        let visit = |slower: f64| {
            let seconds = |times: &[f64]| times.iter().map(|time| 1e-6 * slower * time).collect::<Vec<_>>();
            let with = Times { total: seconds(&[100.0, 110.0, 90.0]), gpu: seconds(&[60.0; 3]) };
            Visit { with, without: seconds(&[80.0]) }
        };
        let all: Vec<Visit> = (0..VISITS).map(|number| visit(1.0 + number as f64)).collect();
        let near = |value: &Value, wanted: f64| (value.value.unwrap() - wanted).abs() < 1e-9;
        let values = values(&all, 1);
        assert!(near(&values[4], 50.0), "{values:?}");
        // The visits are 1 to 6 times as slow, which is no doubt about what is saved.
        assert!(near(&values[0], 350.0), "{values:?}");
        let width = |value: &Value| value.ci95.map(|interval| interval.high - interval.low).unwrap();
        assert!(width(&values[4]) < 1e-9 && width(&values[0]) > 100.0, "{values:?}");
        assert!(values[4].published.is_empty(), "the study's figures are of all sizes");
        assert_eq!((counted(Some(true), &values), counted(Some(false), &values)), (Some(50.0), None));
    }

    #[test]
    fn sizes_add_up_to_where_saving_begins_and_to_the_most() {
        // What saves at 1 KiB and not at 32 KiB saves from neither.
        let saved = BTreeMap::from([(1024, 5.0), (32_768, -10.0), (262_144, 15.0), (1_048_576, 40.0)]);
        let of = |algorithm: &str| summary(algorithm.parse().unwrap(), &saved);
        let found: Vec<_> = of("aes-128-ctr").iter().map(|value| value.value).collect();
        assert_eq!(found, [Some(262_144.0), Some(1_048_576.0), Some(40.0)]);
        let figures = |algorithm: &str, place: usize| {
            of(algorithm)[place].published.iter().map(|one| one.value).collect::<Vec<_>>()
        };
        assert_eq!((figures("aes-256-ctr", 2), figures("aes-128-ctr", 2)), (vec![60.0], Vec::new()));
        assert_eq!((figures("keccak-512", 0), figures("keccak-512", 1)), (vec![262_144.0], vec![262_144.0]));
        let none = BTreeMap::from([(1024, 30.0), (1_048_576, 0.0)]);
        assert!(saves_from(&none, 0.0).unwrap_err().contains("not more than 0 %"));
    }
}
