//! Blocks and their threads: how a GPU's throughput follows from the geometry of the launch (studies 000 and 001).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::{Algorithm, Device, Geometry, Wish};
use cipherlane_record::{Axis, Keys, Value};
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
    #[serde(deserialize_with = "super::super::fields::algorithms")]
    algorithms: Vec<Algorithm>,
    /// One key for all messages, or one each: all sweeps of each algorithm for each of these.
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

/// Why the CPU takes no part.
const NO_PART: &str = "the CPU launches no kernels";

/// MB/s of pairs by AES-GCM, and where its curves break: at the cores of a multiprocessor, and at the multiprocessors.
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

/// Whether the figures of the study are of what `algorithm` does.
fn is_of_the_study(algorithm: Algorithm) -> bool {
    algorithm.to_string().ends_with("-gcm")
}

/// Blocks and threads with a throughput.
type Seen = ((usize, usize), f64);

fn fastest(seen: &[Seen]) -> Option<Seen> {
    seen.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1))
}

/// The least value at which a sweep is as good as at its best.
fn knee(points: &[(usize, f64)]) -> Option<usize> {
    let best = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    points.iter().filter(|(_, rate)| *rate >= AS_GOOD * best && best > 0.0).map(|(at, _)| *at).min()
}

/// A device with the batch that it runs.
struct Stage<'a> {
    device: &'a dyn Device,
    algorithm: Algorithm,
    keys: Keys,
    batch: Result<Prepared, String>,
}

impl Stage<'_> {
    /// What its rows have in common, and `own`.
    fn axes(&self, own: &[(&str, Axis)]) -> BTreeMap<String, Axis> {
        let own = own.iter().map(|(name, axis)| ((*name).to_owned(), axis.clone()));
        let common = [
            ("algorithm".to_owned(), Axis::Name(self.algorithm.to_string())),
            ("keys".to_owned(), name(self.keys).into()),
        ];
        own.chain(common).collect()
    }

    fn axes_of(&self, sweep: Sweep, (blocks, threads): (usize, usize)) -> BTreeMap<String, Axis> {
        self.axes(&[
            ("sweep", sweep.name().into()),
            ("blocks", Axis::Number(blocks as f64)),
            ("threads per block", Axis::Number(threads as f64)),
        ])
    }
}

impl Grid {
    fn work(&self, algorithm: Algorithm, keys: Keys) -> Work {
        let work = Work::forward(algorithm, self.message_bytes, Some(self.messages));
        Work { keys, ..work }
    }

    /// Each algorithm with each kind of keys.
    fn jobs(&self) -> impl Iterator<Item = (Algorithm, Keys)> {
        self.algorithms.iter().flat_map(|&algorithm| self.keys.iter().map(move |&keys| (algorithm, keys)))
    }

    /// Blocks and threads of the points of `sweep` on a device of so many `units`.
    ///
    /// # Errors
    /// Why its units are not known, where the points follow from them.
    fn points(&self, sweep: Sweep, units: &Result<usize, String>) -> Result<Vec<(usize, usize)>, String> {
        match sweep {
            Sweep::Pairs => Ok(self.pairs.clone()),
            Sweep::Threads if self.threads.is_empty() => Ok(Vec::new()),
            Sweep::Threads => {
                let units = units.clone()?;
                Ok(self.threads.iter().map(|&threads| (units, threads)).collect())
            }
            Sweep::Blocks => {
                let mut blocks = self.blocks.clone();
                if !self.blocks_by_unit.is_empty() {
                    let units = units.clone()? as f64;
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    // a few thousand at most
                    blocks.extend(self.blocks_by_unit.iter().map(|times| (times * units).round() as usize));
                }
                blocks.retain(|&blocks| blocks > 0);
                blocks.sort_unstable();
                blocks.dedup();
                Ok(blocks.into_iter().map(|blocks| (blocks, self.threads_of_blocks)).collect())
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
        let wish = Wish { blocks: Some(blocks), threads_per_block: Some(threads), ..Wish::default() };
        let at = |reason| format!("{blocks} blocks of {threads} threads: {reason}");
        let (mut row, _) = self.launched(setting, stage, &wish).map_err(at)?;
        let figures: Vec<(f64, &str)> = PUBLISHED
            .iter()
            .filter(|(published, _)| sweep == Sweep::Pairs && *published == pair)
            .filter(|_| is_of_the_study(stage.algorithm))
            .map(|&(_, figure)| (figure, CARD))
            .collect();
        row.values = row.values.into_iter().map(|value| beside(value, STUDY, &figures)).collect();
        Ok(row)
    }

    /// The batch, launched as wished: its throughput, and the geometry that it had.
    fn launched(
        &self,
        setting: &Setting<'_>,
        stage: &Stage<'_>,
        wish: &Wish,
    ) -> Result<(Row, Option<Geometry>), String> {
        let mark = setting.sampler.mark();
        let mut steady = stage.batch.as_ref()?.resident(stage.device, wish)?;
        let most = Duration::from_secs_f64(self.seconds);
        let spans = steady.repeat(setting, Often { runs: self.runs, dropped: 1, most })?;
        let rate = |seconds: f64| 1e-6 * steady.bytes() as f64 / seconds;
        let rates: Vec<f64> = spans.iter().map(|spans| rate(spans.execute.as_secs_f64())).collect();
        let row = Row {
            values: vec![median("throughput", "MB/s", &rates, setting.seed)],
            samples: rates,
            verified: Some(steady.verified()),
            timeline: Some(setting.sampler.since(mark)),
            notes: vec![self.note(stage.algorithm, &steady.plan().kernel)],
            ..Row::default()
        };
        Ok((row, steady.plan().geometry))
    }

    fn note(&self, algorithm: Algorithm, kernel: &str) -> String {
        let of_the_study = if is_of_the_study(algorithm) {
            "; the study says messages of 128 B, but its file has texts of 13 to 51 B"
        } else {
            ""
        };
        let bytes = self.message_bytes;
        format!("{algorithm} by {kernel} in the device's memory, messages of {bytes} B{of_the_study}")
    }

    /// Runs all points of `sweep` and says what they come to.
    fn sweep(
        &self,
        setting: &Setting<'_>,
        stage: &Stage<'_>,
        sweep: Sweep,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let Stage { device, algorithm, .. } = *stage;
        let points = match self.points(sweep, &units(device)) {
            Ok(points) => points,
            Err(reason) => {
                let reason = format!("{}: {reason}, by which its points are chosen", sweep.name());
                setting.skip(observer, device, Some(algorithm), reason);
                return Ok(());
            }
        };
        let mut seen: Vec<Seen> = Vec::new();
        for pair in points {
            let axes = stage.axes_of(sweep, pair);
            if let Some(row) = setting.found(device, &axes) {
                seen.extend(row.value("throughput").map(|rate| (pair, rate)));
            }
            setting.point(observer, device, Some(algorithm), axes, || {
                let row = self.point(setting, stage, sweep, pair)?;
                seen.extend(row.values[0].value.map(|rate| (pair, rate)));
                Ok(row)
            })?;
        }
        if setting.stopped() {
            return Ok(());
        }
        match (sweep, fastest(&seen)) {
            (_, None) => Ok(()),
            (Sweep::Pairs, Some(best)) => {
                let axes = stage.axes(&[("best of", sweep.name().into())]);
                let make = || self.beside_the_plan(setting, stage, best);
                setting.point(observer, device, Some(algorithm), axes, make)
            }
            (Sweep::Threads | Sweep::Blocks, Some(_)) => {
                let axes = stage.axes(&[("knee of", sweep.name().into())]);
                let make = || Ok(bent(device, algorithm, sweep, &seen));
                setting.point(observer, device, Some(algorithm), axes, make)
            }
        }
    }

    /// The fastest of the pairs beside the launch that the plan has when nobody says one.
    fn beside_the_plan(
        &self,
        setting: &Setting<'_>,
        stage: &Stage<'_>,
        ((blocks, threads), best): Seen,
    ) -> Result<Row, String> {
        let (row, geometry) = self.launched(setting, stage, &Wish::default())?;
        let own = row.values[0].value.unwrap_or(0.0);
        let planned = |of: fn(Geometry) -> usize| {
            geometry.map(|geometry| of(geometry) as f64).ok_or_else(|| "the plan launches none".to_owned())
        };
        let mut values = vec![
            value("blocks", "1", blocks as f64),
            value("threads per block", "1", threads as f64),
            value("throughput", "MB/s", best),
            known("planned blocks", "1", planned(|geometry| geometry.blocks)),
            known("planned threads per block", "1", planned(|geometry| geometry.threads_per_block)),
            value("best by planned", "%", 100.0 * best / own),
        ];
        values.extend(row.values.into_iter().map(|value| Value { name: "planned".to_owned(), ..value }));
        let mut notes = row.notes;
        notes.push(
            "planned: the launch if none is asked for; `cipherlane tune` looks for a faster one".to_owned(),
        );
        Ok(Row { values, notes, ..row })
    }
}

/// Where the curve of `seen` breaks: the row of its knee.
fn bent(device: &dyn Device, algorithm: Algorithm, sweep: Sweep, seen: &[Seen]) -> Row {
    let (by, count, study) = match sweep {
        Sweep::Threads => ("cores of a unit", cores_of_a_unit(device), THREADS_BREAK),
        Sweep::Blocks | Sweep::Pairs => ("units", units(device), BLOCKS_BREAK),
    };
    let along = |&((blocks, threads), rate): &Seen| match sweep {
        Sweep::Threads => (threads, rate),
        Sweep::Blocks | Sweep::Pairs => (blocks, rate),
    };
    let knee = knee(&seen.iter().map(along).collect::<Vec<_>>());
    let knee = knee.map(|knee| knee as f64).ok_or_else(|| "nothing came out".to_owned());
    let ratio = knee.clone().and_then(|knee| Ok(knee / count.clone()? as f64));
    let figures = [(study, CARD)];
    let figures = if is_of_the_study(algorithm) { &figures[..] } else { &[] };
    Row {
        values: vec![
            beside(known("knee", "1", knee), STUDY, figures),
            known(by, "1", count.map(|count| count as f64)),
            known("knee by these", "1", ratio),
        ],
        notes: vec![format!(
            "the knee is the least value with {:.0} % of the best throughput of its sweep",
            100.0 * AS_GOOD
        )],
        ..Row::default()
    }
}

impl Run for Grid {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let time = Duration::from_secs_f64(self.seconds);
        let mut points = Vec::new();
        for &device in setting.devices.iter().filter(|device| !setting.is_cpu(**device)) {
            for ((algorithm, keys), sweep) in self.jobs().flat_map(|job| Sweep::ALL.map(|sweep| (job, sweep)))
            {
                // What its units leave unknown is said when it is run.
                let pairs = self.points(sweep, &units(device)).unwrap_or_default();
                let what = |(blocks, threads)| {
                    let (id, sweep, keys) = (&device.info().id, sweep.name(), name(keys));
                    format!(
                        "{algorithm}, {sweep}, keys: {keys}: {blocks} blocks of {threads} threads on {id}"
                    )
                };
                points.extend(pairs.into_iter().map(|pair| (what(pair), time)));
            }
        }
        points
    }

    fn nothing(&self, setting: &Setting<'_>) -> Option<String> {
        setting.without_gpus(NO_PART)
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        let devices = setting.gpus(observer, NO_PART);
        if devices.is_empty() {
            return Ok(());
        }
        for (algorithm, keys) in self.jobs() {
            let batch = self.work(algorithm, keys).batch(setting, 1);
            for &device in &devices {
                let stage = Stage { device, algorithm, keys, batch: batch.clone() };
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
            algorithms: vec!["aes-128-gcm".parse().unwrap()],
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
        let points = |sweep| grid.points(sweep, &Ok(132)).unwrap();
        assert_eq!(points(Sweep::Blocks), [(1, 128), (66, 128), (132, 128)]);
        assert_eq!(points(Sweep::Threads), [(132, 32)]);
        // Without its units a device has the points that need none, and no others in their place.
        let unknown = Err("a fleet does not tell its units".to_owned());
        assert_eq!(grid.points(Sweep::Pairs, &unknown), Ok(vec![(36, 128)]));
        for sweep in [Sweep::Threads, Sweep::Blocks] {
            assert!(grid.points(sweep, &unknown).unwrap_err().contains("does not tell"), "{sweep:?}");
        }
        let by_number = Grid { blocks_by_unit: Vec::new(), threads: Vec::new(), ..grid };
        assert_eq!(by_number.points(Sweep::Blocks, &unknown), Ok(vec![(1, 128), (132, 128)]));
        assert_eq!(by_number.points(Sweep::Threads, &unknown), Ok(Vec::new()));
    }
}
