//! Like is set beside like: where data lies, whose caches were flushed, and in which experiment it was measured.

#![allow(clippy::unwrap_used)] // in helpers as well: what cannot be set up has failed

mod support;

use std::collections::BTreeMap;

use cipherlane_record::{Axis, Cache, Geometry, Host, Load, Measurement, Record, Share, Transfer};
use cipherlane_report::Report;
use support::{experiment, host, measurement, on_gpu};

fn page(records: &[Record]) -> String {
    Report::new(records, &BTreeMap::new()).html().unwrap()
}

fn markdown(records: &[Record]) -> String {
    Report::new(records, &BTreeMap::new()).markdown()
}

fn of_bench(rows: Vec<Measurement>) -> Vec<Record> {
    rows.into_iter().map(|row| experiment("bench", row)).collect()
}

fn on(cpu: &str, row: Measurement) -> Measurement {
    Measurement { host: host(cpu), ..row }
}

fn resident(row: Measurement) -> Measurement {
    let mut row = row;
    row.scope.transfer = Transfer::Excluded;
    row
}

/// The same by `--cold`.
fn flushed(row: Measurement) -> Measurement {
    let mut row = row;
    row.scope.cache = Cache::Cold;
    row.argv.push("--cold".to_owned());
    row
}

/// The figure of this title on the page.
fn figure(page: &str, title: &str) -> String {
    let heading = format!("<h3>{title}</h3>");
    let mut figures = page.split("<figure").skip(1).map(|figure| figure.split("</figure>").next().unwrap());
    figures.find(|figure| figure.contains(&heading)).unwrap().to_owned()
}

#[test]
fn kernels_alone_stand_beside_no_other_machine_s_cpu() {
    let gpu = resident(on_gpu(700.0, 16384));
    let alone = of_bench(vec![on("A CPU", measurement(16.0, 16384)), on("B CPU", gpu.clone())]);
    assert!(!page(&alone).contains("Machines side by side"));
    let both = [
        on("A CPU", measurement(16.0, 16384)),
        on("A CPU", gpu.clone()),
        on("B CPU", measurement(9.0, 16384)),
        on("B CPU", gpu),
    ];
    let figure = figure(&page(&of_bench(both.to_vec())), "Machines side by side");
    assert!(
        figure.contains("<td>aes-128-ctr encrypt, 16 KiB<td>16.0 (15.8–16.2) cpu avx512, 1 thread<td>9.00 (")
    );
    let there = "<td>aes-128-ctr encrypt, 16 KiB, data in the memory of the device<td>700 (693–707) cuda:0, 1 thread<td>";
    assert!(figure.contains(there), "{figure}");
}

/// Two machines that do the same have bars that tell them apart, and one has no letter.
#[test]
fn bars_say_of_which_machine_they_are() {
    let of = |cpu: &str| {
        let metered = Measurement { energy: Some(support::energy(9000.0)), ..on_gpu(50.0, 16384) };
        [metered, resident(on_gpu(700.0, 16384))].map(|row| on(cpu, row))
    };
    let both = page(&of_bench([of("A CPU"), of("B CPU")].concat()));
    let one = page(&of_bench(of("A CPU").to_vec()));
    let does = "aes-128-ctr encrypt, 16 KiB";
    for (title, label) in [
        ("Where the time goes", format!("{does}, 16 messages on cuda:0<td>")),
        (
            "Data in the memory of the device, and brought there and back",
            format!("{does}, 16 messages on cuda:0<td>"),
        ),
        ("What each stream does", format!("{does}, 16 messages on cuda:0, stream 0, 2 chunks<td>")),
        ("Energy", format!("{does} on cuda:0, 1 thread<td>")),
    ] {
        let (both, one) = (figure(&both, title), figure(&one, title));
        for letter in ["A", "B"] {
            assert!(both.contains(&format!("<td>{letter}: {label}")), "{title} of {letter}: {both}");
        }
        assert!(one.contains(&format!("<td>{label}")), "{title}: {one}");
    }
}

/// A GPU that CUDA and OpenCL both drive has one name, and two bars that tell which of them ran.
#[test]
fn bars_say_of_which_of_two_devices_of_one_name_they_are() {
    let of = |device: &str, name: &str, mean: f64| {
        let axes = [("algorithm", Axis::from("aes-128-ctr"))];
        let mut row = support::row("block-ciphers", device, &axes, &[("mean", "Gbit/s", Some(mean))]);
        let Record::Observation(found) = &mut row else { panic!("an observation") };
        found.subject_name = name.to_owned();
        row
    };
    let cpu = of("cpu", "A CPU", 100.0);
    let both =
        page(&[cpu.clone(), of("cuda:0", "NVIDIA H200", 5000.0), of("opencl:0", "NVIDIA H200", 900.0)]);
    let throughput = figure(&both, "Throughput");
    for bar in ["A CPU<td>100", "NVIDIA H200 (cuda:0)<td>5000", "NVIDIA H200 (opencl:0)<td>900"] {
        assert!(throughput.contains(&format!("<td>{bar}")), "{bar}: {throughput}");
    }
    // So do the lines of the table.
    assert_eq!(both.matches("<td>NVIDIA H200 (opencl:0)<td>").count(), 2, "{both}");
    let one = page(&[cpu, of("cuda:0", "NVIDIA H200", 5000.0)]);
    assert!(figure(&one, "Throughput").contains("<td>NVIDIA H200<td>5000"), "its name is enough");
}

/// Whoever is pinned to some CPUs measures the same machine.
#[test]
fn a_run_on_some_of_its_cpus_is_of_the_same_machine() {
    let pinned = Host { logical_cores: 2, physical_cores: Some(1), ..host("A CPU") };
    let rows = [pinned, host("A CPU")].map(|host| Measurement { host, ..measurement(10.0, 16384) });
    let page = page(&of_bench(rows.to_vec()));
    assert!(page.contains("1 cores, 2 of 32 threads") && !page.contains("Machines side by side"), "{page}");
}

#[test]
fn machines_without_room_are_counted() {
    let names: Vec<String> = (0..10).map(|place| format!("CPU {place}")).collect();
    let side_by_side = |machines: usize| {
        let rows = names[..machines].iter().map(|name| on(name, measurement(10.0, 16384)));
        figure(&page(&of_bench(rows.collect())), "Machines side by side")
    };
    assert!(side_by_side(10).contains("more than one machine: 1. In the table only: 2 machines."));
    assert!(side_by_side(8).contains("more than one machine: 1.<"));
}

#[test]
fn rows_whose_caches_were_flushed_have_a_curve_of_their_own() {
    let sizes = [1_u64 << 10, 1 << 14, 1 << 20];
    let rows = sizes.map(|bytes| [measurement(10.0, bytes), flushed(measurement(4.0, bytes))]);
    let cold = figure(&page(&of_bench(rows.concat())), "aes-128-ctr encrypt");
    for curve in ["cpu avx512, caches kept: Throughput", "cpu avx512, caches flushed: Throughput"] {
        assert!(cold.contains(curve), "{curve} is not in {cold}");
    }
    assert!(cold.contains("<td>4.00 ("), "the slower ones are not in {cold}");
    // Texts that fit no cache are cold as well: of them and of shorter ones there is one curve.
    let mut rows = sizes.map(|bytes| measurement(10.0, bytes));
    rows[2].scope.cache = Cache::Cold;
    let whole = figure(&page(&of_bench(rows.to_vec())), "aes-128-ctr encrypt");
    assert!(whole.contains("<td>1 MiB<td>10.0 (") && !whole.contains("caches kept"), "{whole}");
}

#[test]
fn threads_and_loads_are_of_rows_with_caches_alike() {
    let of = |threads, rate| Measurement { threads, ..measurement(rate, 16384) };
    let rows = [(1, 4.0), (2, 8.0), (4, 16.0)];
    let rows = rows.map(|(threads, rate)| [of(threads, rate), flushed(of(threads, rate / 2.0))]).concat();
    let threads = figure(&page(&of_bench(rows)), "aes-128-ctr encrypt, 16 KiB");
    assert!(threads.contains("cpu avx512, caches flushed: Throughput (GB/s)"), "{threads}");

    let under = |load: f64, rate: f64| {
        let share = (load > 0.0).then_some(Share { requested: load, achieved: load });
        Measurement { load: Some(Load { cpu: share, gpu: None }), ..measurement(rate, 1 << 20) }
    };
    let rows = vec![under(0.0, 10.0), under(0.5, 9.0), flushed(under(0.0, 4.0)), flushed(under(0.5, 2.0))];
    let loads = figure(&page(&of_bench(rows)), "Under load of the CPU");
    assert!(loads.contains("caches kept: ") && loads.contains("caches flushed: "), "{loads}");
    assert!(loads.contains("<td>90.0 (") && loads.contains("<td>50.0 ("), "{loads}");

    let launched = |streams, messages, row: Measurement| Measurement {
        geometry: Some(Geometry { blocks: 132, threads_per_block: 512, streams }),
        messages,
        ..row
    };
    let rows = [1, 2].into_iter().flat_map(|streams| {
        [1, 8, 64].map(|messages| {
            let row = on_gpu(messages as f64, 16384);
            [launched(streams, messages, row.clone()), flushed(launched(streams, messages, row))]
        })
    });
    let page = page(&of_bench(rows.flatten().collect()));
    figure(&page, "aes-128-ctr encrypt, 16 KiB on cuda:0, data brought and fetched, caches flushed");
}

fn launched(blocks: u64, threads_per_block: u64, streams: u64, row: Measurement) -> Measurement {
    Measurement { geometry: Some(Geometry { blocks, threads_per_block, streams }), ..row }
}

/// What tells launches apart is told of rows that are alike in all else.
#[test]
fn launches_are_of_one_kind_of_row() {
    let swept = |rate: f64, change: &dyn Fn(Measurement) -> Measurement| {
        let pairs = [(66, 256), (66, 512), (132, 256), (132, 512)];
        pairs.map(|(blocks, threads)| launched(blocks, threads, 1, change(on_gpu(rate, 16384)))).to_vec()
    };
    let under = |row: Measurement| {
        let gpu = Some(Share { requested: 0.3, achieved: 0.3 });
        Measurement { load: Some(Load { cpu: None, gpu }), ..row }
    };
    let other = |row: Measurement| Measurement { kernel: "aes-ctr/banked4/x2".to_owned(), ..row };
    let many = |row: Measurement| Measurement { messages: 64, ..row };
    let rows = [
        swept(11.0, &|row| row),
        swept(700.0, &resident),
        swept(12.0, &under),
        swept(13.0, &other),
        swept(14.0, &many),
    ];
    let page = page(&of_bench(rows.concat()));
    let does = "aes-128-ctr encrypt, 16 KiB on cuda:0";
    for (title, rate) in [
        (", 16 messages, aes-ctr/banked4/x1, data brought and fetched", "11.0"),
        (", 16 messages, aes-ctr/banked4/x1, data in its memory", "700"),
        (", 16 messages, aes-ctr/banked4/x1, data brought and fetched, under GPU load 30 %", "12.0"),
        (", 16 messages, aes-ctr/banked4/x2, data brought and fetched", "13.0"),
        (", 64 messages, aes-ctr/banked4/x1, data brought and fetched", "14.0"),
    ] {
        let field = figure(&page, &format!("{does}{title}"));
        assert_eq!(field.matches(&format!("<td>{rate}")).count(), 4, "{title}: {field}");
    }
}

/// Data in the memory of a device have one stream, and data that are brought have several.
#[test]
fn streams_of_data_in_memory_are_no_slower_ones() {
    let rows = [1, 8, 64].map(|messages| {
        let row = |row: Measurement, streams| launched(132, 512, streams, Measurement { messages, ..row });
        [row(resident(on_gpu(700.0, 16384)), 1), row(on_gpu(17.0, 16384), 4)]
    });
    let text = markdown(&of_bench(rows.concat()));
    assert!(!text.contains("stream, ") && !text.contains("streams, "), "{text}");
}

#[test]
fn launches_that_happened_to_differ_are_no_sweep() {
    let rows = [launched(66, 256, 2, on_gpu(18.0, 16384)), launched(132, 1024, 4, on_gpu(15.0, 16384))];
    assert!(!page(&of_bench(rows.to_vec())).contains("Threads per block"));
    let page = page(&support::committed("h200/dashboard.jsonl"));
    assert!(page.contains("<figure>") && !page.contains("Threads per block"));
}

#[test]
fn advice_for_warm_caches_is_not_mixed_with_that_for_flushed_ones() {
    let tier = |tier: &str, row: Measurement| Measurement { tier: tier.to_owned(), ..row };
    let rows = vec![
        tier("avx512", measurement(10.0, 16384)),
        tier("avx2", flushed(measurement(5.0, 16384))),
        tier("avx512", flushed(measurement(4.0, 16384))),
    ];
    let text = markdown(&of_bench(rows));
    assert!(
        text.contains("- Tier: avx2 is the fastest tier at 1 of 1 point where tiers were compared.\n"),
        "{text}"
    );
    assert!(text.contains("| aes-128-ctr encrypt | 16 KiB | cpu avx512 |"), "{text}");
    assert!(text.contains("| aes-128-ctr encrypt, caches flushed | 16 KiB | cpu avx2 |"), "{text}");
}

/// A library, and the CPU beside it, in an experiment with a GPU's row.
fn beside_gpu() -> Vec<Record> {
    let cold = |row: Measurement| {
        let mut row = row;
        row.scope.cache = Cache::Cold;
        row
    };
    let library = |rate: f64| Measurement {
        device: "rival:openssl".to_owned(),
        device_name: "OpenSSL 3.6.3".to_owned(),
        best_rival: None,
        ceiling: None,
        ..measurement(rate, 16384)
    };
    vec![
        experiment("gpu-rivals", cold(resident(on_gpu(700.0, 16384)))),
        experiment("gpu-rivals", cold(measurement(30.0, 16384))),
        experiment("gpu-rivals", cold(library(20.0))),
        // From the caches both do more.
        experiment("bench", measurement(60.0, 16384)),
        experiment("bench", library(50.0)),
        experiment("rivals", cold(measurement(35.0, 16384))),
    ]
}

fn first_number(records: &[Record]) -> String {
    markdown(records).lines().find(|line| line.starts_with("- Bulk encryption: ")).unwrap().to_owned()
}

#[test]
fn a_gpu_stands_beside_what_was_measured_on_data_that_lies_alike() {
    let mut records = beside_gpu();
    let said = first_number(&records);
    for part in [
        "35.0 × the best library on its host: OpenSSL 3.6.3, 1 thread (20.0 GB/s)",
        "23.3 × our own on the CPU beside it (30.0 GB/s, gpu-rivals)",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    // What was measured elsewhere, or on data in the caches, is better than nothing, and said.
    records.remove(2);
    let said = first_number(&records);
    for part in [
        "14.0 × the best library on its host: OpenSSL 3.6.3, 1 thread (50.0 GB/s, bench, caches hot)",
        "20.0 × our own on the CPU beside it (35.0 GB/s, rivals)",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    records.truncate(4);
    records.remove(1);
    let said = first_number(&records);
    assert!(said.contains("11.7 × our own on the CPU beside it (60.0 GB/s, bench, caches hot)"), "{said}");
}

fn under(load: f64, row: Measurement) -> Measurement {
    let share = (load > 0.0).then_some(Share { requested: load, achieved: load });
    Measurement { load: Some(Load { cpu: share, gpu: None }), ..row }
}

#[test]
fn a_number_says_what_disturbed_it() {
    // Of rows that nobody disturbed a slower one goes before.
    let rows = [under(0.2, measurement(20.0, 16384)), under(0.0, measurement(16.0, 4096))];
    let said = first_number(&of_bench(rows.to_vec()));
    assert!(said.contains("**16.0 GB/s**") && !said.contains("under"), "{said}");
    let said = first_number(&of_bench(vec![under(0.2, measurement(20.0, 16384))]));
    assert!(said.contains("cpu avx512, 1 thread, under CPU load 20 %;"), "{said}");
    let said = first_number(&of_bench(vec![under(0.2, flushed(measurement(20.0, 16384)))]));
    assert!(said.contains("cpu avx512, 1 thread, caches flushed, under CPU load 20 %;"), "{said}");
    let said = first_number(&of_bench(vec![flushed(resident(on_gpu(700.0, 16384)))]));
    assert!(said.contains("NVIDIA H200, data in its memory, caches flushed;"), "{said}");
}

#[test]
fn what_stands_beside_a_number_was_as_little_disturbed() {
    let beside = |load: f64| {
        let library = Measurement {
            device: "rival:openssl".to_owned(),
            device_name: "OpenSSL 3.6.3".to_owned(),
            ..under(load, measurement(20.0, 16384))
        };
        let cpu = under(load, measurement(40.0, 16384));
        let brought = under(load, on_gpu(50.0, 16384));
        first_number(&of_bench(vec![resident(on_gpu(700.0, 16384)), brought, library, cpu]))
    };
    for said in ["50.0 GB/s with the way there and back", "35.0 × the best library", "17.5 × our own"] {
        assert!(beside(0.0).contains(said), "{}", beside(0.0));
        assert!(!beside(0.5).contains(said), "{}", beside(0.5));
    }
}

#[test]
fn bars_say_what_disturbed_them() {
    let on_both = |load: f64, rate: f64| {
        ["A CPU", "B CPU"].map(|cpu| on(cpu, under(load, measurement(rate, 16384)))).to_vec()
    };
    let page = page(&of_bench([on_both(0.0, 16.0), on_both(0.4, 9.0)].concat()));
    let machines = figure(&page, "Machines side by side");
    for label in ["16 KiB<td>16.0 (", "16 KiB, under CPU load 40 %<td>9.00 ("] {
        assert!(machines.contains(&format!("aes-128-ctr encrypt, {label}")), "{label}: {machines}");
    }
    // Both reach as much of what they name as their ceiling.
    let ceilings = figure(&page, "Beside the ceiling");
    assert!(ceilings.contains("cpu avx512, 1 thread · ") && !ceilings.contains("under CPU"), "{ceilings}");
    let loaded = self::page(&of_bench(on_both(0.4, 9.0)));
    assert!(figure(&loaded, "Beside the ceiling").contains("1 thread, under CPU load 40 % · "), "{loaded}");
}

#[test]
fn a_gpu_overtakes_the_cpu_whose_caches_were_flushed_as_well() {
    let sizes = [1_u64 << 10, 1 << 12, 1 << 14].into_iter().zip([2.0, 8.0, 8.0]);
    let rows = sizes.flat_map(|(bytes, gpu)| {
        [measurement(10.0, bytes), flushed(measurement(4.0, bytes)), flushed(on_gpu(gpu, bytes))]
    });
    let text = markdown(&of_bench(rows.collect()));
    assert!(text.contains("transfers included: aes-128-ctr encrypt from 4 KiB."), "{text}");
}
