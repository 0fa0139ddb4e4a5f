//! The sections: question, warnings, charts, tables, scopes and notes.

use maud::{Markup, PreEscaped, html};

use super::parts;
use crate::chart::{self, Chart, DrawError};
use crate::section::Section;

/// Rows up to which a table is open from the start.
const SHORT: usize = 40;
/// Notes up to which they are open from the start.
const FEW: usize = 10;

/// All sections. Charts are numbered over the page.
pub(super) fn all(sections: &[Section]) -> Result<Markup, DrawError> {
    let mut drawn = 0;
    let mut draw = |charts: &[Chart]| -> Result<Vec<Markup>, DrawError> {
        let numbered = (drawn..).zip(charts);
        drawn += charts.len();
        numbered.map(|(number, chart)| picture(chart, number)).collect()
    };
    let mut pictures = Vec::with_capacity(sections.len());
    for section in sections {
        pictures.push((draw(&section.charts)?, draw(&section.sensors)?));
    }
    Ok(html! {
        @for (place, (one, (pictures, sensors))) in sections.iter().zip(&pictures).enumerate() {
            (section(place, one, pictures, sensors))
        }
    })
}

fn section(place: usize, section: &Section, pictures: &[Markup], sensors: &[Markup]) -> Markup {
    html! {
        section.experiment id=(format!("s{place}")) {
            h2 { (section.name) }
            @if let Some(question) = &section.question { p.question { (question) } }
            p.sub { (section.origin) }
            @if !section.warnings.is_empty() {
                ul.warnings {
                    @for warning in &section.warnings { li { b { (warning.kind.name()) } " " (warning.text) } }
                }
            }
            div.charts { @for picture in pictures { (picture) } }
            @if !sensors.is_empty() {
                details.sensors open[section.watched] {
                    summary { "What the sensors said meanwhile" }
                    div.charts { @for picture in sensors { (picture) } }
                }
            }
            @if section.left_out > 0 {
                p.sub { (section.left_out) " more charts would fit these rows; their numbers are in the tables and the records." }
            }
            @for (title, rows) in &section.tables {
                details.rows open[rows.rows.len() <= SHORT] {
                    summary { (title) }
                    (parts::table(rows, title))
                }
            }
            (scopes(section))
            @if !section.notes.is_empty() {
                details.rows.notes open[section.notes.len() <= FEW] {
                    summary { "What was measured, and what differs from the studies" }
                    ul { @for note in &section.notes { li { (note) } } }
                }
            }
        }
    }
}

/// What the numbers cover, by the letters that rows have.
fn scopes(section: &Section) -> Markup {
    let lines = section.scopes.lines();
    html! {
        @if !lines.is_empty() {
            details.rows.scopes open[lines.len() <= SHORT / 2] {
                summary { "Scopes: what the numbers cover" }
                dl.facts { @for (letter, line) in &lines { dt { (letter) } dd { (line) } } }
            }
        }
    }
}

fn picture(chart: &Chart, number: usize) -> Result<Markup, DrawError> {
    let svg = chart.svg(&format!("c{number}"))?;
    let mut legend = Vec::new();
    for (look, place, name) in chart.legend() {
        legend.push((chart::swatch(look, place)?, name));
    }
    Ok(html! {
        figure {
            h3 { (chart.title) }
            (PreEscaped(svg))
            @if !legend.is_empty() {
                ul.legend { @for (sample, name) in &legend { li { (PreEscaped(sample)) " " (name) } } }
            }
            figcaption { (chart.finding) }
            details {
                summary { "These numbers as a table" }
                (parts::table(&chart.table(), &chart.title))
            }
        }
    })
}
