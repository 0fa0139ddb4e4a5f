//! What came of a run of test vectors.

use std::collections::BTreeMap;
use std::fmt;

use cipherlane_core::Algorithm;

use super::sitting::{Miss, Verdict};
use crate::vectors::Case;

/// What came of a run of test vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Counts by source and algorithm.
    pub counts: BTreeMap<(String, Algorithm), Counts>,
    /// Every case that failed.
    pub failures: Vec<FailedCase>,
    /// Why cases did not apply, and how many for that reason.
    pub reasons: BTreeMap<String, usize>,
}

/// Numbers of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Cases with the expected result.
    pub passed: usize,
    /// Cases with another result.
    pub failed: usize,
    /// Cases that were not run; [`Tally::reasons`] says why.
    pub not_applicable: usize,
}

/// A case that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCase {
    /// The collection.
    pub source: String,
    /// Where to find the case there.
    pub id: String,
    /// Algorithm and operation: `aes-128-gcm open`.
    pub what: String,
    /// The kernel that failed.
    pub kernel: String,
    /// What was expected and what was found.
    pub reason: String,
}

impl fmt::Display for FailedCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, id, what, kernel, reason } = self;
        write!(f, "{source}, {id}: {what} on {kernel}: {reason}")
    }
}

impl Tally {
    /// All counts together.
    #[must_use]
    pub fn total(&self) -> Counts {
        self.counts.values().fold(Counts::default(), |sum, counts| Counts {
            passed: sum.passed + counts.passed,
            failed: sum.failed + counts.failed,
            not_applicable: sum.not_applicable + counts.not_applicable,
        })
    }

    /// Adds the results of another run.
    pub fn merge(&mut self, other: Self) {
        for (key, counts) in other.counts {
            let sum = self.counts.entry(key).or_default();
            sum.passed += counts.passed;
            sum.failed += counts.failed;
            sum.not_applicable += counts.not_applicable;
        }
        self.failures.extend(other.failures);
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
    }

    pub(super) fn not_applicable(&mut self, case: &Case, reason: &str) {
        self.of(case).not_applicable += 1;
        *self.reasons.entry(reason.to_owned()).or_default() += 1;
    }

    pub(super) fn count(&mut self, kernel: &str, cases: &[&Case], verdicts: Vec<Verdict>) {
        for (case, verdict) in cases.iter().zip(verdicts) {
            match verdict {
                Ok(()) => self.of(case).passed += 1,
                Err(Miss::Unsupported(reason)) => self.not_applicable(case, &reason),
                Err(Miss::Wrong(reason)) => {
                    self.of(case).failed += 1;
                    self.failures.push(FailedCase {
                        source: case.source.clone(),
                        id: case.id.clone(),
                        what: format!("{} {}", case.algorithm, case.operation),
                        kernel: kernel.to_owned(),
                        reason,
                    });
                }
            }
        }
    }

    fn of(&mut self, case: &Case) -> &mut Counts {
        self.counts.entry((case.source.clone(), case.algorithm)).or_default()
    }
}
