//! CBC encryption of many messages side by side: wherever their output lies, every byte is the reference's.

use cipherlane_core::{Algorithm, BLOCK, Batch, Column, Device, Messages, Mode, Operation, Output, Source};
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

#[test]
fn any_place_of_the_output_will_do() {
    let (cpu, offsets) = (Cpu::new(), offsets());
    let total = offsets[COUNT] as usize;
    let text = bytes(total, 7);
    for algorithm in Algorithm::ciphers().filter(|algorithm| algorithm.mode() == Some(Mode::Cbc)) {
        let width = algorithm.key_bytes();
        let (keys, nonces) = (bytes(COUNT * width, 11), bytes(COUNT * BLOCK, 13));
        for keys in [Column::Shared(&keys[..width]), Column::Each { bytes: &keys, width }] {
            let nonces = Column::Each { bytes: &nonces, width: BLOCK };
            let messages = Messages { source: Source::Apart(&text), offsets: &offsets };
            let batch = Batch::cipher(algorithm, Operation::Encrypt, keys, nonces, messages);
            let mut expected = vec![0; total];
            by_reference(&batch, &mut Output::text(&mut expected));
            for tier in tiers() {
                let mut session =
                    cpu.open(&plan(&cpu, tier, (algorithm, Operation::Encrypt), (1, 1 << 20))).unwrap();
                for shift in [0, 16, 32, 48, 7] {
                    for source in [Source::Apart(&text), Source::InPlace] {
                        let mut room = vec![0xa5; total + MARGIN];
                        let start = room.as_ptr().align_offset(64) + shift;
                        room[start..start + total].copy_from_slice(&text);
                        let batch = Batch { messages: Messages { source, offsets: &offsets }, ..batch };
                        session.run(&batch, &mut Output::text(&mut room[start..start + total])).unwrap();
                        let place = format!("{algorithm} on {tier}, output at {shift}, {source:?}");
                        assert!(room[start..start + total] == expected, "{place}");
                        let beside = [&room[..start], &room[start + total..]].concat();
                        assert!(beside == [0xa5; MARGIN], "{place}: bytes beside the output were touched");
                    }
                }
            }
        }
    }
}
