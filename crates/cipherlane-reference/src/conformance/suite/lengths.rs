//! Every short length: of texts, of AAD, of nonces and of tags.

use cipherlane_core::{BLOCK, Mode, limits};

use super::super::draft::{Draft, Layout, Tags, legal_lengths};
use super::super::examiner::Examiner;
use super::super::failure::Failure;
use crate::rows::Rows;

pub(super) fn sit(examiner: &mut Examiner) -> Result<(), Failure> {
    let texts = legal_lengths(examiner.algorithm, (0..=80).chain(4096 - 17..=4096 + 17));
    for in_place in [false, true] {
        examiner.sit(&format!("texts of every length, in place {in_place}"), |algorithm, random| {
            Draft::new(algorithm, texts.clone(), random).keys(Layout::Each, random).in_place(in_place)
        })?;
    }
    if examiner.algorithm.mode() == Some(Mode::Xts) {
        for length in 16..=80 {
            examiner.sit(&format!("one data unit of {length} bytes"), |algorithm, random| {
                Draft::new(algorithm, vec![length], random).in_place(length.is_multiple_of(2))
            })?;
        }
    }
    if examiner.algorithm.is_aead() { sit_aead(examiner) } else { Ok(()) }
}

fn sit_aead(examiner: &mut Examiner) -> Result<(), Failure> {
    let nonces = || (1..=40).chain([60, 64, 127, 128, 129, 300]);
    examiner.sit("nonces of every length", |algorithm, random| {
        let mut draft = Draft::new(algorithm, vec![37; nonces().count()], random);
        draft.nonces = Rows::ragged(nonces(), random);
        draft
    })?;
    let aad = || (0..=65).chain([127, 128, 129, 255, 256, 257, 1000, 2049]);
    examiner.sit("AAD of every length", |algorithm, random| {
        let lengths = aad().map(|_| random.below(70)).collect();
        let mut draft = Draft::new(algorithm, lengths, random);
        draft.aad = Rows::ragged(aad(), random);
        draft
    })?;
    examiner.sit("AAD and no text", |algorithm, random| {
        let mut draft = Draft::new(algorithm, vec![0; aad().count()], random).keys(Layout::Each, random);
        draft.aad = Rows::ragged(aad(), random);
        draft
    })?;
    for tag in limits::GCM_TAG_BYTES {
        examiner.sit(&format!("tags of {tag} bytes"), |algorithm, random| {
            let mut draft =
                Draft::new(algorithm, vec![0, BLOCK, 45, 300, 7], random).aad(Layout::Each, random);
            draft.tag_lengths = Tags::Same(tag);
            draft
        })?;
    }
    examiner.sit("tags of mixed lengths", |algorithm, random| {
        let lengths = (0..40).map(|_| random.below(90)).collect();
        Draft::new(algorithm, lengths, random).keys(Layout::Each, random).mixed_tags(random)
    })
}
