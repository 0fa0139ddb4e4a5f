//! The report as Markdown, with tables in place of pictures.

use std::fmt::Write as _;

use cipherlane_record::Verdict;
use cipherlane_record::markdown::plain;

use crate::Report;
use crate::ceiling;
use crate::headline::{Beside, Figure};
use crate::machine::Machines;
use crate::reading::READING;
use crate::section::Section;
use crate::table::Table;

/// Everything, in the order of the page.
pub(crate) fn text(report: &Report<'_>) -> String {
    let mut text = String::from("# cipherlane report\n\n");
    for (place, machine) in report.machines.all().iter().enumerate() {
        let letter = if report.machines.several() {
            format!("**{}** ", Machines::letter(place))
        } else {
            String::new()
        };
        let details = format!("{} · {}", machine.details(), machine.span());
        line(&mut text, &format!("- {letter}{}: {}", plain(&machine.name()), plain(&details)));
        if let Some(doubt) = machine.doubt() {
            line(&mut text, &format!("  - note: {}", plain(&doubt)));
        }
    }
    if report.figures.is_empty() {
        line(&mut text, "No verified row.");
    } else {
        line(&mut text, "\n## Numbers that matter\n");
    }
    for figure in &report.figures {
        line(&mut text, &number(figure));
    }
    for advice in &report.advice {
        let machine = advice.machine.as_ref().map_or_else(String::new, |letter| format!(" for {letter}"));
        line(&mut text, &format!("\n## Recommendation{machine}\n"));
        for rule in &advice.rules {
            line(&mut text, &format!("- {}: {}", rule.title, plain(&rule.text)));
        }
        if !advice.table.rows.is_empty() {
            line(&mut text, "");
            table(&mut text, &advice.table);
        }
    }
    for section in &report.sections {
        write_section(&mut text, section);
    }
    machines(&mut text, &report.machines);
    line(&mut text, &format!("\n## How to read this\n\n{}", plain(READING)));
    text
}

/// A number with its interval, what it is of, and what stands beside it.
fn number(figure: &Figure) -> String {
    let (number, unit) = (&figure.value.0, plain(&figure.value.1));
    let interval = if figure.interval.is_empty() {
        String::new()
    } else {
        format!(" (95 %: {})", plain(&figure.interval))
    };
    let rest: String = beside(&figure.beside).into_iter().map(|text| format!("; {text}")).collect();
    let what = plain(&(figure.what.join(", ") + &rest));
    format!("- {}: **{number} {unit}**{interval}, {what}", plain(&figure.label))
}

fn beside(beside: &Beside) -> Vec<String> {
    match beside {
        Beside::Measured { ceiling, rival, more } => {
            let part = |(share, of): &(f64, String)| format!("{} of {of}", ceiling::part(*share));
            let ceiling = ceiling.as_ref().map_or_else(Clone::clone, part);
            let said = |(verdict, text): &(Verdict, String)| format!("{}: {text}", verdict.name());
            let rival = rival.as_ref().map_or_else(Clone::clone, said);
            [ceiling, rival].into_iter().chain(more.iter().cloned()).collect()
        }
        Beside::Observed(published) => published.iter().map(|one| format!("published: {one}")).collect(),
    }
}

/// All that is known of the machines.
fn machines(text: &mut String, machines: &Machines<'_>) {
    for (place, machine) in machines.all().iter().enumerate() {
        let letter = if machines.several() {
            format!("Machine {}", Machines::letter(place))
        } else {
            "The machine".to_owned()
        };
        line(text, &format!("\n## {letter}\n"));
        for (name, value) in machine.facts() {
            line(text, &format!("- {name}: {}", plain(&value)));
        }
    }
}

fn write_section(text: &mut String, section: &Section) {
    line(text, &format!("\n## {}\n", plain(&section.name)));
    if let Some(question) = &section.question {
        line(text, &format!("{}\n", plain(question)));
    }
    line(text, &plain(&section.origin));
    for warning in &section.warnings {
        line(text, &format!("\n> {}: {}", warning.kind.name(), plain(&warning.text)));
    }
    let charts = || section.charts.iter().chain(&section.sensors);
    if charts().next().is_some() {
        line(text, "");
    }
    for chart in charts() {
        line(text, &format!("- {}: {}", plain(&chart.title), plain(&chart.finding)));
    }
    for (title, rows) in &section.tables {
        line(text, &format!("\n### {title}\n"));
        table(text, rows);
    }
    if !section.scopes.lines().is_empty() {
        line(text, "\nScopes:\n");
    }
    for (letter, scope) in section.scopes.lines() {
        line(text, &format!("- {letter}: {}", plain(scope)));
    }
    for note in &section.notes {
        line(text, &format!("\nNote: {}", plain(note)));
    }
}

fn line(text: &mut String, line: &str) {
    let _ = writeln!(text, "{line}");
}

fn table(text: &mut String, table: &Table) {
    let row =
        |cells: &mut dyn Iterator<Item = String>| format!("| {} |", cells.collect::<Vec<_>>().join(" | "));
    line(text, &row(&mut table.columns.iter().map(|column| plain(&column.title))));
    line(
        text,
        &row(&mut table.columns.iter().map(|column| if column.numbers { "---:" } else { "---" }.to_owned())),
    );
    for cells in &table.rows {
        line(text, &row(&mut cells.iter().map(|cell| plain(cell))));
    }
}
