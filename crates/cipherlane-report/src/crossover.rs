//! From where on one thing is faster than another: a device with memory of its own than the CPU, as a rule.

use crate::level::Standing;
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
    /// Fewer than six rounds at some places keep anybody from telling.
    Untold,
    /// At no place, but at some the two are level.
    Level,
    /// At no place: the other is faster at every one.
    Never,
}

/// The lead of what `places` are of: each with how it compares there, in the order of the places. Where nobody can tell it
/// does not lead. `None` where nothing was compared.
pub(crate) fn lead<P: Copy>(places: &[(P, Standing)]) -> Option<Lead<P>> {
    places.last()?;
    let last = |holds: &dyn Fn(Standing) -> bool| places.iter().rposition(|(_, standing)| holds(*standing));
    let Some(behind) = last(&|standing| standing != Standing::Faster) else {
        return Some(Lead::Everywhere);
    };
    if let Some((from, _)) = places.get(behind + 1) {
        return Some(Lead::From(*from));
    }
    // The last place at which it is known not to be faster.
    let lost = last(&|standing| matches!(standing, Standing::Slower | Standing::Level));
    let any = |wanted: Standing| places.iter().any(|(_, standing)| *standing == wanted);
    Some(match last(&|standing| standing == Standing::Faster) {
        Some(faster) if lost > Some(faster) => Lead::Unsettled,
        None if any(Standing::Level) && !any(Standing::Untold) => Lead::Level,
        None if !any(Standing::Untold) => Lead::Never,
        _ => Lead::Untold,
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
    let place = |row: &Row<'_>| (row.machine, row.is_flushed());
    let cpu = ours().find(|rows| rows[0].device == "cpu" && place(&rows[0]) == place(&device[0]))?;
    let both: Vec<(f64, Standing)> = device
        .iter()
        .filter_map(|row| {
            let place = swept.of(row);
            let other = cpu.iter().find(|other| swept.of(other).total_cmp(&place).is_eq())?;
            Some((place, row.rate().against(other.rate())))
        })
        .collect();
    Some((device[0].device.clone(), lead(&both)?))
}

#[cfg(test)]
mod tests {
    use super::{Lead, lead};
    use crate::level::Standing::{self, Faster, Level, Slower, Untold};

    fn of(standings: &[Standing]) -> Option<Lead<usize>> {
        let places: Vec<(usize, Standing)> = standings.iter().copied().enumerate().collect();
        lead(&places)
    }

    #[test]
    fn only_what_is_faster_nowhere_never_leads() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[Faster, Faster, Faster]), Some(Lead::Everywhere));
        assert_eq!(of(&[Slower, Slower, Faster]), Some(Lead::From(2)));
        assert_eq!(of(&[Faster, Slower, Faster]), Some(Lead::From(2)));
        assert_eq!(of(&[Faster, Faster, Slower]), Some(Lead::Unsettled));
        assert_eq!(of(&[Slower, Faster, Slower]), Some(Lead::Unsettled));
        assert_eq!(of(&[Slower, Slower, Slower]), Some(Lead::Never));
    }

    #[test]
    fn what_is_level_does_not_lead() {
        assert_eq!(of(&[Slower, Level, Faster]), Some(Lead::From(2)));
        assert_eq!(of(&[Level, Faster, Faster]), Some(Lead::From(1)));
        assert_eq!(of(&[Faster, Faster, Level]), Some(Lead::Unsettled));
        assert_eq!(of(&[Slower, Level, Slower]), Some(Lead::Level));
        assert_eq!(of(&[Level]), Some(Lead::Level));
    }

    #[test]
    fn nobody_can_tell_of_few_rounds() {
        assert_eq!(of(&[Slower, Untold, Faster]), Some(Lead::From(2)));
        assert_eq!(of(&[Faster, Untold, Slower]), Some(Lead::Unsettled));
        for untold in [&[Untold][..], &[Slower, Untold, Slower], &[Level, Untold], &[Slower, Faster, Untold]]
        {
            assert_eq!(of(untold), Some(Lead::Untold), "{untold:?}");
        }
    }
}
