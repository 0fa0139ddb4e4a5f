//! What a number is as a part of its ceiling. No code passes what the machine allows, so that a bound that was passed says
//! nothing of how close the code is, but something of the bound.

use crate::units;

/// What stands behind a part of more than the whole.
pub(crate) const TOO_LOW: &str = "bound too low";

/// Whether more was measured than the bound allows.
pub(crate) fn is_passed(share: f64) -> bool {
    share > 1.0
}

/// `51 %`; a part just above the whole with a digit more, so that it can be seen to be above.
pub(crate) fn percent(share: f64) -> String {
    let text = units::percent(share);
    if is_passed(share) && text == units::percent(1.0) { format!("{:.2} %", 100.0 * share) } else { text }
}

/// The same with what must be said of it: `104 % (bound too low)`.
pub(crate) fn part(share: f64) -> String {
    if is_passed(share) { format!("{} ({TOO_LOW})", percent(share)) } else { percent(share) }
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn a_part_above_the_whole_tells_of_the_bound() {
        assert_eq!([0.51, 1.0].map(part), ["51 %", "100 %"]);
        assert_eq!([1.0004, 1.043].map(part), ["100.04 % (bound too low)", "104 % (bound too low)"]);
    }
}
