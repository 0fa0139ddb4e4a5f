//! All ways of laying out keys, nonces, AAD and texts.

use cipherlane_core::BLOCK;

use super::super::draft::{Draft, Layout, legal};
use super::super::examiner::Examiner;
use super::super::failure::Failure;

pub(super) fn sit(examiner: &mut Examiner) -> Result<(), Failure> {
    let layouts_of_aad = if examiner.algorithm.is_aead() { &Layout::ALL[..] } else { &Layout::ALL[..1] };
    for keys in Layout::ALL {
        for nonces in Layout::ALL {
            for &aad in layouts_of_aad {
                for in_place in [false, true] {
                    let case = format!("keys {keys:?}, nonces {nonces:?}, AAD {aad:?}, in place {in_place}");
                    examiner.sit(&case, |algorithm, random| {
                        let longest = random.pick(&[40, 200, 700]);
                        let lengths =
                            (0..9).filter_map(|_| legal(algorithm, BLOCK + random.below(longest))).collect();
                        let draft = Draft::new(algorithm, lengths, random).keys(keys, random);
                        let draft = draft.nonces(nonces, random).aad(aad, random).in_place(in_place);
                        if random.below(3) == 0 { draft.mixed_tags(random) } else { draft }
                    })?;
                }
            }
        }
    }
    Ok(())
}
