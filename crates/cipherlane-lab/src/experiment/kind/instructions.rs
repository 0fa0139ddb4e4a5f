//! What instructions cost: how many a unit of a GPU, or a core of the CPU, starts in a clock (study 001).

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane::Device;
use cipherlane_kernels::probe::Steps;
use cipherlane_record::{Axis, Value};
use serde::{Deserialize, Deserializer, de};

use crate::ceiling::Ceilings;
use crate::ceiling::gpu::{Bench, Effort, Found, Load};
use crate::experiment::setting::{Row, Run, Setting, beside, known, median, value};
use crate::observer::Observer;

/// The experiment's parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiment) struct Instructions {
    /// Operations by name, or `all`.
    #[serde(deserialize_with = "operations")]
    operations: Vec<Steps>,
    /// Whether a chain alone is timed, too, all of whose steps wait.
    latency: bool,
    /// Groups of 32 threads on a unit.
    #[serde(deserialize_with = "super::super::fields::counts")]
    groups: Vec<usize>,
    /// Operations that are timed with each number of groups.
    #[serde(deserialize_with = "operations")]
    groups_of: Vec<Steps>,
    /// Whether one operation is timed with its operands in different places.
    operands: bool,
    /// Launches of each point.
    #[serde(deserialize_with = "super::super::fields::count")]
    launches: usize,
    /// Seconds of a launch, about.
    #[serde(deserialize_with = "super::super::fields::seconds")]
    seconds: f64,
}

/// Steps by their names; `all` is those that are one instruction, and that say what it does and not where operands lie.
pub(super) fn operations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Steps>, D::Error> {
    let all = || Steps::ALL.into_iter().filter(|steps| !steps.is_of_operands() && !steps.is_of_types());
    let names = Vec::<String>::deserialize(deserializer)?;
    if names == ["all"] {
        return Ok(all().collect());
    }
    let named = |name: &String| {
        let known = || all().map(Steps::name).collect::<Vec<_>>().join("; ");
        Steps::named(name)
            .ok_or_else(|| de::Error::custom(format!("no operation {name}; there are: {}", known())))
    };
    names.iter().map(named).collect()
}

/// Operations per clock and unit that the study measured (tables 7 and 8), on each of its GPUs.
const STUDY: &str = "001.8";
const GPUS: [&str; 3] = ["GTX 680", "GTX 580", "HD 7970"];
const PUBLISHED: [(Steps, [f64; 3]); 10] = [
    (Steps::Add, [63.7, 31.1, 63.3]),
    (Steps::Mul, [32.3, 15.9, 63.3]),
    (Steps::Mad, [32.3, 15.9, 31.6]),
    (Steps::Xor, [63.7, 31.1, 63.3]),
    // The study has one figure for XOR, AND and OR.
    (Steps::AndOr, [63.7, 31.1, 63.3]),
    (Steps::Shift, [31.3, 15.6, 63.3]),
    (Steps::F32Add, [64.6, 31.8, 63.1]),
    (Steps::F32Mul, [64.6, 31.8, 63.1]),
    (Steps::F64Add, [8.0, 4.0, 31.6]),
    (Steps::F64Mul, [8.0, 4.0, 15.8]),
];
/// Operations per clock and unit of the study's GPU `gpu`.
pub(super) fn published(steps: Steps, gpu: &str) -> Option<f64> {
    let place = GPUS.iter().position(|known| *known == gpu)?;
    PUBLISHED.iter().find(|(known, _)| *known == steps).map(|(_, figures)| figures[place])
}

/// What the register banks of a GTX 680 let through of its 192 operations per clock (table 9, which the study cites).
const STUDY_OPERANDS: &str = "001.11";
const PUBLISHED_OPERANDS: [(f64, &str); 1] = [(132.0, "GTX 680, at the most")];

/// A point of the experiment on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    Operation(Steps),
    Groups(Steps, usize),
    Operands(Steps),
}

impl Point {
    const fn steps(self) -> Steps {
        match self {
            Self::Operation(steps) | Self::Groups(steps, _) | Self::Operands(steps) => steps,
        }
    }

    const fn load(self) -> Load {
        match self {
            Self::Groups(_, groups) => Load::Groups(groups),
            Self::Operation(_) | Self::Operands(_) => Load::Full,
        }
    }

    fn axes(self) -> BTreeMap<String, Axis> {
        let name = if matches!(self, Self::Operands(_)) { "operands" } else { "operation" };
        let mut axes = BTreeMap::from([(name.to_owned(), Axis::from(self.steps().name()))]);
        if let Self::Groups(_, groups) = self {
            axes.insert("groups of 32 on a unit".to_owned(), Axis::Number(groups as f64));
        }
        axes
    }
}

impl Instructions {
    fn points(&self) -> Vec<Point> {
        let operands = Steps::ALL.into_iter().filter(|steps| self.operands && steps.is_of_operands());
        let groups = |&steps: &Steps| self.groups.iter().map(move |&groups| Point::Groups(steps, groups));
        let operations = self.operations.iter().copied().map(Point::Operation);
        operations
            .chain(self.groups_of.iter().flat_map(groups))
            .chain(operands.map(Point::Operands))
            .collect()
    }

    const fn effort(&self) -> Effort {
        Effort { seconds: self.seconds, launches: self.launches }
    }

    fn gpu(&self, setting: &Setting<'_>, device: &dyn Device, observer: &mut dyn Observer) -> io::Result<()> {
        let mut bench = match Bench::open(&device.info().id) {
            Ok(bench) => bench,
            Err(reason) => {
                setting.skip(observer, device, None, reason);
                return Ok(());
            }
        };
        for point in self.points() {
            let make = || {
                let row = self.row(setting, &mut bench, point);
                row.map_err(|reason| format!("{}: {reason}", point.steps().name()))
            };
            setting.point(observer, device, None, point.axes(), make)?;
        }
        Ok(())
    }

    fn row(&self, setting: &Setting<'_>, bench: &mut Bench, point: Point) -> Result<Row, String> {
        let mark = setting.sampler.mark();
        let found = bench.measure(point.steps(), point.load(), self.effort())?;
        let alone = match point {
            Point::Operation(steps) if self.latency => {
                Some(bench.measure(steps, Load::Alone, self.effort())?)
            }
            _ => None,
        };
        let verified = found.verified && alone.as_ref().is_none_or(|alone| alone.verified);
        Ok(Row {
            values: self.values(point, &found, alone.as_ref(), setting.seed),
            notes: notes(&found, bench.units()),
            samples: found.per_clock,
            verified: Some(verified),
            timeline: Some(setting.sampler.since(mark)),
            ..Row::default()
        })
    }

    fn values(&self, point: Point, found: &Found, alone: Option<&Found>, seed: u64) -> Vec<Value> {
        let rate = median("per clock and unit", "1/clk", &found.per_clock, seed);
        let gigahertz: Vec<f64> = found.hertz.iter().map(|hertz| 1e-9 * hertz).collect();
        let clock = median("clock", "GHz", &gigahertz, seed);
        match point {
            Point::Operation(steps) => {
                let published = PUBLISHED.iter().find(|(known, _)| *known == steps);
                let figures: Vec<(f64, &str)> = published
                    .into_iter()
                    .flat_map(|(_, figures)| figures.iter().copied().zip(GPUS))
                    .collect();
                let latency = match alone {
                    Some(alone) => median("latency", "clk", &alone.step_clocks, seed),
                    None => known(
                        "latency",
                        "clk",
                        Err("only the full experiment times a chain alone".to_owned()),
                    ),
                };
                vec![beside(rate, STUDY, &figures), latency, clock]
            }
            Point::Groups(..) => vec![rate, clock],
            Point::Operands(_) => vec![beside(rate, STUDY_OPERANDS, &PUBLISHED_OPERANDS), clock],
        }
    }
}

/// What a reader should know of a row.
fn notes(found: &Found, units: usize) -> Vec<String> {
    let mut notes =
        vec!["operations of all lanes of a unit; of matrices, each product with its sum counts".to_owned()];
    notes.push(format!("{} groups of 32 threads on each of {units} units", found.groups));
    if !found.counted {
        notes.push(
            "clocks are those of the driver's highest frequency: the language has no counter of them"
                .to_owned(),
        );
    }
    notes
}

/// The rates of one core.
fn cpu(setting: &Setting<'_>, device: &dyn Device, observer: &mut dyn Observer) -> io::Result<()> {
    let ceilings = match Ceilings::measure() {
        Ok(ceilings) => ceilings,
        Err(reason) => {
            setting.skip(observer, device, None, reason);
            return Ok(());
        }
    };
    for rate in &ceilings.rates {
        let axes = BTreeMap::from([
            ("operation".to_owned(), Axis::Name(format!("{} ({})", rate.name, rate.mnemonic))),
            ("bits".to_owned(), Axis::Number(rate.bits.into())),
        ]);
        let row = || Row {
            values: vec![
                value("per clock", "1/clk", rate.per_clock),
                value("latency", "clk", rate.latency_clocks),
                value("clock", "GHz", 1e-9 * ceilings.clock_hertz[0]),
            ],
            notes: vec!["instructions of one core, whatever the width of their registers".to_owned()],
            ..Row::default()
        };
        setting.point(observer, device, None, axes, || Ok(row()))?;
    }
    for reason in ceilings.not_measured {
        setting.skip(observer, device, None, reason);
    }
    Ok(())
}

impl Run for Instructions {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        /// For compiling the kernel of a point, where it lies nowhere compiled, and for its answers.
        const COMPILING: f64 = 1.0;
        /// For all instructions of the CPU.
        const CPU: Duration = Duration::from_secs(2);
        let launches = 2.0 * (self.launches + 10) as f64 * self.seconds;
        let of = |device: &&dyn Device| {
            let id = &device.info().id;
            if setting.is_cpu(*device) {
                return vec![("every instruction of the CPU".to_owned(), CPU)];
            }
            let point = |point: Point| {
                let time = if self.latency { 2.0 * COMPILING } else { COMPILING } + launches;
                let axes: Vec<String> =
                    point.axes().iter().map(|(name, place)| format!("{name} {place}")).collect();
                (format!("{}, on {id}", axes.join(", ")), Duration::from_secs_f64(time))
            };
            self.points().into_iter().map(point).collect()
        };
        setting.devices.iter().flat_map(of).collect()
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        for &device in setting.devices {
            if setting.is_cpu(device) {
                cpu(setting, device, observer)?;
            } else {
                self.gpu(setting, device, observer)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_study_s_gpus() {
        let of = |steps| GPUS.map(|gpu| published(steps, gpu).unwrap());
        assert_eq!(of(Steps::Shift), [31.3, 15.6, 63.3]);
        assert_eq!(of(Steps::AndOr), of(Steps::Xor));
        assert_eq!((published(Steps::Xor, "NVIDIA H200"), published(Steps::Prmt, "GTX 680")), (None, None));
    }
}
