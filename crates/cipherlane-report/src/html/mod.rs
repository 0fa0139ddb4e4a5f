//! The page: HTML with style and pictures inside. Every text of a record is escaped by the templates; the page's
//! policy forbids whatever would still be loaded or run.

mod first;
mod parts;
mod sections;

use cipherlane_record::date;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::Report;
use crate::chart::DrawError;
use crate::machine::{Machine, Machines};
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
            p.sub { (machine.details()) " · " (written(machine)) }
            (doubt(machine))
        } @else {
            ul.machines {
                @for (place, machine) in machines.iter().enumerate() {
                    li {
                        b.letter { (Machines::letter(place)) } " " b { (machine.name()) } br;
                        span.sub { (machine.details()) " · " (written(machine)) }
                        (doubt(machine))
                    }
                }
            }
        }
    }
}

/// How much was measured there, and when.
fn written(machine: &Machine<'_>) -> String {
    let (first, last) = (date::day(machine.written.0), date::day(machine.written.1));
    let days = if first == last { first } else { format!("{first} to {last}") };
    format!("{}, {days}", units::count(machine.records, "record"))
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
                    (parts::facts(&facts(machine)))
                }
            }
        }
    }
}

fn facts(machine: &Machine<'_>) -> Vec<(String, String)> {
    let host = machine.host;
    let unknown = |field: &str| {
        let reason = host.missing.get(field).map_or("no reason is given", String::as_str);
        format!("not known: {reason}")
    };
    let or = |value: Option<String>, field: &str| value.unwrap_or_else(|| unknown(field));
    let facts = [
        ("CPU", or(host.cpu_model.clone(), "cpu_model")),
        ("CPU signature", or(host.cpu_signature.clone(), "cpu_signature")),
        ("GPUs", or(host.gpus.as_ref().map(|gpus| listed(gpus)), "gpus")),
        ("Logical CPUs", host.logical_cores.to_string()),
        ("Cores", or(host.physical_cores.map(|cores| cores.to_string()), "physical_cores")),
        ("Threads share cores", or(host.smt.map(|smt| if smt { "yes" } else { "no" }.to_owned()), "smt")),
        ("L2 cache of a core", or(host.l2_bytes.map(units::bytes), "l2_bytes")),
        ("Last cache", or(host.last_level_cache_bytes.map(units::bytes), "last_level_cache_bytes")),
        ("Frequency governor", or(host.frequency_governor.clone(), "frequency_governor")),
        ("System", or(host.kernel.clone(), "kernel")),
        ("Hypervisor", or(host.hypervisor.clone(), "hypervisor")),
        ("Instruction sets", listed(&host.features)),
        ("Written by", machine.tools.join("; ")),
    ];
    facts.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// What the numbers mean, in the words of docs/MEASURING.md.
fn reading() -> Markup {
    html! {
        footer {
            h2 { "How to read this" }
            p {
                "A rate is the median over one pass and counts bytes of message text, without AAD and tags; 1 GB is 1e9 \
                 bytes. Behind it stands its 95 % interval. Every timed output was compared with the expected one; a row \
                 with a wrong output has no rate. Ratios are medians over interleaved rounds: above 1 cipherlane is \
                 faster. A ceiling is what the slowest of the machine's resources allows the kernel at most; where a row has \
                 none, it is what the experiment mix foretold for the same kernel. Two numbers belong in one column only \
                 if their scopes agree."
            }
        }
    }
}
