//! Temperature, fan and voltage of the CPU, from the hwmon drivers (Linux, Documentation/hwmon/sysfs-interface).

use std::time::Duration;

use super::{Files, Sensor};

const HWMON: &str = "sys/class/hwmon";
/// Drivers that show a CPU's temperature: Intel's, AMD's, AMD's out of the kernel's tree, and those of Arm boards.
const CPU_DRIVERS: [&str; 5] = ["coretemp", "k10temp", "zenpower", "cpu_thermal", "scpi_sensors"];
/// What drivers call the whole package, the best name first: Intel's; AMD's as it is, and as its fans are told.
const PACKAGE_LABELS: [&str; 3] = ["Package id", "Tdie", "Tctl"];
/// What drivers call the voltage of the cores.
const VOLTAGE_LABELS: [&str; 4] = ["vcore", "cpu core voltage", "svi2_core", "cpu vcore"];

/// The highest of some inputs.
pub(super) struct Highest {
    files: Files,
    channel: &'static str,
    unit: &'static str,
    /// Units of the files in one of the channel.
    divisor: f64,
    inputs: Vec<String>,
}

impl Sensor for Highest {
    fn channels(&self) -> Vec<(String, &'static str)> {
        vec![(self.channel.to_owned(), self.unit)]
    }

    fn read(&mut self, _: Duration) -> Vec<Option<f64>> {
        let values = self.inputs.iter().filter_map(|input| self.files.line(input).ok()?.parse::<f64>().ok());
        vec![values.max_by(f64::total_cmp).map(|highest| highest / self.divisor)]
    }
}

/// An input of a driver, with its label where it has one.
struct Input {
    driver: String,
    label: String,
    path: String,
}

/// Every input of `kind`: `temp`, `fan`, `in`.
fn inputs(files: &Files, kind: &str) -> Result<Vec<Input>, String> {
    let mut found = Vec::new();
    for monitor in files.list(HWMON, "hwmon")? {
        let folder = format!("{HWMON}/{monitor}");
        let driver = files.line(format!("{folder}/name")).unwrap_or_default();
        for name in files.list(&folder, kind)? {
            let Some(stem) = name.strip_suffix("_input") else { continue };
            let path = format!("{folder}/{name}");
            // A driver may list what its chip does not have; reading it then fails.
            if files.line(&path).is_ok() {
                let label = files.line(format!("{folder}/{stem}_label")).unwrap_or_default();
                found.push(Input { driver: driver.clone(), label, path });
            }
        }
    }
    Ok(found)
}

/// Paths of those that `keep` lets through.
fn paths(inputs: &[Input], keep: impl Fn(&Input) -> bool) -> Vec<String> {
    inputs.iter().filter(|input| keep(input)).map(|input| input.path.clone()).collect()
}

/// Why nothing was found, with what helps.
fn absent(files: &Files, what: &str, remedy: &str) -> String {
    if files.is_virtual() {
        format!("no {what} in /{HWMON}: a virtual machine does not see the board's sensors")
    } else {
        format!("no {what} in /{HWMON}; {remedy}")
    }
}

/// The temperature of the hottest package.
pub(super) fn temperature(files: &Files) -> Result<Highest, String> {
    let all = inputs(files, "temp").unwrap_or_default();
    let of_cpu = |input: &Input| CPU_DRIVERS.contains(&input.driver.as_str());
    let mut inputs = PACKAGE_LABELS
        .iter()
        .map(|label| paths(&all, |input| of_cpu(input) && input.label.starts_with(label)))
        .find(|paths| !paths.is_empty())
        .unwrap_or_else(|| paths(&all, of_cpu));
    if inputs.is_empty() {
        inputs = zones(files);
    }
    if inputs.is_empty() {
        let remedy = "load the driver: coretemp (Intel) or k10temp (AMD)";
        return Err(absent(files, "CPU temperature", remedy));
    }
    Ok(Highest { files: files.clone(), channel: "cpu.temperature", unit: "°C", divisor: 1e3, inputs })
}

/// Thermal zones of the CPU, for boards without a hwmon driver of it.
fn zones(files: &Files) -> Vec<String> {
    const ZONES: &str = "sys/class/thermal";
    let is_cpu = |zone: &String| {
        let kind = files.line(format!("{ZONES}/{zone}/type")).unwrap_or_default();
        kind == "x86_pkg_temp" || kind.starts_with("cpu")
    };
    let zones = files.list(ZONES, "thermal_zone").unwrap_or_default();
    zones
        .into_iter()
        .filter(is_cpu)
        .map(|zone| format!("{ZONES}/{zone}/temp"))
        .filter(|path| files.line(path).is_ok())
        .collect()
}

/// Turns a second of the CPU's fan, or of the fastest one where none is called the CPU's.
pub(super) fn fan(files: &Files) -> Result<Highest, String> {
    let all = inputs(files, "fan").unwrap_or_default();
    let is_cpu = |input: &Input| {
        let label = input.label.to_lowercase();
        label.contains("cpu") || label.contains("processor")
    };
    let mut inputs = paths(&all, is_cpu);
    if inputs.is_empty() {
        inputs = paths(&all, |_| true);
    }
    if inputs.is_empty() {
        return Err(absent(
            files,
            "fan",
            "load the driver of the board's sensor chip (sensors-detect finds it)",
        ));
    }
    // Files say turns a minute.
    Ok(Highest { files: files.clone(), channel: "cpu.fan", unit: "1/s", divisor: 60.0, inputs })
}

/// The voltage of the cores.
pub(super) fn voltage(files: &Files) -> Result<Highest, String> {
    let all = inputs(files, "in").unwrap_or_default();
    let inputs = paths(&all, |input| VOLTAGE_LABELS.contains(&input.label.to_lowercase().as_str()));
    if inputs.is_empty() {
        let remedy =
            "few boards label it; load the driver of the board's sensor chip (sensors-detect finds it)";
        return Err(absent(files, "voltage of the CPU's cores", remedy));
    }
    Ok(Highest { files: files.clone(), channel: "cpu.voltage", unit: "V", divisor: 1e3, inputs })
}
