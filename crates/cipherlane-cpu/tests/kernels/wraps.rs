//! Messages of GCM so long that the last 16 bits of counters wrap: ciphers that make counters of their own stop there, and
//! what counters of AES share changes in more than a byte.

use cipherlane_core::{Algorithm, BLOCK, Batch, Column, Device, Messages, Operation, Output, Source};
use cipherlane_cpu::{Cpu, Tier};

use super::{bytes, plan, tiers};

/// More than 2^16 blocks, and a rest behind their groups.
const BYTES: usize = (BLOCK << 16) + 9 * 1024 + 5;

/// What a session on `tier` makes of `text`, and its tag, which is wanted right of what it opens.
fn made(tier: Tier, what: (Algorithm, Operation), text: &[u8], tag: [u8; BLOCK]) -> (Vec<u8>, [u8; BLOCK]) {
    let cpu = Cpu::new();
    let mut session = cpu.open(&plan(&cpu, tier, what, (1, 1 << 24))).unwrap();
    let (key, offsets) = ([7; BLOCK], [0, text.len() as u64]);
    let messages = Messages { source: Source::Apart(text), offsets: &offsets };
    let (keys, nonces) = (Column::Shared(&key), Column::Shared(&[9; 12]));
    let (mut output, mut tag, mut accepted) = (vec![0; text.len()], tag, [false]);
    if what.1 == Operation::Seal {
        let batch = Batch::seal(what.0, keys, nonces, Column::EMPTY, messages);
        session.run(&batch, &mut Output::sealed(&mut output, &mut tag)).unwrap();
    } else {
        let batch = Batch::open(what.0, keys, nonces, Column::EMPTY, messages, &tag);
        session.run(&batch, &mut Output::opened(&mut output, &mut accepted)).unwrap();
        assert_eq!(accepted, [true]);
    }
    (output, tag)
}

#[test]
fn counters_of_gcm_carry_beyond_16_bits() {
    let text = bytes(BYTES, 7);
    for name in ["aes-128-gcm", "camellia-128-gcm", "sc2000-128-gcm", "sm4-gcm"] {
        let algorithm: Algorithm = name.parse().unwrap();
        let sealed = made(Tier::Portable, (algorithm, Operation::Seal), &text, [0; BLOCK]);
        for tier in tiers() {
            let again = made(tier, (algorithm, Operation::Seal), &text, [0; BLOCK]);
            assert!(again == sealed, "{name} on {tier}");
            let (opened, _) = made(tier, (algorithm, Operation::Open), &sealed.0, sealed.1);
            assert!(opened == text, "{name} on {tier}");
        }
    }
}
