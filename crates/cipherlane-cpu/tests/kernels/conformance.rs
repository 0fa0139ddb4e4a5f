//! Every kernel sits the exam, on one thread and on several.

use cipherlane_core::{Algorithm, Wish};
use cipherlane_cpu::Cpu;
use cipherlane_reference::conformance;

use super::{is_any_switched_off, tiers};

/// The exam on `threads` threads, of all tiers at once: what the reference computes is the same for each. More threads
/// than a small machine has CPUs are on purpose: tasks then end in any order.
fn sit(threads: usize) {
    let cpu = Cpu::new();
    let tiers = tiers();
    let tier = is_any_switched_off().then(|| tiers[0].name().to_owned());
    let wish = Wish { threads: Some(threads), tier, ..Wish::default() };
    let report = conformance::check_with(&cpu, &wish).unwrap_or_else(|failure| panic!("{failure}"));
    for tier in tiers {
        let checked = report.tiers.get(tier.name()).cloned().unwrap_or_default();
        let lacks: Vec<_> = Algorithm::all().filter(|algorithm| !checked.contains(algorithm)).collect();
        assert!(lacks.is_empty(), "tier {tier} lacks {lacks:?}");
    }
}

#[test]
fn every_tier_on_one_thread() {
    sit(1);
}

#[test]
fn every_tier_on_two_threads() {
    sit(2);
}

#[test]
fn every_tier_on_five_threads() {
    sit(5);
}
