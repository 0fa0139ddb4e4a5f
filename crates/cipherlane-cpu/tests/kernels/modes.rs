//! Modes without tags, whole and in segments.

use std::sync::Arc;

use cipherlane_core::{
    Algorithm, Batch, BatchError, Column, DeviceError, Messages, Mode, Operation, Output, Source,
};
use cipherlane_cpu::Cpu;

use super::material::{self, Tested};
use super::{plan, tiers};

/// Any chunk: the sessions of these tests cut by themselves.
const CHUNK: usize = 4096;

/// Every kernel that the table has for this CPU.
fn all() -> Vec<Tested> {
    let cpu = Arc::new(Cpu::new());
    let mut all = Vec::new();
    for tier in tiers() {
        for algorithm in Algorithm::ciphers().filter(|algorithm| algorithm.mode() != Some(Mode::Gcm)) {
            for &operation in algorithm.operations() {
                let plan = plan(&cpu, tier, (algorithm, operation), (1, CHUNK));
                let cpu = Arc::clone(&cpu);
                let open = move |segment| cpu.open_bare(&plan, segment).unwrap();
                all.push(Tested { algorithm, operation, open: Box::new(open) });
            }
        }
    }
    all
}

#[test]
fn ragged_batches_match_the_reference() {
    material::ragged_batches_match_the_reference(&all());
}

#[test]
fn every_length_up_to_two_groups_matches_the_reference() {
    material::every_length_up_to_two_groups_matches_the_reference(&all());
}

#[test]
fn counters_carry_through_all_128_bits() {
    material::counters_carry_through_all_128_bits(&all());
}

#[test]
fn segments_of_a_long_unit_find_their_tweak() {
    material::segments_of_a_long_unit_find_their_tweak(&all());
}

#[test]
fn the_examples_of_the_standards_come_out() {
    let cases = material::the_examples_of_the_standards_come_out(&all());
    assert!(cases > 100, "{cases}");
}

/// A batch is checked before its key is expanded.
#[test]
fn a_key_of_another_length_is_refused() {
    let cpu = Arc::new(Cpu::new());
    let algorithm: Algorithm = "aes-128-ctr".parse().unwrap();
    for tier in tiers() {
        let plan = plan(&cpu, tier, (algorithm, Operation::Encrypt), (1, CHUNK));
        let mut session = cpu.open_bare(&plan, None).unwrap();
        let messages = Messages { source: Source::InPlace, offsets: &[0, 16] };
        let (key, nonce) = (Column::Shared(&[0; 3]), Column::Shared(&[0; 16]));
        let batch = Batch::cipher(algorithm, Operation::Encrypt, key, nonce, messages);
        let refused = session.run(&batch, &mut Output::text(&mut [0; 16])).unwrap_err();
        assert!(matches!(refused, DeviceError::Batch(BatchError::Width { .. })), "{refused}");
    }
}
