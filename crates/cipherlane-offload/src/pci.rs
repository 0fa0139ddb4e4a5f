//! What Linux says of a device on the PCI bus: its link to the host, its clock, and the NUMA node that it is nearest to.

use std::fs;
use std::path::PathBuf;

/// Where Linux has a folder for each device (Documentation/ABI/testing/sysfs-bus-pci).
const DEVICES: &str = "/sys/bus/pci/devices";

/// A device on the bus.
#[derive(Clone, Debug)]
pub struct PciDevice {
    folder: PathBuf,
}

impl PciDevice {
    /// The device at `bus`: `0000:41:00.0`.
    #[must_use]
    pub fn at(bus: &str) -> Self {
        // Drivers spell it in either case.
        Self { folder: PathBuf::from(DEVICES).join(bus.to_ascii_lowercase()) }
    }

    /// The NUMA node of the host that it is nearest to, where the system says so.
    #[must_use]
    pub fn node(&self) -> Option<usize> {
        // Where there is none, the system says -1.
        self.line("numa_node").ok()?.parse().ok()
    }

    /// Its link to the host as it is now, and the best that the device has, in words for `cipherlane devices`. What the
    /// system does not tell is unknown, with its reason.
    #[must_use]
    pub fn links(&self) -> [(&'static str, String); 2] {
        [("link", "current"), ("highest link", "max")].map(|(name, when)| (name, or_why(self.link(when))))
    }

    /// Its clock as it is now, in the same way.
    #[must_use]
    pub fn clock(&self) -> (&'static str, String) {
        let unknown = || "the driver shows none below /sys".to_owned();
        let megahertz =
            self.clock_of_amdgpu().or_else(|| self.clock_of_xe()).or_else(|| self.clock_of_i915());
        ("clock now", or_why(megahertz.map(|number| format!("{number} MHz")).ok_or_else(unknown)))
    }

    fn link(&self, when: &str) -> Result<String, String> {
        let speed = self.line(&format!("{when}_link_speed"))?;
        let width = self.line(&format!("{when}_link_width"))?;
        // What is within the processor has no lanes.
        match (generation(&speed), width.parse()) {
            (Some(generation), Ok(1..=32_u32)) => Ok(format!("PCIe {generation} x{width}")),
            _ => Err(format!("the system says `{speed}`, `{width}` lanes")),
        }
    }

    /// The line with a star of those that the driver switches between: `1: 1200Mhz *`.
    fn clock_of_amdgpu(&self) -> Option<u32> {
        let states = self.line("pp_dpm_sclk").ok()?;
        let present = states.lines().find_map(|line| line.trim_end().strip_suffix('*'))?;
        present.split_once(": ")?.1.trim_end().strip_suffix("Mhz")?.parse().ok()
    }

    fn clock_of_xe(&self) -> Option<u32> {
        self.line("tile0/gt0/freq0/cur_freq").ok()?.parse().ok()
    }

    fn clock_of_i915(&self) -> Option<u32> {
        let cards = fs::read_dir(self.folder.join("drm")).ok()?.filter_map(Result::ok);
        let clock = |name: &str| self.line(&format!("drm/{name}/gt_cur_freq_mhz")).ok()?.parse().ok();
        // Beside the card lies what renders without a screen.
        cards.filter_map(|card| clock(card.file_name().to_str()?)).next()
    }

    /// The text of a file in its folder.
    fn line(&self, name: &str) -> Result<String, String> {
        let path = self.folder.join(name);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(text.trim().to_owned())
    }
}

/// A figure, or why it is unknown.
fn or_why(told: Result<String, String>) -> String {
    told.unwrap_or_else(|reason| format!("unknown: {reason}"))
}

/// The generation whose lanes are of this speed (PCI Express Base Specification): `16.0 GT/s PCIe`.
fn generation(speed: &str) -> Option<u32> {
    let number: f64 = speed.split(' ').next()?.parse().ok()?;
    let speeds = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    (1..).zip(speeds).find_map(|(generation, speed)| (number == speed).then_some(generation))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with `files`, as Linux would have it for a device.
    fn device(files: &[(&str, &str)]) -> (tempfile::TempDir, PciDevice) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let device = PciDevice { folder: folder.path().to_owned() };
        (folder, device)
    }

    #[test]
    fn a_place_is_a_folder_whatever_its_case() {
        assert_eq!(PciDevice::at("0000:C1:00.0").folder, PathBuf::from("/sys/bus/pci/devices/0000:c1:00.0"));
        assert_eq!(PciDevice::at("0000:ff:1f.7 of no machine").node(), None);
    }

    #[test]
    fn nodes_are_those_that_the_system_knows() {
        for (text, node) in [("1\n", Some(1)), ("0\n", Some(0)), ("-1\n", None), ("", None)] {
            assert_eq!(device(&[("numa_node", text)]).1.node(), node, "{text:?}");
        }
        assert_eq!(device(&[]).1.node(), None);
    }

    #[test]
    fn links_are_told_now_and_at_best() {
        let files = [
            ("current_link_speed", "2.5 GT/s PCIe\n"),
            ("current_link_width", "8\n"),
            ("max_link_speed", "32.0 GT/s PCIe\n"),
            ("max_link_width", "16\n"),
        ];
        let (_folder, card) = device(&files);
        assert_eq!(
            card.links(),
            [("link", "PCIe 1 x8".to_owned()), ("highest link", "PCIe 5 x16".to_owned())]
        );
        // As older kernels word it.
        assert_eq!(generation("8 GT/s"), Some(3));
    }

    #[test]
    fn a_link_that_is_not_told_has_a_reason() {
        let (_folder, card) = device(&[("current_link_speed", "Unknown\n"), ("current_link_width", "0\n")]);
        let [(_, now), (_, best)] = card.links();
        assert_eq!(now, "unknown: the system says `Unknown`, `0` lanes");
        assert!(best.starts_with("unknown: ") && best.contains("max_link_speed"), "{best}");
    }

    #[test]
    fn each_driver_has_its_clock_elsewhere() {
        let states = "0: 500Mhz \n1: 1200Mhz *\n2: 2500Mhz \n";
        for (name, text, clock) in [
            ("pp_dpm_sclk", states, "1200 MHz"),
            ("tile0/gt0/freq0/cur_freq", "1550\n", "1550 MHz"),
            ("drm/card1/gt_cur_freq_mhz", "350\n", "350 MHz"),
            ("drm/renderD128/dev", "226:128\n", "unknown: the driver shows none below /sys"),
        ] {
            assert_eq!(device(&[(name, text)]).1.clock(), ("clock now", clock.to_owned()), "{name}");
        }
    }
}
