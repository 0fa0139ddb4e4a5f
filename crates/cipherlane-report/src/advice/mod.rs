//! The recommendation: which device, tier and number of threads for what, as far as the records tell.

mod devices;
mod limits;
mod loads;
mod observed;
mod sharing;

use std::collections::BTreeSet;

use cipherlane_record::Observation;

use crate::beside::{self, Observed};
use crate::level::{Fastest, TOO_FEW};
use crate::machine::Machines;
use crate::row::Row;
use crate::section::grouped;
use crate::table::Table;

/// Within this part of the best counts as the best: fewer threads leave room for others.
const ENOUGH: f64 = 0.97;

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

/// Advice for each machine with something to base it on.
pub(crate) fn of(rows: &[Row<'_>], observed: &[Observed<'_>], machines: &Machines<'_>) -> Vec<Advice> {
    let places = 0..machines.all().len();
    places
        .filter_map(|machine| {
            let here: Vec<Row<'_>> =
                rows.iter().filter(|row| row.machine == machine && row.verified).copied().collect();
            // Load is no base for a recommendation.
            let own: Vec<Row<'_>> =
                here.iter().filter(|row| !row.is_rival() && row.is_undisturbed()).copied().collect();
            let seen: Vec<&Observation> = observed
                .iter()
                .filter(|(place, row)| *place == machine && !beside::is_wrong(row))
                .map(|(_, row)| *row)
                .collect();
            let rules = rules(&own, &seen);
            (!own.is_empty() || !rules.is_empty()).then(|| Advice {
                machine: machines.several().then(|| Machines::letter(machine)),
                rules,
                table: devices::table(&own),
            })
        })
        .collect()
}

/// The rules, the most general first. What measurements say of a thing goes before what an experiment says of it.
fn rules(own: &[Row<'_>], seen: &[&Observation]) -> Vec<Rule> {
    let rules = [
        devices::best(own),
        devices::crossover(own),
        observed::offload(seen),
        observed::transfers(own),
        observed::against(seen),
        devices::tiers(own).or_else(|| observed::tiers(seen)),
        limits::threads(own).or_else(|| observed::threads(seen)),
        sharing::threads(seen),
        observed::launch(seen),
        observed::streams(seen),
        loads::loads(seen),
        limits::size(own),
        limits::energy(own).or_else(|| observed::energy(seen)),
        limits::rivals(own),
    ];
    rules.into_iter().flatten().collect()
}

/// Who is the fastest how often.
struct Tally {
    /// Who is it most often, where anybody is.
    most: Option<(String, usize)>,
    /// How often nobody is, since others are level with the best.
    level: usize,
    /// How often nobody can tell, for want of rounds.
    untold: usize,
}

impl Tally {
    /// Of the fastest of several contests; `name` says who each is.
    fn of<T>(contests: &[Fastest<T>], name: impl Fn(&T) -> String) -> Self {
        let clear: Vec<&T> = contests.iter().filter_map(Fastest::clear).collect();
        let untold = contests.iter().filter(|contest| contest.is_untold()).count();
        let level = contests.len() - clear.len() - untold;
        let mut winners = grouped(clear, |best| name(best));
        winners.sort_by_key(|(_, won)| std::cmp::Reverse(won.len()));
        Self { most: winners.into_iter().next().map(|(name, won)| (name, won.len())), level, untold }
    }

    /// Whether there was no contest.
    const fn is_empty(&self) -> bool {
        self.most.is_none() && self.level + self.untold == 0
    }

    /// ` In 2 of them the fastest tiers are level. 1 of them is undecided for fewer than six rounds.`
    fn level_text(&self, what: &str) -> String {
        let level = match self.level {
            0 => String::new(),
            level => format!(" In {level} of them the fastest {what} are level."),
        };
        level
            + &match self.untold {
                0 => String::new(),
                1 => format!(" 1 of them is undecided for {TOO_FEW}."),
                several => format!(" {several} of them are undecided for {TOO_FEW}."),
            }
    }

    /// Why nobody is the fastest: `the fastest are level`.
    fn why_nobody(&self) -> String {
        match (self.level, self.untold) {
            (_, 0) => "the fastest are level".to_owned(),
            (0, _) => format!("undecided for {TOO_FEW}"),
            (level, untold) => {
                format!("the fastest are level for {level}, and {untold} undecided for {TOO_FEW}")
            }
        }
    }
}

/// The tier that is the fastest most often: `for` 3 `of 4 algorithms`.
fn tier(tally: &Tally, at: &str, all: &str) -> Option<Rule> {
    let level = tally.level_text("tiers");
    let text = match &tally.most {
        Some((tier, won)) => format!("{tier} is the fastest tier {at} {won} of {all}.{level}"),
        None if tally.is_empty() => return None,
        None => format!("No tier is clearly the fastest {at} any of {all}: {}.", tally.why_nobody()),
    };
    Some(Rule { title: "Tier", text })
}

/// The fewest threads whose rate is nearly the best, and that rate.
fn fewest_enough<N: Ord + Copy>(rates: &[(N, f64)]) -> Option<(N, f64)> {
    let best = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let enough = rates.iter().filter(|(_, rate)| *rate >= ENOUGH * best);
    enough.min_by_key(|(threads, _)| *threads).copied()
}

/// What must be said of rows of several builds of the tool, and `how` they count: ` The rows are of 2 builds: ...`
fn of_builds(rows: &[Row<'_>], how: &str) -> String {
    let tools = rows.iter().map(|row| &row.host.tool);
    let builds = tools.map(|tool| (&tool.git_hash, tool.git_dirty)).collect::<BTreeSet<_>>().len();
    if builds > 1 { format!(" The rows are of {builds} builds: {how}.") } else { String::new() }
}
