//! Tables.

use std::io::IsTerminal;

use cipherlane_record::text::on_one_line;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table, TableStyle};

use super::colours;

/// A line under the headers and nothing else: columns stay apart by blanks, which are easy to cut and to paste.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));

/// A column: its header and how its cells are aligned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    /// Words, to the left.
    Words(&'static str),
    /// Numbers, to the right.
    Number(&'static str),
}

/// An empty table with these columns. It wraps on a terminal, and never in a pipe.
pub(crate) fn new<const N: usize>(columns: [Column; N]) -> Table {
    with_columns(&columns.map(|column| match column {
        Column::Words(header) => (header.to_owned(), CellAlignment::Left),
        Column::Number(header) => (header.to_owned(), CellAlignment::Right),
    }))
}

/// An empty table whose columns are known at run time.
pub(crate) fn with_columns(columns: &[(String, CellAlignment)]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    if std::io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    } else {
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    if colours() {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(columns.iter().map(|(header, _)| plain(header).add_attribute(Attribute::Bold)));
    for (column, (_, alignment)) in table.column_iter_mut().zip(columns) {
        column.set_cell_alignment(*alignment);
    }
    table
}

/// A cell that is good news.
pub(crate) fn good(text: impl Into<String>) -> Cell {
    plain(text).fg(Color::Green)
}

/// A cell that is bad news.
pub(crate) fn bad(text: impl Into<String>) -> Cell {
    plain(text).fg(Color::Red)
}

/// A cell that is missing something.
pub(crate) fn faint(text: impl Into<String>) -> Cell {
    plain(text).add_attribute(Attribute::Dim)
}

/// A cell that is neither. Its text may come from a file, and is nothing that the terminal obeys.
pub(crate) fn plain(text: impl Into<String>) -> Cell {
    Cell::new(on_one_line(&text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_cells_are_not_obeyed() {
        let mut table = with_columns(&[("a\u{1b}[2J".to_owned(), CellAlignment::Left)]);
        for cell in [plain, good, bad, faint] {
            table.add_row([cell("b\u{9b}31m\nc".to_owned())]);
        }
        table.force_no_tty();
        let text = table.to_string();
        assert!(!text.contains(['\u{1b}', '\u{9b}']), "{text:?}");
        assert_eq!(text.lines().count(), 6, "{text}");
    }
}
