//! Counters that wrap inside a message, at every place that a wide kernel could miss.

use cipherlane_core::{Algorithm, BLOCK, Cipher, Mode};

use super::super::draft::{Draft, Layout};
use super::super::examiner::Examiner;
use super::super::failure::Failure;
use crate::cipher::keyed;
use crate::mode::gcm;
use crate::rows::Rows;

/// Blocks that are run before the counter wraps.
const BEFORE: [u32; 14] = [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 65, 90];
/// Bytes of a message that reaches the wrap from each of them.
const BYTES: usize = 101 * BLOCK + 5;

pub(super) fn sit(examiner: &mut Examiner) -> Result<(), Failure> {
    match examiner.algorithm {
        Algorithm::Cipher(_, Mode::Ctr) => sit_ctr(examiner),
        Algorithm::Cipher(cipher, Mode::Gcm) => sit_gcm(examiner, cipher),
        Algorithm::Cipher(_, Mode::Ecb | Mode::Cbc | Mode::Xts) | Algorithm::Hash(_) => Ok(()),
    }
}

/// The low `bits` bits of the counter wrap: a carry at 32, 64 and 96 bits, and the whole counter at 128.
fn sit_ctr(examiner: &mut Examiner) -> Result<(), Failure> {
    for bits in [8, 32, 64, 96, 128] {
        examiner.sit(&format!("the low {bits} bits of the counter wrap"), |algorithm, random| {
            let mut draft =
                Draft::new(algorithm, vec![BYTES; BEFORE.len()], random).keys(Layout::Each, random);
            let counters = BEFORE.map(|before| {
                let mut block = [0; BLOCK];
                random.fill(&mut block);
                let ones = u128::MAX >> (128 - bits);
                let counter = (u128::from_be_bytes(block) | ones) - u128::from(before - 1);
                counter.to_be_bytes()
            });
            draft.nonces = Rows::Each { bytes: counters.concat(), width: BLOCK };
            draft
        })?;
    }
    Ok(())
}

/// The low byte of the counter carries; and inc_32 wraps without a carry into the rest of the block (SP 800-38D section
/// 6.2).
fn sit_gcm(examiner: &mut Examiner, cipher: Cipher) -> Result<(), Failure> {
    for (bits, layout) in [8, 32].into_iter().flat_map(|bits| [(bits, Layout::Shared), (bits, Layout::Each)])
    {
        let case = format!("the low {bits} bits of the 32-bit counter wrap, keys {layout:?}");
        examiner.sit(&case, |algorithm, random| {
            let mut draft = Draft::new(algorithm, vec![BYTES; BEFORE.len()], random).keys(layout, random);
            let nonces: Vec<[u8; BLOCK]> = BEFORE
                .into_iter()
                .enumerate()
                .map(|(message, before)| {
                    let mut block = [0; BLOCK];
                    random.fill(&mut block);
                    // The text starts at inc_32(J_0), so J_0 itself is one further from the wrap.
                    let ones = u128::MAX >> (128 - bits);
                    let j0 = (u128::from_be_bytes(block) | ones) - u128::from(before);
                    nonce_for(cipher, draft.keys.column().row(message), j0)
                })
                .collect();
            draft.nonces = Rows::Each { bytes: nonces.concat(), width: BLOCK };
            draft
        })?;
    }
    Ok(())
}

/// The nonce of 16 bytes that leads to `j0` under `key`.
pub(super) fn nonce_for(cipher: Cipher, key: &[u8], j0: u128) -> [u8; BLOCK] {
    gcm::nonce_for(&*keyed(cipher, key), j0)
}
