//! Charts of observations: as `views.rs` says for the experiments that come along; for others a curve where a number
//! was swept, a field where two were, bars where nothing was.

mod bars;
mod curves;
mod published;
mod seen;
mod swept;
mod view;
mod views;

use cipherlane_record::{Observation, Value};

use super::grouped;
use super::sweep::FEWEST;
use crate::chart::Chart;
use seen::{Names, Seen};
use view::{Form, Picture};

/// Charts of the quantities that matter most.
pub(super) fn charts(experiment: &str, rows: &[(usize, &Observation)]) -> Vec<Chart> {
    let all = seen::all(rows);
    match views::of(experiment) {
        Some(pictures) => pictures.iter().flat_map(|picture| of_picture(picture, &all)).collect(),
        None => swept::charts(&all),
    }
}

pub(super) use views::rank;

/// `operations (1/clk)`.
pub(super) fn title(value: &Value) -> String {
    seen::titled(&value.name, &value.unit)
}

/// A picture, for each place on the axes on which it is drawn apart.
fn of_picture(picture: &Picture, all: &[Seen<'_>]) -> Vec<Chart> {
    let wanted = all.iter().filter(|one| {
        picture.values.contains(&one.value.name.as_str()) && picture.only.iter().all(|only| only.holds(one))
    });
    let place =
        |one: &Seen<'_>| -> Vec<Option<String>> { picture.each.iter().map(|axis| one.place(axis)).collect() };
    let apart = grouped(wanted.cloned(), place);
    let several = apart.len() > 1;
    let chart = |(_, seen): (Vec<Option<String>>, Vec<Seen<'_>>)| {
        let place = seen.first().map(|one| spoken(one, picture.each)).filter(|_| several);
        let title =
            place.map_or_else(|| picture.title.to_owned(), |place| format!("{}: {place}", picture.title));
        // These compute with other values of the record, in its units.
        let computes = matches!(picture.form, Form::Rates { .. } | Form::Roof { .. });
        let seen = if computes { seen } else { seen::readable(seen) };
        with_repeats(draw(picture, &title, &seen, all), &seen)
    };
    apart.into_iter().filter_map(chart).collect()
}

/// The chart with a word on what it leaves to the table, since newer values stand there.
fn with_repeats(chart: Option<Chart>, seen: &[Seen<'_>]) -> Option<Chart> {
    let chart = chart?;
    Some(Chart { finding: chart.finding + &seen::repeated(seen), ..chart })
}

fn spoken(one: &Seen<'_>, axes: &[&str]) -> String {
    axes.iter().filter_map(|axis| one.spoken(axis)).collect::<Vec<_>>().join(", ")
}

fn draw(picture: &Picture, title: &str, seen: &[Seen<'_>], all: &[Seen<'_>]) -> Option<Chart> {
    match picture.form {
        Form::Curves { x, .. } if longest(seen, x) < FEWEST => bars::side_by_side(title, &told(seen), ""),
        Form::Curves { x, marks } => curves::curves(title, seen, x, marks, all),
        Form::Rates { x } => curves::rates(title, seen, x),
        Form::Roof { ceiling, by } => curves::roof(title, seen, ceiling, by),
        Form::Field { x, y } => curves::field(title, seen, [x, y]),
        Form::Bars { by } => bars::side_by_side(title, seen, by),
        Form::Normalised { by, times } => bars::normalised(title, seen, by, times),
        Form::Stacked { parts } => bars::stacked(title, seen, parts),
    }
}

/// Without what is nothing by definition, such as the loss without a load.
fn told<'a>(seen: &[Seen<'a>]) -> Vec<Seen<'a>> {
    seen.iter().filter(|one| one.number != 0.0 || one.interval.is_some()).cloned().collect()
}

/// Places on the axis with all else alike, at most.
fn longest(seen: &[Seen<'_>], axis: &str) -> usize {
    let names = Names::of(seen, &[axis]);
    let groups = grouped(seen.iter().cloned(), |one| names.name(one));
    groups.iter().map(|(_, seen)| seen::places(seen, axis).len()).max().unwrap_or(0)
}
