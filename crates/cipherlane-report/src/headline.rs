//! The five numbers that matter, each beside its ceiling and its rival.

use cipherlane_record::{Keys, Observation, Published, Verdict};

use crate::beside::{self, Observed, OnCpu, Unforetold};
use crate::level::{self, TOO_FEW};
use crate::machine::Machines;
use crate::row::{Job, Row};
use crate::units;

/// How many numbers there are.
const FIGURES: usize = 5;
/// Messages up to this size are short: a reading of a meter, a packet.
const SHORT: u64 = 256;
/// Topics are of one direction, so that a number, its rival and the CPU beside it do the same.
const FORWARD: [&str; 3] = ["seal", "encrypt", "hash"];

/// A number of the first screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// What it is about: `Sealing`.
    pub(crate) label: String,
    /// The number and its unit.
    pub(crate) value: (String, String),
    /// Its 95 % interval; empty where there is none.
    pub(crate) interval: String,
    /// What was measured, and where.
    pub(crate) what: [String; 2],
    /// What stands beside it.
    pub(crate) beside: Beside,
}

/// What stands beside a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Beside {
    /// Beside a throughput.
    Measured {
        /// What part of the ceiling it is, and which ceiling; else why there is none, and what makes one.
        ceiling: Result<(f64, String), String>,
        /// How it compares with the best rival; else why there is none, and what brings one.
        rival: Result<(Verdict, String), String>,
        /// What else the records say of the like.
        more: Vec<String>,
    },
    /// What studies published for the like, if anything.
    Observed(Vec<String>),
}

/// A use of cryptography that people ask about.
struct Topic {
    label: &'static str,
    is: fn(&Row<'_>) -> bool,
    /// Whether messages per second matter, and not bytes.
    messages: bool,
}

const TOPICS: [Topic; FIGURES] = [
    Topic { label: "Sealing records", is: |row| row.algorithm.ends_with("-gcm"), messages: false },
    Topic {
        label: "Short messages, a key each",
        is: |row| row.keys == Keys::Distinct && row.message_bytes <= SHORT,
        messages: true,
    },
    Topic { label: "Disk sectors", is: |row| row.algorithm.ends_with("-xts"), messages: false },
    Topic {
        label: "Bulk encryption",
        is: |row| ["-ctr", "-ecb", "-cbc"].iter().any(|mode| row.algorithm.ends_with(mode)),
        messages: false,
    },
    Topic {
        label: "Hashing",
        is: |row| ["sha", "keccak"].iter().any(|family| row.algorithm.starts_with(family)),
        messages: false,
    },
];

/// The numbers: one for each topic that was measured, then the fastest of what is left, then observations.
pub(crate) fn of(rows: &[Row<'_>], observed: &[Observed<'_>], machines: &Machines<'_>) -> Vec<Figure> {
    let context = Context { rows, observed, machines };
    let mut own: Vec<Row<'_>> = rows.iter().filter(|row| row.verified && !row.is_rival()).copied().collect();
    let mut figures = Vec::new();
    let mut shown: Vec<Job<'_>> = Vec::new();
    for topic in &TOPICS {
        let forward = own.iter().filter(|row| FORWARD.contains(&row.operation.as_str()));
        let told = forward.filter(|row| topic.messages || has_bytes(row));
        let best = fastest(told.filter(|row| (topic.is)(row)), topic.messages);
        if let Some(row) = best {
            figures.push(context.measured(topic.label, row, topic.messages));
            shown.push(row.job());
        }
    }
    while figures.len() < FIGURES {
        own.retain(|row| has_bytes(row) && !shown.contains(&row.job()));
        let Some(row) = fastest(own.iter(), false) else { break };
        figures.push(context.measured(&label(&row.job()), row, false));
        shown.push(row.job());
    }
    let mut experiments: Vec<&str> = Vec::new();
    for &(machine, row) in observed.iter().filter(|(_, row)| !beside::is_wrong(row)) {
        if figures.len() < FIGURES && !experiments.contains(&row.experiment.as_str()) {
            experiments.push(&row.experiment);
            figures.extend(observation(machine, row, machines));
        }
    }
    figures
}

/// Whether it has a throughput in bytes: messages without a byte have none.
fn has_bytes(row: &Row<'_>) -> bool {
    row.bytes_per_second > 0.0
}

/// The fastest of those under no load, if there are any: another work's rest is no number of the machine.
fn fastest<'r, 'a: 'r>(rows: impl Iterator<Item = &'r Row<'a>>, messages: bool) -> Option<&'r Row<'a>> {
    let rate = |row: &Row<'_>| if messages { row.messages_per_second } else { row.bytes_per_second };
    let rows: Vec<&Row<'a>> = rows.collect();
    let rows = beside::preferred(rows, |row| row.is_undisturbed());
    rows.into_iter().max_by(|one, other| rate(one).total_cmp(&rate(other)))
}

/// What is not a topic goes by the name of its workload or algorithm.
fn label(job: &Job<'_>) -> String {
    let name = if matches!(job.workload, "custom" | "") { job.algorithm } else { job.workload };
    format!("{name} {}", job.operation)
}

/// What a number is seen in.
struct Context<'c, 'a> {
    rows: &'c [Row<'a>],
    observed: &'c [Observed<'a>],
    machines: &'c Machines<'a>,
}

impl<'a> Context<'_, 'a> {
    fn measured(&self, label: &str, row: &Row<'a>, messages: bool) -> Figure {
        let (rate, ends) = if messages {
            (row.messages_per_second, row.ends_in_messages())
        } else {
            (row.bytes_per_second, row.ends(1.0))
        };
        let text = if messages { units::per_second } else { units::rate };
        let interval = ends.map_or_else(String::new, |(low, high)| range(&text(low), &text(high)));
        let (number, unit) = apart(&text(rate));
        let unit = if messages { format!("{} msg/s", unit.trim_end_matches("/s").trim_end()) } else { unit };
        Figure {
            label: label.to_owned(),
            value: (number, unit.trim().to_owned()),
            interval,
            what: [row.does(), self.place(row)],
            beside: Beside::Measured {
                ceiling: self.ceiling(row),
                rival: self.rival(row, messages),
                more: self.more(row, messages),
            },
        }
    }

    /// On what, and how: `cpu avx512, 2 threads`, `NVIDIA H200, data in its memory, caches flushed`.
    fn place(&self, row: &Row<'a>) -> String {
        let on = if row.is_offload() {
            format!("{}{}", row.device_name, row.transfer_text())
        } else {
            format!("{}, {}", row.contender(), units::count(row.threads, "thread"))
        };
        format!("{}{on}{}", self.machines.prefix(row.machine), row.disturbed_text())
    }

    /// The ceiling in the record, else what the mix of instructions allows.
    fn ceiling(&self, row: &Row<'a>) -> Result<(f64, String), String> {
        if !has_bytes(row) {
            return Err("ceilings are of bytes, which these messages lack".to_owned());
        }
        if let Some(ceiling) = &row.ceiling {
            return Ok((
                ceiling.share,
                format!("{}: {}", units::rate(ceiling.bytes_per_second), ceiling.bound),
            ));
        }
        let most = beside::foretold(row, self.observed).map_err(|why| {
            let lacks = match why {
                Unforetold::Never => "no ceiling in the records",
                Unforetold::OtherBuild => "no ceiling in the records but what mix foretold for another build",
            };
            format!("{lacks}; lab run mix --device {} may foretell one", row.device)
        })?;
        Ok((row.bytes_per_second / most, format!("{}: its instructions (mix)", units::rate(most))))
    }

    /// The best rival of the same rounds. No library works on a GPU: there it is the best one on the host, on as many
    /// threads as it was given.
    fn rival(&self, row: &Row<'a>, messages: bool) -> Result<(Verdict, String), String> {
        if !row.is_offload() {
            let beside = row.best_rival.as_ref().zip(row.verdict());
            let (best, verdict) = beside.ok_or("no rival ran beside it")?;
            let rate = units::rate(best.rival_bytes_per_second);
            let rate = if has_bytes(row) { format!(" ({rate})") } else { String::new() };
            let short = undecided(row.is_short());
            return Ok((verdict, format!("{:.2} × {}{rate}{short}", best.ratio, best.rival_name)));
        }
        if !has_bytes(row) {
            return Err("libraries on its host are compared by bytes, which these messages lack".to_owned());
        }
        let library = beside::best_library(row, self.rows).ok_or(
            "no library was measured on its host; lab run gpu-rivals --threads all,1 measures those that are there",
        )?;
        let times = units::significant(row.bytes_per_second / library.bytes_per_second);
        let text = format!(
            "{times} × the best library on its host: {}, {} ({}{}){}",
            library.device_name,
            units::count(library.threads, "thread"),
            speed(&library, messages),
            unlike(row, &library),
            undecided(row.is_short() || library.is_short())
        );
        Ok((row.rate().against(library.rate()).verdict(), text))
    }

    /// Of a device with memory of its own: what is left with the transfers, and what the CPU beside it does.
    fn more(&self, row: &Row<'a>, messages: bool) -> Vec<String> {
        let library = beside::best_library(row, self.rows);
        let brought = beside::brought(row, self.rows).map(|other| {
            let times = library.filter(|_| has_bytes(row)).map_or_else(String::new, |library| {
                let times = units::significant(other.bytes_per_second / library.bytes_per_second);
                format!(", {times} × that library")
            });
            format!("{} with the way there and back{times}", speed(&other, messages))
        });
        let cpu = beside::on_cpu(row, self.rows, self.observed);
        let cpu = cpu.filter(|_| row.is_offload() && has_bytes(row));
        let cpu = cpu.map(|OnCpu { rate, experiment, cache }| {
            let times = units::significant(row.bytes_per_second / rate);
            let cache = match cache {
                Some(cache) if cache == row.scope.cache => String::new(),
                Some(cache) => format!(", caches {}", cache.name()),
                None => ", caches not told".to_owned(),
            };
            format!("{times} × our own on the CPU beside it ({}, {experiment}{cache})", units::rate(rate))
        });
        brought.into_iter().chain(cpu).collect()
    }
}

/// What must be said of a ratio without a verdict.
fn undecided(is_short: bool) -> String {
    if is_short { format!(", undecided for {TOO_FEW}") } else { String::new() }
}

/// In what another row of the like differs: size, experiment, and where its data lay.
fn unlike(row: &Row<'_>, other: &Row<'_>) -> String {
    let size = (other.message_bytes != row.message_bytes).then(|| units::bytes(other.message_bytes));
    let experiment = (other.experiment != row.experiment).then(|| other.experiment.clone());
    let cache =
        (other.scope.cache != row.scope.cache).then(|| format!("caches {}", other.scope.cache.name()));
    [size, experiment, cache].into_iter().flatten().map(|text| format!(", {text}")).collect()
}

/// What a row does in a second, in messages or in bytes.
fn speed(row: &Row<'_>, messages: bool) -> String {
    if messages {
        format!("{} msg/s", units::per_second(row.messages_per_second).trim_end_matches("/s").trim_end())
    } else {
        units::rate(row.bytes_per_second)
    }
}

/// `16.2–16.4 GB/s`; with both units where they differ.
fn range(low: &str, high: &str) -> String {
    match (apart(low), apart(high)) {
        ((from, unit), (to, other)) if unit == other => format!("{from}–{to} {unit}"),
        _ => format!("{low} to {high}"),
    }
}

/// The number and the unit of `16.3 GB/s`.
fn apart(text: &str) -> (String, String) {
    text.split_once(' ').map_or_else(
        || (text.to_owned(), String::new()),
        |(number, unit)| (number.to_owned(), unit.to_owned()),
    )
}

/// `31.3 on GTX 680 [001.8]`.
fn figure(published: &Published) -> String {
    format!("{} on {} [{}]", units::significant(published.value), published.on, published.source)
}

fn observation(machine: usize, row: &Observation, machines: &Machines<'_>) -> Option<Figure> {
    let value = row.values.first()?;
    let number = value.value?;
    let unit = if value.unit == "1" { String::new() } else { value.unit.clone() };
    let axes: Vec<String> = row.axes.iter().map(|(name, place)| format!("{name} {place}")).collect();
    let machine = machines.prefix(machine);
    Some(Figure {
        label: row.experiment.clone(),
        value: (units::significant(number), unit),
        interval: level::interval(row, value).map_or_else(String::new, |ends| {
            format!("{} to {}", units::significant(ends.low), units::significant(ends.high))
        }),
        what: [format!("{}, {}", value.name, axes.join(", ")), format!("{machine}{}", row.subject_name)],
        beside: Beside::Observed(value.published.iter().map(figure).collect()),
    })
}
