//! The page: HTML with style and pictures inside. Every text of a record is escaped by the templates; the page's
//! policy forbids whatever would still be loaded or run.

mod first;
mod parts;
mod sections;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::Report;
use crate::chart::DrawError;
use crate::machine::{Machine, Machines};
use crate::reading::READING;
use crate::units;

/// The style sheet of the page, for other pages that shall look like it.
pub const STYLE: &str = include_str!("style.css");
/// Nothing is loaded from anywhere, no script runs, nothing is sent, and no base address is set.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The whole page.
pub(crate) fn page(report: &Report<'_>) -> Result<String, DrawError> {
    let sections = sections::all(&report.sections)?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "cipherlane report: " (heading(report)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { (head(report)) }
                main {
                    (first::figures(&report.figures))
                    (first::advice(&report.advice))
                    (contents(report))
                    (sections)
                    (machines(&report.machines))
                    (reading())
                }
            }
        }
    };
    Ok(without_ends_of_cells(&page.into_string()))
}

/// Leaves out the ends of cells and rows, which HTML lets one leave out before another begins (section 13.1.2.4): of a page
/// with many rows, a seventh. No text has them: templates escape texts.
fn without_ends_of_cells(page: &str) -> String {
    page.replace("</td>", "").replace("</th>", "").replace("</tr>", "")
}

/// What the page is about: the machine, or how many there are.
fn heading(report: &Report<'_>) -> String {
    match report.machines.all() {
        [] => "no records".to_owned(),
        [machine] => machine.name(),
        several => units::count(several.len(), "machine"),
    }
}

fn head(report: &Report<'_>) -> Markup {
    let machines = report.machines.all();
    html! {
        p.brand { "cipherlane report" }
        h1 { (heading(report)) }
        @if let [machine] = machines {
            p.sub { (machine.details()) " · " (machine.span()) }
            (doubt(machine))
        } @else {
            ul.machines {
                @for (place, machine) in machines.iter().enumerate() {
                    li {
                        b.letter { (Machines::letter(place)) } " " b { (machine.name()) } br;
                        span.sub { (machine.details()) " · " (machine.span()) }
                        (doubt(machine))
                    }
                }
            }
        }
    }
}

/// Whether its records may be of several machines.
fn doubt(machine: &Machine<'_>) -> Markup {
    html! {
        @if let Some(text) = machine.doubt() { ul.warnings { li { b { "note" } " " (text) } } }
    }
}

fn contents(report: &Report<'_>) -> Markup {
    html! {
        @if report.sections.len() > 1 {
            nav aria-label="Experiments" {
                ol {
                    @for (place, section) in report.sections.iter().enumerate() {
                        li { a href=(format!("#s{place}")) { (section.name) } }
                    }
                }
            }
        }
    }
}

/// All that is known of the machines, and what could not be read.
fn machines(machines: &Machines<'_>) -> Markup {
    html! {
        @if !machines.all().is_empty() {
            section {
                h2 { (if machines.several() { "The machines" } else { "The machine" }) }
                @for (place, machine) in machines.all().iter().enumerate() {
                    @if machines.several() {
                        h3 { b.letter { (Machines::letter(place)) } " " (machine.name()) }
                    }
                    (parts::facts(&machine.facts()))
                }
            }
        }
    }
}

/// What the numbers mean, in the words of docs/MEASURING.md.
fn reading() -> Markup {
    html! {
        footer {
            h2 { "How to read this" }
            p { (READING) }
        }
    }
}
