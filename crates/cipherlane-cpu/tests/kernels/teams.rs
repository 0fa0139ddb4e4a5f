//! Messages with a key each in numbers that make teams of some and leave others alone: every byte, tag and verdict is the
//! reference's.

use cipherlane_core::{
    Algorithm, BLOCK, Batch, Cipher, Column, Device, Messages, Mode, Operation, Output, Ragged, Source,
};
use cipherlane_cpu::Cpu;

use super::{by_reference, bytes, plan, tiers};

/// Alone, few, less than a team, and more than two teams of any tier, which do not fill a third; more than are sorted at a
/// time, for one cipher.
fn counts(algorithm: Algorithm) -> &'static [usize] {
    if algorithm.cipher() == Some(Cipher::Sm4) { &[1, 5, 12, 150, 700] } else { &[1, 5, 12, 150] }
}

/// Lengths that differ: none, parts of a block, some blocks, and more than a team takes.
fn lengths(mode: Mode, count: usize) -> Vec<usize> {
    let of = |index: usize| match index % 16 {
        0 => 0,
        1 => 3000 + index,
        2..8 => 16 * (index % 5) + 16,
        _ => index * 37 % 800,
    };
    let fit = |bytes: usize| match mode {
        Mode::Ecb | Mode::Cbc => bytes / BLOCK * BLOCK,
        Mode::Xts => bytes.max(BLOCK),
        Mode::Ctr | Mode::Gcm => bytes,
    };
    (0..count).map(|index| fit(of(index))).collect()
}

fn offsets(lengths: impl IntoIterator<Item = usize>) -> Vec<u64> {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length as u64);
    }
    offsets
}

/// Batches of `count` messages of `algorithm`, which has no tags.
fn without_tags(cpu: &Cpu, algorithm: Algorithm, operation: Operation, count: usize) {
    let mode = algorithm.mode().unwrap();
    let offsets = offsets(lengths(mode, count));
    let total = offsets[count] as usize;
    let text = bytes(total, 7);
    let (keys, mut nonces) = (bytes(count * algorithm.key_bytes(), 11), bytes(count * BLOCK, 13));
    // Counters that carry soon, and into the highest byte.
    for (index, nonce) in nonces.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate().step_by(9) {
        nonce[BLOCK - index % 17..].fill(0xff);
        nonce[BLOCK - 1] = 0xf0 + (index % 16) as u8;
    }
    let nonces = match mode {
        Mode::Ecb => Column::Shared(&[]),
        _ => Column::Each { bytes: &nonces, width: BLOCK },
    };
    let keys = Column::Each { bytes: &keys, width: algorithm.key_bytes() };
    let batch =
        |source| Batch::cipher(algorithm, operation, keys, nonces, Messages { source, offsets: &offsets });
    let mut expected = vec![0; total];
    by_reference(&batch(Source::Apart(&text)), &mut Output::text(&mut expected));
    for tier in tiers() {
        let mut session = cpu.open(&plan(cpu, tier, (algorithm, operation), (1, 1 << 20))).unwrap();
        let (mut apart, mut in_place) = (vec![0xa5; total], text.clone());
        session.run(&batch(Source::Apart(&text)), &mut Output::text(&mut apart)).unwrap();
        session.run(&batch(Source::InPlace), &mut Output::text(&mut in_place)).unwrap();
        assert!(apart == expected, "{algorithm} {operation} on {tier}, {count} apart");
        assert!(in_place == expected, "{algorithm} {operation} on {tier}, {count} in place");
    }
}

#[test]
fn messages_with_a_key_each_are_those_of_the_reference() {
    let cpu = Cpu::new();
    for algorithm in Algorithm::ciphers().filter(|algorithm| algorithm.mode() != Some(Mode::Gcm)) {
        for &operation in algorithm.operations() {
            for &count in counts(algorithm) {
                without_tags(&cpu, algorithm, operation, count);
            }
        }
    }
}

/// Sealed by every tier as by the reference, and opened where the tag is right. AAD and nonces differ in length.
fn with_tags(cpu: &Cpu, algorithm: Algorithm, count: usize) {
    let offsets_of_aad = offsets((0..count).map(|index| index * 5 % 43));
    let offsets_of_nonces =
        offsets((0..count).map(|index| if index % 11 == 10 { 1 + index % 40 } else { 12 }));
    let offsets = offsets(lengths(Mode::Gcm, count));
    let total = offsets[count] as usize;
    let (text, keys) = (bytes(total, 7), bytes(count * algorithm.key_bytes(), 11));
    let aad = bytes(offsets_of_aad[count] as usize, 5);
    let nonces = bytes(offsets_of_nonces[count] as usize, 13);
    let aad = Column::Ragged(Ragged { bytes: &aad, offsets: &offsets_of_aad });
    let nonces = Column::Ragged(Ragged { bytes: &nonces, offsets: &offsets_of_nonces });
    let keys = Column::Each { bytes: &keys, width: algorithm.key_bytes() };
    let messages = |source| Messages { source, offsets: &offsets };
    let batch = Batch::seal(algorithm, keys, nonces, aad, messages(Source::Apart(&text)));
    let (mut expected, mut tags) = (vec![0; total], vec![0; count * BLOCK]);
    by_reference(&batch, &mut Output::sealed(&mut expected, &mut tags));
    let mut wrong = tags.clone();
    for index in (0..count).step_by(7) {
        wrong[index * BLOCK + index % BLOCK] ^= 1;
    }
    for tier in tiers() {
        let open = |operation| cpu.open(&plan(cpu, tier, (algorithm, operation), (1, 1 << 20))).unwrap();
        let (mut sealed, mut made) = (vec![0xa5; total], vec![0xa5; count * BLOCK]);
        open(Operation::Seal).run(&batch, &mut Output::sealed(&mut sealed, &mut made)).unwrap();
        assert!(sealed == expected && made == tags, "{algorithm} on {tier} seals {count} otherwise");

        let batch = Batch::open(algorithm, keys, nonces, aad, messages(Source::InPlace), &wrong);
        let mut accepted = vec![false; count];
        open(Operation::Open).run(&batch, &mut Output::opened(&mut sealed, &mut accepted)).unwrap();
        for index in 0..count {
            let place = offsets[index] as usize..offsets[index + 1] as usize;
            let is_right = index % 7 != 0;
            assert_eq!(accepted[index], is_right, "{algorithm} on {tier}, message {index} of {count}");
            let zeros = vec![0; place.len()];
            let plain = if is_right { &text[place.clone()] } else { &zeros };
            assert!(sealed[place] == *plain, "{algorithm} on {tier}, text {index} of {count}");
        }
    }
}

#[test]
fn messages_with_a_key_each_are_sealed_and_opened() {
    let cpu = Cpu::new();
    for algorithm in Algorithm::ciphers().filter(|algorithm| algorithm.mode() == Some(Mode::Gcm)) {
        for &count in counts(algorithm) {
            with_tags(&cpu, algorithm, count);
        }
    }
}
