//! How many threads, how long messages, at what price, and where somebody else is faster.

use std::collections::BTreeMap;

use cipherlane_record::{Verdict, statistics};

use super::Rule;
use crate::against::Against;
use crate::chart::Form;
use crate::row::{Kind, Row};
use crate::section::grouped;
use crate::section::sweep::{self, Swept};
use crate::section::threads as scaling;
use crate::units;

/// From this part of the best rate on, longer messages do not pay.
const NEARLY: f64 = 0.9;

/// The fewest threads that reach the best throughput, in most jobs.
pub(super) fn threads(own: &[Row<'_>]) -> Option<Rule> {
    let swept: Vec<Vec<Row<'_>>> =
        scaling::groups(own).into_iter().filter(|rows| enough(rows).is_some()).collect();
    let counts: Vec<(usize, usize, f64)> = swept.iter().filter_map(|rows| enough(rows)).collect();
    let mut rules = grouped(counts.iter(), |(threads, ..)| *threads);
    rules.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    let (threads, rows) = rules.first()?;
    let gains: Vec<f64> = rows.iter().map(|(_, _, gain)| *gain).collect();
    let host = &own.first()?.host;
    let most = rows.iter().map(|(_, most, _)| *most).max()?;
    let (verdict, beyond) = match *threads {
        1 => ("is enough", format!("; more, up to {most}, gain less than 3 %")),
        threads if threads < most => ("are enough", format!("; more, up to {most}, gain less than 3 %")),
        _ => ("are the fastest measured", String::new()),
    };
    // One thread is the fewest itself.
    let gain = if *threads == 1 {
        String::new()
    } else {
        let gain = units::significant(statistics::median(&gains));
        format!(" They are {gain} times as fast as the fewest measured (median).")
    };
    let cores = match host.physical_cores {
        Some(cores) if cores == *threads => ", one per core,",
        _ if host.logical_cores == *threads => ", one per logical CPU,",
        _ => "",
    };
    let text = format!(
        "{}{cores} {verdict} in {} of {}{beyond}.{gain}{}",
        units::count(*threads, "thread"),
        rows.len(),
        units::count(counts.len(), "job"),
        super::of_builds(&swept.concat(), "the fastest counts for each number of threads"),
    );
    Some(Rule { title: "Threads", text })
}

fn fastest<'r, 'a>(rows: &'r [Row<'a>]) -> Option<&'r Row<'a>> {
    rows.iter().max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))
}

/// The fewest threads that are enough, the most measured, and what they gain over the fewest. The fastest tier counts, and
/// the fastest row of each number of threads.
fn enough(rows: &[Row<'_>]) -> Option<(usize, usize, f64)> {
    let kinds = [Kind::Device, Kind::Cache];
    let best = fastest(rows)?.traits(&kinds);
    let mut rates: BTreeMap<usize, f64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.traits(&kinds) == best) {
        let rate = rates.entry(row.threads).or_default();
        *rate = rate.max(row.bytes_per_second);
    }
    let rates: Vec<(usize, f64)> = rates.into_iter().collect();
    let ((fewest, least), (most, _)) = (*rates.first()?, *rates.last()?);
    let (chosen, rate) = super::fewest_enough(&rates)?;
    (fewest < most).then(|| (chosen, most, rate / least))
}

/// Where the rate of longer and longer messages comes near its best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    /// At this size and all larger ones.
    From(u64),
    /// At this size, but not at the largest.
    First(u64),
}

/// From which size on messages reach nearly the best rate of a device: short ones are worth packing.
pub(super) fn size(own: &[Row<'_>]) -> Option<Rule> {
    let groups = sweep::groups(own, Swept::Size);
    let all = groups.iter().flat_map(|(_, rows)| sweep::series(rows, Swept::Size));
    let found: Vec<(String, Reached)> =
        all.filter_map(|(_, rows)| Some((rows[0].contender(), reached(&rows)?))).collect();
    let kept = medians(&found, |one| if let Reached::From(bytes) = one { Some(bytes) } else { None });
    let lost = medians(&found, |one| if let Reached::First(bytes) = one { Some(bytes) } else { None });
    let told = [
        ("90 % of the best rate is reached from these sizes on", kept),
        (
            "90 % of the best rate is first reached at these sizes, and longer messages fall below it again",
            lost,
        ),
    ];
    let told = told.into_iter().filter(|(_, sizes)| !sizes.is_empty());
    let text = told.map(|(what, sizes)| format!("{what}, by the median of jobs: {sizes}."));
    let text = text.collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(Rule { title: "Message size", text })
}

/// Of rows by rising size.
fn reached(rows: &[Row<'_>]) -> Option<Reached> {
    let best = rows.iter().map(|row| row.bytes_per_second).fold(0.0, f64::max);
    let is_near = |row: &Row<'_>| row.bytes_per_second >= NEARLY * best;
    let below = rows.iter().rposition(|row| !is_near(row));
    match rows.get(below.map_or(0, |place| place + 1)) {
        Some(row) => Some(Reached::From(row.message_bytes)),
        None => rows.iter().find(|row| is_near(row)).map(|row| Reached::First(row.message_bytes)),
    }
}

/// `2560 B on cpu avx512, 16 KiB on cuda:0`: the medians of what `of` takes.
#[allow(clippy::cast_precision_loss)] // sizes, below 2^53
fn medians(found: &[(String, Reached)], of: impl Fn(Reached) -> Option<u64>) -> String {
    let sizes = found.iter().filter_map(|(contender, one)| Some((contender, of(*one)? as f64)));
    let text = |(contender, sizes): (&String, Vec<(&String, f64)>)| {
        let sizes: Vec<f64> = sizes.iter().map(|(_, bytes)| *bytes).collect();
        format!("{} on {contender}", Form::Bytes.text(statistics::median(&sizes)))
    };
    grouped(sizes, |(contender, _)| *contender).into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Who does most for the energy.
pub(super) fn energy(own: &[Row<'_>]) -> Option<Rule> {
    let metered = own.iter().filter_map(|row| Some((row, row.energy.as_ref()?.bits_per_joule())));
    let (row, bits) = metered.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let text = format!(
        "{} does most for a joule: {} Gbit, idle power included ({}).",
        row.contender(),
        units::significant(bits / 1e9),
        row.does()
    );
    Some(Rule { title: "Energy", text })
}

/// Where a rival is faster, which a reader wants to know first. Tiers that somebody insisted on do not count beside a faster
/// one: rivals have all of the CPU's instructions there.
pub(super) fn rivals(own: &[Row<'_>]) -> Option<Rule> {
    let best = of_fastest_tiers(own);
    let against = Against::of(&best);
    let slower = best.iter().filter(|row| row.verdict() == Some(Verdict::Slower));
    let worst = slower
        .filter_map(|row| Some((row, row.best_rival.as_ref()?)))
        .min_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio));
    let worst = worst.map_or_else(String::new, |(row, best)| {
        let (ratio, device) = (1.0 / best.ratio, row.contender());
        format!(": {} is {ratio:.2} times as fast as {device} at {}", best.rival_name, row.does())
    });
    let builds = super::of_builds(&best, "a point that several measured counts for each");
    let text = format!("cipherlane is {}{worst}.{builds}", against.text());
    (against.met > 0).then_some(Rule { title: "Rivals", text })
}

/// The rows of each job on a device by its fastest tier there.
fn of_fastest_tiers<'a>(own: &[Row<'a>]) -> Vec<Row<'a>> {
    let of_fastest = |(_, rows): (_, Vec<Row<'a>>)| {
        let best = fastest(&rows).copied();
        rows.into_iter().filter(move |row| best.is_some_and(|best| best.tier == row.tier))
    };
    grouped(own.iter().copied(), |row| {
        (row.job(), row.message_bytes, row.threads, row.device.clone(), row.machine, row.is_flushed())
    })
    .into_iter()
    .flat_map(of_fastest)
    .collect()
}
