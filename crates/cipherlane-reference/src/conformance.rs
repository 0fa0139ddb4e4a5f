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

/// Checks every kernel of `device` for every algorithm and operation.
///
/// # Errors
/// The first result that is wrong.
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
    let mut report = Report::default();
    for algorithm in algorithms {
        for &operation in algorithm.operations() {
            let Some(mut examiner) = Examiner::open(device, wishes, algorithm, operation)? else { continue };
            suite::sit_all(&mut examiner)?;
            *report.checks.entry(algorithm).or_default() += examiner.checks();
            for (kernel, tier) in examiner.kernels() {
                if !report.kernels.contains(&kernel) {
                    report.kernels.push(kernel);
                }
                report.tiers.entry(tier).or_default().insert(algorithm);
            }
        }
    }
    if report.kernels.is_empty() { Err(Failure::nothing_offered(device, wishes)) } else { Ok(report) }
}
