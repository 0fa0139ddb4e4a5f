//! What several parts of the page are made of.

use maud::{Markup, html};

use crate::table::Table;

/// Rows beyond which a table scrolls up and down as well.
const LONG: usize = 60;

/// A table that scrolls by itself where it is wider than the screen.
pub(super) fn table(table: &Table, name: &str) -> Markup {
    // One class for each column of numbers on the table weighs less than one on each cell.
    let numbers = table.columns.iter().enumerate().filter(|(_, column)| column.numbers);
    let classes: Vec<String> = numbers.map(|(place, _)| format!("n{}", place + 1)).collect();
    html! {
        div.scroll.long[table.rows.len() > LONG] tabindex="0" role="region" aria-label=(name) {
            table class=(classes.join(" ")) {
                thead { tr { @for column in &table.columns { th scope="col" { (column.title) } } } }
                tbody { @for row in &table.rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

/// Names with their values.
pub(super) fn facts(facts: &[(String, String)]) -> Markup {
    html! { dl.facts { @for (name, value) in facts { dt { (name) } dd { (value) } } } }
}
