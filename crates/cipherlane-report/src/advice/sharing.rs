//! How many threads each tier takes, and what a thread loses beside others (study 003).

use std::collections::BTreeSet;

use cipherlane_record::{Observation, statistics};

use super::Rule;
use super::observed::{experiment, name, of, whole};
use crate::section::grouped;
use crate::units;

/// What a machine can be set to: each setting has threads of its own to take.
const SWITCHES: [&str; 2] = ["turbo", "hyper-threading"];

/// A tier, with its rows on all algorithms.
type Tier<'a> = (String, Vec<&'a Observation>);

/// The threads to take by tier, and where the rest of a thread's rate goes.
pub(super) fn threads(rows: &[&Observation]) -> Option<Rule> {
    let rows = experiment(rows, "simd-grid");
    let states = grouped(rows, |row| SWITCHES.map(|switch| name(row, switch)));
    let several = states.len() > 1;
    let text = |(state, rows): ([String; 2], Vec<&Observation>)| {
        let tiers = grouped(rows, |row| name(row, "tier"));
        let take = take(&tiers)?;
        let state = if several { format!("{}: ", spoken(&state)) } else { String::new() };
        let sentences = [Some(format!("{state}{take}")), rule(&tiers), losses(&tiers)];
        Some(sentences.into_iter().flatten().collect::<Vec<_>>().join(" "))
    };
    let text = states.into_iter().filter_map(text).collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(Rule { title: "Threads by tier", text })
}

/// `Turbo on, hyper-threading off`.
fn spoken([turbo, siblings]: &[String; 2]) -> String {
    format!("Turbo {turbo}, hyper-threading {siblings}")
}

/// The number of threads that most algorithms take, tiers that agree together.
fn take(tiers: &[Tier<'_>]) -> Option<String> {
    let most = |(tier, rows): &Tier<'_>| {
        let all: Vec<u64> = rows.iter().filter_map(|row| Some(whole(of(row, "take threads")?))).collect();
        let count = |threads: u64| all.iter().filter(|other| **other == threads).count();
        // Of numbers that are as frequent the smaller leaves more room for others.
        let best = all.iter().copied().max_by_key(|&threads| (count(threads), std::cmp::Reverse(threads)))?;
        Some(((best, count(best), all.len()), tier.clone()))
    };
    let alike = grouped(tiers.iter().filter_map(most), |(found, _)| *found);
    let part = |((threads, agree, all), tiers): ((u64, usize, usize), Vec<(_, String)>)| {
        let tiers = tiers.into_iter().map(|(_, tier)| tier).collect::<Vec<_>>().join(", ");
        let threads = units::count(usize::try_from(threads).unwrap_or(usize::MAX), "thread");
        format!("{threads} with {tiers} ({agree} of {})", units::count(all, "algorithm"))
    };
    let parts: Vec<String> = alike.into_iter().map(part).collect();
    (!parts.is_empty()).then(|| format!("Take {}.", parts.join("; ")))
}

/// Whether the study's rule holds. Where no CPUs share a core there is nothing to choose.
fn rule(tiers: &[Tier<'_>]) -> Option<String> {
    let judged: Vec<(&str, bool)> = tiers
        .iter()
        .flat_map(|(tier, rows)| rows.iter().filter_map(|row| Some((tier.as_str(), holds(tier, row)?))))
        .collect();
    if judged.is_empty() {
        return untried(tiers).map(str::to_owned);
    }
    let held = judged.iter().filter(|(_, holds)| *holds).count();
    let not: BTreeSet<&str> = judged.iter().filter(|(_, holds)| !holds).map(|(tier, _)| *tier).collect();
    let not = if not.is_empty() {
        String::new()
    } else {
        format!(", not always for {}", not.into_iter().collect::<Vec<_>>().join(", "))
    };
    Some(format!(
        "The rule of study 003 (code with AVX or AVX-512 takes a thread per core, plain code and SSE all logical CPUs) \
         holds in {held} of {} rows{not}.",
        judged.len()
    ))
}

/// Why nothing tells whether it holds.
fn untried(tiers: &[Tier<'_>]) -> Option<&'static str> {
    let mut rows = tiers.iter().flat_map(|(_, rows)| rows);
    let row = rows.find(|row| of(row, "take threads").is_some())?;
    Some(if name(row, "hyper-threading") == "off" || row.host.smt == Some(false) {
        "No CPUs share a core in this state, as far as the system shows: a thread per core is all there is."
    } else {
        "Whether CPUs that share a core are worth a thread each was not measured."
    })
}

/// Whether a row takes the threads that the study's rule says, if both numbers were tried.
fn holds(tier: &str, row: &Observation) -> Option<bool> {
    of(row, "all CPUs by a thread per core")?;
    let (take, cores) = (whole(of(row, "take threads")?), u64::try_from(row.host.physical_cores?).ok()?);
    Some(if tier.starts_with("avx") { take == cores } else { take > cores })
}

/// Where the rate of a thread goes on the most threads: medians over the algorithms.
fn losses(tiers: &[Tier<'_>]) -> Option<String> {
    let all = tiers.iter().flat_map(|(_, rows)| rows).filter_map(|row| row.number("threads"));
    let most = all.fold(1.0, f64::max);
    let part = |(tier, rows): &Tier<'_>| {
        let there = rows.iter().filter(|row| row.number("threads") == Some(most));
        let there: Vec<&Observation> = there.copied().collect();
        let (clock, sharing) = (median(&there, "lost to the clock")?, median(&there, "lost to sharing")?);
        let sibling = median(rows, "a thread loses to its sibling");
        let sibling = sibling.map_or_else(String::new, |lost| format!(" ({lost} to its sibling alone)"));
        Some(format!("{clock} and {sharing}{sibling} with {tier}"))
    };
    let parts: Vec<String> = tiers.iter().filter_map(part).collect();
    (most > 1.0 && !parts.is_empty()).then(|| {
        format!("Of {most} threads each loses to the clock and to sharing: {} (medians).", parts.join("; "))
    })
}

/// `6.3 %`.
fn median(rows: &[&Observation], of_what: &str) -> Option<String> {
    let values: Vec<f64> = rows.iter().filter_map(|row| of(row, of_what)).collect();
    if values.is_empty() {
        return None;
    }
    // Rounded before it is written, a small gain is no `-0.0`.
    let tenths = (10.0 * statistics::median(&values)).round() + 0.0;
    Some(format!("{:.1} %", tenths / 10.0))
}
