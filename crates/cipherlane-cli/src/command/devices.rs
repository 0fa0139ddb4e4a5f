//! `devices`: what is here and what it can do.

use std::fmt::Write as _;

use anyhow::Result;
use cipherlane::devices::Absent;
use cipherlane::{Device, Info, Tier};
use cipherlane_record::Host;
use serde::Serialize;

use super::shared::Roster;
use crate::exit::Exit;
use crate::render::sink::Sink;
use crate::render::table::{self, Column};
use crate::render::{self, units};

const EXAMPLES: &str = "\
Examples:
  cipherlane devices
  cipherlane devices --json - | jq '.devices[].id'
  CIPHERLANE_NO_AVX512=1 cipherlane devices";

/// Options of `devices`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Write it as JSON to this file, `-` for stdout (which then has no table)
    // No variable: CIPHERLANE_JSON names a file of records, which this would replace.
    #[arg(long, value_name = "FILE")]
    json: Option<Sink>,
}

/// All of it.
#[derive(Debug, Serialize)]
struct Inventory {
    host: Host,
    devices: Vec<Entry>,
    tiers: Vec<TierEntry>,
    rivals: Vec<Entry>,
    absent: Vec<AbsentEntry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    id: String,
    name: String,
    tiers: Vec<String>,
    threads: usize,
    details: Vec<(String, String)>,
    /// Kernels that are compiled at run time; absent where none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kernels: Vec<KernelEntry>,
}

#[derive(Debug, Serialize)]
struct KernelEntry {
    name: String,
    /// Whether it lies compiled in the user's cache.
    compiled: bool,
}

#[derive(Debug, Serialize)]
struct TierEntry {
    name: &'static str,
    instructions: &'static str,
    available: bool,
    /// Why not, and what helps.
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct AbsentEntry {
    id: String,
    reason: String,
    remedy: String,
}

/// Shows the devices.
pub(crate) fn run(options: &Options) -> Result<Exit> {
    let inventory = Inventory::take();
    if let Some(sink) = &options.json {
        sink.write_json(&inventory)?;
    }
    if options.json != Some(Sink::Stdout) {
        render::print(&inventory.to_text()?)?;
    }
    Ok(Exit::Success)
}

impl Inventory {
    fn take() -> Self {
        let roster = Roster::find(true);
        Self {
            host: cipherlane_lab::host::detect(),
            devices: roster.own().into_iter().map(Entry::of).collect(),
            tiers: Tier::ALL.into_iter().rev().map(TierEntry::of).collect(),
            rivals: roster.rivals.iter().map(|rival| Entry::of(&**rival)).collect(),
            absent: roster.absent.iter().map(AbsentEntry::kind).chain(absent()).collect(),
        }
    }

    fn to_text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        write!(text, "{}", table::text(&host_table(&self.host)))?;
        for device in &self.devices {
            write!(text, "\n\n{}: {}", device.id, device.name)?;
            // The table of tiers says more of them.
            for (name, value) in device.details.iter().filter(|(name, _)| name.parse::<Tier>().is_err()) {
                write!(text, "\n  {name}: {value}")?;
            }
            if !device.kernels.is_empty() {
                write!(text, "\n  kernels compiled: {}", device.compiled())?;
            }
        }
        write!(text, "\n\n{}", table::text(&self.tier_table()))?;
        writeln!(text, "\n\n{}", table::text(&self.rival_table()))?;
        Ok(text)
    }

    fn tier_table(&self) -> comfy_table::Table {
        let mut table =
            table::new([Column::Words("tier"), Column::Words("carried by"), Column::Words("state")]);
        let best = self.tiers.iter().position(|tier| tier.available);
        for (place, tier) in self.tiers.iter().enumerate() {
            let state = match &tier.reason {
                Some(reason) => table::faint(reason),
                None if Some(place) == best => table::good("available, the default"),
                None => table::good("available"),
            };
            let instructions =
                if tier.available { table::plain(tier.instructions) } else { table::faint("") };
            table.add_row([table::plain(tier.name), instructions, state]);
        }
        table
    }

    fn rival_table(&self) -> comfy_table::Table {
        let mut table =
            table::new([Column::Words("rival, or a kind of device"), Column::Words("what it is")]);
        for rival in &self.rivals {
            table.add_row([table::plain(&rival.id), table::good(&rival.name)]);
        }
        for absent in &self.absent {
            let remedy =
                if absent.remedy.is_empty() { String::new() } else { format!("; {}", absent.remedy) };
            let text = format!("absent: {}{remedy}", absent.reason);
            table.add_row([table::plain(&absent.id), table::faint(text)]);
        }
        table
    }
}

impl Entry {
    fn of(device: &dyn Device) -> Self {
        let info: &Info = device.info();
        let kernel = |(name, compiled)| KernelEntry { name, compiled };
        Self {
            kernels: device.compiled().into_iter().map(kernel).collect(),
            id: info.id.clone(),
            name: info.name.clone(),
            tiers: info.tiers.clone(),
            threads: info.threads,
            details: info.details.clone(),
        }
    }
}

impl Entry {
    /// Which of its kernels lie compiled, by the algorithms that they serve.
    fn compiled(&self) -> String {
        let compiled: Vec<&str> = self
            .kernels
            .iter()
            .filter(|kernel| kernel.compiled)
            .map(|kernel| {
                kernel.name.split_once(' ').map_or(kernel.name.as_str(), |(algorithm, _)| algorithm)
            })
            .collect();
        let mut algorithms = compiled.clone();
        algorithms.dedup();
        let count = format!("{} of {}", compiled.len(), self.kernels.len());
        if algorithms.is_empty() { count } else { format!("{count}, for {}", algorithms.join(", ")) }
    }
}

impl AbsentEntry {
    /// A kind of device that is not here. Its reason says what helps.
    fn kind(absent: &Absent) -> Self {
        let (reason, remedy) = reason_and_remedy(&absent.reason);
        Self { id: absent.kind.to_owned(), reason: reason.to_owned(), remedy: remedy.to_owned() }
    }
}

/// What is wrong, and what helps, which stands behind the first semicolon that is not in brackets: those hold a loader's
/// own words, with semicolons and colons of their own.
fn reason_and_remedy(text: &str) -> (&str, &str) {
    let outside = |at: &usize| text[..*at].matches('(').count() == text[..*at].matches(')').count();
    let end = text.match_indices("; ").map(|(at, _)| at).find(outside);
    end.map_or((text, ""), |at| (&text[..at], &text[at + 2..]))
}

impl TierEntry {
    fn of(tier: Tier) -> Self {
        let missing = tier.missing();
        let reason = match tier.switch() {
            _ if !missing.is_empty() => Some(format!("this CPU lacks {}", missing.join(", "))),
            Some(switch) if tier.is_switched_off() => Some(format!("switched off by {switch}; unset it")),
            _ => None,
        };
        Self { name: tier.name(), instructions: tier.instructions(), available: tier.is_available(), reason }
    }
}

fn host_table(host: &Host) -> comfy_table::Table {
    let absent = |field: &str| {
        host.missing.get(field).map_or_else(|| "unknown".to_owned(), |reason| format!("unknown: {reason}"))
    };
    let or = |value: Option<String>, field: &str| value.unwrap_or_else(|| absent(field));
    let physical = or(host.physical_cores.map(|cores| cores.to_string()), "physical_cores");
    let smt = host.smt.map(|smt| if smt { "on" } else { "off" }.to_owned());
    let mut table = table::new([Column::Words("machine"), Column::Words("")]);
    for (name, value) in [
        ("CPU", or(host.cpu_model.clone(), "cpu_model")),
        ("CPU signature", or(host.cpu_signature.clone(), "cpu_signature")),
        ("cores", format!("{physical} physical, {} logical, SMT {}", host.logical_cores, or(smt, "smt"))),
        ("CPUs online", or(host.online_cpus.map(|online| online.to_string()), "online_cpus")),
        ("L2 cache of a core", or(host.l2_bytes.map(units::bytes), "l2_bytes")),
        ("last-level cache", or(host.last_level_cache_bytes.map(units::bytes), "last_level_cache_bytes")),
        ("instructions", host.features.join(" ")),
        ("frequency governor", or(host.frequency_governor.clone(), "frequency_governor")),
        ("hypervisor", or(host.hypervisor.clone(), "hypervisor")),
        ("operating system", or(host.kernel.clone(), "kernel")),
        ("GPUs", or(host.gpus.as_ref().map(|gpus| gpus.join(", ")), "gpus")),
    ] {
        table.add_row([name.to_owned(), value]);
    }
    table
}

#[cfg(feature = "rivals")]
fn absent() -> Vec<AbsentEntry> {
    let absent = cipherlane_lab::rivals::absent().into_iter();
    absent.map(|rival| AbsentEntry { id: rival.id, reason: rival.reason, remedy: rival.remedy }).collect()
}

#[cfg(not(feature = "rivals"))]
fn absent() -> Vec<AbsentEntry> {
    vec![AbsentEntry {
        id: "rival:*".to_owned(),
        reason: "this build has no feature `rivals`".to_owned(),
        remedy: "build without `--no-default-features`".to_owned(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_from_its_remedy() {
        let load = "no CUDA driver (libcuda.so.1: cannot open it: no such file; libcuda.so: the same)";
        let remedy =
            "install NVIDIA's driver, or name its library by CIPHERLANE_LIBCUDA: it is a path; or none";
        for (text, parts) in [
            (format!("{load}; {remedy}"), (load, remedy)),
            (
                "clGetDeviceIDs: out of host memory (-6)".to_owned(),
                ("clGetDeviceIDs: out of host memory (-6)", ""),
            ),
            ("this build has no feature `cuda`".to_owned(), ("this build has no feature `cuda`", "")),
        ] {
            assert_eq!(reason_and_remedy(&text), parts);
        }
    }
}
