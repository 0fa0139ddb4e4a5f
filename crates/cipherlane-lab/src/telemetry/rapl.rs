//! Energy and power of the CPU packages, from the RAPL counters (Linux, Documentation/power/powercap).

use std::time::Duration;

use super::{Counter, Files, Sensor, Speed};

const POWERCAP: &str = "sys/class/powercap";

/// The energy counters of all packages.
#[derive(Clone, Debug)]
pub struct Rapl {
    files: Files,
    packages: Vec<(String, Counter)>,
}

impl Rapl {
    /// Finds the counters.
    ///
    /// # Errors
    /// Why there are none, or why they may not be read, and what helps.
    pub fn find(files: &Files) -> Result<Self, String> {
        // `intel-rapl-mmio:0` counts the same package again, and `intel-rapl:0:1` parts of it. AMD's packages stand
        // under the same names.
        let zones = files.list(POWERCAP, "intel-rapl:").map_err(|error| {
            if files.is_virtual() {
                format!("{error}: a virtual machine does not see the counters of energy (RAPL)")
            } else {
                format!("{error}: no counters of energy (RAPL); load the module intel_rapl_msr")
            }
        })?;
        let mut packages = Vec::new();
        for zone in zones {
            let folder = format!("{POWERCAP}/{zone}");
            if !files.line(format!("{folder}/name")).is_ok_and(|name| name.starts_with("package")) {
                continue;
            }
            let path = format!("{folder}/energy_uj");
            files.number(&path).map_err(|error| {
                format!(
                    "{error}; kernels since 5.10 let root alone read it (it can give keys away): run as root, or \
                     `sudo chmod a+r /{POWERCAP}/intel-rapl:*/energy_uj` and know why"
                )
            })?;
            packages.push((path, Counter::wrapping(files.number(format!("{folder}/max_energy_range_uj"))?)));
        }
        if packages.is_empty() {
            return Err(format!("no package in /{POWERCAP}"));
        }
        Ok(Self { files: files.clone(), packages })
    }

    /// Joules of all packages since the first reading. Counters wrap: two readings may lie no more than a minute
    /// apart (2^32 units of 15.3 µJ last 234 s at 280 W).
    ///
    /// # Errors
    /// If a counter cannot be read.
    pub fn joules(&mut self) -> Result<f64, String> {
        let mut microjoules = 0;
        for (path, counter) in &mut self.packages {
            microjoules += counter.advance(self.files.number(path)?);
        }
        Ok(microjoules as f64 * 1e-6)
    }
}

/// The same as a sensor: `cpu.energy` and `cpu.power`.
pub(super) struct PackagePower {
    rapl: Rapl,
    speed: Speed,
}

pub(super) fn sensor(files: &Files) -> Result<PackagePower, String> {
    Ok(PackagePower { rapl: Rapl::find(files)?, speed: Speed::default() })
}

impl Sensor for PackagePower {
    fn channels(&self) -> Vec<(String, &'static str)> {
        vec![("cpu.energy".to_owned(), "J"), ("cpu.power".to_owned(), "W")]
    }

    fn read(&mut self, now: Duration) -> Vec<Option<f64>> {
        let joules = self.rapl.joules().ok();
        vec![joules, joules.and_then(|joules| self.speed.of(now, joules))]
    }
}
