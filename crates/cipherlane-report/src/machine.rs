//! The machines that records come from.

use cipherlane_record::{Host, Record};

/// A machine and what was measured there.
#[derive(Clone, Debug)]
pub(crate) struct Machine<'a> {
    /// As the newest record describes it.
    pub(crate) host: &'a Host,
    /// Records from there.
    pub(crate) records: usize,
    /// When the first and the last were written, seconds since 1970-01-01 UTC.
    pub(crate) written: (u64, u64),
    /// The versions of the tool that wrote them, each once.
    pub(crate) tools: Vec<String>,
}

/// All machines, in the order in which records name them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machines<'a>(Vec<Machine<'a>>);

impl<'a> Machines<'a> {
    /// Those of `records`, and for each record which of them it is.
    pub(crate) fn of(records: &'a [Record]) -> (Self, Vec<usize>) {
        let mut machines = Self::default();
        let places = records.iter().map(|record| machines.add(record)).collect();
        (machines, places)
    }

    fn add(&mut self, record: &'a Record) -> usize {
        let (host, written) = (record.host(), written(record));
        let known = self.0.iter().position(|machine| machine.host.is_machine_of(host));
        let place = known.unwrap_or_else(|| {
            let machine = Machine { host, records: 0, written: (written, written), tools: Vec::new() };
            self.0.push(machine);
            self.0.len() - 1
        });
        let machine = &mut self.0[place];
        machine.records += 1;
        if written > machine.written.1 {
            machine.host = host;
        }
        machine.written = (machine.written.0.min(written), machine.written.1.max(written));
        let tool = tool(host);
        if !machine.tools.contains(&tool) {
            machine.tools.push(tool);
        }
        place
    }

    pub(crate) fn all(&self) -> &[Machine<'a>] {
        &self.0
    }

    /// Whether rows must say which machine they come from.
    pub(crate) fn several(&self) -> bool {
        self.0.len() > 1
    }

    /// The short name by which rows refer to a machine: `A`, `B`; behind `Z` come numbers.
    pub(crate) fn letter(place: usize) -> String {
        u8::try_from(place)
            .ok()
            .filter(|&place| place < 26)
            .map_or_else(|| format!("M{}", place + 1), |place| char::from(b'A' + place).to_string())
    }
}

impl Machine<'_> {
    /// CPU and GPUs.
    pub(crate) fn name(&self) -> String {
        self.host.name()
    }

    /// Cores, threads and where it runs, in a line.
    pub(crate) fn details(&self) -> String {
        let host = self.host;
        let mut parts = Vec::new();
        match host.physical_cores {
            Some(cores) => parts.push(format!("{cores} cores, {} threads", host.logical_cores)),
            None => parts.push(format!("{} logical CPUs", host.logical_cores)),
        }
        parts.extend(host.kernel.clone());
        parts
            .extend(host.hypervisor.as_ref().filter(|name| *name != "none").map(|name| format!("in {name}")));
        parts.join(" · ")
    }
}

const fn written(record: &Record) -> u64 {
    match record {
        Record::Measurement(row) => row.unix_seconds,
        Record::Observation(row) => row.unix_seconds,
    }
}

fn tool(host: &Host) -> String {
    let tool = &host.tool;
    let hash: String = tool.git_hash.chars().take(12).collect();
    let changed = if tool.git_dirty == Some(true) { " with changes" } else { "" };
    format!("{} {} ({hash}{changed})", tool.name, tool.version)
}
