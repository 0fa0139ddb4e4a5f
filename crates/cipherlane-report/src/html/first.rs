//! The first screen: the numbers that matter, and the recommendation.

use cipherlane_record::Verdict;
use maud::{Markup, html};

use super::parts;
use crate::advice::Advice;
use crate::ceiling;
use crate::headline::{Beside, Figure};

/// The numbers, side by side.
pub(super) fn figures(figures: &[Figure]) -> Markup {
    html! {
        section.first aria-label="The numbers that matter" {
            @if figures.is_empty() {
                p.warn { "These records hold no verified row of cipherlane." }
            }
            div.figures { @for one in figures { (figure(one)) } }
        }
    }
}

fn figure(figure: &Figure) -> Markup {
    let (number, unit) = &figure.value;
    let [job, place] = &figure.what;
    html! {
        article {
            h2 { (figure.label) }
            p.value { (number) " " small { (unit) } }
            @if !figure.interval.is_empty() { p.interval { (figure.interval) } }
            p { (job) br; (place) }
            div.beside { (beside(&figure.beside)) }
        }
    }
}

fn beside(beside: &Beside) -> Markup {
    html! {
        @match beside {
            Beside::Measured { ceiling, rival, more } => {
                @match ceiling {
                    Ok((share, bound)) => {
                        (meter(*share))
                        p { b { (ceiling::percent(*share)) } " of " (bound) }
                        @if ceiling::is_passed(*share) {
                            p.none { "More than this bound allows, which is too low; the bar ends at 100 %." }
                        }
                    }
                    Err(why) => p.none { (why) }
                }
                @match rival {
                    Ok((verdict, text)) => p class=(class(*verdict)) { (sign(*verdict)) " " (text) }
                    Err(why) => p.none { (why) }
                }
                @for line in more { p { (line) } }
            }
            Beside::Observed(published) => {
                @for figure in published { p.none { "published: " (figure) } }
            }
        }
    }
}

/// A bar for a part of a whole.
fn meter(share: f64) -> Markup {
    let width = format!("{:.1}%", 100.0 * share.clamp(0.0, 1.0));
    html! {
        svg.meter aria-hidden="true" {
            rect width="100%" height="100%" fill="var(--grid)" {}
            rect width=(width) height="100%" fill="var(--s0)" {}
        }
    }
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "good",
        Verdict::Slower => "bad",
        Verdict::Ambiguous => "even",
    }
}

/// A sign beside the colour, for those who do not see it.
const fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "▲",
        Verdict::Slower => "▼",
        Verdict::Ambiguous => "≈",
    }
}

/// What the records recommend.
pub(super) fn advice(all: &[Advice]) -> Markup {
    html! {
        @for advice in all {
            section.advice {
                h2 {
                    "Recommendation"
                    @if let Some(letter) = &advice.machine { " for " b.letter { (letter) } }
                }
                dl {
                    @for rule in &advice.rules { dt { (rule.title) } dd { (rule.text) } }
                }
                @if !advice.table.rows.is_empty() {
                    details {
                        summary { "The fastest for each job and size" }
                        (parts::table(&advice.table, "The fastest for each job and size"))
                    }
                }
            }
        }
    }
}
