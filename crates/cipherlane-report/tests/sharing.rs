//! What the recommendation says of threads that share a machine with others, and of other work on it.

#![allow(clippy::unwrap_used)] // what cannot be drawn has failed

mod support;

use std::collections::BTreeMap;

use cipherlane_record::{Axis, Record};
use cipherlane_report::Report;
use support::row;

fn markdown(records: &[Record]) -> String {
    Report::new(records, &BTreeMap::new()).markdown()
}

/// What the grid of tiers has of one on 16 cores with 32 logical CPUs: the losses of a thread of all, and how many to
/// take.
fn tier(turbo: &str, tier: &str, take: f64, [clock, sharing]: [f64; 2], sibling: Option<f64>) -> Vec<Record> {
    let axes = [
        ("algorithm", Axis::from("sm4-ctr")),
        ("hyper-threading", Axis::from("on")),
        ("tier", Axis::from(tier)),
        ("turbo", Axis::from(turbo)),
    ];
    let threads = [axes.as_slice(), &[("threads", Axis::from(32.0))]].concat();
    let lost = [("lost to the clock", "%", Some(clock)), ("lost to sharing", "%", Some(sharing))];
    let found = [
        ("take threads", "1", Some(take)),
        ("all CPUs by a thread per core", "1", sibling.map(|lost| 2.0 - lost / 50.0)),
        ("a thread loses to the clock", "%", sibling.map(|_| 0.5)),
        ("a thread loses to its sibling", "%", sibling),
    ];
    vec![row("simd-grid", "cpu", &threads, &lost), row("simd-grid", "cpu", &axes, &found)]
}

#[test]
fn each_tier_has_its_threads_and_its_losses() {
    let mut records = tier("on", "portable", 32.0, [4.0, 20.5], Some(18.0));
    records.extend(tier("on", "sse", 32.0, [4.0, 24.0], Some(22.0)));
    records.extend(tier("on", "avx2", 32.0, [6.25, 44.0], Some(41.0)));
    records.extend(tier("on", "avx512", 16.0, [9.0, -0.01], Some(51.0)));
    let text = markdown(&records);
    let rule = "- Threads by tier: Take 32 threads with portable, sse, avx2 (1 of 1 algorithm); 16 threads with avx512 \
        (1 of 1 algorithm). The rule of study 003 (code with AVX or AVX-512 takes a thread per core, plain code and \
        SSE all logical CPUs) holds in 3 of 4 rows, not always for avx2. Of 32 threads each loses to the clock and to \
        sharing: 4.0 % and 20.5 % (18.0 % to its sibling alone) with portable; 4.0 % and 24.0 % (22.0 % to its \
        sibling alone) with sse; 6.3 % and 44.0 % (41.0 % to its sibling alone) with avx2; 9.0 % and 0.0 % (51.0 % to \
        its sibling alone) with avx512 (medians).\n";
    assert!(text.contains(rule), "{text}");
    for picture in [
        "- What a thread loses to the clock: ",
        "- What a thread loses to sharing: ",
        "- What a thread loses to a sibling on its core: ",
        "- How many threads to take: ",
    ] {
        assert!(text.contains(picture), "{picture} is not in {text}");
    }
}

#[test]
fn each_state_of_the_machine_has_its_threads() {
    let mut records = tier("on", "avx512", 16.0, [9.0, 30.0], Some(51.0));
    records.extend(tier("off", "avx512", 32.0, [0.0, 30.0], None));
    let text = markdown(&records);
    for part in [
        "Turbo on, hyper-threading on: Take 16 threads with avx512 (1 of 1 algorithm). The rule of study 003",
        "Turbo off, hyper-threading on: Take 32 threads with avx512 (1 of 1 algorithm). Whether CPUs that share a core \
         are worth a thread each was not measured.",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn loads_cost_what_their_rows_say() {
    let load = |experiment: &str, cpu: f64, device: f64, bytes: f64, longer: f64| {
        let axes = [
            ("algorithm", Axis::from("keccak-512")),
            ("bytes", Axis::from(bytes)),
            ("cpu load", Axis::from(cpu)),
            ("device load", Axis::from(device)),
        ];
        let values = [
            ("t_total longer by", "%", Some(longer)),
            ("cpu load reached", "%", Some(0.75 * cpu)),
            ("device load reached", "%", Some(0.5 * device)),
        ];
        row(experiment, "cuda:0", &axes, &values)
    };
    let unloaded = [load("cpu-load", 0.0, 0.0, 8192.0, 0.0)];
    assert!(!markdown(&unloaded).contains("- Loads: "));
    let by_chance = markdown(&[load("gpu-load", 0.0, 25.0, 8192.0, -0.3)]);
    assert!(by_chance.contains("under load of the device by nothing (median of 1 row)"), "{by_chance}");
    let records = [
        load("cpu-load", 0.0, 0.0, 8192.0, 0.0),
        load("cpu-load", 40.0, 0.0, 8192.0, 2.0),
        load("cpu-load", 60.0, 0.0, 8192.0, 5.0),
        load("both-loads", 60.0, 0.0, 1_048_576.0, 3.0),
        load("both-loads", 40.0, 50.0, 8192.0, 10.0),
    ];
    let text = markdown(&records);
    let rule = "- Loads: What NVIDIA H200 does takes longer under load of the CPU by 3.00 % (median of 3 rows) and by \
        5.00 % at most (keccak-512, 8 KiB, cpu load 60 %, 45.0 % reached); under load of the CPU and the device by \
        10.0 % (median of 1 row) and by 10.0 % at most (keccak-512, 8 KiB, cpu load 40 %, 30.0 % reached, device load \
        50 %, 25.0 % reached).\n";
    assert!(text.contains(rule), "{text}");
}
