//! Scope lines, each written once and referred to by letters.

use std::collections::BTreeMap;

use crate::row::Row;

/// The scope lines of a section's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scopes(BTreeMap<String, usize>);

impl Scopes {
    /// Those of `rows`, in the order in which they come first.
    pub(super) fn of(rows: &[Row<'_>]) -> Self {
        let mut scopes = BTreeMap::new();
        for row in rows {
            let next = scopes.len();
            scopes.entry(row.scope.to_string()).or_insert(next);
        }
        Self(scopes)
    }

    /// The letters of a row's scope.
    pub(super) fn letter(&self, row: &Row<'_>) -> String {
        self.0.get(&row.scope.to_string()).map_or_else(String::new, |&place| letters(place))
    }

    /// Letters and lines, in the order of the letters.
    pub(crate) fn lines(&self) -> Vec<(String, &str)> {
        let mut lines: Vec<(usize, &str)> =
            self.0.iter().map(|(line, place)| (*place, line.as_str())).collect();
        lines.sort_unstable();
        lines.into_iter().map(|(place, line)| (letters(place), line)).collect()
    }
}

/// `a` to `z`, `aa`, `ab` and so on, as spreadsheets count columns.
fn letters(mut place: usize) -> String {
    let mut text = String::new();
    loop {
        let letter = u8::try_from(place % 26).unwrap_or(0);
        text.insert(0, char::from(b'a' + letter));
        match (place / 26).checked_sub(1) {
            Some(rest) => place = rest,
            None => return text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 27, 701, 702].map(letters), ["a", "z", "aa", "ab", "zz", "aaa"]);
    }
}
