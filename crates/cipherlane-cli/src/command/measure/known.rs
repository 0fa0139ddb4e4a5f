//! Known answers before anything is timed.

use anyhow::Result;
use cipherlane::verify::vectors::Case;
use cipherlane::verify::{exam, vectors};
use cipherlane_lab::{Contender, Suite};

use super::watch::Watch;
use crate::command::shared;
use crate::exit::WrongAnswer;
use crate::render::complain;

/// Has every contender compute the known answers of the standards for what `suite` measures, and returns those that are
/// right. A device that launches kernels is not asked here: it would compile one for each kind of batch among the answers,
/// and each kernel that is measured gives a known answer when its session is opened.
///
/// # Errors
/// If a device of ours is wrong. A rival that is wrong is left out, with a warning.
pub(super) fn check<'a>(
    contenders: Vec<Contender<'a>>,
    suite: &Suite,
    watch: &Watch,
) -> Result<Vec<Contender<'a>>> {
    let measured = suite.algorithms();
    let is_measured = |case: &Case| measured.contains(&case.algorithm);
    let cases: Vec<Case> = vectors::known().into_iter().filter(is_measured).collect();
    let mut right = Vec::new();
    for contender in contenders {
        if contender.launches {
            right.push(contender);
            continue;
        }
        let label = shared::label(&contender);
        watch.say(&format!("known answers: {label}"));
        let tally = exam::run(contender.device, &contender.wish, &cases)?;
        match tally.failures.first() {
            None => right.push(contender),
            Some(first) if contender.is_rival() => {
                watch.above(|| complain("warning", &format!("{label} is left out, it is wrong: {first}")));
            }
            Some(first) => return Err(WrongAnswer { contender: label, first: first.to_string() }.into()),
        }
    }
    Ok(right)
}
