//! Where the time went, and what energy it took.

use cipherlane_record::{Energy, Transfer};

use super::grouped;
use crate::chart::{Axis, Bar, Bars, Chart, Group, Plot};
use crate::machine::Machines;
use crate::row::Row;
use crate::{beside, units};

/// More bars than these are not read by anybody; the table has all.
pub(super) const MOST_BARS: usize = 24;

/// Transfers and kernel as parts of the time that they take together.
pub(super) fn times(rows: &[Row<'_>], machines: &Machines<'_>) -> Option<Chart> {
    // Where the transfers are part of the throughput, these rows tell; of resident data the copies are beside the point.
    let timed = || rows.iter().filter(|row| row.verified && row.times.is_some());
    let whole = timed().any(|row| row.scope.transfer == Transfer::Included);
    let timed: Vec<Row<'_>> =
        timed().filter(|row| !whole || row.scope.transfer == Transfer::Included).copied().collect();
    let alike = grouped(timed.iter().copied(), |row| label(row, machines));
    let named = |(name, rows): &(String, Vec<Row<'_>>)| {
        // Rows of a sweep differ in nothing else.
        let name = |row: &Row<'_>| if rows.len() > 1 { name.clone() + &launch(row) } else { name.clone() };
        rows.iter().filter_map(|row| parts(row, name(row))).collect::<Vec<_>>()
    };
    let groups: Vec<Group> = alike.iter().flat_map(named).collect();
    let shown = groups.len().min(MOST_BARS);
    let mean = |part: usize| {
        let shares = groups.iter().filter_map(|group| group.bars[part].as_ref());
        #[allow(clippy::cast_precision_loss)] // rows
        let count = groups.len() as f64;
        shares.map(|bar| bar.value).sum::<f64>() / count
    };
    (!groups.is_empty()).then(|| Chart {
        title: "Where the time goes".to_owned(),
        finding: format!(
            "On average {:.0} % of the device's time is kernels, {:.0} % moves data to it and {:.0} % back.{}",
            mean(1),
            mean(0),
            mean(2),
            more(groups.len(), shown)
        ),
        plot: Plot::Bars(Bars {
            value: Axis::linear("Part of the time on the device (%)"),
            series: ["to device", "kernel", "to host"].map(str::to_owned).to_vec(),
            groups: groups[..shown].to_vec(),
            stacked: true,
            whole: true,
        }),
    })
}

/// What a chart of `shown` bars leaves to the table.
pub(super) fn more(all: usize, shown: usize) -> String {
    if all > shown { format!(" {} more are in the table only.", all - shown) } else { String::new() }
}

fn parts(row: &Row<'_>, label: String) -> Option<Group> {
    let times = row.times?;
    let seconds = [times.to_device_seconds, times.kernel_seconds, times.to_host_seconds];
    let sum = times.total_seconds();
    let bar = |part: f64| Bar { value: 100.0 * part / sum, interval: None, note: units::seconds(part) };
    (sum > 0.0).then(|| Group {
        label,
        bars: seconds.map(|part| Some(bar(part))).to_vec(),
        published: Vec::new(),
    })
}

/// What a row does, on what, and what disturbed it: `A: aes-128-gcm seal, 16 KiB, 64 messages on cuda:0`.
pub(super) fn label(row: &Row<'_>, machines: &Machines<'_>) -> String {
    let machine = machines.prefix(row.machine);
    let messages = if row.messages == 1 { String::new() } else { format!(", {}", row.messages_text()) };
    format!("{machine}{}{messages} on {}{}", row.does(), row.contender(), row.disturbed_text())
}

/// Data in a device's memory, and brought there and fetched.
pub(super) fn transfers(rows: &[Row<'_>], machines: &Machines<'_>) -> Option<Chart> {
    let verified: Vec<Row<'_>> = rows.iter().filter(|row| row.verified).copied().collect();
    let pairs: Vec<(Row<'_>, Row<'_>)> =
        verified.iter().filter_map(|row| Some((*row, beside::brought(row, &verified)?))).collect();
    let shown = pairs.len().min(MOST_BARS);
    let bar = |row: &Row<'_>| {
        Some(Bar { value: row.bytes_per_second / 1e9, interval: row.ends(1e9), note: String::new() })
    };
    let group = |(resident, brought): &(Row<'_>, Row<'_>)| Group {
        label: label(resident, machines),
        bars: vec![bar(resident), bar(brought)],
        published: Vec::new(),
    };
    let best =
        pairs.iter().max_by(|one, other| one.0.bytes_per_second.total_cmp(&other.0.bytes_per_second))?;
    let rates = pairs.iter().flat_map(|(one, other)| [one.bytes_per_second, other.bytes_per_second]);
    Some(Chart {
        title: "Data in the memory of the device, and brought there and back".to_owned(),
        finding: format!(
            "Fastest in its memory: {} with {}; {} with the way there and back.{}",
            label(&best.0, machines),
            units::rate(best.0.bytes_per_second),
            units::rate(best.1.bytes_per_second),
            more(pairs.len(), shown)
        ),
        plot: Plot::Bars(Bars {
            value: Axis::lengths("Throughput (GB/s)", rates.map(|rate| rate / 1e9)),
            series: ["in its memory", "there and back"].map(str::to_owned).to_vec(),
            groups: pairs[..shown].iter().map(group).collect(),
            stacked: false,
            whole: false,
        }),
    })
}

/// Blocks, threads and streams.
fn launch(row: &Row<'_>) -> String {
    row.geometry.map_or_else(String::new, |_| format!(", {}", row.launch_text()))
}

/// Bits for a joule: of all energy, and of what is beyond idle.
pub(super) fn energy(rows: &[Row<'_>], machines: &Machines<'_>) -> Option<Chart> {
    let metered = |row: &Row<'_>| {
        let energy = row.energy.as_ref().filter(|_| row.verified)?;
        Some(per_joule(row, energy, machines))
    };
    let mut groups: Vec<(f64, Group)> = rows.iter().filter_map(metered).collect();
    groups.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (most, best) = groups.first()?;
    let finding = format!(
        "Most for the energy: {} with {} Gbit for a joule, idle power included.{}",
        best.label,
        units::significant(*most),
        more(groups.len(), MOST_BARS)
    );
    let groups = groups.into_iter().take(MOST_BARS).map(|(_, group)| group).collect();
    Some(Chart {
        title: "Energy".to_owned(),
        finding,
        plot: Plot::Bars(Bars {
            value: Axis::linear("Message text for a joule (Gbit/J = Gbit/s per W)"),
            series: ["all energy", "without idle power"].map(str::to_owned).to_vec(),
            groups,
            stacked: false,
            whole: false,
        }),
    })
}

fn per_joule(row: &Row<'_>, energy: &Energy, machines: &Machines<'_>) -> (f64, Group) {
    let bar = |bits: f64, note: String| Bar { value: bits / 1e9, interval: None, note };
    let watts = format!("({} W)", units::significant(energy.watts()));
    let gross = bar(energy.bits_per_joule(), watts);
    let net = energy.net_bits_per_joule().map(|bits| bar(bits, String::new()));
    let threads = units::count(row.threads, "thread");
    let label = format!(
        "{}{} on {}, {threads}{}",
        machines.prefix(row.machine),
        row.does(),
        row.contender(),
        row.disturbed_text()
    );
    (gross.value, Group { label, bars: vec![Some(gross), net], published: Vec::new() })
}
