//! What a comparison comes to, for whoever asks whether something became slower.

use std::str::FromStr;

use cipherlane_lab::compare::{Comparison, Row};

use crate::exit::Exit;

/// What makes the comparison fail: a row that is slower by more than so many percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FailOn {
    percent: f64,
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is no such thing; write slower, or slower:5 for more than 5 %");
        let percent = match text.split_once(':') {
            None if text == "slower" => 0.0,
            Some(("slower", percent)) => percent.trim_end_matches('%').parse().map_err(|_| wrong())?,
            _ => return Err(wrong()),
        };
        if (0.0..100.0).contains(&percent) { Ok(Self { percent }) } else { Err(wrong()) }
    }
}

/// Which rows count, and what of them is a failure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    /// Fail on what is slower; `None` fails on what is wrong alone.
    pub(super) fail_on: Option<FailOn>,
    /// What another library does counts as well. It is not ours to mend.
    pub(super) with_rivals: bool,
}

/// What came of it.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) exit: Exit,
    /// Why it is a regression, if it is one.
    pub(super) reasons: Vec<String>,
}

impl Gate {
    fn counts(self, row: &Row) -> bool {
        self.with_rivals || !row.is_of_a_rival()
    }

    /// The verdict on `comparison`.
    pub(super) fn judge(self, comparison: &Comparison) -> Verdict {
        let refused = || comparison.refused.iter().filter(|refused| self.counts(&refused.row));
        let mut only_new = comparison.only_new.iter().filter(|alone| self.counts(&alone.row));
        if refused().any(|refused| refused.new_is_wrong) || only_new.any(|alone| alone.fault.is_some()) {
            return Verdict { exit: Exit::Mismatch, reasons: Vec::new() };
        }
        let Some(fail_on) = self.fail_on else {
            let exit = if comparison.compared.is_empty() { Exit::NothingToRun } else { Exit::Success };
            return Verdict { exit, reasons: Vec::new() };
        };
        // What is not compared may be slower, even where that is all of it.
        let mut reasons = Vec::new();
        match comparison.only_base.iter().filter(|alone| self.counts(&alone.row)).count() {
            0 => {}
            lonely => {
                reasons.push(format!("{lonely} rows of A are not compared: measure them for B as well"));
            }
        }
        match refused().count() {
            0 => {}
            refused => reasons.push(format!(
                "{refused} rows cannot be compared, so that nobody can tell: the lines `not compared` say why"
            )),
        }
        reasons.extend(self.slower(comparison, fail_on));
        let few = comparison.compared.iter().filter(|row| self.counts(&row.row) && row.too_few().is_some());
        match few.count() {
            0 => {}
            few => reasons.push(format!(
                "{few} rows have too few rounds or samples to tell: measure them for longer, with more --time"
            )),
        }
        let exit = if !reasons.is_empty() {
            Exit::Regression
        } else if comparison.compared.iter().any(|row| self.counts(&row.row)) {
            Exit::Success
        } else {
            Exit::NothingToRun
        };
        Verdict { exit, reasons }
    }

    /// That rows are slower, if some are.
    fn slower(self, comparison: &Comparison, FailOn { percent }: FailOn) -> Option<String> {
        let slower = comparison.slower(percent).filter(|row| self.counts(&row.row)).count();
        let more = if percent > 0.0 { format!(" by more than {percent} %") } else { String::new() };
        (slower > 0).then(|| format!("{slower} rows are slower{more}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_read() {
        assert_eq!("slower".parse(), Ok(FailOn { percent: 0.0 }));
        assert_eq!("slower:2.5".parse(), Ok(FailOn { percent: 2.5 }));
        assert_eq!("slower:5%".parse(), Ok(FailOn { percent: 5.0 }));
        for text in ["", "faster", "slower:", "slower:x", "slower:-1", "slower:100", "slower:NaN"] {
            assert!(text.parse::<FailOn>().is_err(), "{text}");
        }
    }
}
