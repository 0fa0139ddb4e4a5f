//! Observations side by side.

use std::collections::BTreeMap;

use super::published::{self, Published};
use super::seen::{Names, Seen, titled};
use crate::chart::{Axis, Bar, Bars, Chart, Group, MOST_SERIES, Plot};
use crate::section::conditions::{MOST_BARS, more};
use crate::section::grouped;
use crate::units;

/// What the only bars are called where there is one for each thing.
const MEASURED: &str = "observed";

/// The lowest and the highest of them in words.
pub(super) fn finding(seen: &[Seen<'_>], name: impl Fn(&Seen<'_>) -> String) -> String {
    let highest = seen.iter().max_by(|one, other| one.number.total_cmp(&other.number));
    let lowest = seen.iter().min_by(|one, other| one.number.total_cmp(&other.number));
    let (Some(highest), Some(lowest)) = (highest, lowest) else { return String::new() };
    let text = |one: &Seen<'_>| {
        let name = name(one);
        let number = units::significant(one.number);
        if name.is_empty() { number } else { format!("{number} ({name})") }
    };
    let unit = if highest.unit == "1" { String::new() } else { format!(" {}", highest.unit) };
    if highest.number.total_cmp(&lowest.number).is_eq() {
        return format!("{}{unit}.", text(highest));
    }
    format!("From {} to {}{unit}.", text(lowest), text(highest))
}

/// The places on `by`, in the order in which they come first.
fn all_places(seen: &[Seen<'_>], by: &str) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for place in seen.iter().filter_map(|one| one.place(by)) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// No more of them than can be told apart.
fn places(seen: &[Seen<'_>], by: &str) -> Vec<String> {
    let places = all_places(seen, by);
    if places.len() <= MOST_SERIES { places } else { thinned(places, seen, by) }
}

/// As many of them as can be told apart: those at which others published figures, and of the rest some from all along
/// the axis.
fn thinned(places: Vec<String>, seen: &[Seen<'_>], by: &str) -> Vec<String> {
    let beside = seen.iter().filter(|one| !one.published.is_empty());
    let beside: Vec<String> = beside.filter_map(|one| one.place(by)).collect();
    let mut kept: Vec<String> = places.iter().filter(|place| beside.contains(place)).cloned().collect();
    kept.truncate(MOST_SERIES);
    let rest: Vec<&String> = places.iter().filter(|place| !kept.contains(place)).collect();
    let room = MOST_SERIES - kept.len();
    kept.extend((0..room).filter_map(|step| Some((*rest.get(step * rest.len() / room)?).clone())));
    places.into_iter().filter(|place| kept.contains(place)).collect()
}

/// How many places on `by` have no bars.
fn undrawn(seen: &[Seen<'_>], by: &str, drawn: usize) -> String {
    let all = if by.is_empty() { 0 } else { all_places(seen, by).len() };
    if all > drawn { format!(" {} more of {by} are in the table only.", all - drawn) } else { String::new() }
}

fn bar(one: &Seen<'_>) -> Bar {
    Bar { value: one.number, interval: one.interval, note: String::new() }
}

/// The name of the values' axis: of the quantity, where there is one, else of the picture.
fn axis_title(title: &str, seen: &[Seen<'_>]) -> String {
    let Some(first) = seen.first() else { return title.to_owned() };
    let alike = seen.iter().all(|one| one.value.name == first.value.name);
    if alike { first.title() } else { titled(title, &first.unit) }
}

/// A bar for each value; by an axis, if one is given, bars of a group.
pub(super) fn side_by_side(title: &str, seen: &[Seen<'_>], by: &str) -> Option<Chart> {
    let names = Names::of(seen, &[by]);
    let series = if by.is_empty() { Vec::new() } else { places(seen, by) };
    let several = series.len() > 1;
    let groups = grouped(seen.iter(), |one| names.name(one));
    let all = groups.len();
    let mut groups: Vec<Group> =
        groups.into_iter().map(|(name, seen)| group(name, &seen, by, &series)).collect();
    groups.truncate(MOST_BARS);
    let shown = groups.len();
    if several {
        groups.extend(published(seen, by, &series));
    }
    let value = Axis::lengths(&axis_title(title, seen), numbers(&groups).into_iter());
    let left_out = undrawn(seen, by, series.len());
    let full = Names::of(seen, &[]);
    (!seen.is_empty()).then(|| Chart {
        title: title.to_owned(),
        finding: format!(
            "{}{}{}{left_out}",
            finding(seen, |one| full.name(one)),
            full.shared(),
            more(all, shown)
        ),
        plot: Plot::Bars(Bars {
            value,
            series: if several { named(&series, by) } else { vec![MEASURED.to_owned()] },
            groups,
            stacked: false,
            whole: false,
        }),
    })
}

/// All that is drawn, published figures included.
fn numbers(groups: &[Group]) -> Vec<f64> {
    let bars = groups.iter().flat_map(|group| group.bars.iter().flatten()).map(|bar| bar.value);
    let published = groups.iter().flat_map(|group| &group.published).map(|(_, value)| *value);
    bars.chain(published).collect()
}

/// `threads 4` for 4 on the axis of threads; words speak for themselves.
fn named(places: &[String], by: &str) -> Vec<String> {
    let name = |place: &String| match place.parse::<f64>() {
        Ok(_) => format!("{by} {place}"),
        Err(_) => place.clone(),
    };
    places.iter().map(name).collect()
}

/// The bars of one name. Where there is one for each, what others published stands on it.
fn group(label: String, seen: &[&Seen<'_>], by: &str, series: &[String]) -> Group {
    // What nothing tells apart is named by what it was observed on.
    let label = if label.is_empty() { seen.first().map_or(label, |one| one.subject.clone()) } else { label };
    if series.len() < 2 {
        let published = seen.first().map_or_else(Vec::new, |one| one.published.clone());
        return Group { label, bars: vec![seen.first().map(|one| bar(one))], published };
    }
    let at =
        |place: &String| seen.iter().find(|one| one.place(by).as_ref() == Some(place)).map(|one| bar(one));
    Group { label, bars: series.iter().map(at).collect(), published: Vec::new() }
}

/// What others published, a group for each thing that they measured.
fn published(seen: &[Seen<'_>], by: &str, series: &[String]) -> Vec<Group> {
    let group = |Published { name: label, figures }: Published<usize>| {
        let at = |place: usize| figures.iter().find(|(at, _)| *at == place).map(|(_, value)| *value);
        let bar = |value| Bar { value, interval: None, note: "published".to_owned() };
        Group {
            label,
            bars: (0..series.len()).map(|place| at(place).map(bar)).collect(),
            published: Vec::new(),
        }
    };
    let place = |one: &Seen<'_>| series.iter().position(|known| one.place(by).as_ref() == Some(known));
    published::sets(seen, by, place).into_iter().map(group).collect()
}

/// The same in per cent of the best, beside the times of studies in per cent of their own best: their programs and
/// amounts of work differ from ours, so that times cannot be compared.
pub(super) fn normalised(title: &str, seen: &[Seen<'_>], by: &str, times: &str) -> Option<Chart> {
    let time = |one: &Seen<'_>| -> Vec<(String, f64)> {
        let values = one.row.values.iter().filter(|value| value.name == times);
        let figures = values.flat_map(|value| &value.published);
        figures.map(|figure| (format!("{} [{}]", figure.on, figure.source), figure.value)).collect()
    };
    let mut best: BTreeMap<Option<String>, f64> = BTreeMap::new();
    for one in seen {
        for (_, value) in time(one) {
            let least = best.entry(one.place(by)).or_insert(value);
            *least = least.min(value);
        }
    }
    let mut beside = seen.to_vec();
    for one in &mut beside {
        let best = best.get(&one.place(by)).copied().unwrap_or_default();
        one.published = time(one).into_iter().map(|(on, value)| (on, 100.0 * best / value)).collect();
    }
    side_by_side(title, &beside, by)
}

/// Parts of a whole, of ours and of what others published of all parts.
pub(super) fn stacked(title: &str, seen: &[Seen<'_>], by: &str) -> Option<Chart> {
    let parts = places(seen, by);
    if parts.len() < 2 {
        return side_by_side(title, seen, "");
    }
    let names = Names::of(seen, &[by]);
    let groups = grouped(seen.iter(), |one| names.name(one));
    let all = groups.len();
    let shown = all.min(MOST_BARS);
    let stacks = groups.into_iter().take(MOST_BARS);
    let groups: Vec<Group> = stacks.flat_map(|(name, seen)| stack(&name, &seen, by, &parts)).collect();
    let first = seen.first()?;
    Some(Chart {
        title: title.to_owned(),
        finding: format!(
            "{}{}{}",
            groups.first().map_or_else(String::new, |group| format!(
                "{} of {}.",
                group.label,
                parts.join(", ")
            )),
            names.shared(),
            more(all, shown)
        ),
        plot: Plot::Bars(Bars {
            value: Axis::linear(&axis_title(title, seen)),
            series: parts,
            groups,
            stacked: true,
            whole: first.unit == "%",
        }),
    })
}

/// The stack of one name, and below it those of others with the same parts.
fn stack(name: &str, seen: &[&Seen<'_>], by: &str, parts: &[String]) -> Vec<Group> {
    let unit = seen.first().map_or("", |one| one.unit.as_str());
    let of = |part: &String| seen.iter().find(|one| one.place(by).as_ref() == Some(part));
    let made = |name: String, values: Vec<Option<f64>>| {
        let numbers: Vec<String> = values.iter().flatten().map(|&value| units::significant(value)).collect();
        let bar = |value: Option<f64>| value.map(|value| Bar { value, interval: None, note: String::new() });
        let colon = if name.is_empty() { "" } else { ": " };
        Group {
            label: format!("{name}{colon}{} {unit}", numbers.join(" + ")),
            bars: values.into_iter().map(bar).collect(),
            published: Vec::new(),
        }
    };
    let own = made(name.to_owned(), parts.iter().map(|part| of(part).map(|one| one.number)).collect());
    let theirs = |on: &str| {
        let of_part = |part: &String| {
            let figures = &of(part)?.published;
            figures.iter().find(|(name, _)| name == on).map(|(_, value)| *value)
        };
        parts.iter().map(of_part).collect::<Option<Vec<f64>>>()
    };
    let things = seen.first().map_or(&[][..], |one| &one.published);
    let published = things.iter().filter_map(|(on, _)| {
        let values = theirs(on)?.into_iter().map(Some).collect();
        Some(made(format!("{name}, {on}").trim_start_matches(", ").to_owned(), values))
    });
    std::iter::once(own).chain(published).collect()
}
