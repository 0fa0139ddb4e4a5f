//! Rows with every field that there is.

#![allow(dead_code)] // not every test needs all of them

use std::collections::BTreeMap;

use cipherlane_record::{
    Axis, Cache, Calibration, Ceiling, Channel, Checks, Comparison, CrossCheck, Energy, Geometry, Host,
    Interval, KeySetup, Keys, Kind, Load, Measurement, Meter, Observation, Part, Published, SCHEMA_VERSION,
    Sample, Scope, Share, StreamTimes, Summary, Tag, Timeline, Times, Tool, Transfer, Value as Observed,
    Verdict,
};

pub(crate) fn host() -> Host {
    Host {
        cpu_model: Some("A CPU".to_owned()),
        cpu_signature: Some("family 25 model 1 stepping 1".to_owned()),
        gpus: None,
        features: vec!["aes".to_owned()],
        logical_cores: 2,
        online_cpus: Some(2),
        physical_cores: Some(2),
        smt: Some(false),
        l2_bytes: Some(1 << 20),
        last_level_cache_bytes: Some(1 << 25),
        frequency_governor: None,
        kernel: Some("Linux 6.1.0".to_owned()),
        hypervisor: Some("KVM".to_owned()),
        tool: Tool {
            name: "cipherlane".to_owned(),
            version: "0.1.0".to_owned(),
            git_hash: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            git_dirty: Some(true),
        },
        missing: BTreeMap::from([
            ("gpus".to_owned(), "no driver".to_owned()),
            ("frequency_governor".to_owned(), "no such file".to_owned()),
        ]),
    }
}

pub(crate) fn summary() -> Summary {
    Summary {
        n: 2,
        median_seconds: 0.0015,
        median_ci95_seconds: Interval { low: 0.001, high: 0.002 },
        mad_seconds: 0.0005,
        p5_seconds: 0.001,
        p95_seconds: 0.002,
        min_seconds: 0.001,
        max_seconds: 0.002,
        outliers_mild: 0,
        outliers_severe: 0,
        preempted: 0,
        median_cpu_seconds: Some(0.0015),
    }
}

pub(crate) fn timeline() -> Timeline {
    let channel =
        |name: &str, unit: &str, values| Channel { name: name.to_owned(), unit: unit.to_owned(), values };
    Timeline {
        unix_seconds: 1_800_000_000.5,
        seconds: vec![0.0, 0.1],
        channels: vec![
            channel("cpu.frequency", "Hz", vec![Some(3.7e9), None]),
            channel("cuda:0.power", "W", vec![Some(300.0), Some(310.5)]),
        ],
        missing: BTreeMap::from([("cpu.power".to_owned(), "no RAPL in this virtual machine".to_owned())]),
    }
}

pub(crate) fn observation() -> Observation {
    let published = Published { value: 31.3, on: "GTX 680".to_owned(), source: "001.8".to_owned() };
    Observation {
        schema_version: SCHEMA_VERSION,
        record: Kind::Observation,
        experiment: "instructions".to_owned(),
        subject: "cuda:0".to_owned(),
        subject_name: "A GPU".to_owned(),
        axes: BTreeMap::from([
            ("operation".to_owned(), Axis::from("shl")),
            ("warps".to_owned(), Axis::from(16.0)),
        ]),
        values: vec![
            Observed {
                name: "operations".to_owned(),
                unit: "1/clk".to_owned(),
                value: Some(63.9),
                reason: None,
                ci95: Some(Interval { low: 63.8, high: 64.0 }),
                published: vec![published],
            },
            Observed {
                name: "power".to_owned(),
                unit: "W".to_owned(),
                value: None,
                reason: Some("no sensor".to_owned()),
                ci95: None,
                published: Vec::new(),
            },
        ],
        samples: vec![63.9, 63.8, 64.0],
        verified: Some(true),
        timeline: Some(timeline()),
        notes: vec!["the study counted per SMX".to_owned()],
        unix_seconds: 1_800_000_000,
        argv: vec!["cipherlane".to_owned(), "lab".to_owned()],
        host: host(),
    }
}

pub(crate) const TIMES: Times =
    Times { to_device_seconds: 1e-4, kernel_seconds: 2e-4, to_host_seconds: 1e-4 };

pub(crate) fn row() -> Measurement {
    let sample = Sample {
        round: 0,
        wall_seconds: 0.001,
        cpu_seconds: Some(0.001),
        preempted: false,
        superseded: false,
        throttled: Some(true),
    };
    Measurement {
        schema_version: SCHEMA_VERSION,
        experiment: "bench".to_owned(),
        workload: "meter-128".to_owned(),
        algorithm: "aes-mixed-gcm".to_owned(),
        operation: "mixed".to_owned(),
        device: "cpu".to_owned(),
        device_name: "A CPU, \"quoted\"".to_owned(),
        kernel: "aes-gcm/avx512/x16".to_owned(),
        tier: "avx512".to_owned(),
        threads: 1,
        message_bytes: 128,
        messages: 12,
        bytes: 1536,
        keys: Keys::Distinct,
        bytes_per_second: 1.024e6,
        bytes_per_second_ci95: Interval { low: 7.68e5, high: 1.536e6 },
        messages_per_second: 8000.0,
        cycles_per_byte: Some(2.5),
        core_clock_hertz: Some(2.5e9),
        verified: true,
        checks: Checks { messages: 24, planned_rejects: 6, unexpected: 0 },
        scope: Scope {
            key_setup: KeySetup::Inside,
            tag: Tag::Both,
            transfer: Transfer::None,
            cache: Cache::Hot,
            working_set_bytes: 4000,
            code_path: "aes-gcm/avx512/x16".to_owned(),
        },
        ceiling: Some(Ceiling {
            bytes_per_second: 2.048e6,
            share: 0.5,
            bound: "vaesenc at 512 bits".to_owned(),
        }),
        best_rival: Some(Comparison {
            rival: "rival:openssl".to_owned(),
            rival_name: "OpenSSL 3.6.3".to_owned(),
            rival_bytes_per_second: 5e5,
            ratio: 2.0,
            ratio_ci95: Interval { low: 1.9, high: 2.1 },
            verdict: Verdict::Faster,
        }),
        geometry: Some(Geometry { blocks: 528, threads_per_block: 512, streams: 3 }),
        times: Some(TIMES),
        streams: vec![
            StreamTimes { device: "cuda:0".to_owned(), stream: 0, chunks: 3, times: TIMES },
            StreamTimes { device: "cuda:1".to_owned(), stream: 5, chunks: 0, times: TIMES },
        ],
        load: Some(Load { cpu: Some(Share { requested: 0.4, achieved: 0.41 }), gpu: None }),
        energy: Some(Energy {
            meter: Meter::NvmlCounter,
            seconds: 20.0,
            joules: 12_000.0,
            bytes: 1 << 40,
            idle_watts: Some(75.0),
            sigma_watts: Some(1.5),
            cross_check: Some(CrossCheck { meter: Meter::NvmlInstant, joules: 11_900.0 }),
        }),
        timeline: Some(timeline()),
        calibration: Some(Calibration {
            timer_step_seconds: 1e-9,
            timer_call_seconds: 2e-8,
            empty_pass_seconds: 3e-8,
        }),
        summary: summary(),
        passes_per_sample: 3,
        samples: vec![
            sample,
            Sample { round: 1, wall_seconds: 0.002, cpu_seconds: None, throttled: None, ..sample },
        ],
        parts: vec![Part {
            algorithm: "aes-128-gcm".to_owned(),
            operation: "open".to_owned(),
            messages: 12,
            bytes: 1536,
            planned_rejects: 3,
            kernel: "aes-gcm/avx512/x16".to_owned(),
            lanes: 16,
            chunk_bytes: u64::MAX,
            constant_time: true,
            median_seconds: 0.0015,
        }],
        seed: 7,
        unix_seconds: 1_800_000_000,
        argv: vec!["cipherlane".to_owned(), "bench".to_owned()],
        warnings: Vec::new(),
        host: host(),
    }
}
