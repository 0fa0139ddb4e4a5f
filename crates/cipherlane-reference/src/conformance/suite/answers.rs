//! The answers that the standards print, one message at a time and together.

use super::super::candidate::Size;
use super::super::examiner::Examiner;
use super::super::failure::Failure;
use crate::exam::{self, Miss};
use crate::vectors::{Case, known};

pub(super) fn sit(examiner: &mut Examiner) -> Result<(), Failure> {
    let (algorithm, operation) = (examiner.algorithm, examiner.operation);
    let cases = known();
    let cases: Vec<&Case> =
        cases.iter().filter(|case| (case.algorithm, case.operation) == (algorithm, operation)).collect();
    for together in [1, cases.len().max(1)] {
        let name = format!("known answers, {together} in a batch");
        examiner.each(&name, 0, Size::Whole, |session| {
            let verdicts = exam::sit(session, &cases, together);
            cases.iter().zip(verdicts).try_for_each(|(case, verdict)| match verdict {
                Ok(()) => Ok(()),
                Err(Miss::Wrong(problem) | Miss::Unsupported(problem)) => {
                    Err(format!("{}, {}: {problem}", case.source, case.id))
                }
            })
        })?;
    }
    Ok(())
}
