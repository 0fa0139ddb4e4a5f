//! What a reader must know before believing: wrong outputs, throttling, noise, and what the tool itself warned of.

use cipherlane_record::{Observation, Timeline, Value, throttle};

use crate::beside::Observed;
use crate::machine::Machines;
use crate::row::Row;
use crate::subjects::Subjects;
use crate::{beside, level, units};

/// An interval wider than this part of the value is called noisy.
const NOISY: f64 = 0.1;
/// What rows of too few rounds lack.
const SHORT: &str = "fewer than six rounds or samples, so no interval and no verdict:";

/// A warning, and how grave it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Warning {
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// What a warning is about, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// An output was wrong.
    Wrong,
    /// The machine held itself back.
    Throttled,
    /// The interval is wide.
    Noisy,
    /// Nobody can tell how sure the number is.
    Short,
    /// The record says so.
    Noted,
}

impl Kind {
    /// The word before the text.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Wrong => "not verified",
            Self::Throttled => "throttled",
            Self::Noisy => "noisy",
            Self::Short => "few rounds",
            Self::Noted => "note",
        }
    }
}

/// The warnings of measurements.
pub(super) fn of_measured(rows: &[Row<'_>], machines: &Machines<'_>) -> Vec<Warning> {
    let name = |row: &Row<'_>| {
        let machine =
            if machines.several() { format!("{} ", Machines::letter(row.machine)) } else { String::new() };
        let threads = units::count(row.threads, "thread");
        format!("{machine}{} on {}, {threads}{}", row.does(), row.contender(), row.flushed_text())
    };
    let mut warnings = Vec::new();
    for row in rows.iter().filter(|row| !row.verified) {
        let text =
            format!("{}: {} of {} outputs were wrong", name(row), row.checks.unexpected, row.checks.messages);
        warnings.push(Warning { kind: Kind::Wrong, text });
    }
    let throttled = rows.iter().filter_map(|row| Some(name(row) + &throttled(row.timeline.as_ref())?));
    warnings.extend(together(Kind::Throttled, "the machine held itself back during", throttled));
    let noisy = rows.iter().filter(|row| row.verified && noise(row) > NOISY);
    let noisy = noisy.map(|row| format!("{} ({} wide)", name(row), units::percent(noise(row))));
    warnings.extend(together(Kind::Noisy, "wide 95 % intervals:", noisy));
    let short = rows.iter().filter(|row| row.verified && row.is_short());
    warnings.extend(together(Kind::Short, SHORT, short.map(name)));
    let noted = rows.iter().flat_map(|row| row.warnings.iter().map(String::as_str));
    for (_, texts) in super::grouped(noted, |text| without_numbers(text)) {
        warnings.push(counted(&texts));
    }
    warnings
}

/// The warnings of observations, and what their notes say.
pub(super) fn of_observed(rows: &[Observed<'_>]) -> (Vec<Warning>, Vec<String>) {
    let subjects = Subjects::of(rows);
    let placed = |row: &Observed<'_>| placed(subjects.name(*row), row.1);
    let wrong = rows.iter().filter(|(_, row)| beside::is_wrong(row));
    let wrong = wrong.map(placed);
    let mut warnings: Vec<Warning> =
        together(Kind::Wrong, "results were wrong:", wrong).into_iter().collect();
    let throttled = rows.iter().filter_map(|row| Some(placed(row) + &throttled(row.1.timeline.as_ref())?));
    warnings.extend(together(Kind::Throttled, "the machine held itself back during", throttled));
    let right = || rows.iter().filter(|(_, row)| !beside::is_wrong(row));
    let noisy = right().flat_map(|row| {
        let name = placed(row);
        row.1.values.iter().filter_map(move |value| noisy(&name, row.1, value))
    });
    warnings.extend(together(Kind::Noisy, "wide 95 % intervals:", noisy));
    let short = right().filter(|(_, row)| level::is_short(row));
    warnings.extend(together(Kind::Short, SHORT, short.map(placed)));
    let mut notes: Vec<String> = Vec::new();
    for note in rows.iter().flat_map(|(_, row)| &row.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    (warnings, notes)
}

/// What an observation is of: `AMD EPYC, debug, Python`.
fn placed(subject: String, row: &Observation) -> String {
    let places = row.axes.values().map(ToString::to_string);
    std::iter::once(subject).chain(places).collect::<Vec<_>>().join(", ")
}

/// `time of AMD EPYC, debug, Python (12 % wide)`, if it is.
fn noisy(name: &str, row: &Observation, value: &Value) -> Option<String> {
    let ends = level::interval(row, value)?;
    let wide = (ends.high - ends.low) / value.value?.abs();
    (wide.is_finite() && wide > NOISY)
        .then(|| format!("{} of {name} ({} wide)", value.name, units::percent(wide)))
}

fn noise(row: &Row<'_>) -> f64 {
    row.interval().map_or(0.0, |ends| (ends.high - ends.low) / row.bytes_per_second)
}

/// What held the machine back meanwhile: ` (cuda:0: power limit)`.
fn throttled(timeline: Option<&Timeline>) -> Option<String> {
    let seen = throttle::seen(timeline?);
    (!seen.is_empty()).then(|| format!(" ({})", seen.join(", ")))
}

/// Names that one warning lists; it counts the others.
const LISTED: usize = 5;

fn together(kind: Kind, what: &str, names: impl Iterator<Item = String>) -> Option<Warning> {
    let mut names: Vec<String> = names.collect();
    let all = names.len();
    names.truncate(LISTED);
    let more = if all > LISTED { format!(" and {} more", all - LISTED) } else { String::new() };
    (all > 0).then(|| Warning { kind, text: format!("{what} {}{more}", names.join("; ")) })
}

/// A text that many rows have, but for its numbers: `4 to 7 rounds of 10 fit the time (28 rows)`. Where other numbers
/// than the first differ, one of the texts stands for all.
fn counted(texts: &[&str]) -> Warning {
    let rest = without_count(texts[0]);
    let alike = texts.iter().all(|text| without_count(text) == rest);
    let counts =
        texts.iter().filter_map(|text| text[..text.len() - without_count(text).len()].parse::<u64>().ok());
    let text = match (counts.clone().min(), counts.max()) {
        (Some(low), Some(high)) if alike && low < high => format!("{low} to {high}{rest}"),
        _ if alike => texts[0].to_owned(),
        _ => format!("{}, and the like", texts[0]),
    };
    let rows = if texts.len() > 1 { format!(" ({} rows)", texts.len()) } else { String::new() };
    Warning { kind: Kind::Noted, text: format!("{text}{rows}") }
}

/// The text without the count at its beginning: alike in warnings of one kind.
fn without_count(text: &str) -> &str {
    text.trim_start_matches(|letter: char| letter.is_ascii_digit())
}

/// The text without its numbers.
fn without_numbers(text: &str) -> String {
    text.replace(|letter: char| letter.is_ascii_digit() || letter == '.', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_that_differ_in_a_count_are_one() {
        let warning = counted(&["4 rounds of 10 fit", "7 rounds of 10 fit", "5 rounds of 10 fit"]);
        assert_eq!(warning.text, "4 to 7 rounds of 10 fit (3 rows)");
        assert_eq!(counted(&["the battery is low"]).text, "the battery is low");
        assert_eq!(without_count("12 rounds"), " rounds");
        let clocks = ["the clock went from 2.69 to 2.48 GHz", "the clock went from 3.1 to 3 GHz"];
        assert_eq!(without_numbers(clocks[0]), without_numbers(clocks[1]));
        assert_eq!(counted(&clocks).text, "the clock went from 2.69 to 2.48 GHz, and the like (2 rows)");
    }
}
