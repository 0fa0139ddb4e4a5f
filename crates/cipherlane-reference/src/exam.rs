//! Puts test vectors to a device, as many at a time as fit together.

mod digests;
mod monte_carlo;
mod sitting;
mod tally;

use std::collections::BTreeMap;

use cipherlane_core::{Algorithm, Device, DeviceError, Operation, Plan, Session, Shape, Unsupported, Wish};

pub(crate) use sitting::{Miss, sit};
pub use tally::{Counts, FailedCase, Tally};

use crate::side_by_side;
use crate::vectors::{Case, Expectation};

/// Runs every case on the kernels that `device` plans under `wish`; the algorithms of a device that launches kernels [side
/// by side](side_by_side).
///
/// Cases that the device says it does not offer (`Unsupported`) are counted as not applicable, with the reason. A
/// caller that expects something to run looks at [`Counts::passed`].
///
/// # Errors
/// If the wish cannot be met for another reason (a tier that this CPU lacks), or no session can be opened: the first of
/// these, in the order of algorithms.
pub fn run(device: &dyn Device, wish: &Wish, cases: &[Case]) -> Result<Tally, DeviceError> {
    let mut groups: BTreeMap<Algorithm, BTreeMap<Operation, Vec<&Case>>> = BTreeMap::new();
    for case in cases {
        groups.entry(case.algorithm).or_default().entry(case.operation).or_default().push(case);
    }
    let groups: Vec<_> = groups.into_iter().collect();
    let tallies =
        side_by_side::try_map(side_by_side::threads(device), &groups, |(algorithm, operations)| {
            let mut tally = Tally::default();
            for (&operation, cases) in operations {
                run_group(device, wish, (*algorithm, operation), cases, &mut tally)?;
            }
            Ok::<_, DeviceError>(tally)
        })?;
    let mut tally = Tally::default();
    tallies.into_iter().for_each(|part| tally.merge(part));
    Ok(tally)
}

/// Runs `cases`, all of one algorithm and operation, and counts them in `tally`.
fn run_group(
    device: &dyn Device,
    wish: &Wish,
    (algorithm, operation): (Algorithm, Operation),
    cases: &[&Case],
    tally: &mut Tally,
) -> Result<(), DeviceError> {
    let mut applicable = Vec::new();
    for &case in cases {
        match case.expectation {
            Expectation::NotApplicable(reason) => tally.not_applicable(case, reason),
            _ => applicable.push(case),
        }
    }
    match open(device, wish, algorithm, operation, &applicable) {
        Ok((plan, mut session)) => {
            let verdicts = sit(&mut *session, &applicable, sitting::TOGETHER);
            tally.count(&plan.kernel, &applicable, verdicts);
            Ok(())
        }
        Err(DeviceError::Unsupported(Unsupported::Kernel { device, .. })) => {
            // One reason for all: the counts say which algorithms.
            let tier = wish.tier.as_ref().map(|tier| format!(" on {tier}")).unwrap_or_default();
            let reason = format!("algorithms that {device} does not offer{tier}");
            applicable.iter().for_each(|case| tally.not_applicable(case, &reason));
            Ok(())
        }
        Err(error) => Err(error),
    }
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
        beside: 0, // vectors have too little of it to be worth a thread
        shared_key: false,
        in_place: false,
    };
    let plan = device.plan(&shape, wish)?;
    let session = device.open(&plan)?;
    Ok((plan, session))
}
