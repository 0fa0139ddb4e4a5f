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

/// One thread, and a chunk that no batch fills but those of most messages.
const WHOLE: (usize, usize) = (1, 1 << 20);

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
            examine(algorithm, (keys, nonces), &offsets, (&[0, 16, 32, 48, 7], WHOLE));
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
                examine(algorithm, (Column::Shared(&key), nonces), &offsets, (&[0, 16], WHOLE));
            }
        }
    }
}

/// `count` messages of up to `most` blocks.
fn unlike(count: usize, most: usize) -> Vec<(usize, usize)> {
    (0..count).map(|index| (1, 1 + (index * 7919 + index * index * 31) % most)).collect()
}

/// Messages of different lengths, where one begins in the lane of another that ends: with all stages full at last, or with lanes
/// that nobody takes over, one of which may go on for long.
#[test]
fn messages_of_any_length_follow_one_another() {
    let batches = [
        unlike(32, 200),
        unlike(64, 200),
        unlike(100, 200),
        unlike(300, 100),
        unlike(1000, 70),
        unlike(40, 13),
        unlike(33, 8),
        [unlike(70, 30), vec![(1, 1500), (3, 0)]].concat(),
        [unlike(64, 130), vec![(20, 400)]].concat(),
        [unlike(512, 90), vec![(70, 63), (40, 0), (100, 2)]].concat(),
        // Of one length, which is no whole number of stages.
        vec![(64, 63)],
        vec![(130, 47)],
        vec![(250, 39)],
        vec![(64, 127)],
    ];
    for runs in batches {
        let offsets = alike(&runs);
        let nonces = bytes((offsets.len() - 1) * BLOCK, 13);
        let each = Column::Each { bytes: &nonces, width: BLOCK };
        for algorithm in Algorithm::ciphers().filter(|algorithm| algorithm.mode() == Some(Mode::Cbc)) {
            if !algorithm.cipher().is_some_and(|cipher| Cipher::AES.contains(&cipher)) {
                continue;
            }
            let key = bytes(algorithm.key_bytes(), 11);
            for nonces in [each, Column::Shared(&nonces[..BLOCK])] {
                for split in [WHOLE, (2, 1 << 16)] {
                    examine(algorithm, (Column::Shared(&key), nonces), &offsets, (&[0, 16], split));
                }
            }
        }
    }
}

/// Compares encryption on every tier, with the output so many bytes behind where a cache line begins, on so many threads in chunks
/// of so many bytes, with the reference.
fn examine(
    algorithm: Algorithm,
    (keys, nonces): (Column<'_>, Column<'_>),
    offsets: &[u64],
    (shifts, split): (&[usize], (usize, usize)),
) {
    let cpu = Cpu::new();
    let total = offsets[offsets.len() - 1] as usize;
    let text = bytes(total, 7);
    let messages = Messages { source: Source::Apart(&text), offsets };
    let batch = Batch::cipher(algorithm, Operation::Encrypt, keys, nonces, messages);
    let mut expected = vec![0; total];
    by_reference(&batch, &mut Output::text(&mut expected));
    for tier in tiers() {
        let mut session = cpu.open(&plan(&cpu, tier, (algorithm, Operation::Encrypt), split)).unwrap();
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
