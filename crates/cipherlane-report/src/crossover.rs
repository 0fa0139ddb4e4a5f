//! From where on one thing is faster than another: a device with memory of its own than the CPU, as a rule.

use cipherlane_record::Verdict;

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
    /// At no place, but at some the two are level.
    Level,
    /// At no place: the other is faster at every one.
    Never,
}

/// The lead of what `places` are of: each with how it compares there, in the order of the places. Where nobody can tell it
/// is not faster. `None` where nothing was compared.
pub(crate) fn lead<P: Copy>(places: &[(P, Verdict)]) -> Option<Lead<P>> {
    places.last()?;
    let any = |wanted: Verdict| places.iter().any(|(_, verdict)| *verdict == wanted);
    let behind = places.iter().rposition(|(_, verdict)| *verdict != Verdict::Faster);
    let Some(behind) = behind else { return Some(Lead::Everywhere) };
    Some(match places.get(behind + 1) {
        Some((from, _)) => Lead::From(*from),
        None if any(Verdict::Faster) => Lead::Unsettled,
        None if any(Verdict::Ambiguous) => Lead::Level,
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
    let place = |row: &Row<'_>| (row.machine, row.is_flushed());
    let cpu = ours().find(|rows| rows[0].device == "cpu" && place(&rows[0]) == place(&device[0]))?;
    let both: Vec<(f64, Verdict)> = device
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
    use cipherlane_record::Verdict::{self, Ambiguous, Faster, Slower};

    fn of(verdicts: &[Verdict]) -> Option<Lead<usize>> {
        let places: Vec<(usize, Verdict)> = verdicts.iter().copied().enumerate().collect();
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
        assert_eq!(of(&[Slower, Ambiguous, Faster]), Some(Lead::From(2)));
        assert_eq!(of(&[Ambiguous, Faster, Faster]), Some(Lead::From(1)));
        assert_eq!(of(&[Faster, Faster, Ambiguous]), Some(Lead::Unsettled));
        assert_eq!(of(&[Slower, Ambiguous, Slower]), Some(Lead::Level));
        assert_eq!(of(&[Ambiguous]), Some(Lead::Level));
    }
}
