//! How many threads, how long messages, at what price, and where somebody else is faster.

use cipherlane_record::{Verdict, statistics};

use super::Rule;
use crate::chart::Form;
use crate::machine::Machines;
use crate::row::Row;
use crate::section::grouped;
use crate::section::sweep::{self, Swept};
use crate::section::threads as scaling;
use crate::units;

/// From this part of the best rate on, longer messages do not pay.
const NEARLY: f64 = 0.9;

/// The fewest threads that reach the best throughput, in most jobs.
pub(super) fn threads(own: &[Row<'_>], machines: &Machines<'_>) -> Option<Rule> {
    let counts: Vec<(usize, usize, f64)> =
        scaling::groups(own).iter().filter_map(|rows| enough(rows)).collect();
    let mut rules = grouped(counts.iter(), |(threads, ..)| *threads);
    rules.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    let (threads, rows) = rules.first()?;
    let gains: Vec<f64> = rows.iter().map(|(_, _, gain)| *gain).collect();
    let host = machines.all()[own.first()?.machine].host;
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
        "{}{cores} {verdict} in {} of {}{beyond}.{gain}",
        units::count(*threads, "thread"),
        rows.len(),
        units::count(counts.len(), "job"),
    );
    Some(Rule { title: "Threads", text })
}

fn fastest<'r, 'a>(rows: &'r [Row<'a>]) -> Option<&'r Row<'a>> {
    rows.iter().max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))
}

/// The fewest threads that are enough, the most measured, and what they gain over the fewest. The fastest tier counts.
fn enough(rows: &[Row<'_>]) -> Option<(usize, usize, f64)> {
    let best = fastest(rows)?;
    let alike: Vec<_> =
        rows.iter().filter(|row| (&row.device, &row.tier) == (&best.device, &best.tier)).collect();
    let fewest = alike.iter().min_by_key(|row| row.threads)?;
    let most = alike.iter().map(|row| row.threads).max()?;
    let rates: Vec<(usize, f64)> = alike.iter().map(|row| (row.threads, row.bytes_per_second)).collect();
    let (chosen, rate) = super::fewest_enough(&rates)?;
    (fewest.threads < most).then(|| (chosen, most, rate / fewest.bytes_per_second))
}

/// From which size on messages reach nearly the best rate of a device: short ones are worth packing.
#[allow(clippy::cast_precision_loss)] // sizes, below 2^53
pub(super) fn size(own: &[Row<'_>]) -> Option<Rule> {
    let groups = sweep::groups(own, Swept::Size);
    let all = groups.iter().flat_map(|(_, rows)| sweep::series(rows, Swept::Size));
    let reach = |(_, rows): (_, Vec<Row<'_>>)| {
        let best = rows.iter().map(|row| row.bytes_per_second).fold(0.0, f64::max);
        let from = rows.iter().find(|row| row.bytes_per_second >= NEARLY * best)?;
        Some((from.contender(), from.message_bytes as f64))
    };
    let texts = grouped(all.filter_map(reach), |(contender, _)| contender.clone()).into_iter().map(
        |(contender, found)| {
            let sizes: Vec<f64> = found.iter().map(|(_, bytes)| *bytes).collect();
            format!("{} on {contender}", Form::Bytes.text(statistics::median(&sizes)))
        },
    );
    let text = texts.collect::<Vec<_>>().join(", ");
    (!text.is_empty()).then(|| Rule {
        title: "Message size",
        text: format!("90 % of the best rate is reached from these sizes on, by the median of jobs: {text}."),
    })
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
    let compared: Vec<_> = best.iter().filter_map(|row| Some((row, row.best_rival.as_ref()?))).collect();
    if compared.is_empty() {
        return None;
    }
    let mut slower: Vec<_> = compared.iter().filter(|(_, best)| best.verdict == Verdict::Slower).collect();
    slower.sort_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio));
    let faster = compared.iter().filter(|(_, best)| best.verdict == Verdict::Faster).count();
    let none = if slower.is_empty() { "none".to_owned() } else { slower.len().to_string() };
    let tally = format!(
        "cipherlane is faster than the best rival in {faster} of {}, slower in {none}",
        units::count(compared.len(), "row")
    );
    let worst = slower.first().map_or_else(String::new, |(row, best)| {
        let (ratio, device) = (1.0 / best.ratio, row.contender());
        format!(": {} is {ratio:.2} times as fast as {device} at {}", best.rival_name, row.does())
    });
    Some(Rule { title: "Rivals", text: format!("{tally}{worst}.") })
}

/// The rows of each job on a device by its fastest tier there.
fn of_fastest_tiers<'a>(own: &[Row<'a>]) -> Vec<Row<'a>> {
    let of_fastest = |(_, rows): (_, Vec<Row<'a>>)| {
        let best = fastest(&rows).copied();
        rows.into_iter().filter(move |row| best.is_some_and(|best| best.tier == row.tier))
    };
    grouped(own.iter().copied(), |row| {
        (row.job(), row.message_bytes, row.threads, row.device.clone(), row.machine)
    })
    .into_iter()
    .flat_map(of_fastest)
    .collect()
}
