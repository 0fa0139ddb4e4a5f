//! Which GPUs are alike, so that a fleet can share out batches among them in equal parts.

use std::sync::Arc;

use cipherlane_offload::most_alike;

use crate::device::OpenClDevice;
use crate::driver::Facts;

/// The most GPUs of one platform that have the same name, driver and compute units; where two sets are as large, the one
/// that the loader lists first. Other devices stay outside: shares are equal, and the slowest would keep all waiting. A GPU
/// that two platforms list is not taken twice.
#[must_use]
pub fn alike(devices: &[Arc<OpenClDevice>]) -> Vec<Arc<OpenClDevice>> {
    let kinds: Vec<_> = devices.iter().map(|device| kind(device.provider().facts())).collect();
    most_alike(&kinds).into_iter().map(|place| Arc::clone(&devices[place])).collect()
}

/// What GPUs have in common that are alike.
fn kind(facts: &Facts) -> Option<(usize, &str, &str, usize)> {
    facts.is_gpu.then_some((facts.platform_number, &facts.name, &facts.driver, facts.units))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(platform_number: usize, name: &str, is_gpu: bool) -> Facts {
        Facts {
            name: name.to_owned(),
            platform: format!("platform {platform_number}"),
            platform_number,
            vendor: String::new(),
            version: "OpenCL 3.0".to_owned(),
            driver: "1".to_owned(),
            is_gpu,
            units: 60,
            megahertz: 2000,
            group_size: 1024,
            local_bytes: 48 << 10,
            memory_bytes: 16 << 30,
            buffer_bytes: 4 << 30,
            alignment: 128,
            little_endian: true,
            bus: None,
        }
    }

    fn places(all: &[Facts]) -> Vec<usize> {
        most_alike(&all.iter().map(kind).collect::<Vec<_>>())
    }

    #[test]
    fn gpus_of_one_kind_are_together() {
        // The CPU and the integrated GPU stay outside, and so does the GPU that a second platform lists.
        let mut all = vec![
            facts(0, "CPU", false),
            facts(0, "CPU", false),
            facts(1, "integrated", true),
            facts(2, "card", true),
            facts(2, "card", true),
            facts(3, "card", true),
        ];
        assert_eq!(places(&all), [3, 4]);
        all.push(Facts { driver: "2".to_owned(), ..facts(2, "card", true) });
        all.push(Facts { units: 30, ..facts(2, "card", true) });
        assert_eq!(places(&all), [3, 4]);
    }

    #[test]
    fn the_most_are_taken_and_of_as_many_the_first() {
        let (a, b) = (|| facts(0, "a", true), || facts(1, "b", true));
        assert_eq!(places(&[a(), b(), b(), a()]), [0, 3]);
        assert_eq!(places(&[a(), b(), b()]), [1, 2]);
        assert_eq!(places(&[a()]), [0]);
        assert!(places(&[facts(0, "CPU", false)]).is_empty() && places(&[]).is_empty());
    }
}
