//! A measurement with its machine, and the words that reports have for it.

use std::ops::Deref;

use cipherlane_record::{Keys, Measurement, Share, Transfer, Verdict};

use crate::level::Rate;
use crate::machine::Machines;
use crate::units;

/// The option by which a run has caches flushed; commands that have it from elsewhere are recorded with it.
const COLD: &str = "--cold";

/// A measurement, and which machine it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) machine: usize,
    measured: &'a Measurement,
}

impl<'a> Deref for Row<'a> {
    type Target = &'a Measurement;

    fn deref(&self) -> &Self::Target {
        &self.measured
    }
}

/// What a row does: rows of one job can stand in one chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Job<'a> {
    pub(crate) workload: &'a str,
    pub(crate) algorithm: &'a str,
    pub(crate) operation: &'a str,
    keys: &'a str,
}

impl Job<'_> {
    /// `tls-16k: aes-128-gcm seal`, `aes-128-gcm seal, a key each`.
    pub(crate) fn label(&self) -> String {
        let keys = if self.keys == Keys::Distinct.name() { ", a key each" } else { "" };
        let workload = match self.workload {
            "custom" | "" => String::new(),
            name => format!("{name}: "),
        };
        format!("{workload}{} {}{keys}", self.algorithm, self.operation)
    }
}

/// Something in which rows of one job can differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Trait {
    kind: Kind,
    text: String,
}

/// In which order traits are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Ours before those of others.
    Rival,
    Machine,
    Device,
    Tier,
    Threads,
    Transfer,
    Cache,
    Load,
    Messages,
    Kernel,
    Launch,
}

impl<'a> Row<'a> {
    pub(crate) const fn new(machine: usize, measured: &'a Measurement) -> Self {
        Self { machine, measured }
    }

    pub(crate) const fn measured(&self) -> &'a Measurement {
        self.measured
    }

    pub(crate) fn is_rival(&self) -> bool {
        self.is_of_a_rival()
    }

    /// Whether the device has memory of its own, as GPUs have.
    pub(crate) fn is_offload(&self) -> bool {
        self.device.starts_with("cuda:") || self.device.starts_with("opencl:")
    }

    pub(crate) const fn job(&self) -> Job<'a> {
        let row = self.measured;
        Job {
            workload: row.workload.as_str(),
            algorithm: row.algorithm.as_str(),
            operation: row.operation.as_str(),
            keys: row.keys.name(),
        }
    }

    /// The device: `cpu avx512`, `cuda:0`, `OpenSSL 4.0.3`.
    pub(crate) fn contender(&self) -> String {
        if self.is_rival() {
            self.device_name.clone()
        } else if self.device == "cpu" {
            format!("cpu {}", self.tier)
        } else {
            self.device.clone()
        }
    }

    /// Bytes of a second, as they compare with those of other rows.
    pub(crate) fn rate(&self) -> Rate {
        Rate { median: self.bytes_per_second, interval: self.interval() }
    }

    /// The ends of that interval in a unit of so many bytes per second.
    pub(crate) fn ends(&self, factor: f64) -> Option<(f64, f64)> {
        self.interval().map(|ends| (ends.low / factor, ends.high / factor))
    }

    /// The ends of the 95 % interval of its messages per second. By the time of a pass, since messages may lack bytes.
    #[allow(clippy::cast_precision_loss)] // messages, below 2^53
    pub(crate) fn ends_in_messages(&self) -> Option<(f64, f64)> {
        let (messages, seconds) = (self.messages as f64, self.summary.median_ci95_seconds);
        let ends = (messages / seconds.high, messages / seconds.low);
        (!self.is_short() && seconds.low > 0.0).then_some(ends)
    }

    /// What its ratio to the best rival says, if one ran beside it.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        let best = self.best_rival.as_ref()?;
        Some(if self.is_short() { Verdict::Ambiguous } else { best.verdict })
    }

    /// Whether the caches were flushed before each pass. The scope alone does not tell: data that fits no cache is cold
    /// as well, as the larger sizes of a sweep are.
    pub(crate) fn is_flushed(&self) -> bool {
        self.argv.iter().any(|word| word == COLD)
    }

    /// What must be said of it where others were measured with warm caches: `, caches flushed`.
    pub(crate) fn flushed_text(&self) -> &'static str {
        if self.is_flushed() { ", caches flushed" } else { "" }
    }

    /// Where the data of a device with memory of its own were: `, data in its memory`.
    pub(crate) fn transfer_text(&self) -> &'static str {
        match self.scope.transfer {
            _ if !self.is_offload() => "",
            Transfer::Excluded => ", data in its memory",
            Transfer::Included | Transfer::None => ", data brought and fetched",
        }
    }

    /// What must be said of it beside others that were not disturbed: `, caches flushed, under CPU load 20 %`.
    pub(crate) fn disturbed_text(&self) -> String {
        let under = if self.is_undisturbed() { "" } else { ", under " };
        format!("{}{under}{}", self.flushed_text(), self.load_text())
    }

    /// Whether nobody loaded the machine on purpose.
    pub(crate) fn is_undisturbed(&self) -> bool {
        self.load_text().is_empty()
    }

    /// Job and size: `aes-128-gcm seal, 16 KiB`.
    pub(crate) fn does(&self) -> String {
        format!("{}, {}", self.job().label(), units::bytes(self.message_bytes))
    }

    /// The traits of these kinds.
    pub(crate) fn traits(&self, kinds: &[Kind]) -> Vec<Trait> {
        kinds.iter().map(|&kind| Trait { kind, text: self.trait_text(kind) }).collect()
    }

    fn trait_text(&self, kind: Kind) -> String {
        let row = self.measured;
        match kind {
            Kind::Rival => if self.is_rival() { "rival" } else { "" }.to_owned(),
            Kind::Machine => Machines::letter(self.machine),
            Kind::Device => self.contender(),
            // The tier of a CPU is part of its name, and it has nothing to transfer.
            Kind::Tier if self.is_offload() => row.tier.clone(),
            Kind::Transfer if self.is_offload() => format!("transfer {}", row.scope.transfer.name()),
            Kind::Tier | Kind::Transfer => String::new(),
            Kind::Cache => if self.is_flushed() { "caches flushed" } else { "caches kept" }.to_owned(),
            Kind::Threads => units::count(row.threads, "thread"),
            Kind::Load => self.load_text(),
            Kind::Messages => self.messages_text(),
            Kind::Kernel => row.kernel.clone(),
            Kind::Launch => self.launch_text(),
        }
    }

    /// `16 messages`.
    pub(crate) fn messages_text(&self) -> String {
        units::count(usize::try_from(self.messages).unwrap_or(usize::MAX), "message")
    }

    /// Blocks, their threads, and streams.
    pub(crate) fn launch_text(&self) -> String {
        self.geometry.map_or_else(String::new, |one| {
            let streams = units::count(usize::try_from(one.streams).unwrap_or(usize::MAX), "stream");
            format!("{} × {}, {streams}", one.blocks, one.threads_per_block)
        })
    }

    /// What was asked of the machine meanwhile: `CPU load 20 %`. A load of nothing is none.
    pub(crate) fn load_text(&self) -> String {
        let Some(load) = self.load else { return String::new() };
        let part = |name: &str, share: Option<Share>| {
            let share = share.filter(|share| share.requested > 0.0)?;
            Some(format!("{name} load {}", units::percent(share.requested)))
        };
        part("CPU", load.cpu).into_iter().chain(part("GPU", load.gpu)).collect::<Vec<_>>().join(", ")
    }
}

/// Names for things with these traits: the device, and whatever else tells them apart.
pub(crate) fn names(of: &[Vec<Trait>]) -> Vec<String> {
    let differs = |kind: Kind| {
        let mut texts = of
            .iter()
            .flatten()
            .filter(|one| one.kind == kind && !one.text.is_empty())
            .map(|one| one.text.as_str());
        let first = texts.next();
        texts.any(|text| Some(text) != first)
    };
    let shown: Vec<Kind> = of
        .first()
        .into_iter()
        .flatten()
        .map(|one| one.kind)
        .filter(|&kind| kind == Kind::Device || (kind != Kind::Rival && differs(kind)))
        .collect();
    let name = |traits: &Vec<Trait>| {
        let shown = traits.iter().filter(|one| shown.contains(&one.kind) && !one.text.is_empty());
        shown.map(|one| one.text.as_str()).collect::<Vec<_>>().join(", ")
    };
    of.iter().map(name).collect()
}
