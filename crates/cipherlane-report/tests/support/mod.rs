//! Records that no machine measured, for what the committed ones lack.

#![allow(dead_code, clippy::unwrap_used)] // each test file takes what it needs; what cannot be set up has failed

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cipherlane_record::{
    Axis, Cache, Ceiling, Channel, Checks, Comparison, Energy, Geometry, Host, Interval, KeySetup, Keys,
    Kind, Load, Measurement, Meter, Observation, Published, Record, SCHEMA_VERSION, Sample, Scope, Share,
    StreamTimes, Summary, Tag, Timeline, Times, Tool, Transfer, Value, Verdict,
};

/// CPU time of this thread: other tests run beside the one that asks.
#[cfg(unix)]
pub(crate) fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

pub(crate) fn host(cpu: &str) -> Host {
    Host {
        cpu_model: Some(cpu.to_owned()),
        cpu_signature: Some("family 6 model 143 stepping 8".to_owned()),
        gpus: Some(vec!["NVIDIA H200".to_owned()]),
        features: vec!["aes".to_owned(), "vaes".to_owned()],
        logical_cores: 32,
        online_cpus: Some(32),
        physical_cores: Some(16),
        smt: Some(true),
        l2_bytes: Some(2 << 20),
        last_level_cache_bytes: Some(1 << 25),
        frequency_governor: None,
        kernel: Some("Linux 6.1.0".to_owned()),
        hypervisor: Some("none".to_owned()),
        tool: Tool {
            name: "cipherlane".to_owned(),
            version: "0.1.0".to_owned(),
            git_hash: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            git_dirty: Some(false),
        },
        missing: BTreeMap::from([("frequency_governor".to_owned(), "no such file".to_owned())]),
    }
}

/// Rounds enough for an interval and a verdict.
const ROUNDS: usize = 10;

/// A row of this rate, in GB/s, on one thread of the CPU.
pub(crate) fn measurement(gigabytes: f64, message_bytes: u64) -> Measurement {
    let rate = gigabytes * 1e9;
    let seconds = 1e6 / rate;
    Measurement {
        schema_version: SCHEMA_VERSION,
        experiment: "bench".to_owned(),
        workload: "custom".to_owned(),
        algorithm: "aes-128-ctr".to_owned(),
        operation: "encrypt".to_owned(),
        device: "cpu".to_owned(),
        device_name: "A CPU".to_owned(),
        kernel: "aes-ctr/avx512/x32".to_owned(),
        tier: "avx512".to_owned(),
        threads: 1,
        message_bytes,
        messages: 16,
        bytes: 16 * message_bytes,
        keys: Keys::Same,
        bytes_per_second: rate,
        bytes_per_second_ci95: Interval { low: 0.99 * rate, high: 1.01 * rate },
        messages_per_second: rate / message_bytes as f64,
        cycles_per_byte: Some(0.2),
        core_clock_hertz: Some(3.5e9),
        verified: true,
        checks: Checks { messages: 100, planned_rejects: 0, unexpected: 0 },
        scope: scope(message_bytes),
        ceiling: Some(Ceiling {
            bytes_per_second: 2.0 * rate,
            share: 0.5,
            bound: "vaesenc at 512 bits".to_owned(),
        }),
        best_rival: Some(faster_than_openssl(rate)),
        geometry: None,
        times: None,
        streams: Vec::new(),
        load: None,
        energy: None,
        timeline: None,
        calibration: None,
        summary: summary(seconds),
        passes_per_sample: 3,
        samples: (0..ROUNDS).map(|round| sample(round, seconds)).collect(),
        parts: Vec::new(),
        seed: 7,
        unix_seconds: 1_800_000_000,
        argv: vec!["cipherlane".to_owned(), "bench".to_owned()],
        warnings: Vec::new(),
        host: host("A CPU"),
    }
}

fn sample(round: usize, wall_seconds: f64) -> Sample {
    Sample { round, wall_seconds, cpu_seconds: None, preempted: false, superseded: false, throttled: None }
}

/// The same of so few rounds.
pub(crate) fn of_rounds(rounds: usize, row: Measurement) -> Measurement {
    let samples = row.samples.iter().take(rounds).copied().collect();
    Measurement { samples, summary: Summary { n: rounds, ..row.summary }, ..row }
}

fn scope(message_bytes: u64) -> Scope {
    Scope {
        key_setup: KeySetup::Outside,
        tag: Tag::None,
        transfer: Transfer::None,
        cache: Cache::Hot,
        working_set_bytes: 32 * message_bytes,
        code_path: "aes-ctr/avx512/x32".to_owned(),
    }
}

fn faster_than_openssl(rate: f64) -> Comparison {
    Comparison {
        rival: "rival:openssl".to_owned(),
        rival_name: "OpenSSL 3.6.3".to_owned(),
        rival_bytes_per_second: rate / 1.25,
        ratio: 1.25,
        ratio_ci95: Interval { low: 1.2, high: 1.3 },
        verdict: Verdict::Faster,
    }
}

fn summary(seconds: f64) -> Summary {
    Summary {
        n: ROUNDS,
        median_seconds: seconds,
        median_ci95_seconds: Interval { low: seconds, high: seconds },
        mad_seconds: 0.0,
        p5_seconds: seconds,
        p95_seconds: seconds,
        min_seconds: seconds,
        max_seconds: seconds,
        outliers_mild: 0,
        outliers_severe: 0,
        preempted: 0,
        median_cpu_seconds: None,
    }
}

/// One of three streams: the last has nothing to do.
fn stream(number: u64) -> StreamTimes {
    let [to_device_seconds, kernel_seconds, to_host_seconds] =
        [[7e-4, 1e-4, 5e-4], [3e-4, 1e-4, 3e-4], [0.0; 3]][usize::try_from(number).unwrap()];
    let times = Times { to_device_seconds, kernel_seconds, to_host_seconds };
    StreamTimes { device: "cuda:0".to_owned(), stream: number, chunks: 2 - number, times }
}

/// The same on a GPU, transfers included.
pub(crate) fn on_gpu(gigabytes: f64, message_bytes: u64) -> Measurement {
    let row = measurement(gigabytes, message_bytes);
    Measurement {
        device: "cuda:0".to_owned(),
        device_name: "NVIDIA H200".to_owned(),
        kernel: "aes-ctr/banked4/x1".to_owned(),
        tier: "banked4".to_owned(),
        scope: Scope { transfer: Transfer::Included, ..row.scope.clone() },
        geometry: Some(Geometry { blocks: 132, threads_per_block: 512, streams: 3 }),
        times: Some(Times { to_device_seconds: 1e-3, kernel_seconds: 2e-4, to_host_seconds: 8e-4 }),
        streams: (0..3).map(stream).collect(),
        best_rival: None,
        ceiling: None,
        cycles_per_byte: None,
        ..row
    }
}

pub(crate) fn experiment(name: &str, row: Measurement) -> Record {
    Record::Measurement(Box::new(Measurement { experiment: name.to_owned(), ..row }))
}

pub(crate) fn timeline() -> Timeline {
    let channel = |name: &str, unit: &str, value: fn(f64) -> f64| Channel {
        name: name.to_owned(),
        unit: unit.to_owned(),
        values: (0..120).map(|place| Some(value(f64::from(place)))).collect(),
    };
    Timeline {
        unix_seconds: 1_800_000_000.5,
        seconds: (0..120).map(|place| 0.1 * f64::from(place)).collect(),
        channels: vec![
            channel("cpu.frequency", "Hz", |place| 3.6e9 + 1e8 * (place / 9.0).sin()),
            channel("cuda:0.frequency", "Hz", |place| 1.98e9 - 2e6 * place),
            channel("cuda:0.temperature", "°C", |place| 42.0 + 25.0 * (1.0 - (-place / 30.0).exp())),
            channel("cuda:0.power", "W", |place| 90.0 + 560.0 * (1.0 - (-place / 5.0).exp())),
            channel("cuda:0.throttle", "1", |place| if (90.0..92.0).contains(&place) { 4.0 } else { 1.0 }),
        ],
        missing: BTreeMap::new(),
    }
}

pub(crate) fn energy(joules: f64) -> Energy {
    Energy {
        meter: Meter::NvmlCounter,
        seconds: 20.0,
        joules,
        bytes: 1 << 40,
        idle_watts: Some(90.0),
        sigma_watts: Some(1.5),
        cross_check: None,
    }
}

pub(crate) fn observation(experiment: &str, subject: &str, axes: &[(&str, Axis)], value: f64) -> Observation {
    Observation {
        schema_version: SCHEMA_VERSION,
        record: Kind::Observation,
        experiment: experiment.to_owned(),
        subject: subject.to_owned(),
        subject_name: subject.to_owned(),
        axes: axes.iter().map(|(name, place)| ((*name).to_owned(), place.clone())).collect(),
        values: vec![Value {
            name: "operations".to_owned(),
            unit: "1/clk".to_owned(),
            value: Some(value),
            reason: None,
            ci95: Some(Interval { low: 0.98 * value, high: 1.02 * value }),
            published: vec![Published {
                value: 1.1 * value,
                on: "GTX 680".to_owned(),
                source: "001.8".to_owned(),
            }],
        }],
        samples: vec![value; ROUNDS],
        verified: Some(true),
        timeline: None,
        notes: vec!["the study counted per SMX".to_owned()],
        unix_seconds: 1_800_000_000,
        argv: vec!["cipherlane".to_owned(), "lab".to_owned()],
        host: host("A CPU"),
    }
}

/// A row of a device at these axes, with values of these names and units, of a hundredth up and down.
pub(crate) fn row(
    experiment: &str,
    device: &str,
    axes: &[(&str, Axis)],
    values: &[(&str, &str, Option<f64>)],
) -> Record {
    let value = |&(name, unit, value): &(&str, &str, Option<f64>)| Value {
        name: name.to_owned(),
        unit: unit.to_owned(),
        value,
        reason: value.is_none().then(|| "not measured".to_owned()),
        ci95: value.map(|value| Interval { low: 0.99 * value, high: 1.01 * value }),
        published: Vec::new(),
    };
    let row = observation(experiment, device, axes, 0.0);
    Record::Observation(Box::new(Observation {
        subject_name: "NVIDIA H200".to_owned(),
        values: values.iter().map(value).collect(),
        ..row
    }))
}

/// The same with what others published of a quantity: the figure, on what, and in which row of the studies.
pub(crate) fn beside(mut record: Record, quantity: &str, figures: &[(f64, &str, &str)]) -> Record {
    if let Record::Observation(row) = &mut record {
        let figure = |&(value, on, source): &(f64, &str, &str)| Published {
            value,
            on: on.to_owned(),
            source: source.to_owned(),
        };
        let value = row.values.iter_mut().find(|value| value.name == quantity).unwrap();
        value.published = figures.iter().map(figure).collect();
    }
    record
}

/// One experiment for each kind of chart, under its name.
pub(crate) fn every_chart() -> Vec<Record> {
    let mut records = sizes();
    records.extend(threads());
    records.extend(launches());
    records.extend(conditions());
    records.extend(machines());
    records.extend(observations());
    records
}

/// Sizes on CPU and GPU: the GPU is faster from 64 KiB on.
pub(crate) fn sizes() -> Vec<Record> {
    let mut records = Vec::new();
    for (place, bytes) in
        [1_u64 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20].into_iter().enumerate()
    {
        let cpu = [4.0, 11.0, 15.0, 16.5, 16.0, 15.5, 15.0][place];
        let gpu = [0.01, 0.05, 0.4, 8.0, 21.0, 34.0, 41.0][place];
        records.push(experiment("sizes", measurement(cpu, bytes)));
        records.push(experiment("sizes", on_gpu(gpu, bytes)));
    }
    records
}

/// Threads of two tiers; behind the cores the gain is small.
pub(crate) fn threads() -> Vec<Record> {
    let mut records = Vec::new();
    for (tier, one) in [("avx512", 16.0), ("portable", 0.5)] {
        for (threads, gain) in [(1, 1.0), (2, 1.98), (4, 3.9), (8, 7.5), (16, 14.0), (24, 14.1), (32, 14.2)] {
            let row = measurement(one * gain, 16384);
            let row = Measurement { threads, tier: tier.to_owned(), ..row };
            records.push(experiment("threads", row));
        }
    }
    records
}

fn launches() -> Vec<Record> {
    let mut records = Vec::new();
    for blocks in [66, 132, 264, 528] {
        for threads_per_block in [128, 256, 512] {
            let gigabytes = 600.0 - (blocks as f64 - 132.0).abs() / 2.0 + threads_per_block as f64 / 4.0;
            let geometry = Some(Geometry { blocks, threads_per_block, streams: 1 });
            records.push(experiment("grid", Measurement { geometry, ..on_gpu(gigabytes, 1 << 20) }));
        }
    }
    for streams in [1, 2, 4] {
        for messages in [1, 8, 64, 512, 4096] {
            let gigabytes = streams as f64 * messages as f64 / (40.0 + messages as f64);
            let geometry = Some(Geometry { blocks: 132, threads_per_block: 512, streams });
            let row = Measurement { geometry, messages, ..on_gpu(gigabytes, 16384) };
            records.push(experiment("streams", row));
        }
    }
    records
}

fn conditions() -> Vec<Record> {
    let mut records = Vec::new();
    for (load, left) in [(0.0, 1.0), (0.2, 0.83), (0.4, 0.61), (0.6, 0.42)] {
        let share = (load > 0.0).then_some(Share { requested: load, achieved: load + 0.01 });
        let load = Some(Load { cpu: share, gpu: None });
        records.push(experiment("cpu-load", Measurement { load, ..measurement(16.0 * left, 1 << 20) }));
    }
    let row = on_gpu(700.0, 1 << 30);
    let steady = Measurement { energy: Some(energy(9000.0)), timeline: Some(timeline()), ..row };
    records.push(experiment("energy", steady));
    let cpu = Measurement { energy: Some(energy(90_000.0)), ..measurement(16.0, 1 << 20) };
    records.push(experiment("energy", cpu));
    records
}

fn machines() -> Vec<Record> {
    let row = |cpu: &str, gigabytes: f64| {
        experiment("generations", Measurement { host: host(cpu), ..measurement(gigabytes, 16384) })
    };
    vec![row("A CPU", 16.0), row("B CPU", 9.0)]
}

/// Experiments that no view is known of: bars, curves, a field.
fn observations() -> Vec<Record> {
    let mut rows = Vec::new();
    for (name, milliseconds) in [("C++", 4200.0), ("Rust", 4100.0), ("Python", 309_666.0)] {
        rows.push(observation("own-bars", name, &[("build", Axis::from("release"))], milliseconds));
    }
    for warps in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0] {
        for name in ["xor", "mad"] {
            let axes = [("warps", Axis::from(warps)), ("operation", Axis::from(name))];
            rows.push(observation("own-curves", "cuda:0", &axes, 64.0_f64.min(4.0 * warps)));
        }
    }
    for cpu in [0.0, 20.0, 40.0, 60.0, 80.0, 90.0] {
        for gpu in [0.0, 15.0, 25.0, 50.0, 75.0, 90.0] {
            let axes = [("cpu load", Axis::from(cpu)), ("gpu load", Axis::from(gpu))];
            rows.push(observation("own-field", "cuda:0", &axes, 100.0 - cpu / 2.0 - gpu / 3.0));
        }
    }
    rows.into_iter().map(|row| Record::Observation(Box::new(row))).collect()
}

/// The same records as another build would have written them: that of `other`.
pub(crate) fn of_build_of(other: &Record, records: Vec<Record>) -> Vec<Record> {
    let tool = other.host().tool.clone();
    let built = |mut record: Record| {
        let host = match &mut record {
            Record::Measurement(row) => &mut row.host,
            Record::Observation(row) => &mut row.host,
        };
        host.tool = tool.clone();
        record
    };
    records.into_iter().map(built).collect()
}

fn below_records(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records").join(path)
}

/// The records of a file below `records/`.
pub(crate) fn committed(file: &str) -> Vec<Record> {
    cipherlane_record::read(&below_records(file)).unwrap()
}

/// The records of all files of the folders below `records/`, by name.
pub(crate) fn all_committed() -> Vec<Record> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.collect::<BTreeSet<PathBuf>>().into_iter().collect()
    };
    let folders = entries(&below_records("")).into_iter().filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| entries(&folder));
    let lines = files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    lines.flat_map(|path| cipherlane_record::read(&path).unwrap()).collect()
}
