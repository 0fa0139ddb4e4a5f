//! Charts of experiments that no view is known of, by what was swept.

use super::seen::{self, Names, Seen, places};
use super::view::Marks;
use super::{bars, curves, longest, with_repeats};
use crate::chart::Chart;
use crate::section::grouped;
use crate::section::sweep::FEWEST;

/// Quantities that get a chart; the table has all.
const MOST_QUANTITIES: usize = 4;
/// More curves than these are better seen as a field.
const MOST_CURVES: usize = 5;

/// Charts of the quantities that come first.
pub(super) fn charts(all: &[Seen<'_>]) -> Vec<Chart> {
    let quantities = grouped(all.iter().cloned(), |one| (one.value.name.clone(), one.value.unit.clone()));
    quantities.into_iter().take(MOST_QUANTITIES).flat_map(|(_, seen)| quantity(seen)).collect()
}

fn quantity(seen: Vec<Seen<'_>>) -> Vec<Chart> {
    let seen = seen::readable(seen);
    let title = seen.first().map_or_else(String::new, |one| one.value.name.clone());
    let Some(swept) = swept(&seen) else {
        return with_repeats(bars::side_by_side(&title, &seen, ""), &seen).into_iter().collect();
    };
    let second = numeric_axes(&seen)
        .into_iter()
        .find(|&axis| axis != swept && places(&seen, axis).len() > MOST_CURVES);
    let heats: Vec<Chart> = second.map_or_else(Vec::new, |second| {
        let names = Names::of(&seen, &[swept, second]);
        let fields = grouped(seen.iter().cloned(), |one| names.name(one)).into_iter();
        let titled = |name: &str| if name.is_empty() { title.clone() } else { format!("{title}: {name}") };
        let field = |(name, seen): (String, Vec<Seen<'_>>)| {
            with_repeats(curves::field(&titled(&name), &seen, [swept, second]), &seen)
        };
        fields.filter_map(field).collect()
    });
    if heats.is_empty() {
        let chart = curves::curves(&title, &seen, swept, Marks::None, &[]);
        with_repeats(chart, &seen).into_iter().collect()
    } else {
        heats
    }
}

/// The axes on which every row has a number.
fn numeric_axes<'a>(seen: &[Seen<'a>]) -> Vec<&'a str> {
    let Some(first) = seen.first() else { return Vec::new() };
    let axes = first.row.axes.keys().map(String::as_str);
    axes.filter(|axis| seen.iter().all(|one| one.number_on(axis).is_some())).collect()
}

/// The axis with the most places, if there are enough of them for a curve with everything else alike.
fn swept<'a>(seen: &[Seen<'a>]) -> Option<&'a str> {
    let mut axes = numeric_axes(seen);
    axes.retain(|axis| longest(seen, axis) >= FEWEST);
    axes.into_iter().max_by_key(|axis| longest(seen, axis))
}
