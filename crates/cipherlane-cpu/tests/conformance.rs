//! Every kernel of every tier of this machine sits the exam, on one thread and on several.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use cipherlane_core::{Algorithm, Device, Wish};
use cipherlane_cpu::{Cpu, Tier};
use cipherlane_reference::conformance;

/// The exam on `threads` threads, of all tiers at once: what the reference computes is the same for each. More threads
/// than a small machine has CPUs are on purpose: tasks then end in any order.
///
/// Where a tier is switched off, the best of the others sits it alone: what that is made of may have changed, and the
/// rest sits it without the switch.
fn sit(threads: usize) {
    let cpu = Cpu::new();
    let switched_off = Tier::ALL.into_iter().any(Tier::is_switched_off);
    let tiers = &cpu.info().tiers[..if switched_off { 1 } else { cpu.info().tiers.len() }];
    let tier = switched_off.then(|| tiers[0].clone());
    let wish = Wish { threads: Some(threads), tier, ..Wish::default() };
    let report = conformance::check_with(&cpu, &wish).unwrap_or_else(|failure| panic!("{failure}"));
    for tier in tiers {
        let checked = report.tiers.get(tier).cloned().unwrap_or_default();
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
