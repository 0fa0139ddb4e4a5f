//! Tables.

use cipherlane_record::text::on_one_line;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Row, Table,
    TableStyle, Width,
};

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

impl Column {
    /// What stands above it.
    pub(crate) const fn header(self) -> &'static str {
        match self {
            Self::Words(header) | Self::Number(header) => header,
        }
    }
}

/// An empty table with these columns. On a terminal [`text`] fits it in, in a pipe it is as wide as it is.
pub(crate) fn new<const N: usize>(columns: [Column; N]) -> Table {
    with_columns(&columns.map(|column| {
        let alignment = match column {
            Column::Words(_) => CellAlignment::Left,
            Column::Number(_) => CellAlignment::Right,
        };
        (column.header().to_owned(), alignment)
    }))
}

/// An empty table whose columns are known at run time.
pub(crate) fn with_columns(columns: &[(String, CellAlignment)]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    // Asked for before colours are given up: without them it is no terminal to the table any more.
    if let Some(width) = table.width() {
        table.set_width(width);
    }
    style(&mut table);
    table.set_header(columns.iter().map(|(header, _)| plain(header).add_attribute(Attribute::Bold)));
    for (column, (_, alignment)) in table.column_iter_mut().zip(columns) {
        column.set_cell_alignment(*alignment);
    }
    table
}

fn style(table: &mut Table) {
    if colours() {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
}

/// The lines of `table`. On a terminal they are broken at blanks and nowhere else: no number and no name is cut. Where that
/// is not enough, because the longest words of all columns are wider than the terminal, each row is a block of lines, with
/// a header and its cell in each.
pub(crate) fn text(table: &Table) -> String {
    let Some(width) = table.width() else { return table.trim_fmt() };
    let mut table = table.clone();
    let side_by_side = least(&table);
    // Blank lines stand between the columns and around them.
    let lines = side_by_side.len() + 1;
    if side_by_side.iter().map(|&width| usize::from(width)).sum::<usize>() + lines <= usize::from(width) {
        return wrapped(&mut table, &side_by_side);
    }
    let mut blocks = blocks(&table, width);
    let below = least(&blocks);
    wrapped(&mut blocks, &below)
}

/// The least width of each column: its longest word, and a blank on either side.
fn least(table: &Table) -> Vec<u16> {
    longest_words(table).iter().map(|width| width.saturating_add(2)).collect()
}

/// The lines of `table`, of which no column is narrower than `least` says.
fn wrapped(table: &mut Table, least: &[u16]) -> String {
    table.set_content_arrangement(ContentArrangement::Dynamic);
    for (column, &least) in table.column_iter_mut().zip(least) {
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
    }
    table.trim_fmt()
}

/// The width of the longest word of each column.
fn longest_words(table: &Table) -> Vec<u16> {
    let mut words = Table::new();
    for row in table.header().into_iter().chain(table.row_iter()) {
        words.add_row(row.cell_iter().map(|cell| cell.content().replace(' ', "\n")).collect::<Vec<_>>());
    }
    words.column_max_content_widths()
}

/// The rows of `table` one below the other, as lines of a header and a cell. What is empty has no line.
fn blocks(table: &Table, width: u16) -> Table {
    let mut blocks = Table::new();
    blocks.load_style(STYLE).set_width(width);
    style(&mut blocks);
    let headers: Vec<&Cell> = table.header().into_iter().flat_map(Row::cell_iter).collect();
    for (place, row) in table.row_iter().enumerate() {
        if place > 0 {
            blocks.add_row(["", ""]);
        }
        for (header, cell) in
            headers.iter().zip(row.cell_iter()).filter(|(_, cell)| !cell.content().is_empty())
        {
            blocks.add_row([(*header).clone(), cell.clone()]);
        }
    }
    blocks
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

    /// A row as wide as those of `bench`, on a terminal of `width` columns.
    fn wide(width: u16) -> String {
        let words = ["does", "tier", "GB/s (95 %)", "best rival GB/s"]
            .map(|header| (header.to_owned(), CellAlignment::Left));
        let mut table = with_columns(&words);
        table.set_width(width);
        table.force_no_tty();
        table.add_row(["tls-16k aes-128-gcm seal", "avx512", "1.29 (1.28–1.30)", "1.31 OpenSSL 3.5.4"]);
        text(&table)
    }

    #[test]
    fn lines_are_broken_at_blanks_alone() {
        let words = "does tier GB/s (95 %) best rival tls-16k aes-128-gcm seal avx512 1.29 (1.28–1.30) 1.31 OpenSSL 3.5.4";
        for width in [10, 20, 36, 44, 47, 48, 60, 80, 200] {
            let text = wide(width);
            let found: Vec<&str> = text.split_whitespace().collect();
            for word in words.split(' ') {
                assert!(found.contains(&word), "{word} at {width}:\n{text}");
            }
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(width < 30 || widest <= width.into(), "{widest} at {width}:\n{text}");
        }
        assert!(wide(48).lines().next().unwrap().contains("tier"), "side by side as long as that fits");
        assert!(!wide(47).lines().next().unwrap().contains("tier"), "one below the other where it does not");
    }

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
