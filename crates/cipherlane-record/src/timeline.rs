//! What sensors said while something ran.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Readings of many sensors at the same moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// When the readings began, seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// The moments, in seconds from that.
    pub seconds: Vec<f64>,
    /// One value a moment each.
    pub channels: Vec<Channel>,
    /// What could not be read at all, with its reason: `cpu.power` to `no RAPL in this virtual machine`.
    pub missing: BTreeMap<String, String>,
}

/// One sensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// Device and quantity: `cpu.frequency`, `cuda:0.power`, `cuda:0.temperature`.
    pub name: String,
    /// Unit, a base one of the SI or `1` for a part of a whole; `°C` for temperatures.
    pub unit: String,
    /// A value for each moment; `null` where this reading failed.
    pub values: Vec<Option<f64>>,
}

impl Timeline {
    /// The channel of this name.
    #[must_use]
    pub fn channel(&self, name: &str) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.name == name)
    }

    /// What of it concerns the device `id`: its own channels and the CPU's, without those of other devices.
    #[must_use]
    pub fn of(&self, id: &str) -> Self {
        let concerns = |name: &str| {
            let device = name.split_once('.').map_or(name, |(device, _)| device);
            device == id || device == "cpu"
        };
        Self {
            channels: self.channels.iter().filter(|channel| concerns(&channel.name)).cloned().collect(),
            missing: self
                .missing
                .iter()
                .filter(|(name, _)| concerns(name))
                .map(|(name, reason)| (name.clone(), reason.clone()))
                .collect(),
            ..self.clone()
        }
    }
}

impl Channel {
    /// Mean of the readings that there are.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // counts
    pub fn mean(&self) -> Option<f64> {
        let read: Vec<f64> = self.values.iter().copied().flatten().collect();
        (!read.is_empty()).then(|| read.iter().sum::<f64>() / read.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channels_of_other_devices_are_left_out() {
        let channel =
            |name: &str| Channel { name: name.to_owned(), unit: "W".to_owned(), values: vec![Some(1.0)] };
        let timeline = Timeline {
            seconds: vec![0.0],
            channels: ["cpu.power", "cuda:0.power", "cuda:1.power"].map(channel).to_vec(),
            missing: BTreeMap::from([("cuda:1".to_owned(), "no NVML".to_owned())]),
            ..Timeline::default()
        };
        let names = |of: &str| {
            timeline.of(of).channels.iter().map(|channel| channel.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names("cuda:0"), ["cpu.power", "cuda:0.power"]);
        assert_eq!(names("rival:ring"), ["cpu.power"]);
        assert!(timeline.of("cuda:0").missing.is_empty());
        assert_eq!(timeline.of("cuda:1").missing.len(), 1);
    }

    #[test]
    fn a_mean_leaves_failed_readings_out() {
        let channel = |values| Channel { name: "cpu.load".to_owned(), unit: "1".to_owned(), values };
        assert_eq!(channel(vec![Some(1.0), None, Some(3.0)]).mean(), Some(2.0));
        assert_eq!(channel(vec![None]).mean(), None);
    }
}
