//! Where it was measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The machine and the tool. What could not be read is `null`, with its reason in [`Host::missing`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// CPU model, as the CPU calls itself.
    pub cpu_model: Option<String>,
    /// CPU family, model and stepping, as CPUID tells them: many virtual machines name no more than the maker. Records of
    /// before 2026-11-26 have none.
    #[serde(default)]
    pub cpu_signature: Option<String>,
    /// GPU models; empty where a driver is loaded and lists none.
    pub gpus: Option<Vec<String>>,
    /// Instruction sets that matter here and that this CPU and operating system offer.
    pub features: Vec<String>,
    /// CPUs that the tool could use: its affinity and its share of time count.
    pub logical_cores: usize,
    /// CPUs of the machine that are online, whoever may use them. Records of before 2026-12-01 have none.
    #[serde(default)]
    pub online_cpus: Option<usize>,
    /// Cores of the CPUs that the tool could use, each counted once whatever its hardware threads.
    pub physical_cores: Option<usize>,
    /// Whether two or more hardware threads share a core.
    pub smt: Option<bool>,
    /// Second-level cache of one core.
    pub l2_bytes: Option<u64>,
    /// Last-level cache, of all its instances that are seen.
    pub last_level_cache_bytes: Option<u64>,
    /// Frequency governor of the first CPU.
    pub frequency_governor: Option<String>,
    /// Operating system kernel with its release: `Linux 6.1.0`.
    pub kernel: Option<String>,
    /// Hypervisor, where there is one; `none` on bare metal.
    pub hypervisor: Option<String>,
    /// The tool.
    pub tool: Tool,
    /// Why a field above is `null`: field name to reason.
    pub missing: BTreeMap<String, String>,
}

impl Host {
    /// CPU and GPUs, for people.
    #[must_use]
    pub fn name(&self) -> String {
        let cpu = self.cpu_model.as_deref().unwrap_or("unknown CPU");
        let mut parts = vec![cpu.replace("(R)", "").replace("(TM)", "").trim().to_owned()];
        let gpus = self.gpus.as_deref().unwrap_or_default();
        for (place, gpu) in gpus.iter().enumerate() {
            if gpus[..place].contains(gpu) {
                continue;
            }
            let alike = gpus.iter().filter(|other| *other == gpu).count();
            parts.push(if alike > 1 { format!("{alike} × {gpu}") } else { gpu.clone() });
        }
        parts.join(" + ")
    }

    /// Cores that `threads` run on at most: more of them share what these have.
    #[must_use]
    pub fn cores(&self, threads: usize) -> usize {
        threads.min(self.physical_cores.unwrap_or(self.logical_cores).max(1))
    }

    /// Whether `other` is the same machine, whatever the tool, whichever of its CPUs that could use, and whatever could not
    /// be read this time. The number of CPUs belongs to it: of virtual machines of several sizes on CPUs of one model,
    /// nothing else that is read differs.
    #[must_use]
    pub fn is_machine_of(&self, other: &Self) -> bool {
        self.has_cpus_of(other)
            && agree(&self.l2_bytes, &other.l2_bytes)
            && agree(&self.last_level_cache_bytes, &other.last_level_cache_bytes)
            && agree(&self.cpu_model, &other.cpu_model)
            && agree(&self.cpu_signature, &other.cpu_signature)
            && agree(&self.gpus, &other.gpus)
            && agree(&self.hypervisor, &other.hypervisor)
            && agree(&self.known_features(), &other.known_features())
    }

    /// The same, and as many of its CPUs could be used: what one measures, the other need not measure again.
    #[must_use]
    pub fn is_setting_of(&self, other: &Self) -> bool {
        self.can_use_as_many_as(other) && self.is_machine_of(other)
    }

    /// Whether as many CPUs are online. Where a record does not tell, those that could be used stand for them.
    fn has_cpus_of(&self, other: &Self) -> bool {
        match (self.online_cpus, other.online_cpus) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => self.can_use_as_many_as(other),
        }
    }

    fn can_use_as_many_as(&self, other: &Self) -> bool {
        self.logical_cores == other.logical_cores && agree(&self.physical_cores, &other.physical_cores)
    }

    /// The instruction sets; `None` where there are none, as on a system that does not list them.
    fn known_features(&self) -> Option<&[String]> {
        (!self.features.is_empty()).then_some(self.features.as_slice())
    }
}

/// Whether two values are the same, as far as both are known.
fn agree<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
    one.is_none() || other.is_none() || one == other
}

/// The tool that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The commit it was built from, or `unknown` outside a checkout.
    pub git_hash: String,
    /// Whether the checkout had changes that no commit holds; `null` outside a checkout.
    pub git_dirty: Option<bool>,
}
