//! Tables as data, which the page and the Markdown write out.

/// A table of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    /// As many texts as there are columns.
    pub(crate) rows: Vec<Vec<String>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) title: String,
    /// Whether its texts are numbers, which stand to the right.
    pub(crate) numbers: bool,
}

impl Column {
    pub(crate) fn words(title: &str) -> Self {
        Self { title: title.to_owned(), numbers: false }
    }

    pub(crate) fn number(title: &str) -> Self {
        Self { title: title.to_owned(), numbers: true }
    }
}

impl Table {
    /// Leaves out the columns in which every text is empty.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        let used: Vec<bool> =
            (0..self.columns.len()).map(|place| self.rows.iter().any(|row| !row[place].is_empty())).collect();
        let keep = |place: &mut usize| {
            *place += 1;
            used[*place - 1]
        };
        let mut place = 0;
        self.columns.retain(|_| keep(&mut place));
        for row in &mut self.rows {
            let mut place = 0;
            row.retain(|_| keep(&mut place));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_without_a_text_go() {
        let texts = |row: [&str; 3]| row.map(str::to_owned).to_vec();
        let table = Table {
            columns: vec![Column::words("a"), Column::words("b"), Column::number("c")],
            rows: vec![texts(["1", "", ""]), texts(["", "", "2"])],
        };
        let table = table.without_empty_columns();
        assert_eq!(table.columns, [Column::words("a"), Column::number("c")]);
        assert_eq!(table.rows, [["1", ""], ["", "2"]]);
    }
}
