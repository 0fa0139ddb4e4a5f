//! Energy of a steady run: which meters a device has, and what they say.
//!
//! Meters are channels of a [`Timeline`]: counters of joules, whose difference is the energy, and readings of watts,
//! which are added up. A device's best meter gives the figure, its second one the check. [`Protocol`] runs the load
//! between two times of idleness; [`probe`] asks how far a meter is to be trusted.

pub mod probe;
mod protocol;

use cipherlane_record::{Channel, CrossCheck, Energy, Meter, Timeline};

pub use protocol::{Protocol, Trial, pause};

/// A stretch of a timeline, in its seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Where it begins.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
}

/// The parts of a run whose energy is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// Nothing ran, before.
    pub before: Window,
    /// The load ran, steady.
    pub load: Window,
    /// Nothing ran, after.
    pub after: Window,
}

impl Window {
    /// How long it is.
    #[must_use]
    pub const fn seconds(&self) -> f64 {
        self.end - self.start
    }
}

/// The meters that the device `id` may have with their channels, the best first.
fn meters(id: &str) -> Vec<(Meter, String)> {
    let channel = |meter, name: &str| (meter, format!("{id}.{name}"));
    if id == "cpu" {
        return vec![channel(Meter::Rapl, "energy")];
    }
    vec![
        channel(Meter::NvmlCounter, "energy"),
        channel(Meter::NvmlInstant, "power"),
        channel(Meter::NvmlAverage, "power_average"),
    ]
}

/// Joules in `window` by every meter that the device `id` has, the best first.
///
/// # Errors
/// Why it has none.
pub fn joules(timeline: &Timeline, id: &str, window: Window) -> Result<Vec<(Meter, f64)>, String> {
    let read = |(meter, name): &(Meter, String)| {
        let channel = timeline.channel(name)?;
        let points = points(timeline, channel);
        let joules = if channel.unit == "J" { counted(&points, window) } else { added_up(&points, window) };
        Some((*meter, joules?))
    };
    let meters = meters(id);
    let found: Vec<_> = meters.iter().filter_map(read).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    Err(format!("no meter of energy for {id}: {}", why_none(timeline, id, &meters)))
}

/// Why none of `meters` told anything.
fn why_none(timeline: &Timeline, id: &str, meters: &[(Meter, String)]) -> String {
    if let Some(reason) = timeline.missing.get(id) {
        return reason.clone();
    }
    let reason = |(_, name): &(Meter, String)| match (timeline.missing.get(name), timeline.channel(name)) {
        (Some(reason), _) => Some(format!("{name}: {reason}")),
        (None, Some(_)) => Some(format!("{name}: no two readings in the time")),
        (None, None) => None,
    };
    let reasons: Vec<String> = meters.iter().filter_map(reason).collect();
    if reasons.is_empty() {
        return "it has no sensor that is known (NVML tells of NVIDIA's GPUs, RAPL of the CPU), or sensors are off"
            .to_owned();
    }
    reasons.join("; ")
}

/// The energy of `windows.load`, in which the device `id` got through `bytes` of text.
///
/// # Errors
/// Why there is no meter.
pub fn account(timeline: &Timeline, id: &str, windows: Windows, bytes: u64) -> Result<Energy, String> {
    let of_load = joules(timeline, id, windows.load)?;
    let (meter, total) = of_load[0];
    let watts = |window: Window| {
        let found = joules(timeline, id, window).ok()?;
        found.iter().find(|(other, _)| *other == meter).map(|(_, joules)| joules / window.seconds())
    };
    let idle = watts(windows.before).zip(watts(windows.after));
    Ok(Energy {
        meter,
        seconds: windows.load.seconds(),
        joules: total,
        bytes,
        idle_watts: idle.map(|(before, after)| f64::midpoint(before, after)),
        sigma_watts: timeline
            .channel(&format!("{id}.power"))
            .or_else(|| timeline.channel(&format!("{id}.power_average")))
            .and_then(|channel| sigma(&points(timeline, channel), windows.load)),
        cross_check: of_load.get(1).map(|&(meter, joules)| CrossCheck { meter, joules }),
    })
}

/// The readings that there are, with their moments.
fn points(timeline: &Timeline, channel: &Channel) -> Vec<(f64, f64)> {
    let values = channel.values.iter();
    timeline.seconds.iter().zip(values).filter_map(|(&seconds, value)| Some((seconds, (*value)?))).collect()
}

/// The value at `seconds` on the lines between `points`; `None` beyond them.
fn at(points: &[(f64, f64)], seconds: f64) -> Option<f64> {
    let after = points.partition_point(|&(moment, _)| moment < seconds);
    let &(end, high) = points.get(after)?;
    if end <= seconds {
        return Some(high);
    }
    let &(start, low) = points.get(after.checked_sub(1)?)?;
    Some(low + (high - low) * (seconds - start) / (end - start))
}

/// What a counter counted in `window`.
fn counted(points: &[(f64, f64)], window: Window) -> Option<f64> {
    Some(at(points, window.end)? - at(points, window.start)?)
}

/// Watts added up over `window`, by trapezoids.
fn added_up(points: &[(f64, f64)], window: Window) -> Option<f64> {
    let mut corners = vec![(window.start, at(points, window.start)?)];
    corners.extend(points.iter().filter(|(moment, _)| window.start < *moment && *moment < window.end));
    corners.push((window.end, at(points, window.end)?));
    Some(corners.windows(2).map(|pair| (pair[1].0 - pair[0].0) * f64::midpoint(pair[0].1, pair[1].1)).sum())
}

/// Standard deviation of the readings within `window`.
fn sigma(points: &[(f64, f64)], window: Window) -> Option<f64> {
    let within = |&&(moment, _): &&(f64, f64)| window.start <= moment && moment <= window.end;
    let values: Vec<f64> = points.iter().filter(within).map(|&(_, value)| value).collect();
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten readings a second for a minute: 100 W idle, 600 W from 20 to 45 s. The counter steps each 0.1 s, the
    /// instant readings see 2 % too much.
    fn timeline() -> Timeline {
        let seconds: Vec<f64> = (0..600).map(|tick| f64::from(tick) / 10.0).collect();
        let watts = |seconds: f64| if (20.0..45.0).contains(&seconds) { 600.0 } else { 100.0 };
        let mut joules = 5e6;
        let mut energy = Vec::new();
        for &moment in &seconds {
            energy.push(Some(joules));
            joules += watts(moment) * 0.1;
        }
        let channel =
            |name: &str, unit: &str, values| Channel { name: name.to_owned(), unit: unit.to_owned(), values };
        let power = seconds.iter().map(|&moment| Some(1.02 * watts(moment))).collect();
        Timeline {
            channels: vec![channel("cuda:0.energy", "J", energy), channel("cuda:0.power", "W", power)],
            seconds,
            ..Timeline::default()
        }
    }

    const WINDOWS: Windows = Windows {
        before: Window { start: 5.0, end: 15.0 },
        load: Window { start: 22.05, end: 42.05 },
        after: Window { start: 48.0, end: 58.0 },
    };

    #[test]
    fn the_counter_is_the_figure_and_the_readings_check_it() {
        let energy = account(&timeline(), "cuda:0", WINDOWS, 1 << 40).unwrap();
        assert_eq!(energy.meter, Meter::NvmlCounter);
        assert!((energy.joules - 12_000.0).abs() < 1e-6, "{}", energy.joules);
        assert!((energy.idle_watts.unwrap() - 100.0).abs() < 1e-6);
        assert!((energy.watts() - 600.0).abs() < 1e-6);
        let check = energy.cross_check.unwrap();
        assert_eq!(check.meter, Meter::NvmlInstant);
        assert!((check.joules / energy.joules - 1.02).abs() < 1e-6);
        assert!(energy.sigma_watts.unwrap() < 1e-6);
    }

    #[test]
    fn readings_serve_where_there_is_no_counter() {
        let mut timeline = timeline();
        timeline.channels.remove(0);
        let energy = account(&timeline, "cuda:0", WINDOWS, 1).unwrap();
        assert_eq!((energy.meter, energy.cross_check), (Meter::NvmlInstant, None));
        assert!((energy.joules - 12_240.0).abs() < 1e-6);
    }

    #[test]
    fn no_meter_says_why() {
        let mut timeline = timeline();
        timeline.missing.insert("cpu.energy".to_owned(), "a virtual machine does not see it".to_owned());
        let reason = account(&timeline, "cpu", WINDOWS, 1).unwrap_err();
        assert!(reason.contains("cpu.energy") && reason.contains("virtual machine"), "{reason}");
        timeline.missing.insert("cuda:1".to_owned(), "no NVML".to_owned());
        assert!(joules(&timeline, "cuda:1", WINDOWS.load).unwrap_err().contains("no NVML"));
    }

    #[test]
    fn a_window_beyond_the_readings_has_no_energy() {
        let window = Window { start: 50.0, end: 70.0 };
        assert!(joules(&timeline(), "cuda:0", window).is_err());
    }

    #[test]
    fn gaps_in_the_readings_are_bridged() {
        let mut timeline = timeline();
        for channel in &mut timeline.channels {
            channel.values[300] = None;
        }
        let found = joules(&timeline, "cuda:0", Window { start: 29.95, end: 30.05 }).unwrap();
        assert!((found[0].1 - 60.0).abs() < 1e-6 && (found[1].1 - 61.2).abs() < 1e-6, "{found:?}");
    }
}
