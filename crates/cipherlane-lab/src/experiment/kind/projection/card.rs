//! What throughput is scaled by: the cores of a GPU, their clock, and its link.

use std::collections::BTreeMap;

use cipherlane::Device;
use cipherlane_kernels::probe::Steps;
use cipherlane_record::{Axis, Record};
use serde::Deserialize;

use crate::experiment::kind::instructions;
use crate::experiment::units::{clock_megahertz, cores_of_a_unit, link_gigabytes, units};

/// A GPU, by its sizes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Card {
    /// Its name, as records have it.
    pub(super) name: String,
    /// Cores: lanes of single precision, all units together.
    pub(super) cores: usize,
    /// Their clock in MHz; none where the study does not say it.
    pub(super) megahertz: Option<usize>,
    /// Bytes per second of its link one way, in 1e9.
    pub(super) link: Option<f64>,
    /// Its units: multiprocessors, or compute units.
    #[serde(default)]
    pub(super) units: Option<usize>,
    /// Logic operations that a unit was measured to start in a clock: of what the mix of a cipher is made.
    #[serde(default)]
    pub(super) logic: Option<f64>,
}

/// A GPU in a row: name, units, cores of each, MHz, GB/s of the link.
type Known = (&'static str, usize, usize, Option<usize>, Option<f64>);

/// The GPUs of the studies and of our records (vendors' data sheets; PCIe 2, 3 and 5 with sixteen lanes). Of the laptops of
/// study 000 the clocks are not known.
const KNOWN: [Known; 10] = [
    ("Tesla C2075", 14, 32, Some(1147), Some(8.0)),
    ("GTX Titan X", 24, 128, Some(1000), Some(15.75)),
    ("HD 6770", 10, 80, Some(850), None),
    ("GTX 580", 16, 32, Some(1544), None),
    ("GTX 680", 8, 192, Some(1006), None),
    ("HD 7970", 32, 64, Some(925), None),
    ("RTX 3050 (laptop)", 16, 128, None, None),
    ("RTX 4060 (laptop)", 24, 128, None, None),
    ("RTX 4070 (laptop)", 36, 128, None, None),
    ("NVIDIA H200", 132, 128, Some(1980), Some(63.0)),
];

/// The operation whose rate stands for logic, as `instructions` names it.
const LOGIC: Steps = Steps::Xor;

impl Card {
    /// The GPUs that are known by name.
    pub(super) fn known() -> Vec<Self> {
        let card = |&(name, units, cores, megahertz, link): &Known| Self {
            name: name.to_owned(),
            cores: units * cores,
            megahertz,
            link,
            units: Some(units),
            logic: instructions::published(LOGIC, name),
        };
        KNOWN.iter().map(card).collect()
    }

    /// A GPU that is here.
    pub(super) fn of(device: &dyn Device) -> Result<Self, String> {
        Ok(Self {
            name: device.info().name.clone(),
            cores: units(device)? * cores_of_a_unit(device)?,
            units: units(device).ok(),
            logic: None,
            megahertz: Some(clock_megahertz(device)?),
            link: link_gigabytes(device).ok(),
        })
    }

    /// The same with the rate of logic that `records` of `instructions` tell of it.
    pub(super) fn with_records(self, records: &[Record]) -> Self {
        let of = |record: &Record| match record {
            Record::Observation(row) if row.experiment == "instructions" && row.subject_name == self.name => {
                let alone = BTreeMap::from([("operation".to_owned(), Axis::from(LOGIC.name()))]);
                row.value("per clock and unit").filter(|_| row.axes == alone && row.verified != Some(false))
            }
            _ => None,
        };
        Self { logic: records.iter().find_map(of).or(self.logic), ..self }
    }

    /// Logic operations in a second.
    fn logic_rate(&self) -> Option<f64> {
        Some(self.units? as f64 * self.logic? * self.megahertz? as f64)
    }

    /// How many times as much as `other` it computes: by the logic operations of which the mix of a cipher consists, where
    /// they were measured on both; else by cores and clock; by cores alone where a clock is not known. Which is said.
    pub(super) fn computes_by(&self, other: &Self) -> (f64, &'static str) {
        if let (Some(own), Some(others)) = (self.logic_rate(), other.logic_rate()) {
            return (own / others, "measured logic operations x clock");
        }
        let cores = self.cores as f64 / other.cores as f64;
        match (self.megahertz, other.megahertz) {
            (Some(own), Some(others)) => (cores * own as f64 / others as f64, "cores x clock"),
            _ => (cores, "cores"),
        }
    }

    /// How many times as much as over that of `other` goes over its link.
    pub(super) fn moves_by(&self, other: &Self) -> Option<f64> {
        Some(self.link? / other.link?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_study_s_own_projection_is_by_cores() {
        let known = Card::known();
        let named = |name: &str| known.iter().find(|card| card.name == name).unwrap();
        let (times, by) = named("GTX Titan X").computes_by(named("Tesla C2075"));
        // "4 to 6 times": 6.9 times the cores at 0.87 of the clock.
        assert!((5.0..7.0).contains(&times) && by == "cores x clock", "{times}");
        assert_eq!(named("RTX 4070 (laptop)").computes_by(named("RTX 3050 (laptop)")), (2.25, "cores"));
        assert_eq!(named("GTX 680").moves_by(named("GTX 580")), None);
        // Eight units with 192 cores start 63.7 logic operations each, 32 units with 64 cores 63.3.
        let (times, by) = named("HD 7970").computes_by(named("GTX 680"));
        assert!((times - 32.0 * 63.3 * 925.0 / (8.0 * 63.7 * 1006.0)).abs() < 1e-9, "{times}");
        assert_eq!(by, "measured logic operations x clock");
    }
}
