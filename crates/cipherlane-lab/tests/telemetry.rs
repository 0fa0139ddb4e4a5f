//! Sensors against trees of files that look like machines: a virtual one, a laptop, a server.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use cipherlane_lab::telemetry::{Files, Rapl, Sampler, Sensors};
use cipherlane_record::{Timeline, throttle};
use tempfile::TempDir;

/// A tree with these files.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().expect("a folder can be made");
    for (path, text) in files {
        write(root.path(), path, text);
    }
    root
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a path has a folder")).expect("a folder can be made");
    fs::write(path, format!("{text}\n")).expect("a file can be written");
}

const STAT: (&str, &str) = ("proc/stat", "cpu  100 0 0 900 0 0 0 0 0 0");

/// What is read of `root` while `change` alters it.
fn watch(root: &TempDir, change: impl FnOnce(&Path)) -> Timeline {
    let sensors = Sensors::of_cpu(&Files::below(root.path()));
    let sampler = Sampler::start(sensors, 0.01).expect("a thread can be had");
    let mark = sampler.mark();
    // Longer than the shortest time over which power is told.
    thread::sleep(Duration::from_millis(120));
    change(root.path());
    sampler.since(mark)
}

fn last(timeline: &Timeline, channel: &str) -> Option<f64> {
    *timeline.channel(channel).expect("the channel").values.last().expect("a reading")
}

#[test]
fn a_virtual_machine_says_what_it_does_not_see() {
    let cpuinfo = "cpu MHz\t\t: 2596.142\nflags\t\t: fpu aes hypervisor";
    let root = tree(&[STAT, ("proc/cpuinfo", cpuinfo)]);
    let sensors = Sensors::of_cpu(&Files::below(root.path()));
    let channels: Vec<String> = sensors.channels().into_iter().map(|(name, _)| name).collect();
    assert_eq!(channels, ["cpu.load"]);
    for channel in ["energy", "fan", "frequency", "power", "temperature", "throttle", "voltage"] {
        let reason = &sensors.missing()[&format!("cpu.{channel}")];
        assert!(channel == "energy" || reason.contains("virtual machine"), "{channel}: {reason}");
    }
}

#[test]
fn a_machine_without_any_file_has_a_reason_for_everything() {
    let sensors = Sensors::of_cpu(&Files::below(tempfile::tempdir().unwrap().path()));
    assert!(sensors.channels().is_empty());
    assert_eq!(sensors.missing().len(), 8);
    assert!(sensors.missing()["cpu.temperature"].contains("coretemp"));
    assert!(sensors.missing()["cpu.power"].contains("intel_rapl"));
}

#[test]
fn a_laptop_shows_everything() {
    let root = tree(&[
        STAT,
        ("proc/cpuinfo", "flags\t: aes"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1000000"),
        ("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000"),
        ("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "9000000"),
        ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7"),
        ("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "2"),
        ("sys/class/hwmon/hwmon0/name", "nvme"),
        ("sys/class/hwmon/hwmon0/temp1_input", "99000"),
        ("sys/class/hwmon/hwmon1/name", "coretemp"),
        ("sys/class/hwmon/hwmon1/temp1_input", "61000"),
        ("sys/class/hwmon/hwmon1/temp1_label", "Package id 0"),
        ("sys/class/hwmon/hwmon1/temp2_input", "64000"),
        ("sys/class/hwmon/hwmon1/temp2_label", "Core 0"),
        ("sys/class/hwmon/hwmon2/name", "dell_smm"),
        ("sys/class/hwmon/hwmon2/fan1_input", "2700"),
        ("sys/class/hwmon/hwmon2/fan1_label", "CPU Fan"),
        ("sys/class/hwmon/hwmon2/fan2_input", "4000"),
        ("sys/class/hwmon/hwmon2/fan2_label", "Video Fan"),
        ("sys/class/hwmon/hwmon2/in0_input", "1279"),
        ("sys/class/hwmon/hwmon2/in0_label", "Vcore"),
        ("sys/class/powercap/intel-rapl:0/name", "package-0"),
        ("sys/class/powercap/intel-rapl:0/energy_uj", "262143000000"),
        ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850"),
        ("sys/class/powercap/intel-rapl:1/name", "psys"),
        ("sys/class/powercap/intel-rapl:1/energy_uj", "5"),
    ]);
    let timeline = watch(&root, |root| {
        write(root, "proc/stat", "cpu  160 0 0 940 0 0 0 0 0 0");
        write(root, "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "10");
        // Wrapped: 328,851 uJ up to zero, and 4,671,149 uJ on.
        write(root, "sys/class/powercap/intel-rapl:0/energy_uj", "4671149");
    });
    assert!(timeline.missing.is_empty(), "{:?}", timeline.missing);
    assert_eq!(last(&timeline, "cpu.frequency"), Some(2e9));
    assert_eq!(last(&timeline, "cpu.temperature"), Some(61.0));
    assert_eq!(last(&timeline, "cpu.fan"), Some(45.0));
    assert_eq!(last(&timeline, "cpu.voltage"), Some(1.279));
    assert_eq!(last(&timeline, "cpu.load"), Some(0.6));
    assert_eq!(last(&timeline, "cpu.throttle"), Some(3.0));
    assert_eq!(throttle::seen(&timeline), ["cpu: temperature limit"]);
    assert_eq!(last(&timeline, "cpu.energy"), Some(5.0));
    let watts = last(&timeline, "cpu.power").unwrap();
    // 5 J in 0.12 s or, on a busy machine, in more.
    assert!(watts > 0.0 && watts <= 42.0, "{watts} W");
}

#[test]
fn a_server_adds_its_packages_and_shows_the_hottest() {
    let root = tree(&[
        STAT,
        ("proc/cpuinfo", "cpu MHz\t: 3000.0\nflags\t: aes\ncpu MHz\t: 2000.0"),
        ("sys/class/hwmon/hwmon0/name", "k10temp"),
        ("sys/class/hwmon/hwmon0/temp1_input", "50500"),
        ("sys/class/hwmon/hwmon0/temp1_label", "Tctl"),
        ("sys/class/hwmon/hwmon1/name", "k10temp"),
        ("sys/class/hwmon/hwmon1/temp1_input", "55250"),
        ("sys/class/hwmon/hwmon1/temp1_label", "Tctl"),
        ("sys/class/hwmon/hwmon1/temp3_input", "70000"),
        ("sys/class/hwmon/hwmon1/temp3_label", "Tccd1"),
        ("sys/class/powercap/intel-rapl:0/name", "package-0"),
        ("sys/class/powercap/intel-rapl:0/energy_uj", "1000000"),
        ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "65532610987"),
        ("sys/class/powercap/intel-rapl:0:0/name", "core"),
        ("sys/class/powercap/intel-rapl:0:0/energy_uj", "900000"),
        ("sys/class/powercap/intel-rapl:1/name", "package-1"),
        ("sys/class/powercap/intel-rapl:1/energy_uj", "2000000"),
        ("sys/class/powercap/intel-rapl:1/max_energy_range_uj", "65532610987"),
    ]);
    let timeline = watch(&root, |root| {
        write(root, "sys/class/powercap/intel-rapl:0/energy_uj", "2500000");
        write(root, "sys/class/powercap/intel-rapl:1/energy_uj", "4000000");
    });
    assert_eq!(last(&timeline, "cpu.temperature"), Some(55.25));
    assert_eq!(last(&timeline, "cpu.frequency"), Some(2.5e9));
    assert_eq!(last(&timeline, "cpu.energy"), Some(3.5));
    assert!(timeline.missing["cpu.throttle"].contains("Intel"));
}

#[test]
fn a_reading_that_fails_later_is_a_gap_and_no_zero() {
    let path = "sys/class/hwmon/hwmon0/temp1_input";
    let root = tree(&[STAT, ("sys/class/hwmon/hwmon0/name", "k10temp"), (path, "40000")]);
    let timeline = watch(&root, |root| fs::remove_file(root.join(path)).unwrap());
    assert_eq!(timeline.channel("cpu.temperature").unwrap().values.last(), Some(&None));
}

#[test]
fn counters_of_energy_without_their_range_are_no_meter() {
    let root = tree(&[
        ("sys/class/powercap/intel-rapl:0/name", "package-0"),
        ("sys/class/powercap/intel-rapl:0/energy_uj", "1000000"),
    ]);
    let reason = Rapl::find(&Files::below(root.path())).unwrap_err();
    assert!(reason.contains("max_energy_range_uj"), "{reason}");
}
