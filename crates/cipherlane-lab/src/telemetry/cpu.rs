//! The CPU's clock, load and throttling, from cpufreq, `/proc/stat` and the thermal counters.

use std::time::Duration;

use super::{Counter, Files, Sensor};

/// Logical CPUs that are read at most, evenly spread: each costs some microseconds a reading, and a machine with
/// hundreds would be disturbed by reading them all.
const MOST_CPUS: usize = 16;
const CPUS: &str = "sys/devices/system/cpu";

/// Folders of the logical CPUs to read that have `file`, or why there are none.
fn cpus_with(files: &Files, file: &str) -> Result<Vec<String>, String> {
    let is_cpu = |name: &String| name[3..].parse::<u32>().is_ok();
    let all: Vec<String> = files
        .list(CPUS, "cpu")?
        .into_iter()
        .filter(is_cpu)
        .map(|name| format!("{CPUS}/{name}"))
        .filter(|folder| files.text(format!("{folder}/{file}")).is_ok())
        .collect();
    if all.is_empty() {
        return Err(format!("no /{CPUS}/cpu*/{file}"));
    }
    let step = all.len().div_ceil(MOST_CPUS);
    Ok(all.into_iter().step_by(step).collect())
}

/// Mean frequency of the logical CPUs.
pub(super) struct Frequency {
    files: Files,
    source: Source,
}

enum Source {
    /// `scaling_cur_freq` in kHz, a file each.
    Cpufreq(Vec<String>),
    /// `cpu MHz` lines.
    Cpuinfo,
}

/// The frequency, from cpufreq or else from `/proc/cpuinfo`.
pub(super) fn frequency(files: &Files) -> Result<Frequency, String> {
    const FILE: &str = "cpufreq/scaling_cur_freq";
    let files = files.clone();
    let reason = match cpus_with(&files, FILE) {
        Ok(cpus) => {
            let cpus = cpus.into_iter().map(|cpu| format!("{cpu}/{FILE}")).collect();
            return Ok(Frequency { files, source: Source::Cpufreq(cpus) });
        }
        Err(reason) => reason,
    };
    // A virtual CPU shows the rate of its time-stamp counter there, whatever the core does.
    if files.is_virtual() {
        return Err(format!(
            "{reason}; in a virtual machine /proc/cpuinfo shows the time-stamp counter's rate and not the core's; \
             core_clock_hertz of each row is measured instead"
        ));
    }
    let sensor = Frequency { files, source: Source::Cpuinfo };
    if sensor.mean().is_some() { Ok(sensor) } else { Err(format!("{reason}, and no MHz in /proc/cpuinfo")) }
}

impl Frequency {
    fn mean(&self) -> Option<f64> {
        let hertz: Vec<f64> = match &self.source {
            Source::Cpufreq(paths) => {
                paths.iter().filter_map(|path| Some(self.files.number(path).ok()? as f64 * 1e3)).collect()
            }
            Source::Cpuinfo => self
                .files
                .text("proc/cpuinfo")
                .ok()?
                .lines()
                .filter(|line| line.starts_with("cpu MHz"))
                .filter_map(|line| Some(line.split_once(':')?.1.trim().parse::<f64>().ok()? * 1e6))
                .collect(),
        };
        (!hertz.is_empty()).then(|| hertz.iter().sum::<f64>() / hertz.len() as f64)
    }
}

impl Sensor for Frequency {
    fn channels(&self) -> Vec<(String, &'static str)> {
        vec![("cpu.frequency".to_owned(), "Hz")]
    }

    fn read(&mut self, _: Duration) -> Vec<Option<f64>> {
        vec![self.mean()]
    }
}

/// The part of all CPUs' time that was not idle, between readings.
pub(super) struct Load {
    files: Files,
    last: Option<Ticks>,
}

/// Time of all CPUs since boot, in ticks of a hundredth of a second as a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    all: u64,
}

/// Fewer ticks than this between two readings tell no load.
const FEWEST_TICKS: u64 = 10;

/// The load, from `/proc/stat`.
pub(super) fn load(files: &Files) -> Result<Load, String> {
    Ticks::read(files)?;
    Ok(Load { files: files.clone(), last: None })
}

impl Ticks {
    /// The first line: `cpu user nice system idle iowait irq softirq steal guest guest_nice`, where user holds guest
    /// and nice holds guest_nice (proc_stat(5)).
    fn read(files: &Files) -> Result<Self, String> {
        let text = files.text("proc/stat")?;
        let line = text.lines().next().and_then(|line| line.strip_prefix("cpu "));
        let fields: Option<Vec<u64>> =
            line.and_then(|line| line.split_whitespace().take(8).map(|field| field.parse().ok()).collect());
        match fields.as_deref() {
            Some([user, nice, system, idle, iowait, rest @ ..]) => {
                let busy = user + nice + system + rest.iter().sum::<u64>();
                Ok(Self { busy, all: busy + idle + iowait })
            }
            _ => Err("/proc/stat: no line of all CPUs".to_owned()),
        }
    }
}

impl Sensor for Load {
    fn channels(&self) -> Vec<(String, &'static str)> {
        vec![("cpu.load".to_owned(), "1")]
    }

    fn read(&mut self, _: Duration) -> Vec<Option<f64>> {
        let Ok(now) = Ticks::read(&self.files) else { return vec![None] };
        let Some(last) = self.last else {
            self.last = Some(now);
            return vec![None];
        };
        let all = now.all.saturating_sub(last.all);
        if all < FEWEST_TICKS {
            return vec![None];
        }
        self.last = Some(now);
        vec![Some(now.busy.saturating_sub(last.busy) as f64 / all as f64)]
    }
}

/// How often a core or package was held back for its temperature, between readings.
pub(super) struct Throttle {
    files: Files,
    paths: Vec<String>,
    counter: Counter,
    last: Option<u64>,
}

/// The events, from the thermal counters that Intel's CPUs have.
pub(super) fn throttle(files: &Files) -> Result<Throttle, String> {
    const FOLDER: &str = "thermal_throttle";
    let cpus = cpus_with(files, "thermal_throttle/core_throttle_count").map_err(|reason| {
        format!("{reason}: Intel's CPUs alone count their throttling, and virtual machines show none")
    })?;
    let paths = cpus
        .iter()
        .flat_map(|cpu| ["core", "package"].map(|what| format!("{cpu}/{FOLDER}/{what}_throttle_count")))
        .filter(|path| files.number(path).is_ok())
        .collect();
    Ok(Throttle { files: files.clone(), paths, counter: Counter::default(), last: None })
}

impl Sensor for Throttle {
    fn channels(&self) -> Vec<(String, &'static str)> {
        vec![("cpu.throttle".to_owned(), "1")]
    }

    fn read(&mut self, _: Duration) -> Vec<Option<f64>> {
        let counts: Result<Vec<u64>, _> = self.paths.iter().map(|path| self.files.number(path)).collect();
        let Ok(counts) = counts else { return vec![None] };
        let total = self.counter.advance(counts.iter().sum());
        let last = self.last.replace(total).unwrap_or(total);
        vec![Some((total - last) as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_what_is_not_idle() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        let write = |line: &str| std::fs::write(folder.path().join("proc/stat"), format!("{line}\ncpu0 1\n"));
        // guest (9th) is part of user, and must not be counted again.
        write("cpu  100 0 100 800 0 0 0 0 50 0").unwrap();
        let mut load = load(&Files::below(folder.path())).unwrap();
        assert_eq!(load.read(Duration::ZERO), [None]);
        write("cpu  160 0 110 820 10 0 0 0 90 0").unwrap();
        assert_eq!(load.read(Duration::ZERO), [Some(0.7)]);
        // Two ticks tell nothing, and are counted in the next reading.
        write("cpu  162 0 110 820 10 0 0 0 90 0").unwrap();
        assert_eq!(load.read(Duration::ZERO), [None]);
        write("cpu  162 0 110 838 10 0 0 0 90 0").unwrap();
        assert_eq!(load.read(Duration::ZERO), [Some(0.1)]);
    }
}
