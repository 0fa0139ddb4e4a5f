//! XTS, CTR and CBC of hundreds of short messages under one key, which run with their neighbours, in place as apart: every
//! byte is the reference's, and so are those of a message whose blocks are spread over two groups.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Column, Device, Messages, Mode, Operation, Output, Session, Source,
};
use cipherlane_cpu::Cpu;

use super::{by_reference, bytes, plan, tiers};

const COUNT: usize = 700;

/// The first 300 are of one to nine blocks, but for some that are longer and some without a byte, where `mode` takes such; then
/// there are more of one block than run as one. Some end within a block, unless all are to be `whole`.
fn offsets(mode: Mode, whole: bool) -> Vec<u64> {
    let mut offsets = vec![0];
    for index in 0..COUNT {
        let bytes = match index % 10 {
            _ if index >= 300 => BLOCK,
            3 if !whole => BLOCK + index % 40,
            4 if mode != Mode::Xts => 0,
            7 if index % 50 == 7 => 3040,
            // A group of a cipher that runs so, at 512 bits.
            7 if index % 50 == 17 => 64 * BLOCK,
            _ => BLOCK * (1 + index * 5 % 9),
        };
        offsets.push(offsets[index] + bytes as u64);
    }
    offsets
}

/// A block for each message: some, as counters, have last 32 bits that are zero again after three blocks.
fn nonces() -> Vec<u8> {
    let mut nonces = bytes(COUNT * BLOCK, 13);
    for nonce in nonces.chunks_mut(BLOCK).skip(5).step_by(20) {
        nonce[BLOCK - 4..].copy_from_slice(&(u32::MAX - 2).to_be_bytes());
    }
    nonces
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
    let cpu = Cpu::new();
    for algorithm in Algorithm::ciphers() {
        match algorithm.mode() {
            Some(mode @ Mode::Cbc) => examine(&cpu, algorithm, &offsets(mode, true)),
            Some(mode @ (Mode::Ctr | Mode::Xts)) => {
                examine(&cpu, algorithm, &offsets(mode, true));
                examine(&cpu, algorithm, &offsets(mode, false));
            }
            _ => {}
        }
    }
}

/// Compares both operations on every tier with the reference.
fn examine(cpu: &Cpu, algorithm: Algorithm, offsets: &[u64]) {
    let (text, nonces) = (bytes(offsets[COUNT] as usize, 7), nonces());
    let nonces = Column::Each { bytes: &nonces, width: BLOCK };
    let key = bytes(algorithm.key_bytes(), 11);
    for operation in [Operation::Encrypt, Operation::Decrypt] {
        let messages = Messages { source: Source::Apart(&text), offsets };
        let batch = Batch::cipher(algorithm, operation, Column::Shared(&key), nonces, messages);
        let mut expected = vec![0; text.len()];
        by_reference(&batch, &mut Output::text(&mut expected));
        for tier in tiers() {
            let mut session = cpu.open(&plan(cpu, tier, (algorithm, operation), (1, 1 << 20))).unwrap();
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
