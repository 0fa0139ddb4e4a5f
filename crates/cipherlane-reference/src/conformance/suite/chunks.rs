//! Messages that are split over threads, and batches that are spread over them.

use cipherlane_core::{Algorithm, BLOCK, Mode, Operation};

use super::super::draft::{Damage, Draft, Layout, legal, legal_lengths};
use super::super::examiner::Examiner;
use super::super::failure::Failure;
use super::wraps::nonce_for;
use crate::rows::Rows;

pub(super) fn sit(examiner: &mut Examiner) -> Result<(), Failure> {
    for chunk in examiner.chunks() {
        for length in long_lengths(examiner, chunk) {
            for in_place in [false, true] {
                let case = format!("one message of {length} bytes in chunks of {chunk}, in place {in_place}");
                examiner.sit_split(&case, |algorithm, random| {
                    Draft::new(algorithm, vec![length], random).aad(Layout::Shared, random).in_place(in_place)
                })?;
            }
        }
        sit_mixed(examiner, chunk)?;
        sit_wraps(examiner, chunk)?;
        if examiner.operation == Operation::Open {
            sit_rejects(examiner, chunk)?;
        }
    }
    sit_many(examiner)
}

/// Lengths around the ends of chunks, and two and a half chunks.
fn long_lengths(examiner: &Examiner, chunk: usize) -> Vec<usize> {
    let around = |bytes: usize| [bytes.saturating_sub(1), bytes, bytes + 1, bytes + BLOCK];
    let mut lengths: Vec<usize> = [chunk, 2 * chunk].into_iter().flat_map(around).collect();
    lengths.extend([chunk * 5 / 2 + 7, 4 * chunk - BLOCK]);
    legal_lengths(examiner.algorithm, lengths)
}

/// Long messages among short ones, with a key each.
fn sit_mixed(examiner: &mut Examiner, chunk: usize) -> Result<(), Failure> {
    for in_place in [false, true] {
        examiner.sit_split(
            &format!("long and short messages, in place {in_place}"),
            |algorithm, random| {
                let long = chunk * 5 / 2 + 7;
                let lengths = [16, long, 64, 17, 16, long + 31, 200];
                let draft = Draft::new(algorithm, legal_lengths(algorithm, lengths), random)
                    .keys(Layout::Each, random);
                draft.aad(Layout::Ragged, random).in_place(in_place)
            },
        )?;
    }
    Ok(())
}

/// The counter wraps in a chunk that is not the first.
fn sit_wraps(examiner: &mut Examiner, chunk: usize) -> Result<(), Failure> {
    let Algorithm::Cipher(cipher, mode @ (Mode::Ctr | Mode::Gcm)) = examiner.algorithm else {
        return Ok(());
    };
    let blocks = u32::try_from(chunk * 3 / 2 / BLOCK).unwrap_or(1);
    examiner.sit_split("the counter wraps in the second chunk", |algorithm, random| {
        let mut draft = Draft::new(algorithm, vec![chunk * 5 / 2 + 7], random);
        let counter = u128::from(u64::MAX - u64::from(blocks));
        let nonce = if mode == Mode::Gcm {
            nonce_for(cipher, draft.keys.column().row(0), counter)
        } else {
            counter.to_be_bytes()
        };
        draft.nonces = Rows::Shared(nonce.to_vec());
        draft
    })
}

/// A long message is rejected as a whole, whichever chunk was damaged, and its neighbours are not.
fn sit_rejects(examiner: &mut Examiner, chunk: usize) -> Result<(), Failure> {
    for damage in Damage::ALL {
        for in_place in [false, true] {
            let case = format!("long messages with {damage:?} damaged, in place {in_place}");
            examiner.sit_split(&case, |algorithm, random| {
                let long = chunk * 5 / 2 + 7;
                let draft = Draft::new(algorithm, vec![30, long, long, 40, long], random);
                let mut draft = draft.keys(Layout::Each, random).aad(Layout::Each, random).in_place(in_place);
                draft.damaged = vec![(1, damage), (4, damage)];
                draft
            })?;
        }
    }
    Ok(())
}

/// More short messages than threads take at once.
fn sit_many(examiner: &mut Examiner) -> Result<(), Failure> {
    let opens = examiner.operation == Operation::Open;
    for keys in [Layout::Shared, Layout::Each] {
        examiner.sit_split(&format!("300 messages over threads, keys {keys:?}"), |algorithm, random| {
            let lengths = (0..300).filter_map(|_| legal(algorithm, BLOCK + random.below(150))).collect();
            let mut draft = Draft::new(algorithm, lengths, random).keys(keys, random).mixed_tags(random);
            if opens {
                draft.damaged = (0..300).step_by(7).map(|message| (message, Damage::Tag)).collect();
            }
            draft
        })?;
    }
    Ok(())
}
