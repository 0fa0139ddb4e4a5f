//! What is run: named workloads, one file each, and one's own.

use std::path::PathBuf;

use cipherlane_core::{Algorithm, Operation, UnknownName};
use cipherlane_record::Keys;

/// A workload that has a name.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name: `meter-128`.
    pub name: &'static str,
    /// The question that it answers, in one sentence.
    pub question: &'static str,
    /// What it does, one row of a result each.
    pub jobs: &'static [Job],
}

/// What one row of a workload does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Several algorithms or operations in one pass.
    Mixed,
    /// One algorithm and operation.
    Single(Algorithm, Operation),
}

impl Named {
    /// Every named workload.
    pub const ALL: [&'static Self; 0] = [];

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

/// What to run.
#[derive(Clone, Debug)]
pub enum Choice {
    /// A job of a named workload.
    Named(&'static Named, Job),
    /// One's own workload.
    Custom(Custom),
}

impl Choice {
    /// Whether it belongs to the suite of a quick look.
    #[must_use]
    pub const fn is_in_quick_suite(&self) -> bool {
        true
    }

    /// The workload's name; `custom` for one's own.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Named(workload, _) => workload.name,
            Self::Custom(_) => "custom",
        }
    }
}

/// One's own workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Custom {
    /// The cipher in its mode.
    pub algorithm: Algorithm,
    /// What is done to each message.
    pub operation: Operation,
    /// Bytes of each message.
    pub message_bytes: usize,
    /// Number of messages; `None` takes as many as make a working set that fits the second-level cache, or cut the
    /// whole input.
    pub messages: Option<usize>,
    /// One key for all, or one each.
    pub keys: Keys,
    /// A file whose bytes are cut into messages; `None` takes random bytes.
    pub input: Option<PathBuf>,
}
