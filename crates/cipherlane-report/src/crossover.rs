//! From where on one thing is faster than another: a device with memory of its own than the CPU, as a rule.

use crate::row::{Row, Trait};
use crate::section::sweep::Swept;

/// Where one thing is faster than another, of the places that were measured on both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lead<P> {
    /// At every place.
    Everywhere,
    /// At this place and at every larger one, but not at all smaller ones.
    From(P),
    /// At some place, but not at the largest: there is none from which on it stays faster.
    Unsettled,
    /// At no place.
    Never,
}

/// The lead of what `places` are of: each with whether it is faster there, in the order of the places. `None` where
/// nothing was compared.
pub(crate) fn lead<P: Copy>(places: &[(P, bool)]) -> Option<Lead<P>> {
    places.last()?;
    let Some(behind) = places.iter().rposition(|(_, faster)| !faster) else { return Some(Lead::Everywhere) };
    Some(match places.get(behind + 1) {
        Some((from, _)) => Lead::From(*from),
        None if places.iter().any(|(_, faster)| *faster) => Lead::Unsettled,
        None => Lead::Never,
    })
}

/// The lead of the fastest device with memory of its own over the CPU beside it, and which device that is, if both were
/// measured at the same places.
pub(crate) fn of(series: &[(Vec<Trait>, Vec<Row<'_>>)], swept: Swept) -> Option<(String, Lead<f64>)> {
    let ours = || series.iter().map(|(_, rows)| rows).filter(|rows| !rows[0].is_rival());
    // Without its transfers a device is compared with nothing that the CPU does.
    let device = ours().find(|rows| {
        rows[0].is_offload() && rows[0].scope.transfer != cipherlane_record::Transfer::Excluded
    })?;
    let cpu = ours().find(|rows| rows[0].device == "cpu" && rows[0].machine == device[0].machine)?;
    let both: Vec<(f64, bool)> = device
        .iter()
        .filter_map(|row| {
            let place = swept.of(row);
            let other = cpu.iter().find(|other| swept.of(other).total_cmp(&place).is_eq())?;
            Some((place, row.bytes_per_second > other.bytes_per_second))
        })
        .collect();
    Some((device[0].device.clone(), lead(&both)?))
}

#[cfg(test)]
mod tests {
    use super::{Lead, lead};

    #[test]
    fn only_what_is_faster_nowhere_never_leads() {
        let of = |faster: &[bool]| {
            let places: Vec<(usize, bool)> = faster.iter().copied().enumerate().collect();
            lead(&places)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[true, true, true]), Some(Lead::Everywhere));
        assert_eq!(of(&[false, false, true]), Some(Lead::From(2)));
        assert_eq!(of(&[true, false, true]), Some(Lead::From(2)));
        assert_eq!(of(&[true, true, false]), Some(Lead::Unsettled));
        assert_eq!(of(&[false, true, false]), Some(Lead::Unsettled));
        assert_eq!(of(&[false, false, false]), Some(Lead::Never));
    }
}
