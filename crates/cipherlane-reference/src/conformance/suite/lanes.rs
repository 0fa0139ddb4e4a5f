//! Numbers of blocks and of messages around the widths of kernels.

use cipherlane_core::BLOCK;

use super::super::draft::{Draft, Layout, legal, legal_lengths};
use super::super::examiner::Examiner;
use super::super::failure::Failure;

/// Around the powers of two that kernels have in flight, and a few that fall between.
const BLOCKS: [usize; 19] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 101];
/// Likewise for messages that are run side by side.
const MESSAGES: [usize; 16] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 101];

/// Every number of blocks, with the bytes around it.
fn edge_lengths(examiner: &Examiner) -> Vec<usize> {
    let around = |blocks: usize| {
        let bytes = blocks * BLOCK;
        [bytes.saturating_sub(1), bytes, bytes + 1, bytes + 13]
    };
    legal_lengths(examiner.algorithm, BLOCKS.into_iter().flat_map(around))
}

pub(super) fn sit(examiner: &mut Examiner) -> Result<(), Failure> {
    let lengths = edge_lengths(examiner);
    for &length in &lengths {
        examiner.sit(&format!("one message of {length} bytes"), |algorithm, random| {
            Draft::new(algorithm, vec![length], random)
                .aad(Layout::Each, random)
                .in_place(length.is_multiple_of(2))
        })?;
    }
    for layout in [Layout::Shared, Layout::Each] {
        examiner.sit(&format!("messages of all edge lengths, keys {layout:?}"), |algorithm, random| {
            Draft::new(algorithm, lengths.clone(), random).keys(layout, random).aad(Layout::Ragged, random)
        })?;
        for messages in MESSAGES {
            sit_messages(examiner, messages, layout)?;
        }
        sit_groups(examiner, layout)?;
    }
    Ok(())
}

fn sit_messages(examiner: &mut Examiner, messages: usize, layout: Layout) -> Result<(), Failure> {
    examiner.sit(&format!("{messages} equal messages, keys {layout:?}"), |algorithm, random| {
        let length = legal(algorithm, BLOCK + random.below(120)).unwrap_or(BLOCK);
        Draft::new(algorithm, vec![length; messages], random).keys(layout, random)
    })?;
    examiner.sit(&format!("{messages} ragged messages, keys {layout:?}"), |algorithm, random| {
        let lengths = (0..messages).filter_map(|_| legal(algorithm, BLOCK + random.below(260))).collect();
        let draft = Draft::new(algorithm, lengths, random).keys(layout, random);
        draft.nonces(Layout::Ragged, random).aad(Layout::Ragged, random).in_place(messages.is_multiple_of(2))
    })
}

/// Messages of several whole groups, enough of them for every lane: what ends one may be done while the next begins.
fn sit_groups(examiner: &mut Examiner, layout: Layout) -> Result<(), Failure> {
    for in_place in [false, true] {
        let case = format!("messages of whole groups, keys {layout:?}, in place {in_place}");
        examiner.sit(&case, |algorithm, random| {
            let mut lengths: Vec<usize> = (0..37).map(|i| 256 * (2 + i % 4)).collect();
            // Between them one that ends within a group, a short one, and none.
            lengths.splice(20..20, legal_lengths(algorithm, [1000, 17, 0]));
            let draft = Draft::new(algorithm, lengths, random).keys(layout, random);
            draft.aad(Layout::Ragged, random).in_place(in_place)
        })?;
    }
    Ok(())
}
