//! One session sits cases of its algorithm and operation.

use cipherlane_core::{
    BLOCK, Batch, BatchError, DeviceError, Messages, Operation, Output, Session, Source, TagLengths,
};

use super::{digests, monte_carlo};
use crate::rows::{Rows, item, offsets};
use crate::vectors::wycheproof::is_padded;
use crate::vectors::{Case, Expectation, hex};

/// Cases that are run in one batch.
pub(super) const TOGETHER: usize = 512;

/// What came of a case that did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// The result is wrong; says where.
    Wrong(String),
    /// The device says that it does not take such a message.
    Unsupported(String),
}

/// Whether a case passed.
pub(super) type Verdict = Result<(), Miss>;

/// The verdict on a wrong result.
fn wrong(problem: impl Into<String>) -> Verdict {
    Err(Miss::Wrong(problem.into()))
}

/// Runs `cases`, up to `together` in one batch, and judges each.
///
/// All must be of the session's algorithm and operation, and applicable.
pub(crate) fn sit(session: &mut dyn Session, cases: &[&Case], together: usize) -> Vec<Verdict> {
    if let Some(hash) = cases.first().and_then(|case| case.algorithm.hash()) {
        return digests::sit(session, hash, cases, together);
    }
    let mut verdicts: Vec<Option<Verdict>> = vec![None; cases.len()];
    let picked = |wanted: fn(&Expectation) -> bool| -> Vec<usize> {
        (0..cases.len()).filter(|&index| wanted(&cases[index].expectation)).collect()
    };
    let turns = picked(|expectation| matches!(expectation, Expectation::MonteCarlo { .. }));
    // A refused case would take its whole batch with it.
    let alone = picked(|expectation| matches!(expectation, Expectation::Refused));
    let others = picked(|e| !matches!(e, Expectation::MonteCarlo { .. } | Expectation::Refused));
    let batches = turns.chunks(together).chain(alone.chunks(1)).chain(others.chunks(together));
    for batch in batches {
        let chosen: Vec<&Case> = batch.iter().map(|&index| cases[index]).collect();
        for (&index, verdict) in batch.iter().zip(sit_batch(session, &chosen)) {
            verdicts[index] = Some(verdict);
        }
    }
    verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(|| wrong("was not run"))).collect()
}

/// Runs cases that fit into one batch.
fn sit_batch(session: &mut dyn Session, cases: &[&Case]) -> Vec<Verdict> {
    if matches!(cases[0].expectation, Expectation::MonteCarlo { .. }) {
        return monte_carlo::sit(session, cases).unwrap_or_else(|error| vec![failed(&error); cases.len()]);
    }
    let outcome = Outcome::of(session, cases);
    if let Err(error @ (DeviceError::Unsupported(_) | DeviceError::Batch(_))) = &outcome.result
        && cases.len() > 1
    {
        // One message that the device does not take, or that nobody could, must not hide the others.
        return sit_alone(session, cases, error);
    }
    cases.iter().enumerate().map(|(index, case)| judge(case, &outcome, index)).collect()
}

/// Runs cases one by one that were refused together, with `error`.
fn sit_alone(session: &mut dyn Session, cases: &[&Case], error: &DeviceError) -> Vec<Verdict> {
    let alone: Vec<Verdict> = cases.iter().flat_map(|case| sit_batch(session, &[*case])).collect();
    if matches!(error, DeviceError::Batch(_)) && alone.iter().all(Result::is_ok) {
        // Each of them is well formed, and so were all of them together.
        return vec![failed(error); cases.len()];
    }
    alone
}

/// The verdict on a case that a session returned an error for.
pub(super) fn failed(error: &DeviceError) -> Verdict {
    Err(match error {
        DeviceError::Unsupported(_) => Miss::Unsupported(error.to_string()),
        DeviceError::Batch(_)
        | DeviceError::Memory { .. }
        | DeviceError::Failed { .. }
        | DeviceError::WrongOutput { .. } => Miss::Wrong(error.to_string()),
    })
}

/// What a session made of a batch.
struct Outcome {
    result: Result<(), DeviceError>,
    offsets: Vec<u64>,
    bytes: Vec<u8>,
    tags: Vec<u8>,
    accepted: Vec<bool>,
}

impl Outcome {
    fn of(session: &mut dyn Session, cases: &[&Case]) -> Self {
        let (algorithm, operation) = (cases[0].algorithm, cases[0].operation);
        let keys = Rows::of(cases, |case| &case.key);
        let nonces = Rows::of(cases, |case| &case.nonce);
        let aad = Rows::of(cases, |case| &case.aad);
        let input = cases.iter().flat_map(|case| case.input.iter().copied()).collect::<Vec<_>>();
        let offsets = offsets(0, cases.iter().map(|case| case.input.len()));
        let messages = Messages { source: Source::Apart(&input), offsets: &offsets };
        let mut batch = Batch::cipher(algorithm, operation, keys.column(), nonces.column(), messages);
        let (lengths, rows) = tag_rows(cases);
        if algorithm.is_aead() {
            batch.aad = aad.column();
            batch.tag_lengths = TagLengths::Each(&lengths);
        }
        if operation == Operation::Open {
            batch.tags = &rows;
        }
        // Not zero: a text that was not written must not pass for one that was zeroed.
        let mut bytes = vec![0xa5; input.len()];
        let mut tags = vec![0xa5; rows.len()];
        let mut accepted: Vec<bool> =
            cases.iter().map(|case| case.expectation == Expectation::Reject).collect();
        let mut output = Output { bytes: &mut bytes, tags: &mut [], accepted: &mut [] };
        match operation {
            Operation::Seal => output.tags = &mut tags,
            Operation::Open => output.accepted = &mut accepted,
            // A hash sits elsewhere.
            Operation::Encrypt | Operation::Decrypt | Operation::Hash => {}
        }
        let result = session.run(&batch, &mut output).map(|_| ());
        Self { result, offsets, bytes, tags, accepted }
    }
}

/// The tags' lengths, and the tags in rows of 16 bytes. A tag that is too long for a row is cut there and its
/// length kept: such a batch is refused.
fn tag_rows(cases: &[&Case]) -> (Vec<u8>, Vec<u8>) {
    let lengths = cases.iter().map(|case| u8::try_from(case.tag.len()).unwrap_or(u8::MAX)).collect();
    let mut rows = vec![0; BLOCK * cases.len()];
    for (row, case) in rows.chunks_exact_mut(BLOCK).zip(cases) {
        let length = case.tag.len().min(BLOCK);
        row[..length].copy_from_slice(&case.tag[..length]);
    }
    (lengths, rows)
}

fn judge(case: &Case, outcome: &Outcome, index: usize) -> Verdict {
    let refused = case.expectation == Expectation::Refused;
    match &outcome.result {
        Err(DeviceError::Batch(error)) if refused && !matches!(error, BatchError::OtherSession { .. }) => {
            return Ok(());
        }
        Err(error) => return failed(error),
        Ok(()) if refused => return wrong("must be refused, and was run"),
        Ok(()) => {}
    }
    let text = &outcome.bytes[item(&outcome.offsets, index)];
    let opens = case.operation == Operation::Open;
    match &case.expectation {
        Expectation::Reject if outcome.accepted[index] => wrong("the wrong tag was accepted"),
        Expectation::Reject => compare("text of a rejected message", &vec![0; text.len()], text),
        Expectation::BadPadding if is_padded(text) => wrong("the padding must be wrong, and is right"),
        Expectation::BadPadding => Ok(()),
        _ if opens && !outcome.accepted[index] => wrong("the right tag was rejected"),
        _ => {
            compare("text", &case.output, text)?;
            if case.operation == Operation::Seal {
                compare("tag", &case.tag, &outcome.tags[BLOCK * index..][..case.tag.len()])?;
            }
            Ok(())
        }
    }
}

/// Says where `found` departs from `expected`.
pub(super) fn compare(what: &str, expected: &[u8], found: &[u8]) -> Verdict {
    if expected == found {
        return Ok(());
    }
    let at = expected.iter().zip(found).position(|(a, b)| a != b).unwrap_or(expected.len().min(found.len()));
    let show = |bytes: &[u8]| hex::encode(&bytes[at.min(bytes.len())..bytes.len().min(at + BLOCK)]);
    wrong(format!("{what} differs from byte {at}: expected {}.., found {}..", show(expected), show(found)))
}
