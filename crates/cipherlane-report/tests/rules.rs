//! What the recommendation says of experiments on several devices, rates that charts compute from times, and what
//! sensors told.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // in helpers as well; small numbers

mod support;

use std::collections::BTreeMap;

use cipherlane_record::{Axis, Channel, Measurement, Record, Verdict};
use cipherlane_report::Report;
use support::{measurement, on_gpu, row, timeline};

fn markdown(records: &[Record]) -> String {
    Report::new(records, &BTreeMap::new()).markdown()
}

/// Times with the device and without, in microseconds.
fn offload(device: &str, algorithm: &str, bytes: f64, total: f64, no_gpu: Option<f64>) -> Record {
    let axes = [("algorithm", Axis::from(algorithm)), ("bytes", Axis::from(bytes))];
    row("offload", device, &axes, &[("t_total", "µs", Some(total)), ("t_no_gpu", "µs", no_gpu)])
}

#[test]
fn each_device_has_its_own_crossover() {
    let mut records = Vec::new();
    for (bytes, cpu) in [(1024.0, 1.0), (65536.0, 60.0), (1_048_576.0, 1000.0)] {
        records.push(offload("cuda:0", "aes-128-ctr", bytes, 50.0, Some(cpu)));
        records.push(offload("opencl:0", "aes-128-ctr", bytes, 500.0, Some(cpu)));
        records.push(offload("opencl:0", "sm4-ctr", bytes, 5000.0, Some(cpu)));
        // Nobody knows how long the CPU takes.
        records.push(offload("cuda:0", "aes-128-gcm", bytes, 50.0, None));
    }
    let text = markdown(&records);
    let rule = "- Offload: With the way there and back, \
        NVIDIA H200 (cuda:0) is faster than a CPU thread from 64 KiB on for aes-128-ctr; \
        NVIDIA H200 (opencl:0) is faster than a CPU thread from 1 MiB on for aes-128-ctr; \
        for sm4-ctr the CPU is faster than NVIDIA H200 (opencl:0) up to 1 MiB.\n";
    assert!(text.contains(rule), "{text}");
}

#[test]
fn who_does_most_for_a_watt_is_told_from_others_of_its_name() {
    let of = |device: &str, gross: f64| {
        let axes = [("algorithm", Axis::from("aes-128-ctr"))];
        row("energy", device, &axes, &[("gross", "Gbit/J", Some(gross))])
    };
    let text = markdown(&[of("cuda:0", 20.0), of("opencl:0", 5.0)]);
    assert!(text.contains("NVIDIA H200 (cuda:0) does most for a watt: 20.0 "), "{text}");
    let text = markdown(&[of("cuda:0", 20.0)]);
    assert!(text.contains("NVIDIA H200 does most for a watt: 20.0 "), "{text}");
}

/// Times of a device that is the faster one where `faster` says so; where it says nothing, nobody timed the CPU.
fn times(algorithm: &str, faster: [Option<bool>; 3]) -> Vec<Record> {
    let time = |(place, faster): (i32, Option<bool>)| {
        let no_gpu = faster.map(|faster| if faster { 100.0 } else { 20.0 });
        offload("cuda:0", algorithm, 1024.0 * 64_f64.powi(place), 50.0, no_gpu)
    };
    (0..).zip(faster).map(time).collect()
}

/// The rule and the chart of such times.
fn who_leads(faster: [Option<bool>; 3]) -> (String, String) {
    let text = markdown(&times("aes-128-ctr", faster));
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
    (line("- Offload: "), line("- With the device and without: "))
}

#[test]
fn the_cpu_leads_only_where_no_size_is_faster_on_the_device() {
    let (yes, no) = (Some(true), Some(false));
    for (faster, rule, finding) in [
        (
            [no, no, no],
            "the CPU is faster than NVIDIA H200 up to 4 MiB.",
            ": The CPU is faster at every size",
        ),
        (
            [yes, yes, no],
            "for aes-128-ctr there is no size from which on NVIDIA H200 stays faster than a CPU thread.",
            ": There is no size from which on NVIDIA H200 stays faster.",
        ),
        (
            [no, yes, yes],
            "NVIDIA H200 is faster than a CPU thread from 64 KiB on",
            ": NVIDIA H200 is faster from",
        ),
        (
            [yes, yes, yes],
            "NVIDIA H200 is faster than a CPU thread at every size for aes-128-ctr.",
            ": NVIDIA H200 is faster at every size that both did.",
        ),
        // Of the largest size nobody knows how long the CPU takes.
        ([no, yes, None], "a CPU thread from 64 KiB on", ": NVIDIA H200 is faster from"),
        ([yes, yes, None], "a CPU thread at every size", ": NVIDIA H200 is faster at every size"),
    ] {
        let (said, drawn) = who_leads(faster);
        assert!(said.contains(rule), "{faster:?}: {said}");
        assert!(drawn.contains(finding), "{faster:?}: {drawn}");
        assert_eq!(said.contains("the CPU is faster"), faster == [no; 3], "{said}");
    }
}

#[test]
fn the_cpu_is_ahead_as_far_as_each_algorithm_was_timed() {
    let mut records = times("sm4-ctr", [Some(false), Some(false), None]);
    records.extend(times("aes-128-ctr", [Some(false); 3]));
    let text = markdown(&records);
    let rule = "for sm4-ctr the CPU is faster than NVIDIA H200 up to 64 KiB; \
        for aes-128-ctr the CPU is faster than NVIDIA H200 up to 4 MiB.\n";
    assert!(text.contains(rule), "{text}");
}

/// Sizes on both, with the GPU as many times as fast as the CPU.
fn measured(times: [f64; 4]) -> String {
    let sizes = [1_u64 << 10, 1 << 12, 1 << 14, 1 << 16];
    let rows = sizes.into_iter().zip(times).flat_map(|(bytes, times)| {
        [measurement(10.0, bytes), on_gpu(10.0 * times, bytes)].map(|row| support::experiment("bench", row))
    });
    markdown(&rows.collect::<Vec<_>>())
}

#[test]
fn a_lead_that_is_lost_again_is_no_crossover() {
    let text = measured([2.0, 2.0, 2.0, 0.5]);
    assert!(
        text.contains("faster at some sizes, but not at the largest: aes-128-ctr encrypt. With"),
        "{text}"
    );
    assert!(!text.contains("at which the lead changes"), "{text}");
    let text = measured([2.0; 4]);
    assert!(text.contains("No size was measured at which the lead changes."), "{text}");
}

#[test]
fn a_lead_that_may_be_chance_is_not_counted() {
    let row = |bytes: u64, verdict: Verdict| {
        let mut row = measurement(10.0, bytes);
        row.best_rival.as_mut().unwrap().verdict = verdict;
        support::experiment("bench", row)
    };
    // Too few sizes for a curve, which would take the place of the bars.
    let text = markdown(&[row(1024, Verdict::Faster), row(16384, Verdict::Ambiguous)]);
    let tally = "faster than the best rival in 1 of 2 rows, undecided in 1, slower in none.";
    for who in ["cipherlane", "Ours"] {
        assert!(text.contains(&format!("{who} is {tally}")), "{text}");
    }
}

#[test]
fn rows_of_which_nobody_can_tell_are_counted() {
    let row = |bytes: u64, rounds: usize, verdict: Verdict| {
        let mut row = support::of_rounds(rounds, measurement(10.0, bytes));
        row.best_rival.as_mut().unwrap().verdict = verdict;
        row
    };
    // Of five rounds nothing is faster, whatever was written down.
    let (ahead, level) = (row(1024, 10, Verdict::Faster), row(4096, 10, Verdict::Ambiguous));
    let text = of_bench(vec![ahead.clone(), level, row(16384, 5, Verdict::Faster)]);
    let tally = "faster than the best rival in 1 of 3 rows, undecided in 2 (1 of them for fewer than six rounds), slower in \
        none.";
    assert!(text.contains(&format!("- Rivals: cipherlane is {tally}\n")), "{text}");
    let text = of_bench(vec![ahead]);
    assert!(text.contains("faster than the best rival in 1 of 1 row, slower in none.\n"), "{text}");
}

#[test]
fn a_tier_that_was_insisted_on_is_not_held_against_a_faster_one() {
    let row = |tier: &str, gigabytes: f64, bytes: u64, ratio: f64, verdict: Verdict| {
        let mut row = measurement(gigabytes, bytes);
        tier.clone_into(&mut row.tier);
        let rival = row.best_rival.as_mut().unwrap();
        (rival.ratio, rival.verdict) = (ratio, verdict);
        support::experiment("bench", row)
    };
    let fast = row("avx512", 10.0, 1024, 1.25, Verdict::Faster);
    let insisted = row("sse", 2.0, 1024, 0.25, Verdict::Slower);
    let slow = row("sse", 2.0, 16384, 0.5, Verdict::Slower);
    let text = markdown(&[fast, insisted, slow]);
    let rule = "faster than the best rival in 1 of 2 rows, slower in 1: OpenSSL 3.6.3 is 2.00 times as fast as cpu sse at \
        aes-128-ctr encrypt, 16 KiB.";
    assert!(text.contains(rule), "{text}");
}

/// Sixteen threads of one tier say nothing against another that ran on one.
#[test]
fn tiers_compete_on_the_same_threads() {
    let row = |tier: &str, threads: usize, rate: f64| Measurement {
        tier: tier.to_owned(),
        threads,
        ..measurement(rate, 16384)
    };
    let (one, all) = (row("avx512", 1, 10.0), row("avx512", 16, 150.0));
    let text = of_bench(vec![one.clone(), all.clone(), row("avx2", 1, 12.0)]);
    assert!(!text.contains("- Device: "), "{text}");
    assert!(text.contains("- Tier: avx2 is the fastest tier at 1 of 1 point"), "{text}");
    assert!(text.contains("| aes-128-ctr encrypt | 16 KiB | cpu avx512 | 16 | 150 |"), "{text}");
    let text = of_bench(vec![one.clone(), all.clone(), row("avx2", 1, 12.0), row("avx2", 16, 100.0)]);
    let rule = "- Device: cpu avx512, on 16 threads: the fastest of ours for 1 of 1 job that several did, by job and \
        size, tiers on the same threads.\n";
    assert!(text.contains(rule), "{text}");
    // A GPU stands beside all that the CPU does.
    let text = of_bench(vec![one, all, on_gpu(200.0, 16384)]);
    let rule = "- Device: cuda:0: the fastest of ours for 1 of 1 job that several did, by job and size, transfers \
        included.\n";
    assert!(text.contains(rule), "{text}");
}

#[test]
fn the_fewest_threads_that_are_enough_are_advised() {
    let gains = [(1.0, 1.0), (2.0, 1.95), (4.0, 1.99), (8.0, 2.0)];
    let records = gains.map(|(threads, gain)| {
        let axes = [("kernel", Axis::from("special")), ("threads", Axis::from(threads))];
        row("cpu-threads", "cpu", &axes, &[("gain", "1", Some(gain))])
    });
    let text = markdown(&records);
    let rule = "- Threads: 2 threads reach the most with special instructions: 1.95 times one thread; more, up to 8, \
        gain less than 3 %.\n";
    assert!(text.contains(rule), "{text}");
}

/// A row on so many threads, of the build of this commit.
fn built(commit: &str, threads: usize, rate: f64) -> Measurement {
    let mut row = Measurement { threads, ..measurement(rate, 16384) };
    commit.clone_into(&mut row.host.tool.git_hash);
    row
}

#[test]
fn the_fastest_row_of_each_number_of_threads_counts() {
    let rows = [("a", 1, 5.0), ("a", 2, 10.0), ("a", 4, 20.0), ("b", 1, 10.0), ("b", 4, 15.0)];
    let text = of_bench(rows.map(|(commit, threads, rate)| built(commit, threads, rate)).to_vec());
    let rule = "- Threads: 4 threads are the fastest measured in 1 of 1 job. They are 2.00 times as fast as the fewest \
        measured (median). The rows are of 2 builds: the fastest counts for each number of threads.\n";
    assert!(text.contains(rule), "{text}");
    assert!(
        text.contains("The rows are of 2 builds: a point that several measured counts for each.\n"),
        "{text}"
    );
    let text = of_bench(vec![built("a", 1, 10.0), built("a", 2, 20.0)]);
    assert!(!text.contains("builds"), "{text}");
}

/// Rates of messages of 1 KiB, 2 KiB and so on.
fn by_size(rates: &[f64]) -> String {
    let rows = rates.iter().zip(10..).map(|(rate, power)| measurement(*rate, 1 << power));
    let text = of_bench(rows.collect());
    text.lines().find(|line| line.starts_with("- Message size: ")).unwrap().to_owned()
}

#[test]
fn longer_messages_stay_as_fast_as_is_said() {
    let from = |size: &str| {
        format!(
            "- Message size: 90 % of the best rate is reached from these sizes on, by the median of jobs: {size} on cpu \
             avx512."
        )
    };
    assert_eq!(by_size(&[5.0, 9.5, 10.0, 9.6]), from("2 KiB"));
    assert_eq!(by_size(&[9.0, 9.5, 10.0]), from("1 KiB"));
    // In between it falls below.
    assert_eq!(by_size(&[5.0, 9.5, 8.0, 10.0]), from("8 KiB"));
    // The largest texts overflow the caches.
    assert_eq!(
        by_size(&[5.0, 9.5, 10.0, 6.0]),
        "- Message size: 90 % of the best rate is first reached at these sizes, and longer messages fall below it again, by \
         the median of jobs: 2 KiB on cpu avx512."
    );
}

/// Curves without room in their charts are not passed over in silence.
#[test]
fn series_without_room_are_counted() {
    let chart = |text: &str, said: &str| {
        let found = text.lines().find(|line| line.contains(said)).unwrap_or_default().to_owned();
        assert!(found.contains(" 2 more are in the table only."), "{found} of {text}");
    };
    let tiers = (0..8).flat_map(|tier| {
        [1, 2, 4].map(|threads| {
            let tier = format!("tier-{tier}");
            Measurement { tier, threads, ..measurement(threads as f64, 16384) }
        })
    });
    chart(&of_bench(tiers.collect()), "of linear");
    let streams = (1..=10).flat_map(|streams| {
        [1, 8, 64].map(|messages| {
            let geometry = Some(cipherlane_record::Geometry { blocks: 132, threads_per_block: 512, streams });
            Measurement { geometry, messages, ..on_gpu((streams * messages) as f64, 16384) }
        })
    });
    chart(&of_bench(streams.collect()), "Fastest: 64 messages in 10 streams");
    let roof = (0..9).map(|tier| {
        let axes =
            [("algorithm", Axis::from("aes-128-ctr")), ("tier", Axis::from(format!("tier-{tier}").as_str()))];
        row("mix", "cpu", &axes, &[("measured", "GB/s", Some(9.0)), ("foretold", "GB/s", Some(10.0))])
    });
    chart(&markdown(&roof.collect::<Vec<_>>()), "of what is allowed");
}

#[test]
fn each_device_has_its_own_gain_and_launch() {
    let mut records = Vec::new();
    for (device, times, blocks, rate) in [("cuda:0", 40.0, 132.0, 30.0), ("opencl:0", 20.0, 264.0, 10.0)] {
        let axes = [
            ("CPU kernel", Axis::from("best")),
            ("algorithm", Axis::from("aes-128-gcm")),
            ("message bytes", Axis::from(16384.0)),
        ];
        records.push(row("core-vs-core", device, &axes, &[("GPU by CPU", "1", Some(times))]));
        for (of, knee) in [("blocks", blocks), ("threads", 2.0 * blocks)] {
            records.push(row(
                "gpu-grid",
                device,
                &[("knee of", Axis::from(of))],
                &[("knee", "1", Some(knee))],
            ));
        }
        let axes = [
            ("operation", Axis::from("encrypt")),
            ("messages", Axis::from(64.0)),
            ("streams", Axis::from(4.0)),
        ];
        records.push(row("streams", device, &axes, &[("throughput", "GB/s", Some(rate))]));
    }
    let text = markdown(&records);
    for rule in [
        "- All of both: With data in its memory NVIDIA H200 (cuda:0) does 40.0 times what all CPUs do with their best \
         kernel (aes-128-gcm, 16 KiB). With data in its memory NVIDIA H200 (opencl:0) does 20.0 times what all CPUs do \
         with their best kernel (aes-128-gcm, 16 KiB).\n",
        "- Launch: NVIDIA H200 (cuda:0) is full with 132 blocks, of 264 threads each (95 % of the best). NVIDIA H200 \
         (opencl:0) is full with 264 blocks, of 528 threads each (95 % of the best).\n",
        "- Streams: Fastest with the way there and back, on NVIDIA H200 (cuda:0): 64 messages in 4 streams to encrypt \
         (30.0 GB/s). Fastest with the way there and back, on NVIDIA H200 (opencl:0): 64 messages in 4 streams to \
         encrypt (10.0 GB/s).\n",
    ] {
        assert!(text.contains(rule), "{rule} is not in {text}");
    }
}

#[test]
fn each_device_has_its_own_way_there() {
    let mut records = vec![support::experiment("bench", measurement(10.0, 16384))];
    for (device, brought, there) in [("cuda:0", 20.0, 200.0), ("opencl:0", 10.0, 30.0)] {
        for (rate, transfer) in
            [(brought, cipherlane_record::Transfer::Included), (there, cipherlane_record::Transfer::Excluded)]
        {
            let mut row = on_gpu(rate, 16384);
            row.device = device.to_owned();
            row.scope.transfer = transfer;
            records.push(support::experiment("bench", row));
        }
    }
    let text = markdown(&records);
    let rule = "- Transfers: \
        Leave data in the memory of NVIDIA H200 (cuda:0): there it is 10.0 times as fast as with the way there and \
        back (median of 1 job). \
        Leave data in the memory of NVIDIA H200 (opencl:0): there it is 3.00 times as fast as with the way there and \
        back (median of 1 job).\n";
    assert!(text.contains(rule), "{text}");
}

fn of_bench(rows: Vec<Measurement>) -> String {
    markdown(&rows.into_iter().map(|row| support::experiment("bench", row)).collect::<Vec<_>>())
}

/// The medians of two jobs.
#[test]
fn medians_of_even_numbers_lie_between_the_middle_ones() {
    let mut rows = Vec::new();
    for (bytes, there) in [(1 << 10, 40.0), (1 << 14, 200.0)] {
        let mut resident = on_gpu(there, bytes);
        resident.scope.transfer = cipherlane_record::Transfer::Excluded;
        rows.extend([resident, on_gpu(20.0, bytes)]);
    }
    assert!(of_bench(rows).contains("there it is 6.00 times as fast as with the way there and back (median"));

    let threads = |threads, rate, bytes| Measurement { threads, ..measurement(rate, bytes) };
    let rows = [(1 << 10, 14.0), (1 << 14, 18.0)]
        .into_iter()
        .flat_map(|(bytes, two)| [threads(1, 10.0, bytes), threads(2, two, bytes)]);
    assert!(
        of_bench(rows.collect()).contains("They are 1.60 times as fast as the fewest measured (median).")
    );

    let of = |algorithm: &str, bytes, rate| Measurement {
        algorithm: algorithm.to_owned(),
        ..measurement(rate, bytes)
    };
    let sizes = [(1 << 10, 9.5, 1.0), (1 << 11, 9.8, 2.0), (1 << 12, 10.0, 10.0)];
    let rows = sizes
        .into_iter()
        .flat_map(|(bytes, soon, late)| [of("aes-128-ctr", bytes, soon), of("aes-256-ctr", bytes, late)]);
    assert!(of_bench(rows.collect()).contains("by the median of jobs: 2560 B on cpu avx512."));
}

/// Times that are written in ms or s are no other times.
#[test]
fn rates_of_long_times_are_in_the_same_units() {
    let records: Vec<Record> = (0..5)
        .map(|step| {
            let times = f64::from(1 << step);
            // 2 MB in 1000 µs are 2 GB/s; the longest take 16000 and 48000 µs.
            offload("cuda:0", "aes-128-ctr", 2e6 * times, 1000.0 * times, Some(3000.0 * times))
        })
        .collect();
    let text = markdown(&records);
    let chart = text.lines().find(|line| line.starts_with("- With the device and without")).unwrap();
    assert!(chart.contains("From 667 (") && chart.contains("to 2000 (") && chart.contains("MB/s"), "{chart}");
}

#[test]
fn fans_are_no_load() {
    let mut timeline = timeline();
    for (name, value) in [("cuda:0.fan", 0.4), ("cuda:0.load", 0.9)] {
        let values = (0..120).map(|place| Some(value + 1e-4 * f64::from(place))).collect();
        timeline.channels.push(Channel { name: name.to_owned(), unit: "1".to_owned(), values });
    }
    let turns = (0..120).map(|place| Some(40.0 + f64::from(place) / 12.0)).collect();
    timeline.channels.push(Channel { name: "cpu.fan".to_owned(), unit: "1/s".to_owned(), values: turns });
    let row = Measurement { timeline: Some(timeline), ..on_gpu(700.0, 1 << 30) };
    let text = markdown(&[support::experiment("bench", row)]);
    for (quantity, range) in [
        ("Fans", "cuda:0 fan 40.0 to 41.2 %"),
        ("Load", "cuda:0 load 90.0 to 91.2 %"),
        ("Fan speed", "cpu fan 2400 to 2995 1/min"),
    ] {
        let charts: Vec<&str> =
            text.lines().filter(|line| line.starts_with(&format!("- {quantity}: "))).collect();
        let [chart] = charts[..] else { panic!("{charts:?} of {quantity} in {text}") };
        assert!(chart.contains(&format!(": {range}.")), "{chart}");
    }
}
