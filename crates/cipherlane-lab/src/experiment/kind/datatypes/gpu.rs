//! The GPU's half: the same sum in each type, by one group of threads on each unit, whose steps wait for one another as the
//! study's one thread did, and by as many as the device holds.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::Device;
use cipherlane_kernels::probe::Steps;
use cipherlane_record::{Axis, Value};
use serde::Deserialize;

use super::{CAST, FLOAT, STUDY};
use crate::ceiling::gpu::{Bench, Effort, Found, Load};
use crate::experiment::setting::{Row, Setting, beside, known, median, value};
use crate::observer::Observer;
use crate::statistics;

/// How long and how often each type is run on a GPU.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OnGpu {
    /// Launches that count.
    #[serde(deserialize_with = "super::super::super::fields::count")]
    launches: usize,
    /// Seconds of a launch, about.
    #[serde(deserialize_with = "super::super::super::fields::seconds")]
    seconds: f64,
}

/// The study's types. `long` has as many bytes as `long long` wherever a GPU is driven by Linux, and is not told apart.
const TYPES: [(&str, Steps); 5] = [
    ("int", Steps::Mad),
    ("long-long", Steps::Long),
    (FLOAT, Steps::F32Fma),
    ("double", Steps::F64Fma),
    (CAST, Steps::F32Cast),
];
/// What the conversion cost one thread at most, in percent.
const CAST_COST: [(f64, &str); 1] = [(800.0, "the study's GPU, at most")];

/// How many threads run a type, by the axis `threads`.
const LOADS: [(&str, Load); 2] = [("one group", Load::Alone), ("all", Load::Full)];

fn axes(kind: &str, threads: &str) -> BTreeMap<String, Axis> {
    BTreeMap::from([("type".to_owned(), Axis::from(kind)), ("threads".to_owned(), Axis::from(threads))])
}

/// Sums of the whole device in a second, in units of 1e9, by launch.
fn rates(found: &Found, units: usize) -> Vec<f64> {
    let rate = |(per_clock, hertz): (&f64, &f64)| 1e-9 * units as f64 * per_clock * hertz;
    found.per_clock.iter().zip(&found.hertz).map(rate).collect()
}

impl OnGpu {
    /// About how long all types take on a device, their kernels' compiling included.
    pub(super) fn time(self) -> Duration {
        /// Of each kernel.
        const COMPILING: f64 = 1.0;
        let launches = 2.0 * (self.launches + 10) as f64 * self.seconds;
        Duration::from_secs_f64((LOADS.len() * TYPES.len()) as f64 * (COMPILING + launches))
    }

    /// All types on `device`, by a group and by all threads.
    pub(super) fn run(
        self,
        setting: &Setting<'_>,
        device: &dyn Device,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let is_done =
            |threads: &str| TYPES.iter().all(|(kind, _)| setting.is_done(device, &axes(kind, threads)));
        let left: Vec<(&str, Load)> = LOADS.into_iter().filter(|(threads, _)| !is_done(threads)).collect();
        if left.is_empty() {
            return Ok(());
        }
        let mut bench = match Bench::open(&device.info().id) {
            Ok(bench) => bench,
            Err(reason) => {
                setting.skip(observer, device, None, reason);
                return Ok(());
            }
        };
        for load in left {
            self.load(setting, device, observer, &mut bench, load)?;
        }
        Ok(())
    }

    /// All types by so many threads. Costs are beside the float of the same run.
    fn load(
        self,
        setting: &Setting<'_>,
        device: &dyn Device,
        observer: &mut dyn Observer,
        bench: &mut Bench,
        (threads, load): (&str, Load),
    ) -> io::Result<()> {
        let mark = setting.sampler.mark();
        let effort = Effort { seconds: self.seconds, launches: self.launches };
        let mut all = Vec::new();
        for (kind, steps) in TYPES {
            if setting.stopped() {
                return Ok(());
            }
            all.push((kind, bench.measure(steps, load, effort)));
        }
        let mut timeline = Some(setting.sampler.since(mark));
        let units = bench.units();
        let medians: BTreeMap<&str, f64> = all
            .iter()
            .filter_map(|(kind, found)| {
                Some((*kind, statistics::median(&rates(found.as_ref().ok()?, units))))
            })
            .collect();
        for (kind, found) in all {
            let row = found.map(|found| Row {
                // All types ran in one go: what the sensors said belongs to all, and stands once.
                timeline: timeline.take(),
                ..row(setting, kind, &found, (units, load), &medians)
            });
            setting.point(observer, device, None, axes(kind, threads), || {
                row.map_err(|reason| format!("{kind}, {threads}: {reason}"))
            })?;
        }
        Ok(())
    }
}

fn row(
    setting: &Setting<'_>,
    kind: &str,
    found: &Found,
    (units, load): (usize, Load),
    medians: &BTreeMap<&str, f64>,
) -> Row {
    let samples = rates(found, units);
    let own = statistics::median(&samples);
    let best = medians.values().copied().fold(0.0, f64::max);
    let mut values = vec![
        median("rate", "G/s", &samples, setting.seed),
        value("normalised", "%", 100.0 * own / best),
        median("per clock and unit", "1/clk", &found.per_clock, setting.seed),
    ];
    values.extend((kind == CAST).then(|| cost(own, medians.get(FLOAT).copied(), load)));
    Row {
        values,
        samples,
        verified: Some(found.verified),
        notes: vec![
            format!(
                "x = x * a + b in registers, by one group of 32 threads on each of {units} units, whose steps wait for one \
                 another as the study's one thread did, or by as many threads as they hold"
            ),
            "float-cast: the float is made a double, and the sum a float; cost: beside float; normalised: this rate by \
             the best"
                .to_owned(),
        ],
        ..Row::default()
    }
}

/// What the conversion takes more, in percent. The study asked one thread.
fn cost(own: f64, float: Option<f64>, load: Load) -> Value {
    let cost = float.map(|float| 100.0 * (float / own - 1.0)).ok_or_else(|| "float failed".to_owned());
    let cost = known("cost", "%", cost);
    if load == Load::Alone { beside(cost, STUDY, &CAST_COST) } else { cost }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_study_stands_beside_one_group_alone() {
        let of = |load| cost(2.0, Some(10.0), load);
        assert_eq!([of(Load::Alone).value, of(Load::Full).value], [Some(400.0); 2]);
        assert_eq!([of(Load::Alone).published.len(), of(Load::Full).published.len()], [1, 0]);
        assert_eq!(cost(2.0, None, Load::Full).value, None);
    }
}
