//! Where it was measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The machine and the tool. What could not be read is `null`, with its reason in [`Host::missing`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// CPU model, as the CPU calls itself.
    pub cpu_model: Option<String>,
    /// GPU models; empty where a driver is loaded and lists none.
    pub gpus: Option<Vec<String>>,
    /// Instruction sets that matter here and that this CPU and operating system offer.
    pub features: Vec<String>,
    /// CPUs that the operating system schedules on.
    pub logical_cores: usize,
    /// Cores, each counted once whatever its hardware threads.
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

/// The tool that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
