//! Blocks and their threads: how a GPU's throughput follows from the geometry of the launch (study 000).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device, Wish};
use cipherlane_record::{Axis, Keys};
use serde::Deserialize;

use crate::experiment::setting::{Row, Run, Setting, beside, known, median, value};
use crate::experiment::steady::{Often, Prepared, Work};
use crate::experiment::units::{cores_of_a_unit, units};
use crate::observer::Observer;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Grid {
    /// What is run.
    #[serde(deserialize_with = "super::super::fields::algorithm")]
    algorithm: Algorithm,
    /// One key for all messages, or one each: all sweeps for each of these.
    keys: Vec<Keys>,
    /// Bytes of a message.
    message_bytes: usize,
    /// Messages of the batch.
    messages: usize,
    /// Threads of a block, in a block for each unit of the device.
    threads: Vec<usize>,
    /// Numbers of blocks...
    blocks: Vec<usize>,
    /// ... and as multiples of the device's units ...
    blocks_by_unit: Vec<f64>,
    /// ... of so many threads.
    threads_of_blocks: usize,
    /// Blocks and their threads.
    pairs: Vec<(usize, usize)>,
    /// Runs of each point.
    runs: usize,
    /// Seconds after which a point ends, however many runs there were.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
}

/// MB/s of pairs, and where the curves break: at the cores of a multiprocessor, and at the multiprocessors.
const STUDY: &str = "000.5";
const CARD: &str = "an RTX 4070 (36 multiprocessors of 128 cores)";
const PUBLISHED: [((usize, usize), f64); 7] = [
    ((36, 128), 4200.0),
    ((36, 256), 4500.0),
    ((36, 512), 2500.0),
    ((72, 128), 4500.0),
    ((108, 128), 3300.0),
    ((108, 256), 2900.0),
    ((256, 512), 2700.0),
];
const THREADS_BREAK: f64 = 128.0;
const BLOCKS_BREAK: f64 = 36.0;
/// What is as good as the best of a sweep.
const AS_GOOD: f64 = 0.95;

/// One of the three questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sweep {
    Threads,
    Blocks,
    Pairs,
}

impl Sweep {
    const ALL: [Self; 3] = [Self::Threads, Self::Blocks, Self::Pairs];

    const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Blocks => "blocks",
            Self::Pairs => "pairs",
        }
    }
}

const fn name(keys: Keys) -> &'static str {
    match keys {
        Keys::Same => "one",
        Keys::Distinct => "one each",
    }
}

fn axes(sweep: &str, keys: Keys, (blocks, threads): (usize, usize)) -> BTreeMap<String, Axis> {
    BTreeMap::from([
        ("sweep".to_owned(), sweep.into()),
        ("keys".to_owned(), name(keys).into()),
        ("blocks".to_owned(), Axis::Number(blocks as f64)),
        ("threads per block".to_owned(), Axis::Number(threads as f64)),
    ])
}

/// The least value at which a sweep is as good as at its best.
fn knee(points: &[(usize, f64)]) -> Option<usize> {
    let best = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    points.iter().filter(|(_, rate)| *rate >= AS_GOOD * best && best > 0.0).map(|(at, _)| *at).min()
}

/// A device with the batch that it runs.
struct Stage<'a> {
    device: &'a dyn Device,
    keys: Keys,
    batch: Result<Prepared, String>,
}

impl Grid {
    fn work(&self, keys: Keys) -> Work {
        let work = Work::forward(self.algorithm, self.message_bytes, Some(self.messages));
        Work { keys, ..work }
    }

    /// Blocks and threads of the points of `sweep` on a device of `units` units.
    fn points(&self, sweep: Sweep, units: usize) -> Vec<(usize, usize)> {
        match sweep {
            Sweep::Threads => self.threads.iter().map(|&threads| (units, threads)).collect(),
            Sweep::Pairs => self.pairs.clone(),
            Sweep::Blocks => {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few thousand at most
                let by_unit = self.blocks_by_unit.iter().map(|times| (times * units as f64).round() as usize);
                let mut blocks: Vec<usize> = self.blocks.iter().copied().chain(by_unit).collect();
                blocks.retain(|&blocks| blocks > 0);
                blocks.sort_unstable();
                blocks.dedup();
                blocks.into_iter().map(|blocks| (blocks, self.threads_of_blocks)).collect()
            }
        }
    }

    fn point(
        &self,
        setting: &Setting<'_>,
        stage: &Stage<'_>,
        sweep: Sweep,
        pair: (usize, usize),
    ) -> Result<Row, String> {
        let (blocks, threads) = pair;
        let at = |reason: String| format!("{blocks} blocks of {threads} threads: {reason}");
        let wish = Wish { blocks: Some(blocks), threads_per_block: Some(threads), ..Wish::default() };
        let mark = setting.sampler.mark();
        let mut steady = stage.batch.as_ref()?.resident(stage.device, &wish).map_err(at)?;
        let most = Duration::from_secs_f64(self.seconds);
        let spans = steady.repeat(setting, Often { runs: self.runs, dropped: 1, most }).map_err(at)?;
        let rate = |seconds: f64| 1e-6 * steady.bytes() as f64 / seconds;
        let rates: Vec<f64> = spans.iter().map(|spans| rate(spans.execute.as_secs_f64())).collect();
        let figures: Vec<(f64, &str)> = PUBLISHED
            .iter()
            .filter(|(published, _)| sweep == Sweep::Pairs && *published == pair)
            .map(|&(_, figure)| (figure, CARD))
            .collect();
        Ok(Row {
            values: vec![beside(median("throughput", "MB/s", &rates, setting.seed), STUDY, &figures)],
            samples: rates,
            verified: Some(steady.verified()),
            timeline: Some(setting.sampler.since(mark)),
            notes: vec![format!(
                "{} by {} in the device's memory, messages of {} B; the study says messages of 128 B, but its file \
                 has texts of 13 to 51 B",
                self.algorithm,
                steady.plan().kernel,
                self.message_bytes
            )],
            ..Row::default()
        })
    }

    /// Runs all points of `sweep` and says where its curve breaks.
    fn sweep(
        &self,
        setting: &Setting<'_>,
        stage: &Stage<'_>,
        sweep: Sweep,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let Stage { device, keys, .. } = *stage;
        let units = units(device);
        let mut seen = Vec::new();
        for pair in self.points(sweep, units.clone().unwrap_or(1)) {
            let axes = axes(sweep.name(), keys, pair);
            if let Some(row) = setting.found(device, &axes) {
                seen.extend(row.value("throughput").map(|rate| (pair, rate)));
            }
            setting.point(observer, device, Some(self.algorithm), axes, || {
                let row = self.point(setting, stage, sweep, pair)?;
                seen.extend(row.values[0].value.map(|rate| (pair, rate)));
                Ok(row)
            })?;
        }
        let (by, unit_count, study) = match sweep {
            Sweep::Pairs => return Ok(()),
            Sweep::Threads => ("cores of a unit", cores_of_a_unit(device), THREADS_BREAK),
            Sweep::Blocks => ("units", units, BLOCKS_BREAK),
        };
        let along = |&((blocks, threads), rate): &((usize, usize), f64)| match sweep {
            Sweep::Threads => (threads, rate),
            _ => (blocks, rate),
        };
        let along: Vec<(usize, f64)> = seen.iter().map(along).collect();
        let (Some(knee), false) = (knee(&along), setting.stopped()) else { return Ok(()) };
        let axes = BTreeMap::from([
            ("knee of".to_owned(), sweep.name().into()),
            ("keys".to_owned(), name(keys).into()),
        ]);
        let ratio = unit_count.clone().map(|count| knee as f64 / count as f64);
        let row = Row {
            values: vec![
                beside(value("knee", "1", knee as f64), STUDY, &[(study, CARD)]),
                known(by, "1", unit_count.map(|count| count as f64)),
                known("knee by these", "1", ratio),
            ],
            notes: vec![format!(
                "the knee is the least value with {:.0} % of the best throughput of its sweep",
                100.0 * AS_GOOD
            )],
            ..Row::default()
        };
        setting.point(observer, device, Some(self.algorithm), axes, || Ok(row))
    }
}

impl Run for Grid {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let time = Duration::from_secs_f64(self.seconds);
        let mut points = Vec::new();
        for &device in setting.devices.iter().filter(|device| !setting.is_cpu(**device)) {
            for (&keys, sweep) in self.keys.iter().flat_map(|keys| Sweep::ALL.map(|sweep| (keys, sweep))) {
                let pairs = self.points(sweep, units(device).unwrap_or(1));
                let what = |(blocks, threads)| {
                    let (id, sweep, keys) = (&device.info().id, sweep.name(), name(keys));
                    format!("{sweep}, keys: {keys}: {blocks} blocks of {threads} threads on {id}")
                };
                points.extend(pairs.into_iter().map(|pair| (what(pair), time)));
            }
        }
        points
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let devices = setting.gpus(observer, "the CPU launches no kernels");
        if devices.is_empty() {
            return Ok(());
        }
        for &keys in &self.keys {
            let batch = self.work(keys).batch(setting, 1);
            for &device in &devices {
                let stage = Stage { device, keys, batch: batch.clone() };
                for sweep in Sweep::ALL {
                    self.sweep(setting, &stage, sweep, observer)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_where_more_does_not_help() {
        let rising = [(32, 25.0), (64, 50.0), (128, 97.0), (256, 100.0), (512, 60.0)];
        assert_eq!(knee(&rising), Some(128));
        assert_eq!(knee(&rising[..2]), Some(64));
        assert_eq!(knee(&[]), None);
    }

    #[test]
    fn blocks_are_counted_from_one_and_by_units() {
        let grid = Grid {
            algorithm: "aes-128-gcm".parse().unwrap(),
            keys: vec![Keys::Same],
            message_bytes: 128,
            messages: 1,
            threads: vec![32],
            blocks: vec![1, 132],
            blocks_by_unit: vec![0.001, 0.5, 1.0],
            threads_of_blocks: 128,
            pairs: vec![(36, 128)],
            runs: 1,
            seconds: 1.0,
        };
        assert_eq!(grid.points(Sweep::Blocks, 132), [(1, 128), (66, 128), (132, 128)]);
        assert_eq!(grid.points(Sweep::Threads, 132), [(132, 32)]);
    }
}
