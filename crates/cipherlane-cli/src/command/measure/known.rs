//! Known answers before anything is timed.

use anyhow::Result;
use cipherlane_lab::judge::{first_wrong, known_answers};
use cipherlane_lab::{Contender, Suite};

use super::watch::Watch;
use crate::command::shared;
use crate::exit::WrongAnswer;
use crate::render::complain;

/// Has every contender compute the known answers of the standards for what `suite` measures, and returns those that are
/// right ([`first_wrong`]).
///
/// # Errors
/// If a device of ours is wrong. A rival that is wrong is left out, with a warning.
pub(super) fn check<'a>(
    contenders: Vec<Contender<'a>>,
    suite: &Suite,
    watch: &Watch,
) -> Result<Vec<Contender<'a>>> {
    let known = known_answers(suite.algorithms());
    let mut right = Vec::new();
    for contender in contenders {
        let label = shared::label(&contender);
        watch.say(&format!("known answers: {label}"));
        match first_wrong(&contender, &known)? {
            None => right.push(contender),
            Some(first) if contender.is_rival() => {
                complain("warning", &format!("{label} is left out, it is wrong: {first}"));
            }
            Some(first) => return Err(WrongAnswer { contender: label, first: first.to_string() }.into()),
        }
    }
    Ok(right)
}
