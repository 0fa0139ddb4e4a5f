//! Which row of one file belongs to which of the other.

use cipherlane_record::Measurement;

use super::kind::Row;

/// Rows with their partners, and those that have none, each under what it is a row of.
#[derive(Debug, Default)]
pub(super) struct Partners<'a> {
    pub(super) pairs: Vec<(Row, &'a Measurement, &'a Measurement)>,
    pub(super) only_base: Vec<Row>,
    pub(super) only_new: Vec<Row>,
}

/// Finds partners. Where a side has several rows of a kind, the kernel tells them apart; where it does not, because
/// the file has the same row several times, the first meets the first.
pub(super) fn find<'a>(base: &'a [Measurement], new: &'a [Measurement]) -> Partners<'a> {
    let mut partners = Partners::default();
    let mut groups: Vec<(Row, Vec<&Measurement>, Vec<&Measurement>)> = Vec::new();
    let mut sort = |row: &'a Measurement, is_new: bool| {
        let kind = Row::of(row);
        let place = groups.iter().position(|(other, ..)| *other == kind).unwrap_or_else(|| {
            groups.push((kind, Vec::new(), Vec::new()));
            groups.len() - 1
        });
        let (_, base, new) = &mut groups[place];
        if is_new { new.push(row) } else { base.push(row) }
    };
    base.iter().for_each(|row| sort(row, false));
    new.iter().for_each(|row| sort(row, true));
    for (kind, base, new) in groups {
        if base.len() > 1 || new.len() > 1 {
            by_kernel(&kind, &base, new, &mut partners);
        } else {
            join(&kind, &base, &new, &mut partners);
        }
    }
    partners
}

/// Pairs rows of a kind that have the same kernel.
fn by_kernel<'a>(
    kind: &Row,
    base: &[&'a Measurement],
    mut new: Vec<&'a Measurement>,
    partners: &mut Partners<'a>,
) {
    for row in base {
        let same = new.iter().position(|other| other.kernel == row.kernel);
        let partner: Vec<_> = same.map(|place| new.remove(place)).into_iter().collect();
        join(kind, &[row], &partner, partners);
    }
    for row in new {
        join(kind, &[], &[row], partners);
    }
}

fn join<'a>(kind: &Row, base: &[&'a Measurement], new: &[&'a Measurement], partners: &mut Partners<'a>) {
    let named = |row: &Measurement| Row { kernel: Some(row.kernel.clone()), ..kind.clone() };
    match (base.first(), new.first()) {
        (Some(base), Some(new)) if base.kernel == new.kernel => {
            partners.pairs.push((named(base), base, new));
        }
        (Some(base), Some(new)) => partners.pairs.push((kind.clone(), base, new)),
        (Some(base), None) => partners.only_base.push(named(base)),
        (None, Some(new)) => partners.only_new.push(named(new)),
        (None, None) => {}
    }
}
