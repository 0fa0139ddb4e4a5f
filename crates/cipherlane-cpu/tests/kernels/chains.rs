//! CBC encryption of many messages side by side: wherever their output lies, every byte is the reference's.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Device, Messages, Mode, Operation, Output, Source, Wish,
};
use cipherlane_cpu::Cpu;
use cipherlane_reference::Reference;

use super::{plan, tiers};

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
    let (cpu, reference, offsets) = (Cpu::new(), Reference::new(), offsets());
    let bytes = offsets[COUNT] as usize;
    let text: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 251) as u8).collect();
    for algorithm in Algorithm::ciphers().filter(|algorithm| algorithm.mode() == Some(Mode::Cbc)) {
        let width = algorithm.key_bytes();
        let keys: Vec<u8> = (0..COUNT * width).map(|i| (i * 11 + i / 256) as u8).collect();
        let nonces: Vec<u8> = (0..COUNT * BLOCK).map(|i| (i * 13 + i / 256) as u8).collect();
        for keys in [Column::Shared(&keys[..width]), Column::Each { bytes: &keys, width }] {
            let nonces = Column::Each { bytes: &nonces, width: BLOCK };
            let messages = Messages { source: Source::Apart(&text), offsets: &offsets };
            let batch = Batch::cipher(algorithm, Operation::Encrypt, keys, nonces, messages);
            let mut expected = vec![0; bytes];
            let shape = batch.check(&Output::text(&mut expected)).unwrap();
            let mut session = reference.open(&reference.plan(&shape, &Wish::default()).unwrap()).unwrap();
            session.run(&batch, &mut Output::text(&mut expected)).unwrap();
            for tier in tiers() {
                let mut session =
                    cpu.open(&plan(&cpu, tier, (algorithm, Operation::Encrypt), (1, 1 << 20))).unwrap();
                for shift in [0, 16, 32, 48, 7] {
                    let mut room = vec![0xa5; bytes + MARGIN];
                    let start = room.as_ptr().align_offset(64) + shift;
                    session.run(&batch, &mut Output::text(&mut room[start..start + bytes])).unwrap();
                    let place = format!("{algorithm} on {tier}, output at {shift}");
                    assert!(room[start..start + bytes] == expected, "{place}");
                    let beside = [&room[..start], &room[start + bytes..]].concat();
                    assert!(beside == [0xa5; MARGIN], "{place}: bytes beside the output were touched");
                }
            }
        }
    }
}
