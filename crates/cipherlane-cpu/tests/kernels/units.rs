//! XTS and CTR of hundreds of short messages under one key, which fill groups together, in place as apart: every byte is the
//! reference's, and so are those of a message whose blocks are spread over two groups.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Device, Messages, Mode, Operation, Output, Session, Source,
};
use cipherlane_cpu::Cpu;

use super::{by_reference, bytes, plan, tiers};

const COUNT: usize = 300;

/// Most are of one to nine blocks; some end within a block, and some are too long to be run with others.
fn offsets() -> Vec<u64> {
    let mut offsets = vec![0];
    for index in 0..COUNT {
        let bytes = match index % 10 {
            3 => BLOCK + index % 40,
            7 if index % 50 == 7 => 3000,
            _ => BLOCK * (1 + index * 5 % 9),
        };
        offsets.push(offsets[index] + bytes as u64);
    }
    offsets
}

/// What `session` makes of `batch`, whose text is `text`, apart and in place.
fn both(session: &mut dyn Session, batch: &Batch<'_>, text: &[u8]) -> [Vec<u8>; 2] {
    let (mut apart, mut in_place) = (vec![0xa5; text.len()], text.to_vec());
    session.run(batch, &mut Output::text(&mut apart)).unwrap();
    let messages = Messages { source: Source::InPlace, ..batch.messages };
    session.run(&Batch { messages, ..*batch }, &mut Output::text(&mut in_place)).unwrap();
    [apart, in_place]
}

#[test]
fn hundreds_of_short_messages_are_run_together() {
    let (cpu, offsets) = (Cpu::new(), offsets());
    let text = bytes(offsets[COUNT] as usize, 7);
    let nonces = bytes(COUNT * BLOCK, 13);
    let nonces = Column::Each { bytes: &nonces, width: BLOCK };
    let is_short = |algorithm: &Algorithm| matches!(algorithm.mode(), Some(Mode::Xts | Mode::Ctr));
    for algorithm in Algorithm::ciphers().filter(is_short) {
        let key = bytes(algorithm.key_bytes(), 11);
        for operation in [Operation::Encrypt, Operation::Decrypt] {
            let messages = Messages { source: Source::Apart(&text), offsets: &offsets };
            let batch = Batch::cipher(algorithm, operation, Column::Shared(&key), nonces, messages);
            let mut expected = vec![0; text.len()];
            by_reference(&batch, &mut Output::text(&mut expected));
            for tier in tiers() {
                let mut session = cpu.open(&plan(&cpu, tier, (algorithm, operation), (1, 1 << 20))).unwrap();
                // More than once: what a key is expanded to may change while it is used.
                for round in 0..3 {
                    let [apart, in_place] = both(&mut *session, &batch, &text);
                    let place = format!("{algorithm} {operation} on {tier}, round {round}");
                    assert!(apart == expected, "{place}, apart");
                    assert!(in_place == expected, "{place}, in place");
                }
            }
        }
    }
}
