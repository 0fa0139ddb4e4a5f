//! CBC encryption of many messages side by side: wherever their output lies, every byte is the reference's.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Cipher, Column, Device, Messages, Mode, Operation, Output, Ragged, Source,
};
use cipherlane_cpu::Cpu;

use super::{by_reference, bytes, plan, tiers};

/// More than any tier runs side by side.
const COUNT: usize = 70;
/// Room for every alignment.
const MARGIN: usize = 128;

/// Messages long enough for stages and for aligning them first; every eighth has one block more. The first are longest, by
/// which fewer and fewer run side by side at the end, with stages before them each time.
fn offsets() -> Vec<u64> {
    let mut offsets = vec![0];
    for index in 0..COUNT {
        let blocks = match index {
            0..3 => 168,
            3..6 => 143,
            6..13 => 118,
            13..27 => 92,
            _ => 64 + usize::from(index % 8 == 0),
        };
        offsets.push(offsets[index] + (blocks * BLOCK) as u64);
    }
    offsets
}

/// `count` messages of `blocks` blocks, and so on.
fn alike(runs: &[(usize, usize)]) -> Vec<u64> {
    let mut offsets = vec![0];
    for &(count, blocks) in runs {
        for _ in 0..count {
            offsets.push(offsets[offsets.len() - 1] + (blocks * BLOCK) as u64);
        }
    }
    offsets
}

#[test]
fn any_place_of_the_output_will_do() {
    let offsets = offsets();
    for algorithm in Algorithm::ciphers().filter(|algorithm| algorithm.mode() == Some(Mode::Cbc)) {
        let width = algorithm.key_bytes();
        let (keys, nonces) = (bytes(COUNT * width, 11), bytes(COUNT * BLOCK, 13));
        let nonces = Column::Each { bytes: &nonces, width: BLOCK };
        for keys in [Column::Shared(&keys[..width]), Column::Each { bytes: &keys, width }] {
            examine(algorithm, (keys, nonces), &offsets, &[0, 16, 32, 48, 7]);
        }
    }
}

/// As many as fill registers, twice and more often: one set begins where the one before ends.
#[test]
fn messages_of_one_length_follow_one_another() {
    // Of one stage, of several, of wider ones, of none; more than are gathered at a time, and than are looked at; lengths that
    // change between sets, and within one.
    let batches = [
        vec![(64, 8)],
        vec![(63, 8)],
        vec![(9 * 32 + 5, 8)],
        vec![(100, 24)],
        vec![(64, 64), (9, 3)],
        vec![(64, 128)],
        vec![(70, 136)],
        vec![(64, 12)],
        vec![(512, 8), (512, 16), (70, 8)],
        vec![(480, 8), (32, 16), (64, 16)],
        vec![(1030, 8)],
    ];
    for runs in batches {
        let offsets = alike(&runs);
        let nonces = bytes((offsets.len() - 1) * BLOCK, 13);
        let each = Column::Each { bytes: &nonces, width: BLOCK };
        let places: Vec<u64> = (0..offsets.len()).map(|index| (index * BLOCK) as u64).collect();
        let ragged = Column::Ragged(Ragged { bytes: &nonces, offsets: &places });
        for algorithm in Algorithm::ciphers().filter(|algorithm| algorithm.mode() == Some(Mode::Cbc)) {
            if !algorithm.cipher().is_some_and(|cipher| Cipher::AES.contains(&cipher)) {
                continue;
            }
            let key = bytes(algorithm.key_bytes(), 11);
            for nonces in [each, ragged, Column::Shared(&nonces[..BLOCK])] {
                examine(algorithm, (Column::Shared(&key), nonces), &offsets, &[0, 16]);
            }
        }
    }
}

/// Compares encryption on every tier, with the output so many bytes behind where a cache line begins, with the reference.
fn examine(
    algorithm: Algorithm,
    (keys, nonces): (Column<'_>, Column<'_>),
    offsets: &[u64],
    shifts: &[usize],
) {
    let cpu = Cpu::new();
    let total = offsets[offsets.len() - 1] as usize;
    let text = bytes(total, 7);
    let messages = Messages { source: Source::Apart(&text), offsets };
    let batch = Batch::cipher(algorithm, Operation::Encrypt, keys, nonces, messages);
    let mut expected = vec![0; total];
    by_reference(&batch, &mut Output::text(&mut expected));
    for tier in tiers() {
        let mut session = cpu.open(&plan(&cpu, tier, (algorithm, Operation::Encrypt), (1, 1 << 20))).unwrap();
        for &shift in shifts {
            for source in [Source::Apart(&text), Source::InPlace] {
                let mut room = vec![0xa5; total + MARGIN];
                let start = room.as_ptr().align_offset(64) + shift;
                room[start..start + total].copy_from_slice(&text);
                let batch = Batch { messages: Messages { source, offsets }, ..batch };
                session.run(&batch, &mut Output::text(&mut room[start..start + total])).unwrap();
                let place = format!("{algorithm} on {tier}, output at {shift}, {} messages", batch.len());
                assert!(room[start..start + total] == expected, "{place}");
                let beside = [&room[..start], &room[start + total..]].concat();
                assert!(beside == [0xa5; MARGIN], "{place}: bytes beside the output were touched");
            }
        }
    }
}
