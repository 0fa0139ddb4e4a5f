//! One session sits cases of a hash function.

use std::collections::BTreeMap;

use cipherlane_core::{Batch, DeviceError, Hash, Messages, Output, Session, Source};

use super::sitting::{Miss, Verdict, compare, failed};
use crate::rows::offsets;
use crate::vectors::case::OutputLengths;
use crate::vectors::{Case, Expectation};

/// Turns of the inner loop of a Monte Carlo test.
const INNER: usize = 1000;

/// Runs `cases` of `hash`, up to `together` of one digest length in one batch, and judges each.
pub(super) fn sit(session: &mut dyn Session, hash: Hash, cases: &[&Case], together: usize) -> Vec<Verdict> {
    let mut groups: BTreeMap<(bool, usize), Vec<usize>> = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        let turns = matches!(case.expectation, Expectation::DigestMonteCarlo { .. });
        // Turns are as long as they are; what they print is cut from it.
        groups.entry((turns, if turns { 0 } else { case.tag.len() })).or_default().push(index);
    }
    let mut verdicts: Vec<Verdict> = vec![Err(Miss::Wrong("was not run".to_owned())); cases.len()];
    for ((turns, _), group) in groups {
        for batch in group.chunks(together) {
            let chosen: Vec<&Case> = batch.iter().map(|&index| cases[index]).collect();
            let sit = if turns { sit_turns } else { sit_batch };
            for (&index, verdict) in batch.iter().zip(sit(session, hash, &chosen)) {
                verdicts[index] = verdict;
            }
        }
    }
    verdicts
}

/// Runs cases with digests of one length.
fn sit_batch(session: &mut dyn Session, hash: Hash, cases: &[&Case]) -> Vec<Verdict> {
    let messages: Vec<&[u8]> = cases.iter().map(|case| &case.input[..]).collect();
    match digests(session, hash, &messages, cases[0].tag.len()) {
        Ok(digests) => {
            cases.iter().zip(digests).map(|(case, digest)| compare("digest", &case.tag, &digest)).collect()
        }
        // One message that the device does not take must not hide the others.
        Err(DeviceError::Unsupported(_)) if cases.len() > 1 => {
            cases.iter().flat_map(|case| sit_batch(session, hash, &[*case])).collect()
        }
        Err(error) => vec![failed(&error); cases.len()],
    }
}

/// The digests of `messages`, each of `bytes` bytes.
fn digests(
    session: &mut dyn Session,
    hash: Hash,
    messages: &[impl AsRef<[u8]>],
    bytes: usize,
) -> Result<Vec<Vec<u8>>, DeviceError> {
    let offsets = offsets(0, messages.iter().map(|message| message.as_ref().len()));
    let input: Vec<u8> = messages.iter().flat_map(AsRef::as_ref).copied().collect();
    let batch = Batch::hash(hash, Messages { source: Source::Apart(&input), offsets: &offsets }, bytes);
    // Not zero: a digest that was not written must not pass for one that is.
    let mut made = vec![0xa5; bytes * messages.len()];
    session.run(&batch, &mut Output::digests(&mut made))?;
    Ok((0..messages.len()).map(|index| made[index * bytes..(index + 1) * bytes].to_vec()).collect())
}

/// Runs turns of a Monte Carlo test side by side, one message each: every turn's start is printed as the result of
/// the turn before.
fn sit_turns(session: &mut dyn Session, hash: Hash, cases: &[&Case]) -> Vec<Verdict> {
    let mut turns: Vec<Turn> = cases.iter().map(|case| Turn::new(hash, case)).collect();
    // SHAKE: a short output is the start of a longer one (FIPS 202 section A.2), so one length does for all.
    let longest = turns.iter().filter_map(|turn| turn.lengths).map(|lengths| lengths.most).max();
    let Some(bytes) = hash.digest_bytes().or(longest) else {
        let problem = "a Monte Carlo test of SHAKE says how long outputs are";
        return vec![Err(Miss::Wrong(problem.to_owned())); cases.len()];
    };
    for _ in 0..INNER {
        let messages: Vec<Vec<u8>> = turns.iter().map(Turn::message).collect();
        match digests(session, hash, &messages, bytes) {
            Ok(digests) => turns.iter_mut().zip(digests).for_each(|(turn, digest)| turn.take(digest)),
            Err(error) => return vec![failed(&error); cases.len()],
        }
    }
    let judge = |(case, turn): (&&Case, &Turn)| compare("digest after 1000 turns", &case.tag, &turn.last[0]);
    cases.iter().zip(&turns).map(judge).collect()
}

/// One turn of the outer loop, somewhere in its inner loop.
struct Turn {
    /// What the next message is made of, newest first: three digests for SHA-2, one for the others.
    last: Vec<Vec<u8>>,
    /// SHAKE: the length of the next output, and what it depends on.
    lengths: Option<OutputLengths>,
}

impl Turn {
    fn new(hash: Hash, case: &Case) -> Self {
        let chained = if hash.name().starts_with("sha-") { 3 } else { 1 };
        let lengths = match case.expectation {
            Expectation::DigestMonteCarlo { lengths } => lengths,
            _ => None,
        };
        Self { last: vec![case.input.clone(); chained], lengths }
    }

    /// SHA-2: the last three digests, oldest first (SHAVS section 6.4). SHA-3: the last one (SHA3VS section 6.2.3).
    /// SHAKE: its first 128 bits, or as many zeros as it lacks (SHA3VS section 6.3.3).
    fn message(&self) -> Vec<u8> {
        let mut message = self.last.iter().rev().flatten().copied().collect::<Vec<u8>>();
        if self.lengths.is_some() {
            message.resize(16, 0);
        }
        message
    }

    fn take(&mut self, mut digest: Vec<u8>) {
        if let Some(lengths) = &mut self.lengths {
            digest.truncate(lengths.first);
            lengths.first = lengths.after(&digest);
        }
        self.last.rotate_right(1);
        self.last[0] = digest;
    }
}
