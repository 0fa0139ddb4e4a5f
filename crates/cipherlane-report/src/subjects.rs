//! What observations were made on, by names that tell it apart.

use std::collections::{BTreeMap, BTreeSet};

use cipherlane_record::Observation;

use crate::beside::Observed;

/// The names of what some observations were made on. Several devices of a machine may have one, as a GPU that CUDA and
/// OpenCL both drive, or GPUs of one model: behind it stands which of them it is then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subjects<'a>(BTreeMap<(usize, &'a str), BTreeSet<&'a str>>);

impl<'a> Subjects<'a> {
    /// Of `rows`.
    pub(crate) fn of(rows: &[Observed<'a>]) -> Self {
        let mut subjects = Self::default();
        for &(machine, row) in rows {
            subjects.0.entry((machine, &row.subject_name)).or_default().insert(&row.subject);
        }
        subjects
    }

    /// The name of what `row` was made on: `NVIDIA H200`, or `NVIDIA H200 (cuda:0)` where other rows of the machine are
    /// of another device of this name.
    pub(crate) fn name(&self, (machine, row): Observed<'_>) -> String {
        let Observation { subject, subject_name, .. } = row;
        match self.0.get(&(machine, subject_name.as_str())) {
            Some(alike) if alike.len() > 1 => format!("{subject_name} ({subject})"),
            _ => subject_name.clone(),
        }
    }
}
