//! The machines that records come from.

use cipherlane_record::{Calibration, Host, Record, date};

use crate::units;

/// A machine and what was measured there.
#[derive(Clone, Debug)]
pub(crate) struct Machine<'a> {
    /// As the newest record describes it, of those that tell the CPU's signature and how many CPUs are online where some do.
    pub(crate) host: &'a Host,
    /// Records from there.
    pub(crate) records: usize,
    /// When the first and the last were written, seconds since 1970-01-01 UTC.
    pub(crate) written: (u64, u64),
    /// The versions of the tool that wrote them, each once.
    pub(crate) tools: Vec<String>,
    /// What wrote them, each once.
    runs: Vec<Run<'a>>,
    described: Described,
}

/// How well a host tells its machine from others: by the CPU's signature, without which records of another one would be taken
/// for this machine's; by the CPUs that are online, without which those of a run on some of them would not; and when its
/// record was written.
type Described = (bool, bool, u64);

const fn described(host: &Host, written: u64) -> Described {
    (host.cpu_signature.is_some(), host.online_cpus.is_some(), written)
}

/// One start of the tool, as far as its records tell it from others.
#[derive(Clone, Copy, Debug)]
struct Run<'a> {
    argv: &'a [String],
    host: &'a Host,
    /// Measured anew by each run; observations have none.
    calibration: Option<Calibration>,
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
        let host = record.host();
        let known = self.0.iter().position(|machine| machine.host.is_machine_of(host));
        let place = known.unwrap_or_else(|| {
            self.0.push(Machine::new(host, written(record)));
            self.0.len() - 1
        });
        self.0[place].add(record);
        place
    }

    pub(crate) fn all(&self) -> &[Machine<'a>] {
        &self.0
    }

    /// Whether rows must say which machine they come from.
    pub(crate) fn several(&self) -> bool {
        self.0.len() > 1
    }

    /// What stands before the words for a row where there are several: `A: `.
    pub(crate) fn prefix(&self, place: usize) -> String {
        if self.several() { format!("{}: ", Self::letter(place)) } else { String::new() }
    }

    /// The short name by which rows refer to a machine: `A`, `B`; behind `Z` come numbers.
    pub(crate) fn letter(place: usize) -> String {
        u8::try_from(place)
            .ok()
            .filter(|&place| place < 26)
            .map_or_else(|| format!("M{}", place + 1), |place| char::from(b'A' + place).to_string())
    }
}

impl<'a> Machine<'a> {
    /// One of which nothing was added.
    const fn new(host: &'a Host, written: u64) -> Self {
        Self {
            host,
            records: 0,
            written: (written, written),
            tools: Vec::new(),
            runs: Vec::new(),
            described: described(host, written),
        }
    }

    fn add(&mut self, record: &'a Record) {
        let (host, written) = (record.host(), written(record));
        self.records += 1;
        self.written = (self.written.0.min(written), self.written.1.max(written));
        let described = described(host, written);
        if described > self.described {
            (self.host, self.described) = (host, described);
        }
        let tool = tool(host);
        if !self.tools.contains(&tool) {
            self.tools.push(tool);
        }
        let run = Run::of(record);
        if !self.runs.iter().any(|known| known.may_be(&run)) {
            self.runs.push(run);
        }
    }

    /// What a reader must know where records may be of several machines that look like one.
    pub(crate) fn doubt(&self) -> Option<String> {
        let unsigned = self.runs.iter().filter(|run| run.host.cpu_signature.is_none()).count();
        (unsigned > 0 && self.runs.len() > 1).then(|| {
            format!(
                "CPU signature not known: {unsigned} of {}. Files of machines that are alike in all else may have been \
                 taken for those of one.",
                units::count(self.runs.len(), "run")
            )
        })
    }
}

impl<'a> Run<'a> {
    fn of(record: &'a Record) -> Self {
        let (argv, calibration) = match record {
            Record::Measurement(row) => (&row.argv, row.calibration),
            Record::Observation(row) => (&row.argv, None),
        };
        Self { argv, host: record.host(), calibration }
    }

    /// Whether nothing says that `other` is another one.
    fn may_be(&self, other: &Self) -> bool {
        let unknown = self.calibration.is_none() || other.calibration.is_none();
        (unknown || self.calibration == other.calibration)
            && self.argv == other.argv
            && self.host == other.host
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
            Some(cores) => parts.push(format!("{cores} cores, {} threads", logical_cpus(host))),
            None => parts.push(format!("{} logical CPUs", logical_cpus(host))),
        }
        parts.extend(host.kernel.clone());
        parts
            .extend(host.hypervisor.as_ref().filter(|name| *name != "none").map(|name| format!("in {name}")));
        parts.join(" · ")
    }

    /// How much was measured there, and when: `96 records, 2026-01-31`.
    pub(crate) fn span(&self) -> String {
        let (first, last) = (date::day(self.written.0), date::day(self.written.1));
        let days = if first == last { first } else { format!("{first} to {last}") };
        format!("{}, {days}", units::count(self.records, "record"))
    }

    /// All that is known of it, and what could not be read, with their names.
    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let host = self.host;
        let unknown = |field: &str| {
            let reason = host.missing.get(field).map_or("no reason is given", String::as_str);
            format!("not known: {reason}")
        };
        let or = |value: Option<String>, field: &str| value.unwrap_or_else(|| unknown(field));
        let facts = [
            ("CPU", or(host.cpu_model.clone(), "cpu_model")),
            ("CPU signature", or(host.cpu_signature.clone(), "cpu_signature")),
            ("GPUs", or(host.gpus.as_ref().map(|gpus| listed(gpus)), "gpus")),
            ("Logical CPUs", logical_cpus(host)),
            ("Cores", or(host.physical_cores.map(|cores| cores.to_string()), "physical_cores")),
            ("Threads share cores", or(host.smt.map(|smt| if smt { "yes" } else { "no" }.to_owned()), "smt")),
            ("L2 cache of a core", or(host.l2_bytes.map(units::bytes), "l2_bytes")),
            ("Last cache", or(host.last_level_cache_bytes.map(units::bytes), "last_level_cache_bytes")),
            ("Frequency governor", or(host.frequency_governor.clone(), "frequency_governor")),
            ("System", or(host.kernel.clone(), "kernel")),
            ("Hypervisor", or(host.hypervisor.clone(), "hypervisor")),
            ("Instruction sets", listed(&host.features)),
            ("Written by", self.tools.join("; ")),
        ];
        facts.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }
}

/// Those that the tool could use: `32`, or `2 of 32` where others are online as well.
fn logical_cpus(host: &Host) -> String {
    let all = host.online_cpus.filter(|&online| online != host.logical_cores);
    all.map_or_else(|| host.logical_cores.to_string(), |all| format!("{} of {all}", host.logical_cores))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
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
