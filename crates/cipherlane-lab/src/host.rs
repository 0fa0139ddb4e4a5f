//! What machine this is, read from the CPU and from `/proc` and `/sys`. What cannot be read is absent with a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io, thread};

use cipherlane_record::{Host, Tool};
use cipherlane_threads::Topology;

/// Instruction sets that a kernel here or of a rival chooses by.
const FEATURES: [&str; 14] = [
    "aes",
    "pclmulqdq",
    "ssse3",
    "sse4_1",
    "avx",
    "avx2",
    "bmi2",
    "adx",
    "gfni",
    "vaes",
    "vpclmulqdq",
    "avx512f",
    "avx512bw",
    "avx512vl",
];

/// The machine that this runs on.
#[must_use]
pub fn detect() -> Host {
    let logical_cores = thread::available_parallelism().map_or(1, usize::from);
    let mut missing = BTreeMap::new();
    let mut or_missing = Missing(&mut missing);
    let caches = or_missing.keep("l2_bytes", caches(Path::new("/sys/devices/system/cpu")));
    if caches.is_none() {
        or_missing.keep::<()>("last_level_cache_bytes", Err("see l2_bytes".to_owned()));
    }
    Host {
        cpu_model: or_missing.keep("cpu_model", cpu_model()),
        cpu_signature: or_missing.keep("cpu_signature", cpu_signature()),
        gpus: or_missing.keep("gpus", gpus(Path::new("/proc/driver/nvidia/gpus"))),
        features: features(),
        logical_cores,
        online_cpus: or_missing.keep("online_cpus", online_cpus(Path::new("/sys/devices/system/cpu/online"))),
        physical_cores: or_missing.keep("physical_cores", physical_cores(logical_cores)),
        smt: or_missing.keep("smt", line("/sys/devices/system/cpu/smt/active").map(|active| active == "1")),
        l2_bytes: caches.map(|(l2, _)| l2),
        last_level_cache_bytes: caches.map(|(_, last)| last),
        frequency_governor: or_missing
            .keep("frequency_governor", line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        kernel: or_missing.keep("kernel", kernel()),
        hypervisor: or_missing.keep("hypervisor", hypervisor()),
        tool: tool(),
        missing,
    }
}

/// This tool, with the commit it was built from.
#[must_use]
pub fn tool() -> Tool {
    Tool {
        name: "cipherlane".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_hash: env!("CIPHERLANE_GIT_HASH").to_owned(),
        git_dirty: env!("CIPHERLANE_GIT_DIRTY").parse().ok(),
    }
}

/// Memory that programs may still take without driving the machine to swap; `None` where the system does not say.
#[must_use]
pub fn available_memory_bytes() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}

/// Collects the reasons for what is absent.
struct Missing<'a>(&'a mut BTreeMap<String, String>);

impl Missing<'_> {
    fn keep<T>(&mut self, field: &str, reading: Result<T, String>) -> Option<T> {
        reading.map_err(|reason| self.0.insert(field.to_owned(), reason)).ok()
    }
}

/// A file of one line, without its end.
fn line(path: &str) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(text.trim().to_owned())
}

/// Where `/proc` lists CPU features; other systems list none here.
fn features() -> Vec<String> {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags: BTreeSet<&str> = info
        .lines()
        .find(|line| line.starts_with("flags"))
        .map_or_else(BTreeSet::new, |line| line.split_whitespace().collect());
    FEATURES.iter().filter(|&feature| flags.contains(feature)).map(|&feature| feature.to_owned()).collect()
}

#[cfg(target_arch = "x86_64")]
fn cpu_model() -> Result<String, String> {
    raw_cpuid::CpuId::new()
        .get_processor_brand_string()
        .map(|brand| brand.as_str().trim().to_owned())
        .ok_or_else(|| "CPUID has no brand string".to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_model() -> Result<String, String> {
    let info = fs::read_to_string("/proc/cpuinfo").map_err(|error| format!("/proc/cpuinfo: {error}"))?;
    info.lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map(|(_, name)| name.trim().to_owned())
        .ok_or_else(|| "/proc/cpuinfo has no model name".to_owned())
}

#[cfg(target_arch = "x86_64")]
fn cpu_signature() -> Result<String, String> {
    let id = raw_cpuid::CpuId::new().get_feature_info().ok_or_else(|| "CPUID has no leaf 1".to_owned())?;
    Ok(format!("family {} model {} stepping {}", id.family_id(), id.model_id(), id.stepping_id()))
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_signature() -> Result<String, String> {
    Err("known through CPUID, which this architecture has not".to_owned())
}

#[cfg(target_arch = "x86_64")]
fn hypervisor() -> Result<String, String> {
    let id = raw_cpuid::CpuId::new();
    if !id.get_feature_info().is_some_and(|features| features.has_hypervisor()) {
        return Ok("none".to_owned());
    }
    id.get_hypervisor_info()
        .map(|info| format!("{:?}", info.identify()))
        .ok_or_else(|| "CPUID says there is one and not which".to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Result<String, String> {
    Err("known through CPUID, which this architecture has not".to_owned())
}

fn kernel() -> Result<String, String> {
    Ok(format!("{} {}", line("/proc/sys/kernel/ostype")?, line("/proc/sys/kernel/osrelease")?))
}

/// Models as the NVIDIA kernel driver lists them: `Model:  NVIDIA H200`.
fn gpus(folder: &Path) -> Result<Vec<String>, String> {
    let reason = |error: io::Error| format!("{}: {error} (no NVIDIA driver is loaded)", folder.display());
    let mut models = Vec::new();
    for gpu in fs::read_dir(folder).map_err(reason)? {
        let information = gpu.map_err(reason)?.path().join("information");
        let text = fs::read_to_string(&information)
            .map_err(|error| format!("{}: {error}", information.display()))?;
        models.extend(
            text.lines().find_map(|line| line.strip_prefix("Model:")).map(|model| model.trim().to_owned()),
        );
    }
    models.sort();
    Ok(models)
}

/// CPUs of the machine that are online, whatever affinity and quota leave to this process.
fn online_cpus(path: &Path) -> Result<usize, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    listed(text.trim()).ok_or_else(|| format!("{}: `{}` is no list of CPUs", path.display(), text.trim()))
}

/// How many numbers a list in the kernel's notation has: `0-3,8`.
fn listed(list: &str) -> Option<usize> {
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(last.checked_sub(first)? + 1)
    };
    list.split(',').map(count).sum()
}

/// Cores of the CPUs that this process may use, as its `logical` CPUs are: the whole machine may have more. A quota of time
/// leaves all of its CPUs to a process, but time for no more than `logical` of them.
fn physical_cores(logical: usize) -> Result<usize, String> {
    let topology = Topology::detect();
    topology.unknown().map_or_else(|| Ok(topology.cores().min(logical)), |reason| Err(reason.to_owned()))
}

fn cpus(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let is_cpu = |name: &str| name.strip_prefix("cpu").is_some_and(|digits| digits.parse::<u32>().is_ok());
    Ok(entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_str().is_some_and(is_cpu))
        .map(|entry| entry.path())
        .collect())
}

/// Level and bytes of each data cache that the first CPU reads through, nearest first; those of a usual core where the
/// system does not say.
pub(crate) fn cache_bytes() -> Vec<(u32, usize)> {
    let mut found = Vec::new();
    for index in 0..8 {
        let folder = Path::new("/sys/devices/system/cpu/cpu0/cache").join(format!("index{index}"));
        let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
        let Some((level, kind, size)) =
            read("level").zip(read("type")).zip(read("size")).map(|((l, t), s)| (l, t, s))
        else {
            continue;
        };
        if kind.trim() == "Instruction" {
            continue;
        }
        let kibibytes = size.trim().strip_suffix('K').and_then(|digits| digits.parse::<usize>().ok());
        if let (Ok(level), Some(kibibytes)) = (level.trim().parse(), kibibytes) {
            found.push((level, kibibytes << 10));
        }
    }
    if found.is_empty() { vec![(1, 32 << 10), (2, 1 << 20), (3, 32 << 20)] } else { found }
}

/// Bytes of one core's second-level cache, and of all instances of the last level.
fn caches(folder: &Path) -> Result<(u64, u64), String> {
    // (level, CPUs that share it) to bytes: each instance once.
    let mut instances = BTreeMap::new();
    for cpu in cpus(folder)? {
        for index in 0..8 {
            let read = |file: &str| fs::read_to_string(cpu.join(format!("cache/index{index}/{file}"))).ok();
            let (Some(kind), Some(level), Some(size), Some(shared)) =
                (read("type"), read("level"), read("size"), read("shared_cpu_list"))
            else {
                continue;
            };
            if let (true, Ok(level), Some(bytes)) =
                (kind.trim() != "Instruction", level.trim().parse::<u32>(), bytes(size.trim()))
            {
                instances.insert((level, shared), bytes);
            }
        }
    }
    let l2 = instances.iter().find(|((level, _), _)| *level == 2).map(|(_, &bytes)| bytes);
    let last = instances.keys().map(|(level, _)| *level).max();
    let total = instances.iter().filter(|((level, _), _)| Some(*level) == last).map(|(_, bytes)| bytes).sum();
    l2.map(|l2| (l2, total)).ok_or_else(|| format!("no second-level cache in {}", folder.display()))
}

/// `2048K` in bytes: the kernel writes KiB.
fn bytes(size: &str) -> Option<u64> {
    size.strip_suffix('K')?.parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_has_a_reason() {
        let host = detect();
        for (field, absent) in [
            ("cpu_model", host.cpu_model.is_none()),
            ("cpu_signature", host.cpu_signature.is_none()),
            ("gpus", host.gpus.is_none()),
            ("online_cpus", host.online_cpus.is_none()),
            ("physical_cores", host.physical_cores.is_none()),
            ("smt", host.smt.is_none()),
            ("l2_bytes", host.l2_bytes.is_none()),
            ("last_level_cache_bytes", host.last_level_cache_bytes.is_none()),
            ("frequency_governor", host.frequency_governor.is_none()),
            ("kernel", host.kernel.is_none()),
            ("hypervisor", host.hypervisor.is_none()),
        ] {
            assert_eq!(absent, host.missing.contains_key(field), "{field}");
        }
        assert!(host.missing.values().all(|reason| !reason.is_empty()));
        assert!(host.logical_cores >= 1);
    }

    #[test]
    fn online_cpus_are_counted_by_their_list() {
        let counts = [("0", Some(1)), ("0-3,8", Some(5)), ("", None), ("3-0", None), ("0-x", None)];
        for (list, count) in counts {
            assert_eq!(listed(list), count, "{list}");
        }
        assert!(online_cpus(Path::new("/nowhere")).unwrap_err().starts_with("/nowhere: "));
    }

    /// In a thread of its own, which alone is pinned.
    #[test]
    fn cores_are_those_that_may_be_used() {
        let pinned = || {
            let cpus = core_affinity::get_core_ids().unwrap_or_default();
            let is_pinned = cpus.first().is_some_and(|&cpu| core_affinity::set_for_current(cpu));
            (is_pinned, detect())
        };
        let all = detect();
        let (is_pinned, host) = thread::spawn(pinned).join().unwrap();
        // Whatever it may use, it is this machine.
        assert!(host.online_cpus.is_none() || host.is_machine_of(&all));
        if is_pinned && host.physical_cores.is_some() {
            assert_eq!((host.logical_cores, host.physical_cores), (1, Some(1)));
        }
    }

    #[test]
    fn gpus_are_read_from_the_drivers_folder() {
        let folder = tempfile::tempdir().unwrap();
        let gpu = folder.path().join("0000:01:00.0");
        fs::create_dir(&gpu).unwrap();
        fs::write(gpu.join("information"), "Model: \t\t NVIDIA H200\nIRQ: 1\n").unwrap();
        assert_eq!(gpus(folder.path()).unwrap(), ["NVIDIA H200"]);
        assert!(gpus(&folder.path().join("none")).unwrap_err().contains("no NVIDIA driver"));
    }

    #[test]
    fn cache_instances_are_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        for cpu in 0..2 {
            for (index, level, size, shared) in
                [(0, 2, "1024K", cpu.to_string()), (1, 3, "8192K", "0-1".into())]
            {
                let cache = folder.path().join(format!("cpu{cpu}/cache/index{index}"));
                fs::create_dir_all(&cache).unwrap();
                for (file, text) in [
                    ("type", "Unified"),
                    ("level", &level.to_string()),
                    ("size", size),
                    ("shared_cpu_list", &shared),
                ] {
                    fs::write(cache.join(file), text).unwrap();
                }
            }
        }
        assert_eq!(caches(folder.path()).unwrap(), (1 << 20, 8 << 20));
    }
}
