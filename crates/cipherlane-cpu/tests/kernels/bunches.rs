//! GCM of hundreds of short messages under one key, more than any kernel lets wait: every tag, every byte and every verdict
//! is the reference's.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Device, Messages, Mode, Operation, Output, Session, Source,
};
use cipherlane_cpu::Cpu;

use super::{by_reference, bytes, plan, tiers};

const COUNT: usize = 700;
const AAD: usize = 17;

/// At first messages without text or of a byte or two, then of up to a hundred blocks, with some that are long.
fn offsets() -> Vec<u64> {
    let mut offsets = vec![0];
    for index in 0..COUNT {
        let bytes = match index {
            0..300 => index % 3,
            _ if index % 90 == 0 => 5000,
            _ => index * 37 % 1600,
        };
        offsets.push(offsets[index] + bytes as u64);
    }
    offsets
}

/// What `session` makes of `batch`, from nothing but 0xa5.
fn seal(session: &mut dyn Session, batch: &Batch<'_>, bytes: usize) -> (Vec<u8>, Vec<u8>) {
    let (mut text, mut tags) = (vec![0xa5; bytes], vec![0xa5; COUNT * BLOCK]);
    session.run(batch, &mut Output::sealed(&mut text, &mut tags)).unwrap();
    (text, tags)
}

#[test]
fn hundreds_of_short_messages_are_sealed_and_opened() {
    let (cpu, offsets) = (Cpu::new(), offsets());
    let total = offsets[COUNT] as usize;
    let (text, aad, nonces) = (bytes(total, 7), bytes(COUNT * AAD, 5), bytes(COUNT * 12, 13));
    let (aad, nonces) =
        (Column::Each { bytes: &aad, width: AAD }, Column::Each { bytes: &nonces, width: 12 });
    for algorithm in Algorithm::ciphers().filter(|algorithm| algorithm.mode() == Some(Mode::Gcm)) {
        let key = bytes(algorithm.key_bytes(), 11);
        let keys = Column::Shared(&key);
        let messages = Messages { source: Source::Apart(&text), offsets: &offsets };
        let batch = Batch::seal(algorithm, keys, nonces, aad, messages);
        let (mut expected, mut tags) = (vec![0; total], vec![0; COUNT * BLOCK]);
        by_reference(&batch, &mut Output::sealed(&mut expected, &mut tags));
        let open_one =
            |tier, operation| cpu.open(&plan(&cpu, tier, (algorithm, operation), (1, 1 << 20))).unwrap();
        for tier in tiers() {
            let sealed = seal(&mut *open_one(tier, Operation::Seal), &batch, total);
            assert!(sealed == (expected.clone(), tags.clone()), "{algorithm} on {tier} seals something else");
        }
        for index in (0..COUNT).step_by(7) {
            tags[index * BLOCK + index % BLOCK] ^= 1;
        }
        let messages = Messages { source: Source::Apart(&expected), offsets: &offsets };
        let batch = Batch::open(algorithm, keys, nonces, aad, messages, &tags);
        for tier in tiers() {
            let (mut opened, mut accepted) = (vec![0xa5; total], vec![false; COUNT]);
            let output = &mut Output::opened(&mut opened, &mut accepted);
            open_one(tier, Operation::Open).run(&batch, output).unwrap();
            for index in 0..COUNT {
                let place = offsets[index] as usize..offsets[index + 1] as usize;
                let is_right = index % 7 != 0;
                assert_eq!(accepted[index], is_right, "{algorithm} on {tier}, message {index}");
                let zeros = vec![0; place.len()];
                let plain = if is_right { &text[place.clone()] } else { &zeros };
                assert!(opened[place] == *plain, "{algorithm} on {tier}, text {index}");
            }
        }
    }
}
