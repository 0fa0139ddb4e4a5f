//! What others published, as the series and groups that charts draw beside ours.

use super::seen::{Names, Seen};
use crate::section::grouped;

/// Figures of one thing that others measured, by their places.
#[derive(Clone, Debug)]
pub(super) struct Published<P> {
    /// What was measured, and where needed beside which of ours: `beside threads 16: a CPU [003.2]`.
    pub(super) name: String,
    pub(super) figures: Vec<(P, f64)>,
}

/// Figures with the first of ours that they stand beside.
#[derive(Clone, Debug)]
struct Set<'s, 'a, P> {
    beside: &'s Seen<'a>,
    figures: Vec<(P, f64)>,
}

impl<P: Copy + PartialEq> Set<'_, '_, P> {
    fn add(&mut self, figure: (P, f64)) {
        if !self.figures.contains(&figure) {
            self.figures.push(figure);
        }
    }

    /// Whether both have the same where both have something, and such places there are: several of ours stand beside
    /// the same figures.
    fn is_part_of(&self, other: &Self) -> bool {
        let there = |place: P| other.figures.iter().any(|(at, _)| *at == place);
        let mut shared = self.figures.iter().filter(|(place, _)| there(*place)).peekable();
        shared.peek().is_some() && shared.all(|figure| other.figures.contains(figure))
    }
}

/// The figures beside `seen`, told apart by all that tells ours apart but the axes `but`. What others published of
/// several states of one thing is a set for each state.
pub(super) fn sets<P: Copy + PartialEq>(
    seen: &[Seen<'_>],
    but: &str,
    place: impl Fn(&Seen<'_>) -> Option<P>,
) -> Vec<Published<P>> {
    let names = Names::of(seen, &[but]);
    let figures = seen.iter().flat_map(|one| {
        let place = place(one);
        one.published.iter().filter_map(move |(on, value)| Some((on, one, (place?, *value))))
    });
    let things = grouped(figures, |(on, ..)| (*on).clone());
    things
        .into_iter()
        .flat_map(|(on, figures)| {
            let beside = grouped(figures, |(_, one, _)| names.name(one)).into_iter();
            told_apart(&on, merged(beside.map(|(_, figures)| set(figures))), but)
        })
        .collect()
}

fn set<'s, 'a, P: Copy + PartialEq>(
    figures: Vec<(&String, &'s Seen<'a>, (P, f64))>,
) -> Option<Set<'s, 'a, P>> {
    let mut set = Set { beside: figures.first()?.1, figures: Vec::new() };
    for (.., figure) in figures {
        set.add(figure);
    }
    Some(set)
}

/// Sets that say the same are one.
fn merged<'s, 'a, P: Copy + PartialEq>(
    sets: impl Iterator<Item = Option<Set<'s, 'a, P>>>,
) -> Vec<Set<'s, 'a, P>> {
    let mut merged: Vec<Set<'s, 'a, P>> = Vec::new();
    for set in sets.flatten() {
        match merged.iter_mut().find(|known| set.is_part_of(known)) {
            Some(known) => set.figures.into_iter().for_each(|figure| known.add(figure)),
            None => merged.push(set),
        }
    }
    merged
}

fn told_apart<P>(on: &str, sets: Vec<Set<'_, '_, P>>, but: &str) -> Vec<Published<P>> {
    let ours: Vec<Seen<'_>> = sets.iter().map(|set| set.beside.clone()).collect();
    let names = Names::of(&ours, &[but]);
    let name = |one: &Seen<'_>| match names.name(one) {
        beside if beside.is_empty() => on.to_owned(),
        // First, as long names are cut.
        beside => format!("beside {beside}: {on}"),
    };
    sets.into_iter().map(|set| Published { name: name(set.beside), figures: set.figures }).collect()
}
