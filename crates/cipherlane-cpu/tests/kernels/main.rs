//! Every kernel of every tier of this machine, as it is compiled into the library.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail as tests do

mod bunches;
mod caches;
mod chains;
mod conformance;
#[cfg(unix)]
mod fence;
mod hasher;
mod hashes;
mod lanes;
mod material;
mod modes;
mod rows;
mod teams;
mod units;
mod wraps;

use cipherlane_core::{Algorithm, Batch, Device, Operation, Output, Plan, Shape, Wish};
use cipherlane_cpu::{Cpu, Tier};
use cipherlane_reference::Reference;

#[cfg(unix)]
#[global_allocator]
static FENCED: fence::Fenced = fence::Fenced;

/// The tiers to test, best first. Where a tier is switched off, the best of the others alone: the rest is tested without the
/// switch.
fn tiers() -> Vec<Tier> {
    let mut tiers = Tier::available();
    if is_any_switched_off() {
        tiers.truncate(1);
    }
    tiers
}

fn is_any_switched_off() -> bool {
    Tier::ALL.into_iter().any(Tier::is_switched_off)
}

/// The plan of `tier` for any batch, on `threads` threads in chunks of `chunk` bytes.
fn plan(
    cpu: &Cpu,
    tier: Tier,
    (algorithm, operation): (Algorithm, Operation),
    (threads, chunk): (usize, usize),
) -> Plan {
    let tier = Some(tier.name().to_owned());
    let wish = Wish { tier, threads: Some(threads), chunk: Some(chunk), ..Wish::default() };
    cpu.plan(&Shape::uniform(algorithm, operation, 1, 16, true), &wish).unwrap()
}

/// `count` bytes that differ with their place, and with `step`.
fn bytes(count: usize, step: usize) -> Vec<u8> {
    (0..count).map(|i| (i * step + i / 251) as u8).collect()
}

/// Runs `batch` on the reference.
fn by_reference(batch: &Batch<'_>, output: &mut Output<'_>) {
    let (reference, shape) = (Reference::new(), batch.check(output).unwrap());
    let mut session = reference.open(&reference.plan(&shape, &Wish::default()).unwrap()).unwrap();
    session.run(batch, output).unwrap();
}
