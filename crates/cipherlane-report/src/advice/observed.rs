//! What experiments found out that a user can act on.

use cipherlane_record::{Observation, statistics};

use super::{Rule, Tally};
use crate::beside::{rate, throughput, value};
use crate::crossover::{self, Lead};
use crate::level::{Rate, Standing, TOO_FEW};
use crate::row::Row;
use crate::section::grouped;
use crate::{beside, level, units};

/// The number of a value.
pub(super) fn of(row: &Observation, name: &str) -> Option<f64> {
    value(row, name)?.value
}

pub(super) fn name(row: &Observation, axis: &str) -> String {
    row.axes.get(axis).map_or_else(String::new, ToString::to_string)
}

pub(super) fn experiment<'a>(rows: &[&'a Observation], name: &str) -> Vec<&'a Observation> {
    rows.iter().filter(|row| row.experiment == name).copied().collect()
}

/// Things by the device that they are of, which `device` knows by its id and its name. The name tells it, unless several
/// have the same.
pub(super) fn by_device<T>(items: Vec<T>, device: impl Fn(&T) -> (String, String)) -> Vec<(String, Vec<T>)> {
    let devices = grouped(items, device);
    let names: Vec<String> = devices.iter().map(|((_, name), _)| name.clone()).collect();
    let told = |(id, name): (String, String)| {
        let alike = names.iter().filter(|other| **other == name).count();
        if alike > 1 { format!("{name} ({id})") } else { name }
    };
    devices.into_iter().map(|(device, items)| (told(device), items)).collect()
}

/// The rows of an experiment by their devices: what one reached is nothing that another can.
fn devices<'a>(rows: &[&'a Observation], name: &str) -> Vec<(String, Vec<&'a Observation>)> {
    by_device(experiment(rows, name), |row| (row.subject.clone(), row.subject_name.clone()))
}

/// A rule of a sentence for each device that has one.
pub(super) fn sentences(
    title: &'static str,
    of_devices: impl Iterator<Item = Option<String>>,
) -> Option<Rule> {
    let text = of_devices.flatten().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(Rule { title, text })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sizes and counts, below 2^53
pub(super) fn whole(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

/// From which size on the way to the device and back is worth it.
pub(super) fn offload(rows: &[&Observation]) -> Option<Rule> {
    let devices = devices(rows, "offload");
    let parts: Vec<String> = devices.iter().flat_map(|(device, rows)| crossovers(device, rows)).collect();
    let text = format!("With the way there and back, {}.", parts.join("; "));
    (!parts.is_empty()).then_some(Rule { title: "Offload", text })
}

/// From which size on a device is faster, for the algorithms of which both times are known.
fn crossovers(device: &str, rows: &[&Observation]) -> Vec<String> {
    let timed = |row: &&Observation| {
        let standing = beside::offloaded(row)?;
        Some((name(row, "algorithm"), (whole(row.number("bytes")?), standing)))
    };
    let times = rows.iter().filter_map(timed);
    let algorithms = grouped(times, |(algorithm, _)| algorithm.clone()).into_iter();
    let leads = algorithms.filter_map(|(name, times)| {
        let mut times: Vec<(u64, Standing)> = times.into_iter().map(|(_, time)| time).collect();
        // Where a size was timed twice, the worse time counts.
        times.sort_unstable_by_key(|&(bytes, standing)| (bytes, standing != Standing::Faster));
        let (largest, _) = *times.last()?;
        let lead = crossover::lead(&times)?;
        // Who never leads is behind as far as was measured.
        let leads = !matches!(lead, Lead::Level | Lead::Never);
        Some(((lead, if leads { 0 } else { largest }), name))
    });
    let mut found = grouped(leads, |(lead, _)| *lead);
    found.sort_by_key(|(lead, _)| *lead);
    let part = |((lead, largest), algorithms): ((Lead<u64>, u64), Vec<(_, String)>)| {
        let names = algorithms.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ");
        match lead {
            Lead::Everywhere => format!("{device} is faster than a CPU thread at every size for {names}"),
            Lead::From(from) => {
                format!("{device} is faster than a CPU thread from {} on for {names}", units::bytes(from))
            }
            Lead::Unsettled => {
                format!("for {names} there is no size from which on {device} stays faster than a CPU thread")
            }
            Lead::Untold => {
                format!("whether {device} is faster than a CPU thread is undecided for {TOO_FEW} for {names}")
            }
            Lead::Level => {
                let largest = units::bytes(largest);
                format!("for {names} the CPU is level with {device} or faster up to {largest}")
            }
            Lead::Never => {
                format!("for {names} the CPU is faster than {device} up to {}", units::bytes(largest))
            }
        }
    };
    found.into_iter().map(part).collect()
}

/// What the way to a device costs, where both were measured.
pub(super) fn transfers(own: &[Row<'_>]) -> Option<Rule> {
    let pairs = own.iter().filter_map(|row| Some((row, beside::brought(row, own)?)));
    let times = pairs.map(|(row, brought)| (row.bytes_per_second / brought.bytes_per_second, row)).collect();
    let devices = by_device(times, |(_, row)| (row.device.clone(), row.device_name.clone()));
    let sentence = |(device, times): (String, Vec<(f64, &Row<'_>)>)| {
        let ratios: Vec<f64> = times.iter().map(|(ratio, _)| *ratio).collect();
        Some(format!(
            "Leave data in the memory of {device}: there it is {} times as fast as with the way there and back \
             (median of {}).",
            units::significant(statistics::median(&ratios)),
            units::count(times.len(), "job")
        ))
    };
    sentences("Transfers", devices.into_iter().map(sentence))
}

/// What the whole of a device is worth.
pub(super) fn against(rows: &[&Observation]) -> Option<Rule> {
    let sentence = |(device, rows): (String, Vec<&Observation>)| {
        let row = rows.iter().find(|row| row.is_at("CPU kernel", "best")).or_else(|| rows.first())?;
        let times = of(row, "GPU by CPU")?;
        let size = row.number("message bytes").map_or_else(String::new, |bytes| units::bytes(whole(bytes)));
        Some(format!(
            "With data in its memory {device} does {} times what all CPUs do with their best kernel ({}, {size}).",
            units::significant(times),
            name(row, "algorithm")
        ))
    };
    sentences("All of both", devices(rows, "core-vs-core").into_iter().map(sentence))
}

/// The fewest threads that reach the best throughput.
pub(super) fn threads(rows: &[&Observation]) -> Option<Rule> {
    let rows = experiment(rows, "cpu-threads");
    let special: Vec<(u64, f64)> = rows
        .iter()
        .filter(|row| row.is_at("kernel", "special"))
        .filter_map(|row| Some((whole(row.number("threads")?), of(row, "gain")?)))
        .collect();
    let (threads, gain) = super::fewest_enough(&special)?;
    let most = special.iter().map(|(threads, _)| *threads).max()?;
    let more =
        if most > threads { format!("; more, up to {most}, gain less than 3 %") } else { String::new() };
    let text = format!(
        "{} reach the most with special instructions: {} times one thread{more}.",
        units::count(usize::try_from(threads).ok()?, "thread"),
        units::significant(gain)
    );
    Some(Rule { title: "Threads", text })
}

/// The fastest tier of each algorithm.
pub(super) fn tiers(rows: &[&Observation]) -> Option<Rule> {
    let rates = experiment(rows, "simd-grid").into_iter();
    let rates = rates.filter_map(|row| Some((row, throughput(row, value(row, "throughput")?)?)));
    let algorithms = grouped(rates, |(row, _)| name(row, "algorithm"));
    let tier = |(row, _): &(&Observation, Rate)| name(row, "tier");
    let contests: Vec<_> =
        algorithms.iter().filter_map(|(_, rows)| level::fastest(rows, |(_, rate)| *rate, tier)).collect();
    super::tier(&Tally::of(&contests, tier), "for", &units::count(contests.len(), "algorithm"))
}

/// From which launch on a GPU does nearly its best.
pub(super) fn launch(rows: &[&Observation]) -> Option<Rule> {
    let sentence = |(device, rows): (String, Vec<&Observation>)| {
        let knee = |of_what: &str| {
            let knees =
                rows.iter().filter(|row| row.is_at("knee of", of_what)).filter_map(|row| of(row, "knee"));
            knees.fold(None, |most: Option<f64>, knee| Some(most.map_or(knee, |most| most.max(knee))))
        };
        let (blocks, threads) = (knee("blocks")?, knee("threads")?);
        Some(format!("{device} is full with {blocks} blocks, of {threads} threads each (95 % of the best)."))
    };
    sentences("Launch", devices(rows, "gpu-grid").into_iter().map(sentence))
}

/// How many messages in how many streams.
pub(super) fn streams(rows: &[&Observation]) -> Option<Rule> {
    let best = |rows: &[&Observation]| {
        let rates = rows.iter().filter_map(|row| Some((*row, rate(value(row, "throughput")?)?)));
        let (row, rate) = rates.max_by(|one, other| one.1.total_cmp(&other.1))?;
        let (messages, streams) = (row.number("messages")?, row.number("streams")?);
        let streams = units::count(usize::try_from(whole(streams)).ok()?, "stream");
        Some(format!(
            "{messages} messages in {streams} to {} ({})",
            name(row, "operation"),
            units::rate(rate)
        ))
    };
    let devices = devices(rows, "streams");
    let several = devices.len() > 1;
    let sentence = |(device, rows): (String, Vec<&Observation>)| {
        let operations = grouped(rows, |row| name(row, "operation"));
        let parts: Vec<String> = operations.iter().filter_map(|(_, rows)| best(rows)).collect();
        let on = if several { format!(", on {device}") } else { String::new() };
        let text = format!("Fastest with the way there and back{on}: {}.", parts.join(", "));
        (!parts.is_empty()).then_some(text)
    };
    sentences("Streams", devices.into_iter().map(sentence))
}

/// Who does most for the power.
pub(super) fn energy(rows: &[&Observation]) -> Option<Rule> {
    let devices = devices(rows, "energy");
    let metered = devices
        .iter()
        .flat_map(|(device, rows)| rows.iter().filter_map(move |row| Some((device, row, of(row, "gross")?))));
    let (device, row, gross) = metered.max_by(|one, other| one.2.total_cmp(&other.2))?;
    let net = of(row, "net").map_or_else(String::new, |net| {
        format!(", {} without what it takes when idle", units::significant(net))
    });
    let text = format!(
        "{device} does most for a watt: {} Gbit/s{net} ({}).",
        units::significant(gross),
        name(row, "algorithm")
    );
    Some(Rule { title: "Energy", text })
}
