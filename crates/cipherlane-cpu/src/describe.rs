//! This CPU in words: its name, and what `cipherlane devices` shows of it.

use cipherlane_threads::{Threads, Topology};

use crate::tier::{self, Tier};

/// The identifier of the device.
pub(crate) const ID: &str = "cpu";

/// The model as the processor names itself, else as the system does, else the architecture.
pub(crate) fn model_name() -> String {
    brand().or_else(name_from_system).unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

#[cfg(target_arch = "x86_64")]
fn brand() -> Option<String> {
    let brand = raw_cpuid::CpuId::new().get_processor_brand_string()?.as_str().trim().to_owned();
    (!brand.is_empty()).then_some(brand)
}

#[cfg(not(target_arch = "x86_64"))]
fn brand() -> Option<String> {
    None
}

/// The first model name in Linux's list of processors.
fn name_from_system() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let (_, name) =
        text.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == "model name")?;
    Some(name.trim().to_owned())
}

/// The properties of the CPU, in the order in which they should be shown.
pub(crate) fn details(topology: &Topology) -> Vec<(String, String)> {
    let cpus = topology.cpus();
    let mut details = vec![
        ("instructions", tier::features().join(", ")),
        ("cores", format!("{} physical, {} logical", topology.cores(), cpus.len())),
        ("NUMA nodes", topology.nodes().to_string()),
        ("caches", topology.caches().unwrap_or_else(|| "unknown: the system does not list them".to_owned())),
        ("pinning", pinning(topology)),
    ];
    details.extend(topology.unknown().map(|reason| ("topology", reason.to_owned())));
    details.extend(Tier::ALL.into_iter().rev().map(|tier| (tier.name(), state(tier))));
    details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The order in which threads take CPUs, or that they cannot.
fn pinning(topology: &Topology) -> String {
    let ids: Vec<usize> = topology.cpus().iter().map(|cpu| cpu.id).collect();
    let order = to_ranges(&ids);
    match topology.cpus().first() {
        Some(&cpu) if Threads::can_pin(cpu) => format!("threads to CPUs {order}"),
        _ => "none: the system does not let this process pin its threads; times will scatter".to_owned(),
    }
}

/// What carries a tier, or why it is not to be had.
fn state(tier: Tier) -> String {
    let missing = tier.missing();
    match tier.switch() {
        _ if !missing.is_empty() => format!("missing {}", missing.join(", ")),
        Some(variable) if tier.is_switched_off() => format!("switched off by {variable}"),
        _ => tier.instructions().to_owned(),
    }
}

/// Numbers in their order, with rising neighbours joined: `0-3,8`.
fn to_ranges(numbers: &[usize]) -> String {
    let stretches = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = |stretch: &[usize]| match stretch {
        [first, .., last] => format!("{first}-{last}"),
        _ => stretch[0].to_string(),
    };
    stretches.map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_the_order() {
        assert_eq!(to_ranges(&[0, 1, 2, 8, 4, 5, 3]), "0-2,8,4-5,3");
        assert_eq!(to_ranges(&[]), "");
    }

    #[test]
    fn a_cpu_has_a_name_and_each_tier_a_state() {
        assert!(!model_name().is_empty());
        let details = details(&Topology::detect());
        for tier in Tier::ALL {
            assert!(details.iter().any(|(name, value)| name == tier.name() && !value.is_empty()));
        }
    }
}
