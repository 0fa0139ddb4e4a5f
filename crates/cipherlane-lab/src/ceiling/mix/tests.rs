//! Bounds of a core like Zen 4.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::ceiling::{Level, Rate};

/// The bound without what is measured on this machine.
fn bound(ceilings: &Ceilings, algorithm: Algorithm, tier: &str) -> Option<Bound> {
    bound_by(ceilings, algorithm, tier, |_, _| None)
}
/// A core like Zen 4: 512-bit operations are two of 256 bits.
fn zen4() -> Ceilings {
    let rate = |(mnemonic, per_clock): (&str, f64)| Rate {
        name: String::new(),
        mnemonic: mnemonic.to_owned(),
        bits: 512,
        per_clock,
        latency_clocks: 1.0,
    };
    let rates = [
        ("vaesenc", 1.0),
        ("vpclmulqdq", 0.5),
        ("vpxord", 2.0),
        ("vpternlogd", 2.0),
        ("vpaddd", 2.0),
        ("vpshufb", 1.0),
        ("vprolq", 1.0),
        ("vgf2p8affineqb", 1.0),
        ("vgf2p8affineinvqb", 1.0),
        ("vpunpcklbw", 1.0),
    ];
    let level = |name: &str, bytes, copy| Level {
        name: name.to_owned(),
        bytes,
        copy_bytes_per_second: copy,
        read_bytes_per_second: copy,
    };
    Ceilings {
        clock_hertz: [4e9; 2],
        rates: rates.map(rate).to_vec(),
        not_measured: Vec::new(),
        memory: vec![level("L1", 16 << 10, 1e11), level("DRAM", 1 << 28, 1e10)],
        mixes: Mixes::default(),
        copies: crate::ceiling::memory::Copies::default(),
    }
}

#[test]
fn aes_is_bound_by_its_rounds() {
    let bound = bound(&zen4(), "aes-128-ctr".parse().unwrap(), "avx512").unwrap();
    assert!(
        (bound.bytes_per_clock - 64.0 / 9.0).abs() < 1e-9 && bound.by.starts_with("vaesenc"),
        "{bound:?}"
    );
}

#[test]
fn keccak_is_bound_by_all_of_its_instructions() {
    let bound = bound(&zen4(), "sha3-256".parse().unwrap(), "avx512").unwrap();
    assert!((0.7..1.1).contains(&bound.bytes_per_clock), "{bound:?}");
    assert!(bound.by.starts_with("vector instructions"), "{bound:?}");
}

/// 144 inversions, 116 affine maps, 358 functions of three bits, 112 XORs and 128 interleavings for 16 registers,
/// two of any kind in a clock: counted in the compiled kernel.
#[test]
fn camellia_is_bound_by_all_of_its_instructions() {
    let bound = bound(&zen4(), "camellia-128-ecb".parse().unwrap(), "avx512").unwrap();
    assert!((bound.bytes_per_clock - 1024.0 / (858.0 / 2.0)).abs() < 1e-9, "{bound:?}");
    assert!(bound.by.starts_with("vector instructions"), "{bound:?}");
}

/// Tiers without wide AES instructions split what needs them.
#[test]
fn narrow_instructions_do_the_work_of_wide_ones() {
    let mut core = zen4();
    for rate in &mut core.rates {
        rate.bits = if rate.mnemonic == "vaesenc" { 128 } else { 256 };
    }
    core.rates.retain(|rate| !rate.mnemonic.starts_with("vgf2p8"));
    core.rates.push(Rate { mnemonic: "vpsrld".to_owned(), ..core.rates[0].clone() });
    core.rates.last_mut().unwrap().bits = 256;
    assert_eq!(rate(&core, "vaesenc", 256), Some(0.5));
    let bound = bound(&core, "sm4-ecb".parse().unwrap(), "avx2").unwrap();
    assert!(bound.by.ends_with("at 256 bits"), "{bound:?}");
}

#[test]
fn what_has_no_model_has_no_bound() {
    assert_eq!(bound(&zen4(), "aes-128-ctr".parse().unwrap(), "portable"), None);
    assert_eq!(
        bound(&zen4(), "aes-128-ctr".parse().unwrap(), "sse"),
        None,
        "nothing was measured at 128 bits"
    );
}

#[test]
fn the_level_is_the_first_that_holds_the_data() {
    let level = |bytes, cores| memory_bound(&zen4(), bytes, cores, 0.0).unwrap().1;
    assert_eq!(level(32 << 10, 1), "copying in L1");
    assert_eq!(level(1 << 40, 1), "copying in DRAM");
    // Each core has a first cache for its part, and none has a last one for itself.
    assert_eq!(level(64 << 10, 2), "copying in L1, each core as one alone");
    let mut sharing = zen4();
    sharing.memory.insert(1, Level { name: "L3".to_owned(), bytes: 1 << 24, ..sharing.memory[0].clone() });
    let level = |bytes, cores| memory_bound(&sharing, bytes, cores, 0.0).unwrap().1;
    assert_eq!(level(2 << 24, 2), "copying in L3, each core as one alone");
    assert_eq!(level(3 << 24, 2), "copying in DRAM, each core as one alone");
}

#[test]
fn the_fastest_measurement_of_a_mix_counts() {
    static TIMES: AtomicU32 = AtomicU32::new(0);
    // Clocks of the first, second .. time.
    let together: Together =
        |_, _| Some([20.0, 19.8, 15.0, 20.0][TIMES.fetch_add(1, Ordering::Relaxed) as usize]);
    let core = zen4();
    let bound = |name: &str| bound_by(&core, name.parse().unwrap(), "avx512", together).unwrap();
    let first = bound("aes-128-gcm");
    assert_eq!(first, bound("aes-128-gcm"), "no more than noise");
    let faster = bound("aes-128-gcm");
    assert!((faster.bytes_per_clock / first.bytes_per_clock - 20.0 / 15.0).abs() < 1e-9, "{faster:?}");
    assert_eq!(faster, bound("aes-128-gcm"), "a slower one changes nothing");
}

/// Clocks by how much of each there is, so that no two mixes are alike.
#[test]
fn each_mix_has_its_own_clocks() {
    let together: Together = |counts, _| Some(counts.iter().map(|(_, count)| count).sum());
    let core = zen4();
    let bound = |name: &str| bound_by(&core, name.parse().unwrap(), "avx512", together).unwrap();
    assert!(bound("aes-128-gcm").bytes_per_clock > bound("aes-256-gcm").bytes_per_clock);
}

/// Products that wait for the ports of AES rounds.
#[test]
fn shared_ports_lower_the_bound() {
    let gcm: Algorithm = "aes-128-gcm".parse().unwrap();
    let together: Together = |counts, bits| {
        let of = |name: &str| counts.iter().filter(|(known, _)| *known == name).map(|(_, count)| count).sum();
        let (rounds, products, moves): (f64, f64, f64) =
            (of("vaesenc"), of("vpclmulqdq"), of("load") + of("store"));
        assert!((rounds, products, moves, bits) == (9.0, 3.0, 3.0, 512), "{counts:?}");
        Some(rounds + products)
    };
    let (alone, shared) =
        (bound(&zen4(), gcm, "avx512").unwrap(), bound_by(&zen4(), gcm, "avx512", together).unwrap());
    assert!((shared.bytes_per_clock - 64.0 / 12.0).abs() < 1e-9 && alone.bytes_per_clock > 64.0 / 12.0);
    assert!(shared.by.contains("shares its ports"), "{shared:?}");
}
