//! What reproduces the studies: experiments, and other verbs.

use std::collections::BTreeSet;

use anyhow::Result;
use cipherlane::UnknownName;
use cipherlane_lab::Experiment;

use crate::exit::Usage;
use crate::render::complain;

/// Rows that are no experiments, and the commands that reproduce them (`docs/STUDIES.md`).
const OTHER_VERBS: [(&str, &str); 2] = [
    ("000.11", "`cipherlane dashboard` does it"),
    ("001.13", "`cipherlane devices` and `cipherlane report` do it"),
];

/// The experiments of the studies and rows that were `asked` for. Of rows that are none it is told what does them.
pub(super) fn experiments(asked: &[String]) -> Result<Vec<Experiment>> {
    let all = Experiment::all();
    for study in asked {
        let others = others(study);
        if all.iter().any(|experiment| experiment.is_of(study)) {
            for (row, verb) in others {
                complain("left out", &format!("{row}: no experiment; {verb}"));
            }
        } else if let Some((row, verb)) = others.first() {
            return Err(Usage(format!("{row} is no experiment: {verb}")).into());
        } else {
            let known: BTreeSet<String> = all.iter().flat_map(Experiment::study_numbers).collect();
            return Err(UnknownName::new("study", study, known).into());
        }
    }
    let is_asked = |experiment: &Experiment| asked.iter().any(|study| experiment.is_of(study));
    Ok(all.into_iter().filter(is_asked).collect())
}

/// The rows of `study`, or the row of this name, that other verbs do.
fn others(study: &str) -> Vec<(&'static str, &'static str)> {
    let is_of = |row: &str| row == study || row.split_once('.').is_some_and(|(number, _)| number == study);
    OTHER_VERBS.into_iter().filter(|(row, _)| is_of(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows that the first cell of a line of the table names: alone, one after another, or from one to another.
    fn named(cell: &str) -> Vec<String> {
        let Some((first, last)) = cell.split_once(" to ") else {
            return cell.split(", ").map(str::to_owned).collect();
        };
        let (study, first) = first.split_once('.').unwrap();
        let [first, last] = [first, last.split_once('.').unwrap().1].map(|row| row.parse::<u8>().unwrap());
        (first..=last).map(|row| format!("{study}.{row}")).collect()
    }

    #[test]
    fn every_row_of_the_studies_is_an_experiment_or_names_its_verb() {
        let table = include_str!("../../../../../docs/STUDIES.md");
        let cells = table.lines().filter_map(|line| line.strip_prefix("| 0")?.split_once(" |"));
        let rows: Vec<String> = cells.flat_map(|(cell, _)| named(&format!("0{cell}"))).collect();
        assert!(rows.len() > 40, "{rows:?}");
        let all = Experiment::all();
        for row in rows {
            let experiments = all.iter().filter(|experiment| experiment.is_of(&row)).count();
            assert_eq!(experiments == 0, !others(&row).is_empty(), "{row}");
        }
    }

    #[test]
    fn a_row_that_another_verb_does_is_answered_with_it() {
        let refused = |study: &str| experiments(&[study.to_owned()]).unwrap_err().to_string();
        assert_eq!(refused("000.11"), "000.11 is no experiment: `cipherlane dashboard` does it");
        assert!(refused("000.99").starts_with("unknown study `000.99`"));
        let found = |study: &str| experiments(&[study.to_owned()]).unwrap();
        assert_eq!(found("000.8")[0].name, "workloads");
        assert!(found("000.14").iter().any(|experiment| experiment.name == "rivals"));
        assert_eq!(others("001"), [("001.13", "`cipherlane devices` and `cipherlane report` do it")]);
    }
}
