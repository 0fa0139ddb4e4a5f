//! What experiments found out that a user can act on.

use cipherlane_record::Observation;

use super::Rule;
use crate::beside::{is, number, rate, value};
use crate::row::Row;
use crate::section::grouped;
use crate::{beside, units};

/// Within this part of the best counts as the best: fewer threads leave room for others.
const ENOUGH: f64 = 0.97;

/// The number of a value.
fn of(row: &Observation, name: &str) -> Option<f64> {
    value(row, name)?.value
}

fn name(row: &Observation, axis: &str) -> String {
    row.axes.get(axis).map_or_else(String::new, ToString::to_string)
}

fn experiment<'a>(rows: &[&'a Observation], name: &str) -> Vec<&'a Observation> {
    rows.iter().filter(|row| row.experiment == name).copied().collect()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sizes and counts, below 2^53
fn whole(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

/// From which size on the way to the device and back is worth it.
pub(super) fn offload(rows: &[&Observation]) -> Option<Rule> {
    let rows = experiment(rows, "offload");
    let device = rows.first()?.subject_name.clone();
    let largest = rows.iter().filter_map(|row| number(row, "bytes")).fold(0.0, f64::max);
    let from = |rows: &[&Observation]| {
        let mut times: Vec<(f64, bool)> = rows
            .iter()
            .filter_map(|row| Some((number(row, "bytes")?, of(row, "t_total")? < of(row, "t_no_gpu")?)))
            .collect();
        times.sort_by(|one, other| one.0.total_cmp(&other.0));
        let behind = times.iter().rposition(|(_, faster)| !faster).map_or(0, |place| place + 1);
        times.get(behind).map(|(bytes, _)| whole(*bytes))
    };
    let algorithms = grouped(rows, |row| name(row, "algorithm"));
    let mut found = grouped(algorithms.iter(), |(_, rows)| from(rows).unwrap_or(u64::MAX));
    found.sort_by_key(|(from, _)| *from);
    let part = |(from, algorithms): &(u64, Vec<&(String, Vec<&Observation>)>)| {
        let names: Vec<&str> = algorithms.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(", ");
        match *from {
            u64::MAX => format!("for {names} the CPU is faster up to {}", units::bytes(whole(largest))),
            bytes => {
                format!("{device} is faster than a CPU thread from {} on for {names}", units::bytes(bytes))
            }
        }
    };
    let parts: Vec<String> = found.iter().map(part).collect();
    let text = format!("With the way there and back, {}.", parts.join("; "));
    Some(Rule { title: "CPU or GPU", text })
}

/// What the way to a device costs, where both were measured.
pub(super) fn transfers(own: &[Row<'_>]) -> Option<Rule> {
    let pairs = own.iter().filter_map(|row| Some((row, beside::brought(row, own)?)));
    let mut times: Vec<(f64, &Row<'_>)> =
        pairs.map(|(row, brought)| (row.bytes_per_second / brought.bytes_per_second, row)).collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (median, row) = times.get(times.len() / 2)?;
    let text = format!(
        "Leave data in the memory of {}: there it is {} times as fast as with the way there and back (median of {}).",
        row.device_name,
        units::significant(*median),
        units::count(times.len(), "job")
    );
    Some(Rule { title: "Transfers", text })
}

/// What the whole of a device is worth.
pub(super) fn against(rows: &[&Observation]) -> Option<Rule> {
    let rows = experiment(rows, "core-vs-core");
    let row = rows.iter().find(|row| is(row, "CPU kernel", "best")).or_else(|| rows.first())?;
    let times = of(row, "GPU by CPU")?;
    let size = number(row, "message bytes").map_or_else(String::new, |bytes| units::bytes(whole(bytes)));
    let text = format!(
        "With data in its memory {} does {} times what all CPUs do with their best kernel ({}, {size}).",
        row.subject_name,
        units::significant(times),
        name(row, "algorithm")
    );
    Some(Rule { title: "All of both", text })
}

/// The fewest threads that reach the best throughput.
pub(super) fn threads(rows: &[&Observation]) -> Option<Rule> {
    let rows = experiment(rows, "cpu-threads");
    let special: Vec<(f64, f64)> = rows
        .iter()
        .filter(|row| is(row, "kernel", "special"))
        .filter_map(|row| Some((number(row, "threads")?, of(row, "gain")?)))
        .collect();
    let best = special.iter().map(|(_, gain)| *gain).fold(0.0, f64::max);
    let enough = special.iter().filter(|(_, gain)| *gain >= ENOUGH * best);
    let (threads, gain) = enough.min_by(|one, other| one.0.total_cmp(&other.0))?;
    let most = special.iter().map(|(threads, _)| *threads).fold(0.0, f64::max);
    let more = if most > *threads { format!("; more, up to {most}, gain nothing") } else { String::new() };
    let text = format!(
        "{} reach the most with special instructions: {} times one thread{more}.",
        units::count(usize::try_from(whole(*threads)).ok()?, "thread"),
        units::significant(*gain)
    );
    Some(Rule { title: "Threads", text })
}

/// The fastest tier of each algorithm.
pub(super) fn tiers(rows: &[&Observation]) -> Option<Rule> {
    let rates = experiment(rows, "simd-grid").into_iter();
    let rates = rates.filter_map(|row| Some((row, rate(value(row, "throughput")?)?)));
    let algorithms = grouped(rates, |(row, _)| name(row, "algorithm"));
    let best = |(_, rows): &(String, Vec<(&Observation, f64)>)| {
        let best = rows.iter().max_by(|one, other| one.1.total_cmp(&other.1));
        best.map_or_else(String::new, |(row, _)| name(row, "tier"))
    };
    let mut winners = grouped(algorithms.iter(), |rows| best(rows));
    winners.sort_by_key(|(_, algorithms)| std::cmp::Reverse(algorithms.len()));
    let (tier, won) = winners.first()?;
    let text = format!(
        "{tier} is the fastest tier for {} of {}.",
        won.len(),
        units::count(algorithms.len(), "algorithm")
    );
    Some(Rule { title: "Tier", text })
}

/// From which launch on a GPU does nearly its best.
pub(super) fn launch(rows: &[&Observation]) -> Option<Rule> {
    let rows = experiment(rows, "gpu-grid");
    let knee = |of_what: &str| {
        let knees = rows.iter().filter(|row| is(row, "knee of", of_what)).filter_map(|row| of(row, "knee"));
        knees.fold(None, |most: Option<f64>, knee| Some(most.map_or(knee, |most| most.max(knee))))
    };
    let (blocks, threads) = (knee("blocks")?, knee("threads")?);
    let device = &rows.first()?.subject_name;
    let text =
        format!("{device} is full with {blocks} blocks, of {threads} threads each (95 % of the best).");
    Some(Rule { title: "Launch", text })
}

/// How many messages in how many streams.
pub(super) fn streams(rows: &[&Observation]) -> Option<Rule> {
    let rows = experiment(rows, "streams");
    let best = |rows: &[&Observation]| {
        let rates = rows.iter().filter_map(|row| Some((*row, rate(value(row, "throughput")?)?)));
        let (row, rate) = rates.max_by(|one, other| one.1.total_cmp(&other.1))?;
        let (messages, streams) = (number(row, "messages")?, number(row, "streams")?);
        let streams = units::count(usize::try_from(whole(streams)).ok()?, "stream");
        Some(format!(
            "{messages} messages in {streams} to {} ({})",
            name(row, "operation"),
            units::rate(rate)
        ))
    };
    let parts: Vec<String> =
        grouped(rows, |row| name(row, "operation")).iter().filter_map(|(_, rows)| best(rows)).collect();
    let text = format!("Fastest with the way there and back: {}.", parts.join(", "));
    (!parts.is_empty()).then_some(Rule { title: "Streams", text })
}

/// Who does most for the power.
pub(super) fn energy(rows: &[&Observation]) -> Option<Rule> {
    let rows = experiment(rows, "energy");
    let metered = rows.iter().filter_map(|row| Some((row, of(row, "gross")?)));
    let (row, gross) = metered.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let net = of(row, "net").map_or_else(String::new, |net| {
        format!(", {} without what it takes when idle", units::significant(net))
    });
    let text = format!(
        "{} does most for a watt: {} Gbit/s{net} ({}).",
        row.subject_name,
        units::significant(gross),
        name(row, "algorithm")
    );
    Some(Rule { title: "Energy", text })
}
