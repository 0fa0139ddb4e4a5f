//! The exam that every device sits: published answers, and batches of all shapes against the reference.
//!
//! A backend's tests call [`check`] and have everything that is known about hard inputs: edges of lanes and of
//! chunks, counters that wrap, every tag length, wrong tags among right ones, messages that leave no room for their
//! padding, bytes around the output that must not change, batches that must be refused.

mod candidate;
mod digest_trial;
mod draft;
mod examiner;
mod failure;
mod suite;
mod trial;

use std::collections::{BTreeMap, BTreeSet};

use cipherlane_core::{Algorithm, Device, Wish};

pub use candidate::shapes;
use examiner::Examiner;
pub use failure::Failure;

use crate::side_by_side;

/// What was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Batches that came out right, by algorithm, over all its kernels and both operations.
    pub checks: BTreeMap<Algorithm, u64>,
    /// The kernels that were checked, by name.
    pub kernels: Vec<String>,
    /// The algorithms of which a kernel was checked, by tier.
    pub tiers: BTreeMap<String, BTreeSet<Algorithm>>,
}

/// Checks every kernel of `device` for every algorithm and operation. The algorithms of a device that launches kernels are
/// examined [side by side](side_by_side).
///
/// # Errors
/// The first result that is wrong, in the order of [`Algorithm::all`].
pub fn check(device: &dyn Device) -> Result<Report, Failure> {
    check_with(device, &Wish::default())
}

/// Checks every kernel of `device` that `wish` allows: those of its tier, or the one that it names, with its
/// number of threads and its chunk.
///
/// # Errors
/// The first result that is wrong; or that the wish leaves nothing to check.
pub fn check_with(device: &dyn Device, wish: &Wish) -> Result<Report, Failure> {
    check_each(device, std::slice::from_ref(wish), Algorithm::all())
}

/// The same of some `algorithms`, each kernel once for each of `wishes`: what it is compared with is computed once.
///
/// # Errors
/// The first result that is wrong; or that the wishes leave nothing to check.
pub fn check_each(
    device: &dyn Device,
    wishes: &[Wish],
    algorithms: impl IntoIterator<Item = Algorithm>,
) -> Result<Report, Failure> {
    let algorithms: Vec<Algorithm> = algorithms.into_iter().collect();
    let reports = side_by_side::try_map(side_by_side::threads(device), &algorithms, |&algorithm| {
        check_algorithm(device, wishes, algorithm)
    })?;
    let mut report = Report::default();
    for part in reports {
        report.merge(part);
    }
    if report.kernels.is_empty() { Err(Failure::nothing_offered(device, wishes)) } else { Ok(report) }
}

/// Both operations of an algorithm, one after the other: where they share a program, it is compiled once.
fn check_algorithm(device: &dyn Device, wishes: &[Wish], algorithm: Algorithm) -> Result<Report, Failure> {
    let mut report = Report::default();
    for &operation in algorithm.operations() {
        let Some(mut examiner) = Examiner::open(device, wishes, algorithm, operation)? else { continue };
        suite::sit_all(&mut examiner)?;
        *report.checks.entry(algorithm).or_default() += examiner.checks();
        for (kernel, tier) in examiner.kernels() {
            report.add_kernel(kernel);
            report.tiers.entry(tier).or_default().insert(algorithm);
        }
    }
    Ok(report)
}

impl Report {
    fn add_kernel(&mut self, kernel: String) {
        if !self.kernels.contains(&kernel) {
            self.kernels.push(kernel);
        }
    }

    /// Adds what was checked elsewhere.
    fn merge(&mut self, other: Self) {
        for (algorithm, checks) in other.checks {
            *self.checks.entry(algorithm).or_default() += checks;
        }
        other.kernels.into_iter().for_each(|kernel| self.add_kernel(kernel));
        for (tier, algorithms) in other.tiers {
            self.tiers.entry(tier).or_default().extend(algorithms);
        }
    }
}
