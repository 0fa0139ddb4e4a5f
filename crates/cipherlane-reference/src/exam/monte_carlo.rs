//! The Monte Carlo test of AESVS section 6.4.
//!
//! A turn of the outer loop starts from what the turn before it made, and the files print each start. So the turns
//! are run side by side, one message each, and each is asked whether it leads to the start of the next.

use cipherlane_core::{BLOCK, Batch, Column, DeviceError, Messages, Mode, Output, Session, Source};

use super::sitting::{Miss, Verdict, compare};
use crate::rows::{Rows, offsets};
use crate::vectors::{Case, Expectation, Start};

/// Turns of the inner loop.
const INNER: usize = 1000;

/// Runs the inner loops of `cases` (ECB or CBC, one block each) side by side.
pub(super) fn sit(session: &mut dyn Session, cases: &[&Case]) -> Result<Vec<Verdict>, DeviceError> {
    let mode = cases[0].algorithm.mode();
    let fits = |case: &&Case| {
        let nonce = if mode == Some(Mode::Cbc) { BLOCK } else { 0 };
        case.input.len() == BLOCK && case.nonce.len() == nonce
    };
    let all_fit = matches!(mode, Some(Mode::Ecb | Mode::Cbc)) && cases.iter().all(fits);
    if !all_fit && cases.len() > 1 {
        // One that is malformed must not hide the others.
        let alone: Result<Vec<_>, _> = cases.iter().map(|case| sit(session, &[*case])).collect();
        return Ok(alone?.concat());
    }
    if !all_fit {
        let problem = "a Monte Carlo test takes ECB or CBC and texts of one block";
        return Ok(vec![Err(Miss::Wrong(problem.to_owned())); cases.len()]);
    }
    let ivs: Vec<u8> = cases.iter().flat_map(|case| case.nonce.iter().copied()).collect();
    let mut state = State {
        keys: Rows::of(cases, |case| &case.key),
        offsets: offsets(0, vec![BLOCK; cases.len()]),
        input: cases.iter().flat_map(|case| case.input.iter().copied()).collect(),
        chain: ivs.clone(),
        // "PT[j+1] = CT[j-1]" with CT[-1] = IV.
        last_but_one: ivs.clone(),
        last: ivs,
    };
    for _ in 0..INNER {
        state.turn(session, cases[0])?;
    }
    let blocks =
        |bytes: &[u8], index: usize| bytes.get(index * BLOCK..(index + 1) * BLOCK).map(<[u8]>::to_vec);
    let judged = cases.iter().enumerate().map(|(index, case)| {
        let last = blocks(&state.last, index).unwrap_or_default();
        let last_but_one = blocks(&state.last_but_one, index).unwrap_or_default();
        judge(case, &last, &last_but_one)
    });
    Ok(judged.collect())
}

struct State {
    keys: Rows,
    offsets: Vec<u64>,
    /// The texts of this turn.
    input: Vec<u8>,
    /// CBC: the ciphertexts before them.
    chain: Vec<u8>,
    /// What the last turn made, and the one before it.
    last: Vec<u8>,
    last_but_one: Vec<u8>,
}

impl State {
    fn turn(&mut self, session: &mut dyn Session, like: &Case) -> Result<(), DeviceError> {
        let messages = Messages { source: Source::Apart(&self.input), offsets: &self.offsets };
        let nonces = if like.algorithm.mode() == Some(Mode::Cbc) {
            Column::Each { bytes: &self.chain, width: BLOCK }
        } else {
            Column::EMPTY
        };
        let batch = Batch::cipher(like.algorithm, like.operation, self.keys.column(), nonces, messages);
        let mut made = vec![0; self.input.len()];
        session.run(&batch, &mut Output::text(&mut made))?;
        self.last_but_one = std::mem::replace(&mut self.last, made);
        if like.algorithm.mode() == Some(Mode::Ecb) {
            self.input.clone_from(&self.last);
            return Ok(());
        }
        let input = std::mem::replace(&mut self.input, self.last_but_one.clone());
        self.chain = if like.operation.is_forward() { self.last.clone() } else { input };
        Ok(())
    }
}

fn judge(case: &Case, last: &[u8], last_but_one: &[u8]) -> Verdict {
    compare("text after 1000 turns", &case.output, last)?;
    let Expectation::MonteCarlo { next: Some(next) } = &case.expectation else { return Ok(()) };
    let start = next_start(case, last, last_but_one);
    compare("key of the next turn", &next.key, &start.key)?;
    compare("IV of the next turn", &next.nonce, &start.nonce)?;
    compare("text of the next turn", &next.input, &start.input)
}

/// Key[i+1] = Key[i] xor the last bits that were made, as many as the key has; IV[i+1] and PT[0] likewise.
fn next_start(case: &Case, last: &[u8], last_but_one: &[u8]) -> Start {
    let made = [last_but_one, last].concat();
    let tail = &made[made.len() - case.key.len()..];
    let key = case.key.iter().zip(tail).map(|(key, made)| key ^ made).collect();
    if case.algorithm.mode() == Some(Mode::Ecb) {
        Start { key, nonce: Vec::new(), input: last.to_vec() }
    } else {
        Start { key, nonce: last.to_vec(), input: last_but_one.to_vec() }
    }
}
