//! What is run: named workloads, one file each, and one's own.

pub mod aligned;
pub mod bulk;
pub mod cavp_mix;
pub mod custom;
pub mod disk_4k;
pub mod lengths;
pub mod meter_128;
pub mod meter_mixed;
pub mod packets;
pub mod part;
pub mod task;
pub mod tls_16k;

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use cipherlane::verify::vectors::VectorError;
use cipherlane::{Algorithm, BatchError, Cipher, Mode, Operation, Shape, UnknownName, limits};
use cipherlane_record::{Host, Keys, Tag};
use thiserror::Error;

pub use custom::{Custom, InputError};
pub use lengths::Lengths;
pub use task::Task;

use crate::bench::Wanted;
use crate::judge::{JudgeError, Judges};

/// A workload that has a name.
#[derive(Debug)]
pub struct Named {
    /// Its name: `meter-128`.
    pub name: &'static str,
    /// The question that it answers, in one sentence.
    pub question: &'static str,
    /// What it does, one row of a result each. The first is in the suite of a quick look.
    pub jobs: &'static [Job],
    /// Whether its size is its own; else it takes [`Request::working_set_bytes`].
    pub fixed_size: bool,
    /// Its messages, as far as they are known before they are made.
    pub outline: Outline,
    /// What it costs to measure, by the side of a workload that costs 1: its share of the time.
    pub weight: f64,
    build: fn(Job, &Request<'_>) -> Result<Vec<Task>, WorkloadError>,
}

/// The messages of a batch, before they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    /// How many there are; `None` where it follows from elsewhere.
    pub messages: Option<usize>,
    /// Bytes of one; of the longest where they differ.
    pub message_bytes: usize,
    /// One key for all, or one each.
    pub keys: Keys,
}

/// What one row of a workload does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// AES-GCM with several key lengths, sealed and opened, in one pass.
    Mixed,
    /// One algorithm and operation.
    Single(Algorithm, Operation),
}

impl Display for Job {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mixed => f.write_str("mixed"),
            Self::Single(algorithm, operation) => write!(f, "{algorithm} {operation}"),
        }
    }
}

impl Job {
    /// The algorithms that it may run.
    #[must_use]
    pub fn algorithms(self) -> Vec<Algorithm> {
        match self {
            Self::Single(algorithm, _) => vec![algorithm],
            Self::Mixed => Cipher::AES.map(|cipher| Algorithm::new(cipher, Mode::Gcm)).to_vec(),
        }
    }

    /// What its batches do, one at a time.
    fn parts(self) -> Vec<(Algorithm, Operation)> {
        match self {
            Self::Single(algorithm, operation) => vec![(algorithm, operation)],
            Self::Mixed => {
                let both =
                    |algorithm: Algorithm| algorithm.operations().iter().map(move |&way| (algorithm, way));
                self.algorithms().into_iter().flat_map(both).collect()
            }
        }
    }
}

/// A name is one workload's alone.
impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Named {
    /// Every named workload.
    pub const ALL: [&'static Self; 7] = [
        &meter_128::WORKLOAD,
        &meter_mixed::WORKLOAD,
        &cavp_mix::WORKLOAD,
        &packets::WORKLOAD,
        &tls_16k::WORKLOAD,
        &disk_4k::WORKLOAD,
        &bulk::WORKLOAD,
    ];

    /// Each job as something to run.
    pub fn choices(&'static self) -> impl Iterator<Item = Choice> {
        self.jobs.iter().map(move |&job| Choice::Named(self, job))
    }
}

/// The workload of this name.
///
/// # Errors
/// [`UnknownName`] lists the names that there are.
pub fn named(name: &str) -> Result<&'static Named, UnknownName> {
    Named::ALL.into_iter().find(|workload| workload.name == name).ok_or_else(|| {
        UnknownName::new("workload", name, Named::ALL.map(|workload| workload.name.to_owned()))
    })
}

/// Whether `algorithm` does `operation` to messages of some of `lengths`, and of none too long for it, known before a batch is
/// built.
///
/// # Errors
/// Says what it does, and which lengths it takes.
pub fn check(
    algorithm: Algorithm,
    operation: Operation,
    lengths: impl Into<Lengths>,
) -> Result<(), BatchError> {
    if !algorithm.operations().contains(&operation) {
        return Err(BatchError::Operation { algorithm, operation });
    }
    let lengths = lengths.into();
    let (wanted, _) = limits::text_bytes(algorithm);
    let refused = || BatchError::Length { algorithm, wanted, message: 0, found: lengths.most() as u64 };
    lengths.taken_by(algorithm).map(|_| ()).ok_or_else(refused)
}

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// A job of a named workload.
    Named(&'static Named, Job),
    /// One's own workload.
    Custom(Custom),
}

impl Choice {
    /// The workload's name. One's own is `custom`, or `lengths-16-512` if its messages have all of these bytes.
    #[must_use]
    pub fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Named(workload, _) => workload.name.into(),
            Self::Custom(custom) => custom.name(),
        }
    }

    /// What one row of it does.
    #[must_use]
    pub const fn job(&self) -> Job {
        match self {
            Self::Named(_, job) => *job,
            Self::Custom(custom) => Job::Single(custom.algorithm, custom.operation),
        }
    }

    /// Whether its size is its own, whatever the working set that is asked for.
    #[must_use]
    pub const fn has_fixed_size(&self) -> bool {
        match self {
            Self::Named(workload, _) => workload.fixed_size,
            Self::Custom(custom) => custom.messages.is_some() || custom.input.is_some(),
        }
    }

    /// The shapes of its batches, to plan them before they are made; `many` messages where their number follows from
    /// elsewhere.
    #[must_use]
    pub fn shapes(&self, many: usize) -> Vec<Shape> {
        let (Outline { messages, message_bytes, keys }, mean) = match self {
            Self::Named(workload, _) => (workload.outline, workload.outline.message_bytes),
            Self::Custom(custom) => (custom.outline(), custom.lengths.mean()),
        };
        let messages = messages.unwrap_or(many);
        let bytes = (messages as u64).saturating_mul(mean as u64);
        let shape = |(algorithm, way)| {
            let longest = message_bytes as u64;
            Shape { bytes, ..Shape::uniform(algorithm, way, messages, longest, keys == Keys::Same) }
        };
        self.job().parts().into_iter().map(shape).collect()
    }

    /// The same with the number of its messages told, where that follows from `working_set_bytes` and from nothing else.
    #[must_use]
    pub fn settled(&self, working_set_bytes: usize) -> Self {
        match self {
            Self::Named(workload, job) => Self::Named(workload, *job),
            Self::Custom(custom) => Self::Custom(custom.settled(working_set_bytes)),
        }
    }

    /// Its share of the time, by the side of others.
    #[must_use]
    pub const fn weight(&self) -> f64 {
        match self {
            Self::Named(workload, _) => workload.weight,
            Self::Custom(_) => 1.0,
        }
    }

    /// Builds the workload and its expected outputs.
    ///
    /// # Errors
    /// If its parts are not there or do not fit together, or the judges differ or fail.
    pub fn build(&self, request: &Request<'_>) -> Result<Workload, WorkloadError> {
        let tasks = match self {
            Self::Named(workload, job) => (workload.build)(*job, request)?,
            Self::Custom(custom) => custom.build(request)?,
        };
        Ok(Workload { name: self.name(), tasks })
    }
}

/// The smallest second-level cache of CPUs with AES instructions: what a core is taken to have where the system does not
/// tell.
const SMALL_L2_BYTES: u64 = 256 << 10;

/// What a workload is built for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Seed of all contents.
    pub seed: u64,
    /// Bytes of input and output together, where the workload's size is free.
    pub working_set_bytes: usize,
    /// Who computes the expected outputs.
    pub judges: &'a Judges<'a>,
}

impl Request<'_> {
    /// As many messages as fill the working set, when each takes `message_bytes` of text on the way in and as much
    /// on the way out, and `other_bytes` besides.
    #[must_use]
    pub const fn messages(&self, message_bytes: usize, other_bytes: usize) -> usize {
        filling(self.working_set_bytes, message_bytes, other_bytes)
    }

    /// The working set for `threads` on `host`, of whose cores each has a second-level cache.
    ///
    /// Half of the caches, so that stacks, tables and key schedules fit as well; where data shall be cold, so much
    /// that one pass takes long against the clock's resolution.
    #[must_use]
    pub fn working_set(wanted: Wanted, host: &Host, threads: usize) -> usize {
        const COLD_BYTES: usize = 64 << 20;
        match wanted {
            Wanted::Hot => usize::try_from(host.l2_bytes.unwrap_or(SMALL_L2_BYTES) / 2)
                .unwrap_or(usize::MAX)
                .saturating_mul(host.cores(threads)),
            Wanted::Cold => COLD_BYTES,
        }
    }
}

/// As many messages as fill `working_set_bytes`; see [`Request::messages`].
const fn filling(working_set_bytes: usize, message_bytes: usize, other_bytes: usize) -> usize {
    let each = message_bytes.saturating_mul(2).saturating_add(other_bytes).saturating_add(1);
    let messages = working_set_bytes / each;
    if messages == 0 { 1 } else { messages }
}

/// Why a workload could not be built.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// The vectors are not there.
    #[error(transparent)]
    Vectors(#[from] VectorError),
    /// The parts do not fit together.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The input file cannot be used.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The judges differ or fail.
    #[error(transparent)]
    Judge(#[from] JudgeError),
}

/// `part`, which goes forward, in the direction of `job`.
fn directed(job: Job, part: part::Part, request: &Request<'_>) -> Result<Task, WorkloadError> {
    let forward = matches!(job, Job::Single(_, operation) if operation == part.operation);
    if forward {
        return Ok(Task::forward(part, request.judges)?);
    }
    if let Job::Single(algorithm, operation) = job
        && !algorithm.operations().contains(&operation)
    {
        return Err(BatchError::Operation { algorithm, operation }.into());
    }
    Ok(Task::backward(part, request.judges, &[])?)
}

/// Batches with their expected outputs.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The batches of one pass, in order. At least one.
    pub tasks: Vec<Task>,
}

impl Workload {
    /// Messages of one pass.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.tasks.iter().map(|task| task.part.len() as u64).sum()
    }

    /// Bytes of text of one pass.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tasks.iter().map(|task| task.part.texts.len() as u64).sum()
    }

    /// Bytes of input and output.
    #[must_use]
    pub fn working_set_bytes(&self) -> u64 {
        self.tasks.iter().map(|task| (task.part.input_bytes() + task.expected.len()) as u64).sum()
    }

    /// Whether input and output fit the second-level caches of the cores that `threads` run on. Where the host does not know these, they are
    /// taken to be as [`Request::working_set`] takes them, which is what the data was made to fit.
    #[must_use]
    pub fn fits(&self, host: &Host, threads: usize) -> bool {
        let cores = host.cores(threads) as u64;
        self.working_set_bytes() <= host.l2_bytes.unwrap_or(SMALL_L2_BYTES).saturating_mul(cores)
    }

    /// One key for all messages of a part, or one each.
    #[must_use]
    pub fn keys(&self) -> Keys {
        let shared = self.tasks.iter().all(|task| task.part.keys.column().is_shared());
        if shared { Keys::Same } else { Keys::Distinct }
    }

    /// The algorithm by name, with `mixed` in the place of what differs.
    #[must_use]
    pub fn algorithm(&self) -> String {
        let mut algorithms = self.tasks.iter().map(|task| task.part.algorithm);
        let Some(first) = algorithms.next() else { return String::new() };
        let (mut same, mut same_family) = (true, true);
        for other in algorithms {
            same &= other == first;
            same_family &= other.family() == first.family();
        }
        match (same, same_family) {
            (true, _) => first.to_string(),
            (false, true) => match first {
                Algorithm::Cipher(cipher, mode) => format!("{}-mixed-{}", cipher.family(), mode.name()),
                Algorithm::Hash(hash) => hash.name().to_owned(),
            },
            (false, false) => "mixed".to_owned(),
        }
    }

    /// The operation by name, `mixed` where there are several.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        let mut operations = self.tasks.iter().map(|task| task.part.operation);
        let first = operations.next().map_or("mixed", Operation::name);
        if operations.all(|operation| operation.name() == first) { first } else { "mixed" }
    }

    /// What is done about tags.
    #[must_use]
    pub fn tag(&self) -> Tag {
        let any = |operation| self.tasks.iter().any(|task| task.part.operation == operation);
        match (any(Operation::Seal), any(Operation::Open)) {
            (true, true) => Tag::Both,
            (true, false) => Tag::Made,
            (false, true) => Tag::Checked,
            (false, false) => Tag::None,
        }
    }
}
