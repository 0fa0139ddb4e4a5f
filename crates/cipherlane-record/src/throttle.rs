//! Whether a clock was held back, in words.

use std::collections::BTreeSet;

use crate::timeline::Timeline;

/// The end of a channel's name that tells of throttling: events since the last reading for `cpu`, the driver's bits
/// for GPUs.
const CHANNEL: &str = ".throttle";

/// The bits of `nvmlClocksEventReasons` (nvml.h) that mean a clock was lowered against the will of whoever measures.
/// The others (idle, clocks that somebody set) are no throttling.
const BITS: [(u64, &str); 6] = [
    (0x4, "power limit"),
    (0x8, "hardware slowdown"),
    (0x10, "another GPU of its group"),
    (0x20, "software's temperature limit"),
    (0x40, "hardware's temperature limit"),
    (0x80, "power brake"),
];

/// The channel that tells whether the device `id` is held back.
#[must_use]
pub fn channel(id: &str) -> String {
    format!("{id}{CHANNEL}")
}

/// Whether a channel of this name tells it.
#[must_use]
pub fn is_channel(name: &str) -> bool {
    name.ends_with(CHANNEL)
}

/// What held `channel`'s device back when it read `value`; empty for other channels and where nothing did.
///
/// ```
/// # use cipherlane_record::throttle::reasons;
/// assert_eq!(reasons("cuda:0.throttle", 5.0), ["power limit"]); // 0x1 is idle
/// assert_eq!(reasons("cpu.throttle", 2.0), ["temperature limit"]);
/// assert!(reasons("cpu.load", 1.0).is_empty());
/// ```
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small bit masks
pub fn reasons(channel: &str, value: f64) -> Vec<&'static str> {
    match channel.strip_suffix(CHANNEL) {
        Some("cpu") if value > 0.0 => vec!["temperature limit"],
        Some("cpu") | None => Vec::new(),
        Some(_) => {
            let bits = value as u64;
            BITS.iter().filter(|(bit, _)| bits & bit != 0).map(|&(_, name)| name).collect()
        }
    }
}

/// Everything that held a device back during `timeline`: `cuda:0: power limit`. Empty where nothing did, or no
/// sensor tells.
#[must_use]
pub fn seen(timeline: &Timeline) -> Vec<String> {
    let mut seen = BTreeSet::new();
    for channel in &timeline.channels {
        let device = channel.name.strip_suffix(CHANNEL).unwrap_or_default();
        for value in channel.values.iter().copied().flatten() {
            seen.extend(
                reasons(&channel.name, value).into_iter().map(|reason| format!("{device}: {reason}")),
            );
        }
    }
    seen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Channel;

    #[test]
    fn every_reason_of_a_timeline_is_named_once() {
        let channel = |name: &str, values: Vec<Option<f64>>| Channel {
            name: name.to_owned(),
            unit: "1".to_owned(),
            values,
        };
        let timeline = Timeline {
            channels: vec![
                channel("cuda:0.throttle", vec![None, Some(1.0), Some(4.0), Some(36.0)]),
                channel("cuda:0.load", vec![Some(4.0)]),
                channel("cpu.throttle", vec![Some(0.0), Some(0.0)]),
            ],
            ..Timeline::default()
        };
        assert_eq!(seen(&timeline), ["cuda:0: power limit", "cuda:0: software's temperature limit"]);
    }
}
