//! From where on a device with memory of its own beats the CPU.

use crate::row::{Row, Trait};
use crate::section::sweep::Swept;

/// From a size, or a number of messages, on a device is the faster one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Crossover {
    /// The device that is faster from here on.
    pub(crate) device: String,
    /// The smallest place that was measured where it is, and at every larger one.
    pub(crate) from: f64,
    /// The largest place that was measured on both.
    pub(crate) to: f64,
}

/// The crossover of the fastest device on each side, if both were measured at the same places and neither is always
/// the faster one.
pub(crate) fn of(series: &[(Vec<Trait>, Vec<Row<'_>>)], swept: Swept) -> Option<Crossover> {
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
    let (to, _) = *both.last()?;
    let slower = both.iter().rposition(|(_, faster)| !faster)?;
    let (from, _) = *both.get(slower + 1)?;
    Some(Crossover { device: device[0].device.clone(), from, to })
}
