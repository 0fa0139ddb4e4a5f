//! What every kernel sits.

mod answers;
mod chunks;
mod columns;
mod digest_refusals;
mod digests;
mod lanes;
mod lengths;
mod parts;
mod refusals;
mod rejects;
mod special;
mod wraps;

use super::examiner::Examiner;
use super::failure::Failure;

/// Everything, simple things first.
pub(super) fn sit_all(examiner: &mut Examiner) -> Result<(), Failure> {
    if examiner.has_general() {
        sit_general(examiner)?;
    }
    special::sit(examiner)
}

fn sit_general(examiner: &mut Examiner) -> Result<(), Failure> {
    answers::sit(examiner)?;
    if let Some(hash) = examiner.algorithm.hash() {
        digests::sit(examiner, hash)?;
        return digest_refusals::sit(examiner, hash);
    }
    lanes::sit(examiner)?;
    lengths::sit(examiner)?;
    columns::sit(examiner)?;
    wraps::sit(examiner)?;
    rejects::sit(examiner)?;
    chunks::sit(examiner)?;
    refusals::sit(examiner)
}
