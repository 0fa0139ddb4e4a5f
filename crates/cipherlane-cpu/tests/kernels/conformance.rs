//! Every kernel sits the exam, on one thread and on several.

use cipherlane_core::{Algorithm, Wish};
use cipherlane_cpu::Cpu;
use cipherlane_reference::conformance;

use super::{is_any_switched_off, tiers};

/// More than a small machine has CPUs are on purpose: tasks then end in any order.
const THREADS: [usize; 3] = [1, 2, 5];

/// The exam of every other algorithm from `first` on, of all tiers and on all numbers of threads at once: what the
/// reference computes is the same for each.
fn sit(first: usize) {
    let cpu = Cpu::new();
    let tiers = tiers();
    let tier = is_any_switched_off().then(|| tiers[0].name().to_owned());
    let wishes =
        THREADS.map(|threads| Wish { threads: Some(threads), tier: tier.clone(), ..Wish::default() });
    let algorithms = || Algorithm::all().skip(first).step_by(2);
    let report =
        conformance::check_each(&cpu, &wishes, algorithms()).unwrap_or_else(|failure| panic!("{failure}"));
    for tier in tiers {
        let checked = report.tiers.get(tier.name()).cloned().unwrap_or_default();
        let lacks: Vec<_> = algorithms().filter(|algorithm| !checked.contains(algorithm)).collect();
        assert!(lacks.is_empty(), "tier {tier} lacks {lacks:?}");
    }
}

// Two tests keep two CPUs busy.

#[test]
fn every_tier_passes_the_exam() {
    sit(0);
}

#[test]
fn every_tier_passes_the_exam_of_every_other_algorithm() {
    sit(1);
}
