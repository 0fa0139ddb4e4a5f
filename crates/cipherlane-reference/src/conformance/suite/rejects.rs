//! Wrong tags among right ones: every tag length, every part damaged, neighbours untouched.

use cipherlane_core::{BLOCK, Operation, limits};

use super::super::draft::{Damage, Draft, Layout, Tags};
use super::super::examiner::Examiner;
use super::super::failure::Failure;

pub(super) fn sit(examiner: &mut Examiner) -> Result<(), Failure> {
    if examiner.operation != Operation::Open {
        return Ok(());
    }
    for damage in Damage::ALL {
        for in_place in [false, true] {
            examiner.sit(
                &format!("{damage:?} damaged here and there, in place {in_place}"),
                |algorithm, random| {
                    let lengths = (0..24).map(|_| random.below(200)).collect();
                    let mut draft = Draft::new(algorithm, lengths, random).keys(Layout::Each, random);
                    draft = draft.aad(Layout::Ragged, random).mixed_tags(random).in_place(in_place);
                    draft.damaged = (0..24).filter(|_| random.below(2) == 0).map(|i| (i, damage)).collect();
                    draft
                },
            )?;
        }
        examiner.sit(&format!("one message, {damage:?} damaged"), |algorithm, random| {
            let length = 1 + random.below(2000);
            let mut draft = Draft::new(algorithm, vec![length], random).aad(Layout::Shared, random);
            draft.damaged = vec![(0, damage)];
            draft
        })?;
    }
    for tag in limits::GCM_TAG_BYTES {
        examiner.sit(&format!("every second tag of {tag} bytes is wrong"), |algorithm, random| {
            let mut draft = Draft::new(algorithm, vec![5 * BLOCK + 3; 33], random).aad(Layout::Each, random);
            draft.tag_lengths = Tags::Same(tag);
            draft.damaged = (0..33).step_by(2).map(|message| (message, Damage::Tag)).collect();
            draft
        })?;
    }
    examiner.sit("a shared key that is wrong for all", |algorithm, random| {
        let mut draft = Draft::new(algorithm, vec![64; 10], random);
        draft.damaged = vec![(0, Damage::Key)];
        draft
    })
}
