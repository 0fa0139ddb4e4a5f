//! What throughput is scaled by: the cores of a GPU, their clock, and its link.

use cipherlane::Device;
use serde::Deserialize;

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
}

/// The GPUs of the studies and of our records: cores, MHz, GB/s of the link (vendors' data sheets; PCIe 2, 3 and 5 with
/// sixteen lanes). Of the laptops of study 000 the clocks are not known.
const KNOWN: [(&str, usize, Option<usize>, Option<f64>); 10] = [
    ("Tesla C2075", 448, Some(1147), Some(8.0)),
    ("GTX Titan X", 3072, Some(1000), Some(15.75)),
    ("HD 6770", 800, Some(850), None),
    ("GTX 580", 512, Some(1544), None),
    ("GTX 680", 1536, Some(1006), None),
    ("HD 7970", 2048, Some(925), None),
    ("RTX 3050 (laptop)", 16 * 128, None, None),
    ("RTX 4060 (laptop)", 24 * 128, None, None),
    ("RTX 4070 (laptop)", 36 * 128, None, None),
    ("NVIDIA H200", 132 * 128, Some(1980), Some(63.0)),
];

impl Card {
    /// The GPUs that are known by name.
    pub(super) fn known() -> Vec<Self> {
        let card = |&(name, cores, megahertz, link): &(&str, _, _, _)| Self {
            name: name.to_owned(),
            cores,
            megahertz,
            link,
        };
        KNOWN.iter().map(card).collect()
    }

    /// A GPU that is here.
    pub(super) fn of(device: &dyn Device) -> Result<Self, String> {
        Ok(Self {
            name: device.info().name.clone(),
            cores: units(device)? * cores_of_a_unit(device)?,
            megahertz: Some(clock_megahertz(device)?),
            link: link_gigabytes(device).ok(),
        })
    }

    /// How many times as much as `other` it computes, by cores and clock; by cores alone where a clock is not known, which
    /// is said.
    pub(super) fn computes_by(&self, other: &Self) -> (f64, &'static str) {
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
    }
}
