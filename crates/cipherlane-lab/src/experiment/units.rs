//! The sizes of a GPU, from what its device says of itself.

use cipherlane::Device;

/// Multiprocessors, or compute units in OpenCL.
pub(super) fn units(device: &dyn Device) -> Result<usize, String> {
    number(device, &["multiprocessors", "compute units"])
        .ok_or_else(|| format!("{} does not tell its units", device.info().id))
}

/// Cores of a multiprocessor: lanes of single precision, by compute capability (CUDA C++ Programming Guide, table of
/// arithmetic throughput).
pub(super) fn cores_of_a_unit(device: &dyn Device) -> Result<usize, String> {
    let unknown = || format!("{} does not tell the cores of a unit", device.info().id);
    let capability =
        device.info().detail("capability").and_then(|told| told.strip_prefix("sm_")?.parse().ok());
    match capability.ok_or_else(unknown)? {
        20_u32 => Ok(32),
        21 => Ok(48),
        30..=37 => Ok(192),
        60 | 70..=80 => Ok(64),
        50..=62 | 86..=129 => Ok(128),
        other => Err(format!("the cores of a multiprocessor of sm_{other} are not known here")),
    }
}

/// The highest clock in MHz.
pub(super) fn clock_megahertz(device: &dyn Device) -> Result<usize, String> {
    number(device, &["highest clock"]).ok_or_else(|| format!("{} does not tell its clock", device.info().id))
}

/// Bytes per second of the link to the host, one way, in 1e9: those of a lane of its generation, times its lanes.
pub(super) fn link_gigabytes(device: &dyn Device) -> Result<f64, String> {
    let unknown = || format!("{} does not tell its link", device.info().id);
    let link = device.info().detail("highest link").ok_or_else(unknown)?;
    let (generation, lanes) =
        link.strip_prefix("PCIe ").and_then(|link| link.split_once(" x")).ok_or_else(unknown)?;
    let lanes: f64 = lanes.parse().map_err(|_| unknown())?;
    // PCI Express Base Specification: transfers by the coding of each generation.
    let lane = match generation {
        "1" => 0.25,
        "2" => 0.5,
        "3" => 0.985,
        "4" => 1.969,
        "5" => 3.938,
        "6" => 7.563,
        _ => return Err(unknown()),
    };
    Ok(lane * lanes)
}

/// The number that the first known of these details begins with.
fn number(device: &dyn Device, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| device.info().detail(name)?.split(' ').next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Told(cipherlane::Info);

    impl Device for Told {
        fn info(&self) -> &cipherlane::Info {
            &self.0
        }
        fn kernels(&self, _: &cipherlane::Shape) -> Vec<cipherlane::Kernel> {
            Vec::new()
        }
        fn plan(
            &self,
            shape: &cipherlane::Shape,
            _: &cipherlane::Wish,
        ) -> Result<cipherlane::Plan, cipherlane::Unsupported> {
            let what = shape.algorithm.to_string();
            Err(cipherlane::Unsupported::Kernel { device: self.0.id.clone(), what, known: Vec::new() })
        }
        fn open(
            &self,
            _: &cipherlane::Plan,
        ) -> Result<Box<dyn cipherlane::Session>, cipherlane::DeviceError> {
            unreachable!("nothing was planned")
        }
    }

    fn told(details: &[(&str, &str)]) -> Told {
        let details = details.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let (id, name) = ("cuda:0".to_owned(), "a GPU".to_owned());
        Told(cipherlane::Info { id, name, tiers: Vec::new(), threads: 1, details })
    }

    #[test]
    fn sizes_are_read_from_what_devices_tell() {
        let gpu = told(&[
            ("capability", "sm_90"),
            ("multiprocessors", "132"),
            ("highest clock", "1980 MHz"),
            ("highest link", "PCIe 5 x16"),
        ]);
        assert_eq!((units(&gpu), cores_of_a_unit(&gpu), clock_megahertz(&gpu)), (Ok(132), Ok(128), Ok(1980)));
        assert!((link_gigabytes(&gpu).unwrap() - 63.0).abs() < 0.1);
        let opencl = told(&[("compute units", "2")]);
        assert_eq!(units(&opencl), Ok(2));
        assert!(cores_of_a_unit(&opencl).unwrap_err().contains("does not tell"));
        assert!(link_gigabytes(&told(&[("highest link", "unknown: NVML")])).is_err());
    }

    #[test]
    fn cores_follow_from_the_capability() {
        let cores = |capability: &str| cores_of_a_unit(&told(&[("capability", capability)]));
        let known = ["sm_61", "sm_70", "sm_80", "sm_86", "sm_90", "sm_120"].map(|name| cores(name).unwrap());
        assert_eq!(known, [128, 64, 64, 128, 128, 128]);
        assert!(cores("sm_999").unwrap_err().contains("sm_999"));
    }
}
