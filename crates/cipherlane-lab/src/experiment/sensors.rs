//! What sensors said last.

use cipherlane_record::Timeline;

/// Each look is a mean over the last second, or as much of it as there is.
const LOOK_SECONDS: f64 = 1.0;

/// Mean of the channel `name` over the last second of `timeline`, or why there is none.
pub(super) fn recent(timeline: &Timeline, name: &str) -> Result<f64, String> {
    let Some(channel) = timeline.channel(name) else {
        let device = name.split_once('.').map_or(name, |(device, _)| device);
        let missing = timeline.missing.get(name).or_else(|| timeline.missing.get(device));
        return Err(missing.cloned().unwrap_or_else(|| "no sensor of this device is known".to_owned()));
    };
    let end = timeline.seconds.last().copied().unwrap_or_default();
    let recent = timeline.seconds.iter().zip(&channel.values);
    let values: Vec<f64> =
        recent.filter(|(at, _)| end - **at <= LOOK_SECONDS).filter_map(|(_, value)| *value).collect();
    if values.is_empty() {
        return Err("the sensor told nothing in the last second".to_owned());
    }
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cipherlane_record::Channel;

    #[test]
    fn a_look_is_the_mean_of_the_last_second() {
        let channel = |name: &str, values| Channel { name: name.to_owned(), unit: "Hz".to_owned(), values };
        let timeline = Timeline {
            seconds: vec![0.0, 1.0, 1.5, 2.0],
            channels: vec![
                channel("cpu.frequency", vec![Some(9.0), Some(1.0), None, Some(2.0)]),
                channel("cpu.temperature", vec![Some(50.0), None, None, None]),
            ],
            missing: [("cpu.power".to_owned(), "no RAPL".to_owned())].into(),
            ..Timeline::default()
        };
        assert_eq!(recent(&timeline, "cpu.frequency"), Ok(1.5));
        assert!(recent(&timeline, "cpu.temperature").unwrap_err().contains("last second"));
        assert_eq!(recent(&timeline, "cpu.power"), Err("no RAPL".to_owned()));
    }
}
