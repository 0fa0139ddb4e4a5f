//! The conclusions of study 000, held against records.

mod claims;
mod look;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use cipherlane_record::{Axis, Host, Observation, Record};

use crate::experiment::setting::{Row, Run, Setting, beside, known};
use crate::observer::Observer;
use claims::{Bound, CONCLUSIONS, Claim, Conclusion};
use look::Look;

/// The experiment; it has no parameters.
#[derive(Clone, Copy, Debug)]
pub(in crate::experiment) struct Findings;

/// What records say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    True,
    False,
    NotMeasured,
}

impl Verdict {
    /// Of a claim.
    fn of(found: Option<f64>, holds: Bound) -> Self {
        match found {
            None => Self::NotMeasured,
            Some(found) if holds.takes(found) => Self::True,
            Some(_) => Self::False,
        }
    }

    /// Of a conclusion, by its claims: one that is false makes it false, and all must be known for it to be true.
    fn of_all(claims: &[Self]) -> Self {
        if claims.contains(&Self::False) {
            Self::False
        } else if claims.contains(&Self::NotMeasured) {
            Self::NotMeasured
        } else {
            Self::True
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::True => "TRUE",
            Self::False => "FALSE",
            Self::NotMeasured => "NOT MEASURED",
        }
    }
}

/// A machine with its observations.
struct Machine<'a> {
    host: &'a Host,
    rows: Vec<&'a Observation>,
}

fn machines(records: &[Record]) -> Vec<Machine<'_>> {
    let mut machines: Vec<Machine<'_>> = Vec::new();
    for record in records {
        let Record::Observation(row) = record else { continue };
        match machines.iter_mut().find(|machine| machine.host.is_machine_of(&row.host)) {
            Some(machine) => machine.rows.push(row),
            None => machines.push(Machine { host: &row.host, rows: vec![row] }),
        }
    }
    machines
}

/// A row of the table.
fn row(host: &Host, conclusion: &Conclusion, claim: &Claim, look: &Look) -> (Verdict, Row) {
    let found = (claim.find)(look);
    let verdict = Verdict::of(found, claim.holds);
    let experiment = claim.experiment;
    let value = match found {
        None if look.has(experiment) => Err(format!(
            "rows of `cipherlane lab run {experiment}` lack it and say why: a sensor that nobody can read there, or a \
             device that was not asked"
        )),
        None => Err(format!("run `cipherlane lab run {experiment}` there")),
        Some(found) if found.is_finite() => Ok(found),
        Some(_) => Err("measured, but no number: what it is divided by is 0 or less".to_owned()),
    };
    let figures: Vec<(f64, &str)> = claim.figure.into_iter().map(|figure| (figure, "the study's")).collect();
    let row = Row {
        axes: axes(host, conclusion.number, claim.what, verdict),
        values: vec![beside(known("found", "1", value), claim.study, &figures)],
        notes: vec![
            format!("{}: {}", conclusion.number, conclusion.says),
            format!(
                "{}, {}: {}; true where it is {}; from `lab run {}`",
                conclusion.number, claim.what, claim.number, claim.holds, claim.experiment
            ),
        ],
        ..Row::default()
    };
    (verdict, row)
}

fn axes(host: &Host, number: &str, what: &str, verdict: Verdict) -> BTreeMap<String, Axis> {
    BTreeMap::from([
        ("conclusion".to_owned(), Axis::from(number)),
        ("claim".to_owned(), Axis::from(what)),
        ("machine".to_owned(), Axis::Name(host.name())),
        ("verdict".to_owned(), Axis::from(verdict.name())),
    ])
}

/// What all claims of a conclusion come to.
fn sum(host: &Host, conclusion: &Conclusion, verdicts: &[Verdict]) -> Row {
    let held = verdicts.iter().filter(|verdict| **verdict == Verdict::True).count();
    let share = known("found", "1", Ok(held as f64 / verdicts.len() as f64));
    Row {
        axes: axes(host, conclusion.number, "all of it", Verdict::of_all(verdicts)),
        values: vec![share],
        notes: vec![
            "all of it: the part of the claims that hold; one that is false makes it false".to_owned(),
        ],
        ..Row::default()
    }
}

impl Run for Findings {
    fn plan(&self, setting: &Setting<'_>) -> Vec<(String, Duration)> {
        let step = (format!("reads {} records", setting.records.len()), Duration::ZERO);
        if self.nothing(setting).is_some() { Vec::new() } else { vec![step] }
    }

    fn nothing(&self, setting: &Setting<'_>) -> Option<String> {
        let is_none = !setting.records.iter().any(|record| matches!(record, Record::Observation(_)));
        is_none.then(|| {
            format!(
                "of {} records none is of an experiment of study 000; name files of them: cipherlane lab run findings \
                 mine.jsonl",
                setting.records.len()
            )
        })
    }

    fn run(&self, setting: &Setting<'_>, observer: &mut dyn Observer) -> io::Result<()> {
        if let Some(reason) = self.nothing(setting) {
            setting.skip(observer, setting.cpu, None, reason);
        }
        for machine in machines(setting.records) {
            let look = Look::at(&machine.rows);
            for conclusion in &CONCLUSIONS {
                let mut verdicts = Vec::new();
                let mut rows = Vec::new();
                for claim in conclusion.claims {
                    let (verdict, row) = row(machine.host, conclusion, claim, &look);
                    verdicts.push(verdict);
                    rows.push(row);
                }
                if verdicts.len() > 1 {
                    rows.push(sum(machine.host, conclusion, &verdicts));
                }
                for mut row in rows {
                    row.notes.extend(setting.doubts());
                    let observed =
                        setting.observation_of(machine.host, ("study 000", "its conclusions"), row);
                    observer.observed(&observed)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::look::tests::row as observation;
    use super::*;

    #[test]
    fn a_claim_is_true_within_its_bound_and_never_without_a_number() {
        assert_eq!(Verdict::of(Some(2.0), Bound::AtLeast(1.5)), Verdict::True);
        assert_eq!(Verdict::of(Some(2.0), Bound::AtMost(1.5)), Verdict::False);
        assert_eq!(Verdict::of(Some(0.4), Bound::Between(0.35, 0.75)), Verdict::True);
        assert_eq!(Verdict::of(Some(f64::NAN), Bound::AtLeast(1.5)), Verdict::False);
        assert_eq!(Verdict::of(Some(f64::INFINITY), Bound::AtLeast(1.5)), Verdict::True);
        assert_eq!(Verdict::of(None, Bound::AtMost(1.5)), Verdict::NotMeasured);
    }

    #[test]
    fn what_is_missing_is_told_from_what_is_no_number() {
        let host = crate::host::detect();
        let (conclusion, claim) = (&CONCLUSIONS[7], &CONCLUSIONS[7].claims[2]);
        let of = |degrees: &[(&str, &str, f64)]| {
            let rows = degrees.iter().map(|&(subject, moment, degrees)| {
                observation("thermal", subject, &[("moment", moment.into())], &[("temperature", degrees)])
            });
            let rows: Vec<Observation> = rows.collect();
            let (verdict, row) = row(&host, conclusion, claim, &Look::at(&rows.iter().collect::<Vec<_>>()));
            (verdict, row.values[0].value, row.values[0].reason.clone().unwrap_or_default())
        };
        let mut degrees = vec![("cpu", "before", 45.0), ("cpu", "early", 95.0), ("cuda:0", "before", 42.0)];
        let (verdict, value, told) = of(&[]);
        assert_eq!((verdict, value), (Verdict::NotMeasured, None));
        assert!(told.starts_with("run `cipherlane lab run thermal`"), "{told}");
        let (verdict, value, told) = of(&degrees);
        assert_eq!((verdict, value), (Verdict::NotMeasured, None));
        assert!(told.starts_with("rows of `cipherlane lab run thermal` lack it"), "{told}");
        degrees.push(("cuda:0", "early", 42.0));
        let (verdict, value, told) = of(&degrees);
        assert_eq!((verdict, value), (Verdict::True, None));
        assert!(told.starts_with("measured"), "{told}");
    }

    #[test]
    fn a_conclusion_is_as_true_as_its_claims() {
        use Verdict::{False, NotMeasured, True};
        assert_eq!(Verdict::of_all(&[True, True]), True);
        assert_eq!(Verdict::of_all(&[True, NotMeasured]), NotMeasured);
        assert_eq!(Verdict::of_all(&[NotMeasured, False, True]), False);
    }

    #[test]
    fn there_are_eight_conclusions_and_the_studys_figures_keep_to_them() {
        let numbers: Vec<&str> = CONCLUSIONS.iter().map(|conclusion| conclusion.number).collect();
        assert_eq!(numbers, ["I", "II", "III", "IV", "V", "VI", "VII", "VIII"]);
        for claim in CONCLUSIONS.iter().flat_map(|conclusion| conclusion.claims) {
            assert!(claim.figure.is_none_or(|figure| claim.holds.takes(figure)), "{}", claim.what);
        }
    }

    #[test]
    fn every_claim_names_an_experiment_that_there_is() {
        for claim in CONCLUSIONS.iter().flat_map(|conclusion| conclusion.claims) {
            assert!(crate::Experiment::named(claim.experiment).is_ok(), "{}", claim.experiment);
        }
    }
}
