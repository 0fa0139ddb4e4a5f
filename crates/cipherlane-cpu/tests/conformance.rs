//! Every kernel of every tier of this machine sits the exam, on one thread and on several.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

use cipherlane_core::{Device, Wish};
use cipherlane_cpu::Cpu;
use cipherlane_reference::conformance;

/// The exam on `threads` threads, tier by tier. More threads than a small machine has CPUs are on purpose: tasks
/// then end in any order.
fn sit(threads: usize) {
    let cpu = Cpu::new();
    for tier in &cpu.info().tiers {
        let wish = Wish { tier: Some(tier.clone()), threads: Some(threads), ..Wish::default() };
        let report = conformance::check_with(&cpu, &wish).unwrap_or_else(|failure| panic!("{failure}"));
        let algorithms = cipherlane_core::Algorithm::all().count();
        assert_eq!(report.checks.len(), algorithms, "tier {tier} lacks algorithms: {:?}", report.checks);
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
