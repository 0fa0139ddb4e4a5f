//! What other work beside it costs a device (study 002).

use cipherlane_record::{Observation, statistics};

use super::Rule;
use super::observed::{by_device, name, of, sentences, whole};
use crate::section::grouped;
use crate::units;

/// The experiments whose rows say it, and the quantity.
const EXPERIMENTS: [&str; 3] = ["cpu-load", "gpu-load", "both-loads"];
const LONGER: &str = "t_total longer by";

/// What is loaded: the CPU, the device.
type Loaded = (bool, bool);

/// How much longer all takes under a load of the CPU, of the device, and of both.
pub(super) fn loads(rows: &[&Observation]) -> Option<Rule> {
    let loaded = rows.iter().filter(|row| EXPERIMENTS.contains(&row.experiment.as_str()));
    let loaded = loaded.filter(|row| of(row, LONGER).is_some() && kind(row) != (false, false));
    let devices = by_device(loaded.copied().collect(), |row| (row.subject.clone(), row.subject_name.clone()));
    let sentence = |(device, rows): (String, Vec<&Observation>)| {
        let parts: Vec<String> =
            grouped(rows, |row| kind(row)).iter().filter_map(|(kind, rows)| part(*kind, rows)).collect();
        (!parts.is_empty()).then(|| format!("What {device} does takes longer {}.", parts.join("; ")))
    };
    sentences("Loads", devices.into_iter().map(sentence))
}

fn kind(row: &Observation) -> Loaded {
    let is_loaded = |axis: &str| row.number(axis).is_some_and(|load| load > 0.0);
    (is_loaded("cpu load"), is_loaded("device load"))
}

/// The typical cost and the largest one with its row: both can matter, as small work can wait for long.
fn part((cpu, device): Loaded, rows: &[&Observation]) -> Option<String> {
    let costs: Vec<f64> = rows.iter().filter_map(|row| of(row, LONGER)).collect();
    let (row, most) = rows
        .iter()
        .filter_map(|row| Some((*row, of(row, LONGER)?)))
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    let what = match (cpu, device) {
        (true, true) => "the CPU and the device",
        (true, false) => "the CPU",
        _ => "the device",
    };
    let size =
        row.number("bytes").map_or_else(String::new, |bytes| format!(", {}", units::bytes(whole(bytes))));
    Some(format!(
        "under load of {what} by {} (median of {}) and by {} at most ({}{size}, {})",
        percent(statistics::median(&costs)),
        units::count(costs.len(), "row"),
        percent(most),
        name(row, "algorithm"),
        loads_of(row)
    ))
}

/// What is no longer than without the load differs by chance.
fn percent(longer: f64) -> String {
    if longer > 0.0 { format!("{} %", units::significant(longer)) } else { "nothing".to_owned() }
}

/// `device load 50 %, 24.0 % reached`.
fn loads_of(row: &Observation) -> String {
    let load = |axis: &str| {
        let asked = row.number(axis).filter(|load| *load > 0.0)?;
        let reached = of(row, &format!("{axis} reached"));
        let reached =
            reached.map_or_else(String::new, |load| format!(", {} % reached", units::significant(load)));
        Some(format!("{axis} {} %{reached}", whole(asked)))
    };
    ["cpu load", "device load"].into_iter().filter_map(load).collect::<Vec<_>>().join(", ")
}
