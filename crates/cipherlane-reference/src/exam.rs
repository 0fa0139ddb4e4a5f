//! Puts test vectors to a device, as many at a time as fit together.

mod digests;
mod monte_carlo;
mod sitting;
mod tally;

use std::collections::BTreeMap;

use cipherlane_core::{Algorithm, Device, DeviceError, Operation, Plan, Session, Shape, Unsupported, Wish};

pub(crate) use sitting::{Miss, sit};
pub use tally::{Counts, FailedCase, Tally};

use crate::vectors::{Case, Expectation};

/// Runs every case on the kernels that `device` plans under `wish`.
///
/// Cases that the device says it does not offer (`Unsupported`) are counted as not applicable, with the reason. A
/// caller that expects something to run looks at [`Counts::passed`].
///
/// # Errors
/// If the wish cannot be met for another reason (a tier that this CPU lacks), or no session can be opened.
pub fn run(device: &dyn Device, wish: &Wish, cases: &[Case]) -> Result<Tally, DeviceError> {
    let mut groups: BTreeMap<(Algorithm, Operation), Vec<&Case>> = BTreeMap::new();
    for case in cases {
        groups.entry((case.algorithm, case.operation)).or_default().push(case);
    }
    let mut tally = Tally::default();
    for ((algorithm, operation), mut cases) in groups {
        cases.retain(|case| match case.expectation {
            Expectation::NotApplicable(reason) => {
                tally.not_applicable(case, reason);
                false
            }
            _ => true,
        });
        match open(device, wish, algorithm, operation, &cases) {
            Ok((plan, mut session)) => {
                let verdicts = sit(&mut *session, &cases, sitting::TOGETHER);
                tally.count(&plan.kernel, &cases, verdicts);
            }
            Err(DeviceError::Unsupported(Unsupported::Kernel { device, .. })) => {
                // One reason for all: the counts say which algorithms.
                let tier = wish.tier.as_ref().map(|tier| format!(" on {tier}")).unwrap_or_default();
                let reason = format!("algorithms that {device} does not offer{tier}");
                cases.iter().for_each(|case| tally.not_applicable(case, &reason));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(tally)
}

fn open(
    device: &dyn Device,
    wish: &Wish,
    algorithm: Algorithm,
    operation: Operation,
    cases: &[&Case],
) -> Result<(Plan, Box<dyn Session>), DeviceError> {
    let lengths = || cases.iter().map(|case| case.input.len() as u64);
    let shape = Shape {
        algorithm,
        operation,
        messages: cases.len().min(sitting::TOGETHER),
        bytes: lengths().sum(),
        longest: lengths().max().unwrap_or(0),
        shared_key: false,
        in_place: false,
    };
    let plan = device.plan(&shape, wish)?;
    let session = device.open(&plan)?;
    Ok((plan, session))
}
