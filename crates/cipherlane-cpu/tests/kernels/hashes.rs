//! Hash functions, batches of messages in lanes.

use cipherlane_core::{Algorithm, Device, Hash, Operation};
use cipherlane_cpu::Cpu;

use super::lanes::examine;
use super::{plan, tiers};

/// So much that a thread takes any batch of these tests as a whole.
const CHUNK: usize = 1 << 30;

/// Every function as the table serves it on each tier of this CPU.
#[test]
fn every_kernel_passes_the_exam() {
    let cpu = Cpu::new();
    for tier in tiers() {
        for hash in Hash::ALL {
            let what = (Algorithm::Hash(hash), Operation::Hash);
            let mut session = cpu.open(&plan(&cpu, tier, what, (1, CHUNK))).unwrap();
            examine(&mut *session, hash);
        }
    }
}
