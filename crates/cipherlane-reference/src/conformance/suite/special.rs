//! Kernels that serve records or long messages only: a batch that calls for each, short messages among them.
//!
//! The reference runs it once: a long message takes it a second or so.

use cipherlane_core::{Algorithm, BLOCK, Mode, Operation, Session, Shape};

use super::super::candidate::Size;
use super::super::draft::{Damage, Draft, Layout, legal};
use super::super::examiner::Examiner;
use super::super::failure::Failure;
use super::super::trial::Trial;
use super::wraps::nonce_for;
use crate::random::Random;
use crate::rows::Rows;

pub(super) fn sit(examiner: &mut Examiner) -> Result<(), Failure> {
    for shape in examiner.special_shapes() {
        sit_shape(examiner, &shape)?;
    }
    Ok(())
}

fn sit_shape(examiner: &mut Examiner, shape: &Shape) -> Result<(), Failure> {
    let seed = examiner.next_seed();
    let mut random = Random::new(seed);
    let draft = draft(shape, &mut random);
    let last = draft.lengths.len() - 1;
    let mut trial = match Trial::new(draft, &mut random) {
        Ok(trial) => trial,
        Err(error) => {
            let case = "a batch that the reference runs";
            return examiner.each_special(shape, case, seed, Size::Whole, |_| Err(error.to_string()));
        }
    };
    let mut put = |trial: &Trial, size, what: &str| {
        let keys = if shape.shared_key { "one key" } else { "a key each" };
        let case = format!("messages of {} bytes among short ones, {keys}, {what}", shape.longest);
        let run = |session: &mut dyn Session| trial.run(session, shape.operation, &mut random.clone());
        examiner.each_special(shape, &case, seed, size, run)
    };
    put(&trial, Size::Whole, "apart")?;
    trial.put_in_place(true);
    put(&trial, Size::Split, "in place")?;
    if shape.operation == Operation::Open {
        trial.damage(0, Damage::Tag, &mut Random::new(seed));
        trial.damage(last, Damage::Text, &mut Random::new(seed));
        put(&trial, Size::Whole, "the first and the last damaged")?;
        put(&trial, Size::Split, "the first and the last damaged, in chunks")?;
    }
    Ok(())
}

/// Messages whose last one has a counter that wraps within it; in GCM, where its nonce is longer for that, the others have
/// nonces of 12 bytes.
fn draft(shape: &Shape, random: &mut Random) -> Draft {
    let algorithm = shape.algorithm;
    let keys = if shape.shared_key { Layout::Shared } else { Layout::Each };
    let lengths = lengths(shape);
    let longest = lengths[lengths.len() - 1];
    let mut draft = Draft::new(algorithm, lengths, random).keys(keys, random);
    draft = draft.aad(Layout::Ragged, random).mixed_tags(random);
    wrap_last(&mut draft, u64::try_from(longest / BLOCK / 2).unwrap_or_default());
    draft
}

/// Whole blocks and a part, aligned and not, and no text at all.
fn lengths(shape: &Shape) -> Vec<usize> {
    let long = usize::try_from(shape.longest).unwrap_or(usize::MAX);
    let records = if shape.messages > 1 { vec![long, 0, long / 2, long - 3, 3 * long / 2] } else { vec![] };
    // No data unit of XTS is longer.
    let last = if shape.algorithm.mode() == Some(Mode::Xts) { long } else { long + BLOCK + 5 };
    let all = [40, 0].into_iter().chain(records).chain([16, 300, last]);
    all.filter_map(|length| legal(shape.algorithm, length)).collect()
}

/// Has the counter of the last message wrap after `blocks` blocks: the 32 bits of GCM (SP 800-38D section 6.2), or the low
/// 64 bits of CTR's.
fn wrap_last(draft: &mut Draft, blocks: u64) {
    let Algorithm::Cipher(cipher, mode) = draft.algorithm else { return };
    let counter = u128::from(u64::MAX - blocks);
    let last = draft.lengths.len() - 1;
    let nonce = match mode {
        Mode::Gcm => nonce_for(cipher, draft.keys.column().row(last), counter),
        Mode::Ctr => counter.to_be_bytes(),
        _ => return,
    };
    let column = draft.nonces.column();
    let rows: Vec<Vec<u8>> =
        (0..last).map(|message| column.row(message).to_vec()).chain([nonce.to_vec()]).collect();
    draft.nonces = Rows::of(&rows, |row| row);
}
