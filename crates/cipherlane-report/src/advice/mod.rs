//! The recommendation: which device, tier and number of threads for what, as far as the records tell.

mod devices;
mod limits;

use crate::machine::Machines;
use crate::row::Row;
use crate::table::Table;

/// What the records recommend on a machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Advice {
    /// The machine's letter, where there are several.
    pub(crate) machine: Option<String>,
    /// Rules, the most general first. None where there is no verified row of ours.
    pub(crate) rules: Vec<Rule>,
    /// The fastest for each job and size.
    pub(crate) table: Table,
}

/// A rule with what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) title: &'static str,
    pub(crate) text: String,
}

/// Advice for each machine with verified rows.
pub(crate) fn of(rows: &[Row<'_>], machines: &Machines<'_>) -> Vec<Advice> {
    let places = 0..machines.all().len();
    places
        .filter_map(|machine| {
            let here: Vec<Row<'_>> =
                rows.iter().filter(|row| row.machine == machine && row.verified).copied().collect();
            let own: Vec<Row<'_>> =
                here.iter().filter(|row| !row.is_rival() && is_undisturbed(row)).copied().collect();
            let rules = [
                devices::best(&own),
                devices::crossover(&own),
                devices::tiers(&own),
                limits::threads(&own, machines),
                limits::size(&own),
                limits::energy(&own),
                limits::rivals(&own),
            ];
            (!own.is_empty()).then(|| Advice {
                machine: machines.several().then(|| Machines::letter(machine)),
                rules: rules.into_iter().flatten().collect(),
                table: devices::table(&own),
            })
        })
        .collect()
}

/// Whether nobody loaded the machine on purpose: load is no base for a recommendation.
fn is_undisturbed(row: &Row<'_>) -> bool {
    row.load.is_none_or(|load| [load.cpu, load.gpu].into_iter().flatten().all(|share| share.requested <= 0.0))
}
