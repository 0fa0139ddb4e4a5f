//! Observed values with their places, as charts take them.

use std::collections::BTreeSet;

use cipherlane_record::{Axis as Place, Interval, Observation, Value};

use crate::beside::Observed;
use crate::machine::Machines;
use crate::section::grouped;
use crate::subjects::Subjects;
use crate::{beside, level, units};

/// Not an axis of a record: which quantity it is.
pub(super) const VALUE: &str = "value";
/// Not an axis of a record: what was observed.
pub(super) const SUBJECT: &str = "subject";
/// Not an axis of a record: the machine that it was observed on.
const MACHINE: &str = "machine of the record";
/// An axis of some records; of others the second part of a kernel's name.
const TIER: &str = "tier";
/// The axis that says which kernel ran, which the tier is a part of.
const KERNEL: &str = "kernel";
/// Which of an experiment's sweeps a row belongs to: pictures show one.
const SWEEP: &str = "sweep";

/// An observed value with its row.
#[derive(Clone, Debug)]
pub(super) struct Seen<'a> {
    pub(super) machine: usize,
    pub(super) row: &'a Observation,
    /// What was observed, without the signs of registered names.
    pub(super) subject: String,
    pub(super) value: &'a Value,
    pub(super) unit: String,
    pub(super) number: f64,
    pub(super) interval: Option<(f64, f64)>,
    /// Who published the like, and what.
    pub(super) published: Vec<(String, f64)>,
    /// How many older values of the same there are, which only the table has.
    pub(super) repeats: usize,
}

/// All values that are numbers, row by row, but those of wrong results. Of what was observed repeatedly the newest.
pub(super) fn all<'a>(rows: &[Observed<'a>]) -> Vec<Seen<'a>> {
    let subjects = Subjects::of(rows);
    let of_row = |&(machine, row): &Observed<'a>| {
        let subject = subjects.name((machine, row)).replace("(R)", "").replace("(TM)", "");
        row.values.iter().filter_map(move |value| Seen::new((machine, row), &subject, value))
    };
    newest(rows.iter().filter(|(_, row)| !beside::is_wrong(row)).flat_map(of_row).collect::<Vec<_>>())
}

/// The newest of those that stand at one place: charts have room for one there.
fn newest<'a>(seen: Vec<Seen<'a>>) -> Vec<Seen<'a>> {
    let alike = grouped(seen, |one| {
        let axes: Vec<String> = one.row.axes.iter().map(|(axis, place)| format!("{axis}={place}")).collect();
        let subject = (one.row.subject.as_str(), one.row.subject_name.as_str());
        (one.machine, subject, axes, one.value.name.as_str(), one.value.unit.as_str())
    });
    let newest = |(_, alike): (_, Vec<Seen<'a>>)| {
        let repeats = alike.len() - 1;
        let newest = alike.into_iter().max_by_key(|one| one.row.unix_seconds)?;
        Some(Seen { repeats, ..newest })
    };
    alike.into_iter().filter_map(newest).collect()
}

/// What must be said of values that were observed repeatedly.
pub(super) fn repeated(seen: &[Seen<'_>]) -> String {
    // Values of one row are repeated together.
    let rows = grouped(seen, |one| std::ptr::from_ref(one.row));
    let repeats: usize =
        rows.iter().filter_map(|(_, of_row)| of_row.iter().map(|one| one.repeats).max()).sum();
    match repeats {
        0 => String::new(),
        1 => " The newest is drawn: 1 repeat is in the table only.".to_owned(),
        repeats => format!(" The newest are drawn: {repeats} repeats are in the table only."),
    }
}

impl<'a> Seen<'a> {
    fn new((machine, row): Observed<'a>, subject: &str, value: &'a Value) -> Option<Self> {
        let number = value.value.filter(|number| number.is_finite())?;
        let published = value.published.iter().map(|one| (format!("{} [{}]", one.on, one.source), one.value));
        Some(Self {
            machine,
            row,
            subject: subject.to_owned(),
            value,
            unit: value.unit.clone(),
            number,
            interval: level::interval(row, value).map(|Interval { low, high }| (low, high)),
            published: published.collect(),
            repeats: 0,
        })
    }

    /// Where it stands on an axis, in words.
    pub(super) fn place(&self, axis: &str) -> Option<String> {
        match (axis, self.row.axes.get(axis)) {
            (_, Some(Place::Name(name))) => Some(name.clone()),
            (_, Some(Place::Number(number))) => Some(number.to_string()),
            (VALUE, None) => Some(self.value.name.clone()),
            (SUBJECT, None) => Some(self.subject.clone()),
            (MACHINE, None) => Some(Machines::letter(self.machine)),
            (TIER, None) => {
                let Place::Name(kernel) = self.row.axes.get(KERNEL)? else { return None };
                kernel.split('/').nth(1).map(str::to_owned)
            }
            _ => None,
        }
    }

    /// Where it stands on an axis of numbers.
    pub(super) fn number_on(&self, axis: &str) -> Option<f64> {
        match self.row.axes.get(axis)? {
            Place::Number(number) => Some(*number),
            Place::Name(_) => None,
        }
    }

    /// The place as people name it: `streams 4`, `16 KiB`, `encrypt`.
    pub(super) fn spoken(&self, axis: &str) -> Option<String> {
        match self.number_on(axis) {
            Some(bytes) if axis.ends_with("bytes") => Some(units::bytes(whole(bytes))),
            Some(number) => Some(format!("{axis} {number}")),
            // `one each`, `off` and `unknown` say nothing by themselves.
            None if ["keys", "turbo", "hyper-threading"].contains(&axis) => {
                self.place(axis).map(|place| format!("{axis}: {place}"))
            }
            None => self.place(axis),
        }
    }

    /// The same in another unit, of which one is `factor` of the record's.
    fn scaled(mut self, factor: f64, unit: &str) -> Self {
        unit.clone_into(&mut self.unit);
        self.number /= factor;
        self.interval = self.interval.map(|(low, high)| (low / factor, high / factor));
        for (_, value) in &mut self.published {
            *value /= factor;
        }
        self
    }

    /// The rate at which what an axis counts is done in this time: bytes in µs are MB/s. `None` of what is no time in
    /// µs.
    pub(super) fn rate_of(mut self, axis: &str) -> Option<Self> {
        let amount = self.number_on(axis).filter(|_| self.unit == "µs" && self.number > 0.0)?;
        self.number = amount / self.number;
        self.interval = self.interval.map(|(low, high)| (amount / high, amount / low));
        self.published.clear();
        "MB/s".clone_into(&mut self.unit);
        Some(self)
    }

    /// `operations (1/clk)`.
    pub(super) fn title(&self) -> String {
        titled(&self.value.name, &self.unit)
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sizes, below 2^53
fn whole(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

/// A name with its unit.
pub(super) fn titled(name: &str, unit: &str) -> String {
    if unit == "1" { name.to_owned() } else { format!("{name} ({unit})") }
}

/// The name of an axis with its unit; what counts things has none.
pub(super) fn axis_title(axis: &str) -> String {
    match axis {
        "bytes" => "Message size (bytes)".to_owned(),
        _ if axis.ends_with(" load") => format!("{axis} (%)"),
        _ => axis.to_owned(),
    }
}

/// The values in units in which they have few digits.
pub(super) fn readable(seen: Vec<Seen<'_>>) -> Vec<Seen<'_>> {
    let most = seen.iter().map(|one| one.number.abs()).fold(0.0, f64::max);
    let unit = seen.first().map_or("", |one| one.unit.as_str());
    let (factor, unit) = match (unit, most) {
        ("Mbit/s", 1e4..) => (1e3, "Gbit/s"),
        ("MB/s", 1e4..) => (1e3, "GB/s"),
        ("G/s", 1e4..) => (1e3, "T/s"),
        ("µs", 1e6..) => (1e6, "s"),
        ("µs", 1e4..) => (1e3, "ms"),
        ("ms", 1e4..) => (1e3, "s"),
        _ => return seen,
    };
    seen.into_iter().map(|one| one.scaled(factor, unit)).collect()
}

/// The places on an axis of numbers, by size.
pub(super) fn places(seen: &[Seen<'_>], axis: &str) -> Vec<f64> {
    let mut places: Vec<f64> = seen.iter().filter_map(|one| one.number_on(axis)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// Which axes tell values apart, and what all of them share.
#[derive(Clone, Debug)]
pub(super) struct Names {
    apart: Vec<String>,
    shared: Vec<String>,
}

impl Names {
    /// Of `seen`, whose places on the axes `but` are told in another way.
    pub(super) fn of(seen: &[Seen<'_>], but: &[&str]) -> Self {
        let named: BTreeSet<&str> =
            seen.iter().flat_map(|one| one.row.axes.keys().map(String::as_str)).collect();
        let axes: Vec<&str> = named.into_iter().chain([VALUE, SUBJECT, MACHINE]).collect();
        let mut names = Self { apart: Vec::new(), shared: Vec::new() };
        let told =
            |axis: &&str| but.contains(axis) || *axis == SWEEP || (*axis == KERNEL && but.contains(&TIER));
        for axis in axes.into_iter().filter(|axis| !told(axis)) {
            let mut all = seen.iter().map(|one| one.spoken(axis));
            let Some(first) = all.next() else { continue };
            if all.any(|other| other != first) {
                names.apart.push(axis.to_owned());
            } else if ![VALUE, MACHINE].contains(&axis) {
                names.shared.extend(first);
            }
        }
        names
    }

    /// What tells a value apart: `encrypt, streams 4`.
    pub(super) fn name(&self, one: &Seen<'_>) -> String {
        self.apart.iter().filter_map(|axis| one.spoken(axis)).collect::<Vec<_>>().join(", ")
    }

    /// What all share: ` All: aes-128-gcm, NVIDIA H200.`
    pub(super) fn shared(&self) -> String {
        if self.shared.is_empty() { String::new() } else { format!(" All: {}.", self.shared.join(", ")) }
    }
}
